"""What a model wrote, read where only one reading is possible: JSON with something around it, a thought in the
content. Anything else is refused in words that a model understands."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Any

from synth.models.contract import ChatReply

__all__ = ["fenced", "read_json", "read_object", "refuses", "texts_of", "whole"]

_MAX_DEPTH = 64
"""Objects and lists within one another: real arguments are never deeper, and few readers cope."""
_MAX_CONTAINERS = 100_000

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n?(.*?)\n?\s*```\s*\Z", re.S)
_AFTER_JSON = re.compile(r"(?:<[|｜][^<>]{1,40}[|｜]>|</?s>|</tool_call>|\s|```)*")
"""What a server forgot to take off: special tokens, a closing tag."""
_BEHIND = re.compile(r"(?:<[|｜][^<>]{1,40}[|｜]>|</s>)+\s*\Z")
_REFUSAL = re.compile(
    r"(?:i'?m |i am )?(?:(?:so |very )?sorry,? (?:but )?)?i (?:can't|cannot|can not|am unable to|'?m unable to|won't) "
    r"(?:assist|help|comply|continue|do that|provide that)[^.!]{0,80}[.!]?"
)


def texts_of(reply: ChatReply) -> tuple[str | None, str, list[str]]:
    """Thought and content of a reply, the one told from the other where the server did not, and what was mended."""
    repaired = []
    content, thought = (reply.content or "").strip(), (reply.reasoning or "").strip()
    if "</think>" in content:
        inside, _, content = content.rpartition("</think>")
        thought = "\n\n".join(part for part in (thought, inside.replace("<think>", "").strip()) if part)
        content = content.strip()
        repaired.append("thought_in_content")
    bare = _BEHIND.sub("", content).strip()
    if bare != content:
        content = bare
        repaired.append("special_tokens")
    return thought or None, content, repaired


def refuses(content: str) -> bool:
    """Whether the model declines to do what it was asked, in one of a few known sentences and no more."""
    return _REFUSAL.fullmatch(" ".join(content.replace("’", "'").casefold().split())) is not None


def whole(text: str) -> str:
    """Half of a surrogate pair (a server cut a character in two) becomes U+FFFD: no file could hold it."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def fenced(text: str) -> str | None:
    """What stands in the one code fence that ``text`` is, or None."""
    match = _FENCE.match(text)
    return match.group(1) if match and "```" not in match.group(1) else None


def read_json(text: str) -> tuple[Any, tuple[str, ...]]:
    """The one JSON value in ``text`` and what had to be looked past: a fence, special tokens behind it, brackets too
    many, Python's way of writing it. Any file can hold it: its numbers are finite, its texts whole, its depth bounded.

    Raises:
        ValueError: there is none, or more than one; the message says it in words for the model.
    """
    if text.count("{") + text.count("[") > _MAX_CONTAINERS:
        raise ValueError("it has too many parts")
    repaired: list[str] = []
    inner = fenced(text)
    if inner is not None:
        text, repaired = inner, ["fenced"]
    text = text.strip()
    try:
        value, end = _decoder.raw_decode(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except json.JSONDecodeError as error:
        try:
            return _sound(_python(text)), (*repaired, "python_literal")
        except ValueError:
            raise ValueError(f"it is not valid JSON ({error.msg} at character {error.pos})") from None
    rest = text[end:]
    if rest:
        if not _AFTER_JSON.fullmatch(rest.lstrip("]} \n")):
            raise ValueError(f"something stands behind the JSON: {rest.strip()[:60]!r}")
        repaired.append("trailing_text")
    return _sound(value), tuple(repaired)


def read_object(text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Arguments as an object: JSON, JSON in a JSON string, or nothing at all (no arguments).

    Raises:
        ValueError: it is neither; in words for the model.
    """
    if not text.strip():
        return {}, ("empty_arguments",)
    value, repaired = read_json(text)
    if isinstance(value, str):
        inner, more = read_json(value) if value.strip() else ({}, ("empty_arguments",))
        value, repaired = inner, (*repaired, "double_encoded", *more)
    if value is None:
        return {}, (*repaired, "empty_arguments")
    if not isinstance(value, dict):
        raise ValueError("the arguments are not a JSON object")
    return value, repaired


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def _constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def _integer(digits: str) -> int:
    if len(digits) > 400:
        raise ValueError(f"a number of {len(digits):,} digits stands in it")
    return int(digits)


def _number(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits[:40]} is larger than any number")
    return value


_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_constant, parse_float=_number, parse_int=_integer
)


def _sound(value: Any, depth: int = 0) -> Any:
    """``value`` with whole texts.

    Raises:
        ValueError: it is nested too deeply.
    """
    if isinstance(value, str):
        return whole(value)
    if not isinstance(value, dict | list):
        return value
    if depth == _MAX_DEPTH:
        raise ValueError("it is nested too deeply")
    if isinstance(value, list):
        return [_sound(item, depth + 1) for item in value]
    return _unique([(whole(name), _sound(item, depth + 1)) for name, item in value.items()])


def _python(text: str) -> Any:
    """A dict or list as Python writes it: single quotes, True, None."""
    if not text.startswith(("{", "[")):
        raise ValueError(text)
    try:
        value = ast.literal_eval(text)
        return _decoder.decode(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError(text) from None
