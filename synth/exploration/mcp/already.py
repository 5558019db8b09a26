"""Whether a call would change nothing: a request to set a priority to "high" makes no sense when it is high already.

That a call changed something does not tell: a server may write the same line anew, in another order or with another
date. What counts is what the server shows of the thing that the call is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from synth.exploration.mcp.book import Book, holes
from synth.exploration.mcp.listings import squeezed, verb_of, without_target, words_of
from synth.exploration.mcp.reading import value_of
from synth.lexicon.reading import phrases
from synth.text.inflection import singular

__all__ = ["is_so"]

_LISTS = phrases("word_lists")
_SAME = dict(pair.split(": ") for pair in _LISTS["same_states"])
_TAKES = frozenset({*_LISTS["removing_verbs"], "resolve", "clear", "reset"})
_STATUS = ("status", "state")


def is_so(
    book: Book,
    tool: str,
    template: Mapping[str, Any],
    arguments: Mapping[str, Any],
    bound: Mapping[str, Mapping[str, str]],
    shown: Sequence[tuple[Mapping[str, Any], str]],
) -> bool:
    """Whether everything that a call sets is so already, or the thing is already what the tool makes it.

    Args:
        template: The arguments before their holes were filled.
        bound: Slot -> parts of what was drawn for it.
        shown: What the server shows: arguments of looks, and answers.
    """
    taken = [(slot, part) for slot, part in holes(template) if slot.split("#")[0] in book.records]
    if not taken:
        return False
    settings = [
        (name, value)
        for name, inner, value in _leaves(template, arguments)
        if not any(slot.split("#")[0] in book.records for slot, _ in holes(inner))
    ]
    below = [slot for slot, _ in taken if book.records[slot.split("#")[0]].arguments_have_holes]
    slot = below[0] if below else taken[-1][0]  # of a thing below another, the thing itself
    parts, name = bound.get(slot, {}), book.records[slot.split("#")[0]].names
    fields = {part for one, part in taken if one == slot and part} | ({name} if name else set())
    known = {field: parts[field] for field in sorted(fields) if field in parts}
    given = {str(value) for _, inner, value in _leaves(template, arguments) if slot in {one for one, _ in holes(inner)}}
    found = [*_objects(shown, known, given), parts]
    if settings:
        return all(any(_has(one, name, value) for one in found) for name, value in settings)
    states = _states(tool)
    return any(_is_in(one, states) or _lacks(one, tool) for one in found)


def _leaves(template: Mapping[str, Any], arguments: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """(name, template, value) of every argument; lists count as one, objects are opened."""
    for name, value in arguments.items():
        inner = template.get(name)
        if isinstance(value, dict) and isinstance(inner, dict):
            yield from _leaves(inner, value)
        else:
            yield name, inner, value


def _objects(
    shown: Iterable[tuple[Mapping[str, Any], str]], known: Mapping[str, str], given: Iterable[str]
) -> Iterator[Mapping[str, Any]]:
    """All that is shown of the thing with these fields, or that calls take as ``given`` (the way to a file): objects
    anywhere in values, and lines of texts about it."""
    taken = {*known.values(), *given}
    for arguments, content in shown:
        try:
            value = value_of(content)
        except ValueError:
            if taken & {str(value) for _, _, value in _leaves({}, arguments)}:
                yield {line["key"]: line["value"] for line in _LINE.finditer(content)}
            continue
        if isinstance(value, dict) and taken & {str(one) for _, _, one in _leaves({}, arguments)}:
            yield value
        yield from _with(value, known)


_LINE = re.compile(r"^[\s*#-]*(?P<key>[A-Za-z][A-Za-z _-]{1,30}?)\**: *\**(?P<value>\S.{0,60}?)\**$", re.MULTILINE)


def _with(value: Any, known: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, dict):
        same = [str(value[field]) == told for field, told in known.items() if field in value]
        if same and all(same):
            yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _with(item, known)


def _has(thing: Mapping[str, Any], name: str, value: Any) -> bool:
    wanted = singular("".join(without_target(name)))
    for field, told in thing.items():
        plain = singular(squeezed(field))
        if wanted == plain or (wanted.endswith(plain) and plain in _STATUS):
            if _plain(told) == _plain(value):
                return True
            if isinstance(told, list) and not isinstance(value, list | dict):
                return _plain(value) in map(_plain, told)
    return False


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return sorted(str(_plain(item)) for item in value)
    return " ".join(re.split(r"[\W_]+", str(value).casefold())).strip()


def _lacks(thing: Mapping[str, Any], tool: str) -> bool:
    """Whether the tool takes away what the thing does not have: ``resolve_blocker``, with no blockers."""
    if verb_of(tool) not in _TAKES:
        return False
    return any(not told and singular(squeezed(field)) in words_of(tool) for field, told in thing.items())


def _states(tool: str) -> frozenset[str]:
    """What a thing is once the tool was called: of ``complete_task`` and ``mark_task_done``, completed and done."""
    forms: set[str] = set()
    for word in words_of(tool):
        forms |= {word, f"{word}d" if word.endswith("e") else f"{word}ed"}
    same = {_SAME[form] for form in forms if form in _SAME}
    return frozenset(forms | same | {form for form, other in _SAME.items() if other in forms | same})


def _is_in(thing: Mapping[str, Any], states: frozenset[str]) -> bool:
    for field, told in thing.items():
        if told is True and squeezed(field) in states:
            return True
        if squeezed(field) in _STATUS and isinstance(told, str) and squeezed(told) in states:
            return True
    return False
