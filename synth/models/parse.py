"""From a server's body to what the model said: nothing is guessed, nothing that was said is lost.

Servers differ in where they put reasoning, in how they write "nothing" (null, an empty string, an empty list, no
field), in content as text or as parts. :func:`parse_chat` brings all of it to one form and raises
:class:`MalformedReply` where a body is not an answer at all.
"""

from __future__ import annotations

import json
import re
from typing import Any

from synth.models.contract import ChatReply, Finish, RawCall, Usage
from synth.models.failures import one_line
from synth.models.lenient import whole

__all__ = [
    "MOST_LOGPROB",
    "MalformedReply",
    "ServerSaysError",
    "is_result",
    "parse_chat",
    "split_thought",
    "to_store",
    "usage_of",
]

_FINISH = {
    "stop": Finish.STOP,
    "eos": Finish.STOP,
    "end_turn": Finish.STOP,
    "stop_sequence": Finish.STOP,
    "tool_calls": Finish.TOOL_CALLS,
    "tool_use": Finish.TOOL_CALLS,
    "function_call": Finish.TOOL_CALLS,
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.CONTENT_FILTER,
}

_TAIL = 128
"""Tokens of a prompt whose log probabilities are kept."""
_MAX_CONTAINERS = 1_000_000
"""Objects and lists in a body: each takes a hundred bytes once it is read, and two in the text."""
_MAX_TOKEN_ID = 2**31 - 1
MOST_LOGPROB = 1e-3
"""By so much may the logarithm of a probability lie above 0, as servers round."""
_LEAST_LOGPROB = -1e39
"""Servers write -9999 or the least 32-bit float for a probability of 0."""
_STATUS = re.compile(r"[45][0-9]{2}")
_OPEN, _CLOSE = "<think>", "</think>"


class MalformedReply(Exception):
    """A body that is not an answer. ``usage`` is what it cost, where the body still says so."""

    def __init__(self, detail: str, usage: Usage | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.usage = usage


class ServerSaysError(Exception):
    """A body of status 200 that holds an error object in place of choices (gateways do that)."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def parse_chat(body: bytes, call: str = "?") -> ChatReply:
    """What the model said. ``call`` is the key of the call that the body answers.

    Raises:
        MalformedReply: torn JSON, no object, no choices, or a message of no known form.
        ServerSaysError: an error object.
    """
    if body.count(b"[") + body.count(b"{") > _MAX_CONTAINERS:
        raise MalformedReply(f"the body has more than {_MAX_CONTAINERS:,} parts")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"the body is no JSON ({error}): {_excerpt(body)}") from None
    if not isinstance(data, dict):
        raise MalformedReply(f"the body is no JSON object: {_excerpt(body)}")
    usage = usage_of(data.get("usage"))
    choices = data.get("choices")
    if not choices and data.get("error"):
        raise _error_of(data["error"])
    if not isinstance(choices, list) or not choices:
        raise MalformedReply("the body holds no choices", usage)
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise MalformedReply("the first choice holds no message", usage)
    try:
        return _reply(data, choice, message, usage, call)
    except _Odd as odd:
        raise MalformedReply(str(odd), usage) from None
    except RecursionError:
        raise MalformedReply("the body is nested too deeply", usage) from None


def is_result(reply: ChatReply) -> bool:
    """Whether the store may serve the reply again. Not a refusal, a cut or filtered reply, or one that says nothing:
    those are recorded, and the call is made again when it is needed again."""
    if reply.prompt_tail:  # asked for in place of a completion
        return True
    if reply.refusal or reply.finish in (Finish.LENGTH, Finish.CONTENT_FILTER):
        return False
    return bool(reply.content or reply.tool_calls or reply.reasoning)


def to_store(body: bytes) -> bytes:
    """``body`` as it is stored: all of it but the prompt's token ids and all but the end of its log probabilities. vLLM
    sends them with the reply's own, turn after turn over the whole conversation: the request says them already."""
    if b'"prompt_token_ids"' not in body and b'"prompt_logprobs"' not in body:
        return body
    data = json.loads(body)
    if isinstance(given := data.get("prompt_logprobs"), list):
        data["prompt_logprobs"] = given[-_TAIL:]
    for holder in (data, *data["choices"]):
        if isinstance(holder, dict):
            holder.pop("prompt_token_ids", None)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def usage_of(value: Any) -> Usage | None:
    """The tokens that a server counted; None unless both counts are there and make sense."""
    if not isinstance(value, dict):
        return None
    prompt, completion = _count(value.get("prompt_tokens")), _count(value.get("completion_tokens"))
    if prompt is None or completion is None:
        return None
    details = value.get("prompt_tokens_details")
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=min(cached or 0, prompt))


def split_thought(content: str) -> tuple[str | None, str]:
    """(thought, rest) of a text in which a server left the model's ``<think>`` part.

    A closing tag alone counts too: many templates write the opening one into the prompt. An opening tag alone means
    that the reply was cut off while thinking: all of it is thought.
    """
    text = content.lstrip()
    if text.startswith(_OPEN):
        inside, closed, rest = text[len(_OPEN) :].partition(_CLOSE)
        return inside, rest if closed else ""
    before, closed, rest = content.partition(_CLOSE)
    if closed and _OPEN not in before:
        return before, rest
    return None, content


class _Odd(Exception):
    """A field of a form that no server is known to send."""


def _reply(data: dict[str, Any], choice: dict[str, Any], message: dict[str, Any], usage: Any, call: str) -> ChatReply:
    content, thought = _content(message.get("content"))
    reasoning = _text(message.get("reasoning")) or _text(message.get("reasoning_content")) or thought
    if content is not None and reasoning is None and (_CLOSE in content or _OPEN in content):
        inside, rest = split_thought(content)
        if inside is not None:
            content, reasoning = _text(rest), _text(inside)
    calls = _calls(message)
    finish = choice.get("finish_reason")
    token_ids, logprobs = _token_ids(choice.get("token_ids")), _logprobs(choice.get("logprobs"))
    if token_ids is not None and logprobs is not None and len(token_ids) != len(logprobs):
        token_ids = logprobs = None
    return ChatReply(
        content=content,
        reasoning=reasoning,
        refusal=_text(message.get("refusal")),
        tool_calls=calls,
        finish=_FINISH.get(finish, Finish.OTHER) if isinstance(finish, str) else Finish.OTHER,
        usage=usage,
        model=_text(data.get("model")),
        fingerprint=_text(data.get("system_fingerprint")),
        token_ids=token_ids,
        logprobs=logprobs,
        prompt_tail=_prompt_tail(data.get("prompt_logprobs")),
        call=call,
    )


def _content(value: Any) -> tuple[str | None, str | None]:
    """(text, thought) of a message's content: a text, nothing, or a list of parts."""
    if value is None or isinstance(value, str):
        return _text(value), None
    if not isinstance(value, list):
        raise _Odd(f"content is {type(value).__name__}, neither text nor parts")
    said: list[str] = []
    thought: list[str] = []
    for part in value:
        if isinstance(part, str):
            said.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            said.append(part["text"])
        elif isinstance(part, dict) and "thinking" in part:
            inner = part["thinking"]
            parts = inner if isinstance(inner, list) else [{"text": inner}]
            texts = [inner_part.get("text") for inner_part in parts if isinstance(inner_part, dict)]
            thought += [text for text in texts if isinstance(text, str)]
        else:
            raise _Odd("content holds a part that is not text")
    return _text("".join(said)), _text("".join(thought))


def _calls(message: dict[str, Any]) -> tuple[RawCall, ...]:
    given = message.get("tool_calls")
    if not given:
        old = message.get("function_call")
        given = [{"function": old}] if isinstance(old, dict) else []
    if not isinstance(given, list):
        raise _Odd("tool_calls is not a list")
    calls = []
    for item in given:
        function = item.get("function") if isinstance(item, dict) else None
        if not isinstance(function, dict):
            raise _Odd("a tool call holds no function")
        name, arguments, ident = function.get("name"), function.get("arguments"), item.get("id")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):  # some servers send the object itself
            arguments = json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        calls.append(
            RawCall(
                id=whole(ident) if isinstance(ident, str) else "",
                name=whole(name) if isinstance(name, str) else "",
                arguments=whole(arguments),
            )
        )
    return tuple(calls)


def _token_ids(value: Any) -> tuple[int, ...] | None:
    if isinstance(value, list) and value and all(type(item) is int and 0 <= item <= _MAX_TOKEN_ID for item in value):
        return tuple(value)
    return None


def _logprobs(value: Any) -> tuple[float, ...] | None:
    """``{"content": [{"token", "logprob"}, ...]}`` -> the numbers; None unless every token has one that a log
    probability can be."""
    content = value.get("content") if isinstance(value, dict) else None
    if not isinstance(content, list) or not content:
        return None
    numbers: list[float] = []
    for item in content:
        number = item.get("logprob") if isinstance(item, dict) else None
        if isinstance(number, bool) or not isinstance(number, int | float):
            return None
        if not _LEAST_LOGPROB <= number <= MOST_LOGPROB:
            return None
        numbers.append(float(number))
    return tuple(numbers)


def _prompt_tail(value: Any) -> tuple[tuple[str, float], ...] | None:
    """``[null, {"17": {"logprob", "decoded_token"}}, ...]`` -> the last ones; None unless each of those is of one
    token, with a log probability."""
    if not isinstance(value, list) or len(value) < 2:
        return None
    tail: list[tuple[str, float]] = []
    for item in value[-_TAIL:]:
        if item is None:  # nothing comes before the first one
            continue
        (token,) = item.values() if isinstance(item, dict) and len(item) == 1 else (None,)
        text, number = (token.get("decoded_token"), token.get("logprob")) if isinstance(token, dict) else (None, None)
        if not isinstance(text, str) or isinstance(number, bool) or not isinstance(number, int | float):
            return None
        if not _LEAST_LOGPROB <= number <= MOST_LOGPROB:
            return None
        tail.append((whole(text), float(number)))
    return tuple(tail)


def _error_of(error: Any) -> ServerSaysError:
    code, message = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
    if isinstance(code, str) and _STATUS.fullmatch(code):
        code = int(code)
    status = code if type(code) is int and 400 <= code < 600 else 500
    try:
        return ServerSaysError(status, one_line(str(message or error)))
    except RecursionError:
        return ServerSaysError(status, "an error that is nested too deeply")


def _text(value: Any) -> str | None:
    """A text that says something, stripped; else None."""
    return whole(value.strip()) or None if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _excerpt(body: bytes) -> str:
    return " ".join(body[:120].decode("utf-8", "replace").split()) or "it is empty"
