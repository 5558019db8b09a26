"""What a sentence offers as an answer to a clue: linked names, names, dates, numbers, quantities, short texts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from synth.agents.scripted.matching import FUNCTION_WORDS
from synth.environments.shown import Passage
from synth.schemas.documents import ValueKind
from synth.text.dates import DATE, YEAR
from synth.text.numbers import NUMBER

__all__ = ["Option", "listed_with", "options_in"]

_UNIT = re.compile(r"\s?(?:%|(?:square |cubic |sq )?[^\W\d_]+²?)")
_NAME = re.compile(r"[A-Z][\w'’.-]*(?:\s+(?:(?:of|the|de|von|van|and)\s+)*(?:[A-Z][\w'’-]*|\d+))*")
_CODE = re.compile(r"\"[^\"]{1,80}\"|“[^”]{1,80}”|`[^`]{1,80}`|\b\w+(?:[._]\w+)+(?:\(\))?|--?[a-z][\w-]+")


@dataclass(frozen=True)
class Option:
    """Something that a clue's unknown could be."""

    text: str
    sentence: Passage
    place: str | None = None
    """The page that the option links to, or the place on one."""

    @property
    def document(self) -> str | None:
        return None if self.place is None else self.place.split("#", 1)[0]


@lru_cache(maxsize=65536)
def options_in(sentence: Passage, kind: ValueKind) -> tuple[Option, ...]:
    """The options of ``kind`` in ``sentence``, in reading order, each once."""
    text = sentence.text
    if kind == "date":
        found: Iterable[str] = (match.group() for match in DATE.finditer(text))
    elif kind == "year":
        found = (match.group() for match in YEAR.finditer(text))
    elif kind in ("number", "quantity"):
        # The parts of a date are no numbers, and a page of years is no quantity.
        masked = DATE.sub(lambda match: " " * len(match.group()), text)
        found = (_with_unit(masked, match, kind) for match in NUMBER.finditer(masked))
    else:
        linked = tuple(Option(item.anchor, sentence, item.place) for item in sentence.links)
        if kind == "entity" and linked:
            return tuple(dict.fromkeys(linked))
        runs = [match.group().rstrip(".") for match in _NAME.finditer(text)]
        names = [run for run in runs if run.casefold() not in FUNCTION_WORDS]
        quoted = [match.group().strip('"“”`') for match in _CODE.finditer(text)] if kind == "text" else []
        plain = [Option(name, sentence) for name in dict.fromkeys((*quoted, *names))]
        return (*dict.fromkeys(linked), *plain)
    return tuple(Option(item, sentence) for item in dict.fromkeys(found))


def _with_unit(text: str, match: re.Match[str], kind: ValueKind) -> str:
    if kind == "number":
        return match.group()
    unit = _UNIT.match(text, match.end())
    return match.group() + (unit.group().rstrip() if unit else "")


def listed_with(option: Option) -> list[str]:
    """All names of the list "A, B and C" that the option is part of, in order; empty when it stands alone."""
    sentence = option.sentence
    names = [item.anchor for item in sentence.links]
    if option.text not in names or len(names) < 2:
        return []
    joint = re.compile(r"(?:,\s*(?:and\s+)?|\s+and\s+)(?:the\s+)?")
    runs: list[list[str]] = []
    at = 0
    previous_end: int | None = None
    for name in names:
        start = sentence.text.find(name, at)
        if start < 0:
            return []
        if previous_end is not None and joint.fullmatch(sentence.text[previous_end:start]):
            runs[-1].append(name)
        else:
            runs.append([name])
        at = previous_end = start + len(name)
    return next((run for run in runs if option.text in run and len(run) > 1), [])
