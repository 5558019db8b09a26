"""Is there a model at an endpoint that can do what agents need? A few small requests, none of them stored."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Finding", "probe"]

_TOOL = {
    "type": "function",
    "function": {
        "name": "price",
        "description": "What an article costs.",
        "parameters": {"type": "object", "properties": {"article": {"type": "string"}}, "required": ["article"]},
    },
}
_ASKED = "What does a lamp cost? Call the tool price to find out."
_SCHEMA = {"type": "object", "properties": {"article": {"type": "string"}}, "required": ["article"]}
_BEGUN = re.compile(r'\s*\{\s*"article"\s*:\s*"')
_TOKENS = 512
_PARSER = "start vLLM with --enable-auto-tool-choice --tool-call-parser NAME, or say mode: structured in the role"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: Literal["ok", "absent", "broken"]
    """``absent`` = something that can be done without."""
    detail: str


class _RefusedError(Exception):
    """The server answered with an error, in its own words."""


def probe(endpoint: str, model: str, key: str | None = None, *, seconds: float = 60.0) -> Iterator[Finding]:
    """What the server at ``endpoint`` (up to and with ``/v1``) does for ``model``: whether it answers and knows the
    model, calls tools, and keeps to a JSON Schema.

    Args:
        key: Sent as a bearer token.
        seconds: How long a request may take.
    """
    address = endpoint.rstrip("/")
    try:
        served = [str(one.get("id")) for one in _asked(f"{address}/models", None, key, seconds).get("data", [])]
    except _RefusedError:
        served = []  # some servers list none
    except (OSError, ValueError) as error:
        yield Finding("endpoint", "broken", f"{address} does not answer: {error}")
        return
    if served and model not in served:
        yield Finding("endpoint", "broken", f"{address} serves {', '.join(served)}, not {model}")
        return
    yield Finding("endpoint", "ok", f"{address} " + (f"serves {model}" if served else "answers, and lists no models"))
    yield _judged("tools", _calls_tools, address, model, key, seconds)
    yield _judged("structured answers", _keeps_to_a_schema, address, model, key, seconds)


def _judged(what: str, check: Any, address: str, model: str, key: str | None, seconds: float) -> Finding:
    def say(more: Mapping[str, Any]) -> Mapping[str, Any]:
        body = {
            "model": model,
            "messages": [{"role": "user", "content": _ASKED}],
            "temperature": 0,
            "max_tokens": _TOKENS,
        }
        reply = _asked(f"{address}/chat/completions", {**body, **more}, key, seconds)
        message: Mapping[str, Any] = reply["choices"][0]["message"]
        return message

    try:
        return Finding(what, *check(say))
    except (_RefusedError, OSError, ValueError, LookupError, TypeError) as error:
        mend = f": {_PARSER}" if what == "tools" else ""
        return Finding(what, "broken", f"the server refuses them ({error}){mend}")


def _calls_tools(say: Any) -> tuple[str, str]:
    message = say({"tools": [_TOOL]})
    calls = message.get("tool_calls") or []
    if calls:
        arguments = json.loads(calls[0]["function"]["arguments"])
        named = calls[0]["function"]["name"] == "price" and isinstance(arguments, dict) and "article" in arguments
        return ("ok", "it calls them") if named else ("broken", f"it calls {calls[0]['function']} for price(article)")
    if "price" in (text := str(message.get("content") or "")) and "{" in text:
        return "broken", f"calls come back as text: {_PARSER}"
    return "absent", "it answered without calling one: a larger model may, or mode: structured"


def _keeps_to_a_schema(say: Any) -> tuple[str, str]:
    shape = {"type": "json_schema", "json_schema": {"name": "call", "schema": _SCHEMA}}
    text = str(say({"response_format": shape}).get("content"))
    try:
        answer = json.loads(text)
    except json.JSONDecodeError:
        if _BEGUN.match(text):  # a small model held to a string may never end it
            said = f"it keeps to a JSON Schema, but does not come to an end within {_TOKENS} tokens"
            return "absent", f"{said}: mode: structured will lose turns; a larger model may end them"
        return "absent", "it answers with text where a JSON Schema is given: mode: structured will need corrections"
    fits = isinstance(answer, dict) and isinstance(answer.get("article"), str)
    return ("ok", "it keeps to a JSON Schema") if fits else ("absent", "its JSON does not keep to the schema")


def _asked(address: str, body: Mapping[str, Any] | None, key: str | None, seconds: float) -> Mapping[str, Any]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(address, data, headers)
    if not address.startswith(("http://", "https://")):
        raise ValueError("give an address that begins with http:// or https://")
    try:
        with urllib.request.urlopen(request, timeout=seconds) as reply:
            found = json.loads(reply.read(1 << 22))
    except urllib.error.HTTPError as error:
        said = error.read(400).decode("utf-8", "replace")
        raise _RefusedError(f"HTTP {error.code} {' '.join(said.split())[:200]}") from None
    if not isinstance(found, dict):
        raise ValueError("its answer is no JSON object")
    return found
