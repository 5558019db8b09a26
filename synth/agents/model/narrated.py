"""Tool calls that a model wrote into its text instead of making them.

What is written out in full, in a form that means a call and nothing else, is read. What only looks like one is told
from an answer (:func:`announces`), so that it is asked for again and never taken for the answer.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from synth.identity import canonical_json
from synth.models.lenient import fenced, read_json

__all__ = ["Narrated", "announces", "calls_in", "narrated"]

_TAGS = ("tool_call", "function_call", "tool_calls", "function_calls", "tool_use")
_TAG = re.compile(rf"<({'|'.join(_TAGS)})>(.*?)(?:</\1>|\Z)", re.S)
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.S)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.S)
_MARK = re.compile(r"\[TOOL_CALLS\]|<\|python_tag\|>")
_REACT = re.compile(r"^Action:[ \t]*`?([\w.-]+)`?[ \t]*\n+Action Input:[ \t]*(.+?)\s*\Z", re.S | re.M)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n[ \t]*```", re.S)
_LOOKS = re.compile(
    rf"</?(?:{'|'.join(_TAGS)})\b|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|^Action Input:|<[|｜]tool[▁_]", re.M
)
_INTENT = re.compile(
    r"(?:(?:okay|ok|alright|now|next|first|so|then)[,.]? )?(?:let me|let's|i'll|i will|i need to|i should|i'm going to"
    r"|i am going to)\b[^.!?:]*\b(?:search|open|look|find|check|use|call|query|read)\b[^.!?]*[.:!…]",
    re.I,
)


@dataclass(frozen=True)
class Narrated:
    """Calls as written: name, and arguments as JSON text."""

    calls: tuple[tuple[str, str], ...]
    before: str
    """Text that stands before them."""


def narrated(text: str, names: Collection[str]) -> Narrated | None:
    """The calls that ``text`` ends with, or None when it ends with none that can be read.

    ``names`` are those of the tools: JSON or Python that names none of them is not a call.

    Raises:
        ValueError: it holds a call by its form whose inside can't be read, or goes on behind it (a model that makes up
            what the tool answers); in words for the model.
    """
    for pattern, reader in ((_TAG, _tagged), (_FUNCTION, _function)):
        found = list(pattern.finditer(text))
        if found:
            calls = [call for match in found for call in reader(match, names)]
            _nothing_behind(text[found[-1].end() :])
            return Narrated(tuple(calls), text[: found[0].start()].strip())
    mark = _MARK.search(text)
    if mark is not None:
        value, _ = _json(text[mark.end() :])
        return Narrated(_shaped(value, names), text[: mark.start()].strip())
    react = _REACT.search(text)
    if react is not None:
        before = re.sub(r"^Thought:[ \t]*", "", text[: react.start()].strip())
        return Narrated(((react.group(1), react.group(2)),), before)
    return _written(text, names)


def _written(text: str, names: Collection[str]) -> Narrated | None:
    """A call in a fence at the end, or a text that is a call from end to end: JSON or Python."""
    before, inner = "", fenced(text)
    if inner is None:
        fences = list(_FENCE.finditer(text))
        if len(fences) == 1 and not text[fences[0].end() :].strip():
            before, inner = text[: fences[0].start()].strip(), fences[0].group(1)
    candidate = (inner if inner is not None else text).strip()
    try:
        value, _ = read_json(candidate)
        calls = calls_in(value, names)
    except ValueError:
        calls = _pythonic(candidate, names)
    return Narrated(calls, before) if calls else None


def calls_in(value: Any, names: Collection[str]) -> tuple[tuple[str, str], ...]:
    """The calls that a JSON value is: an object with the name of a tool and its arguments, or a list of such; empty
    when it is none."""
    if isinstance(value, Mapping) and isinstance(value.get("tool_calls"), list):
        value = value["tool_calls"]
    items = value if isinstance(value, list) else [value]
    calls = []
    for item in items:
        call = _call(item, names)
        if call is None:
            return ()
        calls.append(call)
    return tuple(calls)


def _call(item: Any, names: Collection[str]) -> tuple[str, str] | None:
    if not isinstance(item, Mapping):
        return None
    if isinstance(item.get("function"), Mapping):
        item = item["function"]
    name = next(
        (item[key] for key in ("name", "tool", "tool_name", "function") if isinstance(item.get(key), str)), None
    )
    holder = next((key for key in ("arguments", "parameters", "args", "input") if key in item), None)
    if (
        name is None
        or holder is None
        or name.casefold().rpartition(".")[2] not in {known.casefold() for known in names}
    ):
        return None
    arguments = item[holder]
    return name, arguments if isinstance(arguments, str) else canonical_json(arguments)


def _shaped(value: Any, names: Collection[str]) -> tuple[tuple[str, str], ...]:
    calls = calls_in(value, names)
    if not calls:
        raise ValueError("it names none of the tools, or no arguments")
    return calls


def _json(text: str) -> tuple[Any, tuple[str, ...]]:
    try:
        return read_json(text)
    except ValueError as error:
        raise ValueError(f"the tool call in your text can't be read: {error}") from None


def _tagged(match: re.Match[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    inner = match.group(2).strip()
    functions = list(_FUNCTION.finditer(inner))
    if functions:
        for function in functions:
            yield from _function(function, names)
    else:
        yield from _shaped(_json(inner)[0], names)


def _function(match: re.Match[str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    inner = match.group(2).strip()
    parameters = _PARAMETER.findall(inner)
    if parameters:
        if len({name for name, _ in parameters}) < len(parameters):
            raise ValueError("the tool call in your text gives an argument twice")
        yield match.group(1), canonical_json(dict(parameters))
    else:
        yield match.group(1), inner


def _pythonic(text: str, names: Collection[str]) -> tuple[tuple[str, str], ...]:
    """``search(query="x")`` or a list of such, with named arguments that are plain values."""
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return ()
    calls = []
    for node in body.elts if isinstance(body, ast.List) else [body]:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in names:
            return ()
        if node.args or not node.keywords or any(word.arg is None for word in node.keywords):
            return ()
        try:
            given = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
            calls.append((node.func.id, canonical_json(given)))
        except (ValueError, TypeError):
            return ()
    return tuple(calls)


def _nothing_behind(text: str) -> None:
    if re.sub(rf"</?(?:{'|'.join(_TAGS)})>|<[|｜][^<>]*[|｜]>", "", text).strip():
        raise ValueError("your text goes on behind the tool call: what the tool says comes from the tool alone")


def announces(text: str, names: Collection[str]) -> bool:
    """Whether ``text`` looks like a tool call, or says that one comes: it is not an answer then."""
    if _LOOKS.search(text):
        return True
    known = "|".join(re.escape(name) for name in sorted(names))
    if not known:
        return False
    if re.search(rf"\b(?:{known})\s*\(\s*(?:\w+\s*=|[\"'])", text):
        return True
    if re.search(rf"\"(?:name|tool)\"\s*:\s*\"(?:{known})\"", text):
        return True
    return len(text) <= 400 and _INTENT.fullmatch(text.strip().split("\n")[-1].strip()) is not None
