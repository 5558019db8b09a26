"""Arguments of tools: their JSON Schema, what is wrong with given ones in words, and what is bound to a statement.

Texts are normalized (NFC, no space around them), so that a state does not depend on how a letter was encoded.
Characters that no reader sees or that turn the direction of a line are refused by name: they would make two ids look
like one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from synth.environments.app.definition import Argument
from synth.identity import canonical_json
from synth.patterns import fits

__all__ = ["bound", "page_argument", "parameters", "problem_with"]

_TEXT, _NOTE, _LIST = 120, 2_000, 20
"""Code points of a line and of a note, items of a list, where the definition gives no bound."""
_LARGEST = 10**12
_FORMS = {"date": ("%Y-%m-%d", "YYYY-MM-DD"), "datetime": ("%Y-%m-%d %H:%M", "YYYY-MM-DD HH:MM")}
_SHAPES = {"date": r"^\d{4}-\d{2}-\d{2}$", "datetime": r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$"}
_TYPES = {"integer": "integer", "money": "integer", "boolean": "boolean", "list": "array"}
_SAID = {
    "integer": "a whole number",
    "money": "a whole number of cents",
    "boolean": "true or false",
    "date": "a date (YYYY-MM-DD)",
    "datetime": "a time (YYYY-MM-DD HH:MM)",
    "list": "a list",
}
_JOINERS = "\u200c\u200d\ufe0f"
"""Invisible, and part of how some scripts and emoji are written: allowed in notes."""


def page_argument() -> Argument:
    """What a tool with a long list takes beside its own arguments."""
    return Argument(type="integer", about="Which page of the list; the first if not given.", optional=True, least=1)


def parameters(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """JSON Schema of all arguments of a tool."""
    return {
        "type": "object",
        "properties": {name: _schema(argument) for name, argument in arguments.items()},
        "required": [name for name, argument in arguments.items() if not argument.optional],
        "additionalProperties": False,
    }


def _schema(argument: Argument) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _TYPES.get(argument.type, "string"), "description": argument.about}
    if argument.among:
        schema["enum"] = list(argument.among)
    elif argument.type in ("text", "note"):
        low, high = _length(argument)
        schema |= {"minLength": low, "maxLength": high}
        if argument.pattern is not None:
            schema["pattern"] = f"^(?:{argument.pattern})$"
    elif argument.type in _SHAPES:
        schema["pattern"] = _SHAPES[argument.type]
    elif argument.type in ("integer", "money"):
        low, high = _range(argument)
        schema |= {"minimum": low, "maximum": high}
    elif argument.type == "list":
        low, high = _length(argument)
        schema |= {"minItems": low, "maxItems": high}
        schema["items"] = parameters(argument.fields) if argument.of is None else _schema(argument.of)
    return schema


def _length(argument: Argument) -> tuple[int, int]:
    usual = {"note": _NOTE, "list": _LIST}.get(argument.type, _TEXT)
    return (
        1 if argument.least is None else argument.least,
        usual if argument.most is None else argument.most,
    )


def _range(argument: Argument) -> tuple[int, int]:
    low = (1 if argument.type == "money" else -_LARGEST) if argument.least is None else argument.least
    return low, _LARGEST if argument.most is None else argument.most


def problem_with(arguments: Mapping[str, Argument], given: Mapping[str, Any], place: str = "") -> str | None:
    """None when all is well; else what is wrong, in one line that quotes no more than a little of it."""
    for name in given:
        if name not in arguments:
            known = ", ".join(arguments) or "none"
            return f"{place}there is no argument {_short(name)} (the arguments are: {known})"
    for name, argument in arguments.items():
        if name not in given:
            if not argument.optional:
                return f"{place}{name} is missing ({argument.about[0].lower()}{argument.about[1:].rstrip('.')})"
            continue
        problem = _problem(argument, given[name], f"{place}{name}")
        if problem is not None:
            return problem
    return None


def _problem(argument: Argument, value: Any, place: str) -> str | None:
    kind = argument.type
    if kind in ("integer", "money"):
        whole = _whole(value)
        low, high = _range(argument)
        if whole is None:
            return f"{place} must be {_SAID[kind]}, not {_short(value)}"
        if not low <= whole <= high:
            return (
                f"{place} must lie between {low:,} and {high:,}, not be {whole if abs(whole) < 10**15 else 'so large'}"
            )
        return None
    if kind == "boolean":
        return None if isinstance(value, bool) else f"{place} must be true or false, not {_short(value)}"
    if kind == "list":
        return _list_problem(argument, value, place)
    if not isinstance(value, str):
        return f"{place} must be {_SAID.get(kind, 'a text')}, not {_short(value)}"
    return _text_problem(argument, value, place)


def _list_problem(argument: Argument, value: Any, place: str) -> str | None:
    if not isinstance(value, list):
        return f"{place} must be a list, not {_short(value)}"
    low, high = _length(argument)
    if not low <= len(value) <= high:
        return f"{place} must hold {low} to {high} items, not {len(value)}"
    for number, item in enumerate(value, start=1):
        where = f"{place}, item {number}"
        if argument.of is not None:
            problem = _problem(argument.of, item, where)
        elif isinstance(item, dict):
            problem = problem_with(argument.fields, item, f"{where}: ")
        else:
            problem = f"{where} must be an object with {', '.join(argument.fields)}, not {_short(item)}"
        if problem is not None:
            return problem
    return None


def _text_problem(argument: Argument, value: str, place: str) -> str | None:
    low, high = _length(argument)
    if len(value) > max(high, _NOTE):
        return f"{place} is too long: {len(value):,} characters, at most {high:,}"
    hidden = _hidden(value, note=argument.type == "note")
    if hidden is not None:
        return f"{place} holds {hidden}, which can't be part of it"
    text = _clean(value)
    if argument.among:
        return (
            None
            if text in argument.among
            else f"{place} must be one of {', '.join(argument.among)}, not {_short(text)}"
        )
    if argument.type in _FORMS:
        form, said = _FORMS[argument.type]
        try:
            right = datetime.strptime(text, form).strftime(form) == text and text.isascii()
        except ValueError:
            right = False
        return (
            None
            if right
            else f"{place} must be a {'date' if form == _FORMS['date'][0] else 'time'} as {said}, not {_short(text)}"
        )
    if len(text) < low:
        return f"{place} is empty" if not text else f"{place} is too short: at least {low} characters"
    if len(text) > high:
        return f"{place} is too long: {len(text):,} characters, at most {high:,}"
    if argument.pattern is not None and not fits(argument.pattern, text):
        return f"{place} is not of the right form ({argument.about.rstrip('.')}): {_short(text)}"
    return None


def _hidden(text: str, *, note: bool) -> str | None:
    """The first character that a reader would not see as what it is, by name."""
    for sign in text:
        kind = unicodedata.category(sign)
        if kind in ("Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp") or sign == "\ufe0f":
            if note and (sign in "\n\t" or sign in _JOINERS):
                continue
            name = unicodedata.name(sign, "")
            if sign in "\n\r\t":
                name = {"\n": "a line break", "\r": "a carriage return", "\t": "a tab"}[sign]
                return name
            return f"the character U+{ord(sign):04X}" + (f" ({name.lower()})" if name else "")
    return None


def _whole(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _clean(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _short(value: Any) -> str:
    """A value as it was given, on one line, a little of it."""
    text = value if isinstance(value, str) else canonical_json(value) if not isinstance(value, float) else repr(value)
    text = "".join(sign if sign.isprintable() else "�" for sign in " ".join(text[:400].split()))
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    return f"'{shown}'" if isinstance(value, str) else shown


def bound(arguments: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Values for the statements, of arguments that were found right: lists as JSON, what was not given as None."""
    return {name: _bound(argument, given.get(name)) for name, argument in arguments.items()}


def _bound(argument: Argument, value: Any) -> Any:
    if value is None:
        return None
    if argument.type == "list":
        return canonical_json([_item(argument, item) for item in value])
    if argument.type == "boolean":
        return int(value)
    if argument.type in ("integer", "money"):
        return _whole(value)
    return _clean(value)


def _item(argument: Argument, item: Any) -> Any:
    return _bound(argument.of, item) if argument.of is not None else bound(argument.fields, item)
