"""Requests of ``/v1/chat/completions``, checked as strictly as servers check them.

What is wrong is answered in the form that clients of the protocol know:
``{"error": {"message", "type", "param", "code"}}`` with status 400, 401, 404, 413 or 415.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

__all__ = ["ProtocolError", "call_of", "check_request", "most_tokens", "prompt_tokens"]

_ROLES = ("system", "developer", "user", "assistant", "tool")
_BYTES_PER_TOKEN = 4
_PIXELS = 28
_PNG = b"\x89PNG\r\n\x1a\n"
_MOST_TOKENS = 1_000_000
"""Of a reply that may be of any length."""
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class ProtocolError(Exception):
    """A request that no server would answer."""

    def __init__(
        self,
        message: str,
        *,
        param: str | None = None,
        status: int = 400,
        kind: str = "invalid_request_error",
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body: dict[str, Any] = {"error": {"message": message, "type": kind, "param": param, "code": code}}


def most_tokens(wanted: Mapping[str, Any]) -> int:
    """Of a reply to ``wanted``."""
    return int(wanted.get("max_completion_tokens") or wanted.get("max_tokens") or _MOST_TOKENS)


def call_of(sample: str | None, body: bytes) -> str:
    """What is asked, as faults and the log know it: 16 hex digits."""
    return hashlib.sha256(f"{sample}\n".encode() + body).hexdigest()[:16]


def check_request(request: Any, *, strict_alternation: bool = False) -> dict[str, Any]:
    """``request``, when a server would take it.

    Args:
        strict_alternation: As the chat templates of some models do, refuse two user or two assistant messages in a
            row, tool results and the calls that they answer left out.

    Raises:
        ProtocolError: it would not; status 400.
    """
    if not isinstance(request, dict):
        raise ProtocolError("The body must be a JSON object.")
    if not isinstance(request.get("model"), str):
        raise ProtocolError("You must provide a model parameter.", param="model")
    _check_messages(request.get("messages"))
    if strict_alternation:
        _check_alternation(request["messages"])
    names = _check_tools(request)
    _check_tool_choice(request, names)
    _check_response_format(request.get("response_format"))
    _check_sampling(request)
    return request


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise ProtocolError("messages must be an array with at least one message.", param="messages")
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if not isinstance(message, dict):
            raise ProtocolError("A message must be an object.", param=where)
        role = message.get("role")
        if role not in _ROLES:
            raise ProtocolError(f"Invalid value: {role!r}. Supported values are: {', '.join(_ROLES)}.", param=where)
        if role == "tool":
            _check_tool_message(message, open_calls, where)
            continue
        if open_calls:
            raise ProtocolError(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. These have no response: {', '.join(open_calls)}.",
                param=where,
            )
        if role == "assistant":
            open_calls = _check_assistant(message, where)
        else:
            _check_content(message.get("content"), where, pictures=role == "user")
    if open_calls:
        raise ProtocolError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. These have no response: {', '.join(open_calls)}.",
            param="messages",
        )


def _check_tool_message(message: Mapping[str, Any], open_calls: list[str], where: str) -> None:
    call_id = message.get("tool_call_id")
    if not isinstance(call_id, str):
        raise ProtocolError("Missing parameter 'tool_call_id': a tool message must have one.", param=where)
    if call_id not in open_calls:
        raise ProtocolError(
            "A message with role 'tool' must be a response to a preceding message with 'tool_calls': there is no "
            f"open call {call_id!r}.",
            param=where,
        )
    _check_content(message.get("content"), where)
    open_calls.remove(call_id)


def _check_assistant(message: Mapping[str, Any], where: str) -> list[str]:
    content, calls = message.get("content"), message.get("tool_calls")
    for field in ("reasoning", "reasoning_content", "refusal"):
        if not isinstance(message.get(field), str | None):
            raise ProtocolError(f"{field} must be a string.", param=f"{where}.{field}")
    if content is not None:
        _check_content(content, where)
    if calls is None:
        if content is None and message.get("refusal") is None:
            raise ProtocolError("An assistant message must have either 'content' or 'tool_calls'.", param=where)
        return []
    if not isinstance(calls, list) or not calls:
        raise ProtocolError("tool_calls must be an array with at least one call.", param=f"{where}.tool_calls")
    found: list[str] = []
    for number, call in enumerate(calls):
        at = f"{where}.tool_calls[{number}]"
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or call.get("type") != "function":
            raise ProtocolError("A tool call must have the type 'function' and a function.", param=at)
        if not isinstance(call.get("id"), str) or not call["id"] or call["id"] in found:
            raise ProtocolError("A tool call must have an id of its own.", param=f"{at}.id")
        if not isinstance(function.get("name"), str) or not _TOOL_NAME.fullmatch(function["name"]):
            raise ProtocolError("The function's name must match '^[a-zA-Z0-9_-]{1,64}$'.", param=f"{at}.function.name")
        if not isinstance(_parsed(function.get("arguments")), dict):
            raise ProtocolError(
                "The function's arguments must be a string that holds a JSON object.", param=f"{at}.function.arguments"
            )
        found.append(call["id"])
    return found


def _parsed(text: Any) -> Any:
    if not isinstance(text, str):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _check_content(content: Any, where: str, *, pictures: bool = False) -> None:
    """``pictures``: they may be parts of it, as data URLs of PNG; nothing is fetched."""
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        raise ProtocolError("content must be a string or an array of parts.", param=f"{where}.content")
    for part in content:
        if pictures and isinstance(part, dict) and part.get("type") == "image_url":
            _check_picture(part.get("image_url"), where)
            continue
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise ProtocolError(
                "Invalid part: the type 'text', or 'image_url' in a message of the user.", param=f"{where}.content"
            )


def prompt_tokens(size: int, messages: Sequence[Mapping[str, Any]]) -> int:
    """What a prompt counts: a token for four bytes of the request's ``size``; for a picture, in place of its bytes, one
    for each 28 by 28 of its pixels, as Qwen-VL models count."""
    parts = (part for message in messages if isinstance(message.get("content"), list) for part in message["content"])
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return -(-(size - sum(map(len, urls))) // _BYTES_PER_TOKEN) + sum(map(_picture_tokens, urls))


def _picture_tokens(url: str) -> int:
    head = base64.b64decode(url.partition(",")[2][:32])
    width, height = (int.from_bytes(head[at : at + 4], "big") for at in (16, 20))
    return -(-width // _PIXELS) * -(-height // _PIXELS)


def _check_picture(picture: Any, where: str) -> None:
    url = picture.get("url") if isinstance(picture, dict) else None
    head, _, data = url.partition(",") if isinstance(url, str) else ("", "", "")
    try:
        is_png = head == "data:image/png;base64" and base64.b64decode(data, validate=True).startswith(_PNG)
    except ValueError:
        is_png = False
    if not is_png:
        raise ProtocolError("Invalid image: give a PNG as a data URL.", param=f"{where}.content")


def _check_alternation(messages: Sequence[Mapping[str, Any]]) -> None:
    turns = [str(message["role"]) for message in messages]
    if turns[0] in ("system", "developer"):
        turns = turns[1:]
    # Tool results continue the assistant's own turn.
    plain = [role for place, role in enumerate(turns) if role != "tool" and not (place and turns[place - 1] == "tool")]
    for place, role in enumerate(plain):
        if role != ("assistant" if place % 2 else "user"):
            raise ProtocolError("Conversation roles must alternate user/assistant/user/assistant/...", param="messages")


def _check_tools(request: Mapping[str, Any]) -> frozenset[str]:
    if "tools" not in request:
        return frozenset()
    return _tool_names(json.dumps(request["tools"]))


@lru_cache(maxsize=256)
def _tool_names(text: str) -> frozenset[str]:
    """Names of the tools; cached, since an agent sends the same tools with every turn. No exception is cached."""
    tools = json.loads(text)
    if not isinstance(tools, list) or not tools:
        raise ProtocolError("tools must be an array with at least one tool.", param="tools")
    names: set[str] = set()
    for place, tool in enumerate(tools):
        where = f"tools[{place}]"
        function = tool.get("function") if isinstance(tool, dict) else None
        if not isinstance(function, dict) or tool.get("type") != "function":
            raise ProtocolError("A tool must have the type 'function' and a function.", param=where)
        name = function.get("name")
        if not isinstance(name, str) or not _TOOL_NAME.fullmatch(name):
            raise ProtocolError(
                "The function's name must match '^[a-zA-Z0-9_-]{1,64}$'.", param=f"{where}.function.name"
            )
        if name in names:
            raise ProtocolError(f"There are two functions {name!r}.", param=f"{where}.function.name")
        if not isinstance(function.get("description", ""), str):
            raise ProtocolError("description must be a string.", param=f"{where}.function.description")
        if not isinstance(function.get("strict", False), bool | None):
            raise ProtocolError("strict must be a boolean.", param=f"{where}.function.strict")
        parameters = function.get("parameters", {"type": "object"})
        _check_schema(parameters, f"{where}.function.parameters")
        if parameters.get("type") != "object":
            raise ProtocolError(
                "Invalid schema for a function: its type must be 'object'.", param=f"{where}.function.parameters"
            )
        names.add(name)
    return frozenset(names)


def _check_schema(schema: Any, where: str) -> None:
    import jsonschema

    if not isinstance(schema, dict):
        raise ProtocolError("A schema must be an object.", param=where)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ProtocolError(f"Invalid schema: {error.message}", param=where) from None


def _check_tool_choice(request: Mapping[str, Any], names: frozenset[str]) -> None:
    choice = request.get("tool_choice")
    if choice is None:
        return
    if not names:
        raise ProtocolError("tool_choice is only allowed when tools are specified.", param="tool_choice")
    if choice in ("auto", "none", "required"):
        return
    function = choice.get("function") if isinstance(choice, dict) else None
    if not isinstance(function, dict) or choice.get("type") != "function" or function.get("name") not in names:
        raise ProtocolError(
            "tool_choice must be 'auto', 'none', 'required' or one of the functions.", param="tool_choice"
        )


def _check_response_format(wanted: Any) -> None:
    if wanted is None:
        return
    kind = wanted.get("type") if isinstance(wanted, dict) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise ProtocolError(
            "response_format must have the type 'text', 'json_object' or 'json_schema'.", param="response_format"
        )
    if kind != "json_schema":
        return
    given = wanted.get("json_schema")
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise ProtocolError("Missing parameter 'response_format.json_schema.name'.", param="response_format")
    _checked_schema(json.dumps(given.get("schema")))


@lru_cache(maxsize=256)
def _checked_schema(text: str) -> None:
    _check_schema(json.loads(text), "response_format.json_schema.schema")


def _number(request: Mapping[str, Any], name: str, least: float, most: float, *, whole: bool = False) -> None:
    value = request.get(name)
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or (whole and not isinstance(value, int)):
        raise ProtocolError(f"{name} must be {'an integer' if whole else 'a number'}.", param=name)
    if not least <= value <= most:
        raise ProtocolError(f"{name} must lie between {least} and {most}; it is {value}.", param=name)


def _check_sampling(request: Mapping[str, Any]) -> None:
    _number(request, "max_tokens", 1, 10**9, whole=True)
    _number(request, "max_completion_tokens", 1, 10**9, whole=True)
    _number(request, "temperature", 0, 2)
    _number(request, "top_p", 1e-9, 1)
    _number(request, "n", 1, 1, whole=True)
    for name in ("logprobs", "stream", "return_token_ids"):
        if not isinstance(request.get(name), bool | None):
            raise ProtocolError(f"{name} must be a boolean.", param=name)
    if request.get("stream"):
        raise ProtocolError("This server does not stream: leave stream out.", param="stream")
