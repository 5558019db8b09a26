"""What a sentence states, read from its words alone: the inverse of the templates that pages are written with."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from synth.sources.world.schema import ENTITY_TYPES, JOINTS, RELATIONS

__all__ = ["Statement", "says", "statements"]

_SLOT = re.compile(r"(\{s\}'s|\{\w+\})")
_WORDS = {
    "{s}": r"(?P<s>.+?)",
    "{s}'s": r"(?P<s>.+?|[Hh]is|[Hh]er|[Ii]ts)(?:['’]s?)?",
    "{an}": "an?",
    "{is}": "(?:is|was)",
    "{their}": "(?:his|her|its|their)",
    "{them}": "(?:him|her|it|them)",
    "{they}": "(?:he|she|it|they)",
    "{o}": "(?P<o>.+?)",
    "{o2}": "(?P<o2>.+?)",
    "{o3}": "(?P<o3>.+?)",
}
_ALIAS = re.compile(r" \((?:in full|full name|officially|formerly|known until|also called|scientific name)[^()]*\)")


class Statement(NamedTuple):
    """``relation`` is a primary one, and ``subject`` and ``object`` are its ends, each as the sentence has it."""

    relation: str
    subject: str
    object: str
    of_subject: bool
    """Whether the page is about the subject; else it is about the object."""


def says(
    text: str,
    relation: str,
    forward: bool,
    *,
    source: str = "",
    target: str = "",
    of_target: bool = False,
    alone: bool = False,
) -> bool | None:
    """Whether a sentence states a hop, whatever its other end; None where it is worded in no way that is known.

    ``source`` and ``target`` must stand at those ends; ``of_target``: the page that it stands on is about the target;
    ``alone``: the target has no other source than the one that it names.
    """
    made = statements(text)
    if not made or relation not in RELATIONS:
        return None
    item = RELATIONS[relation]
    if not item.primary and item.inverse is not None:
        relation, forward = item.inverse, not forward
    for one in made:
        ends = (one.subject.casefold(), one.object.casefold())
        for ahead in (True, False) if item.inverse == item.name else (forward,):
            if alone and not (RELATIONS[relation].inverse_functional if ahead else RELATIONS[relation].functional):
                continue
            begins, finishes = ends if ahead else ends[::-1]
            fits = source.casefold() in begins and target.casefold() in finishes
            if one.relation == relation and fits and (not of_target or one.of_subject != ahead):
                return True
    return False


@lru_cache(maxsize=65536)
def statements(text: str) -> tuple[Statement, ...]:
    """What a sentence of the generated world states, by the template that says most of its words; nothing where it is
    worded in no way that is known."""
    text = _ALIAS.sub("", text).strip("… ")  # a snippet leaves out what stands between its sentences
    found: list[Statement] = []
    most = 0
    for literal, said, relations, pattern in _likely(text):
        if said < most:
            break
        match = pattern.fullmatch(text) if literal in text else None
        if match is None:
            continue
        most = said
        for relation, slot in zip(relations, ("o", "o2", "o3"), strict=False):
            subject, value = match.groupdict().get("s", ""), match[slot]
            item = RELATIONS[relation]
            if item.value_kind == "entity" and value.islower():
                continue  # "Snow lies in the gullies": no name, so no thing
            if item.primary or item.inverse is None:
                found.append(Statement(relation, subject, value, of_subject=True))
            else:
                found.append(Statement(item.inverse, value, subject, of_subject=False))
    return tuple(dict.fromkeys(found))


class _Template(NamedTuple):
    literal: str
    """Its longest words."""
    said: int
    """How many letters it gives."""
    relations: tuple[str, ...]
    """Those that it tells, in order."""
    pattern: re.Pattern[str]


def _likely(text: str) -> list[_Template]:
    """The templates that ``text`` may be worded by, those first that say most."""
    templates, by_word = _by_word()
    places = {place for word in ("", *text.split(" ")) for place in by_word.get(word, ())}
    return [templates[place] for place in sorted(places)]


@cache
def _by_word() -> tuple[tuple[_Template, ...], dict[str, list[int]]]:
    """All templates, those first that say most; and the places of those that a word points to, the rarest whole word
    of each. No word points to a template that gives none."""
    made = []
    for names, text in _templates():
        literal = _SLOT.split(text.replace("{is}", "is"))[::2]
        whole = [word for word in text.split(" ") if word and not _SLOT.search(word)]
        one = _Template(max(_SLOT.split(text)[::2], key=len), sum(map(len, literal)), names, _pattern(text))
        made.append((one, whole))
    made.sort(key=lambda pair: -pair[0].said)
    often = Counter(word for _, whole in made for word in whole)
    found: dict[str, list[int]] = {}
    for place, (_, whole) in enumerate(made):
        found.setdefault(min(whole, key=lambda word: (often[word], word), default=""), []).append(place)
    return tuple(one for one, _ in made), found


def _templates() -> Iterator[tuple[tuple[str, ...], str]]:
    for item in RELATIONS.values():
        yield from (((item.name,), text) for text in item.sentences)
    for joint in (*JOINTS, *(one for entry in ENTITY_TYPES.values() for one in entry.opening)):
        yield from ((joint.relations, text) for text in joint.page)


def _pattern(template: str) -> re.Pattern[str]:
    parts = _SLOT.split(template)
    return re.compile("".join(_WORDS.get(part, re.escape(part)) for part in parts))
