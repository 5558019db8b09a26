"""Reads sentences of the world's pages back, by the templates that they were written with: the proof of the lexicon."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from synth.sources.world.schema import ENTITY_TYPES, JOINTS, PRESENT_YEAR, RELATIONS
from synth.sources.world.vocabulary import TEXT_VALUES


@dataclass(frozen=True)
class Reading:
    """A fact that a sentence states: ``subject`` and ``objects`` as written, articles off.

    ``subject`` may be a short name or a pronoun, and is empty when the sentence leaves it out.
    """

    relation: str
    subject: str
    objects: tuple[str, ...]


@dataclass(frozen=True)
class _Pattern:
    relations: tuple[str, ...]
    anchor: str
    """The longest literal of the template: a sentence without it can't match, and ``in`` is cheaper than a match."""
    regex: re.Pattern[str]
    kinds: frozenset[str]
    """Types of the subject."""


_VALUE_FORMS = {
    "date": r"\d{1,2} [A-Z][a-z]+ \d{3,4}",
    "year": r"\d{3,4}",
    "number": r"\d{1,3}(?:,\d{3})*",
}


_SLOTS = re.compile(r"(\{\w+\})")


def _regex(text: str, relations: tuple[str, ...]) -> re.Pattern[str]:
    out, used = [], set()
    for part in _SLOTS.split(text):
        if part == "{s}":
            out.append("(?P<s>.+?)" if "s" not in used else "(?P=s)")
            used.add("s")
        elif part in ("{o}", "{o2}", "{o3}"):
            at = 0 if part == "{o}" else int(part[2]) - 1
            relation = RELATIONS[relations[at]]
            if relation.value_kind == "entity":
                form = ".+?"
            elif relation.value_kind == "quantity":
                form = rf"\d{{1,3}}(?:,\d{{3}})* {relation.unit}"
            elif relation.value_kind == "text":
                known = {text for kind in relation.subject_types for text in TEXT_VALUES[relation.name, kind]}
                form = "|".join(sorted(known, key=lambda item: (-len(item), item)))
            else:
                form = _VALUE_FORMS[relation.value_kind]
            out.append(f"(?P<o{at}>{form})")
        elif part == "{an}":
            out.append("an?")
        elif part == "{their}":
            out.append("(?:his|her|its)")
        elif part == "{them}":
            out.append("(?:him|her|it)")
        elif part == "{they}":
            out.append("(?:he|she|it)")
        elif part == "{is}":
            out.append("(?:is|was)")
        else:
            out.append(re.escape(part))
    # A possessive pronoun stands for "{s}'s".
    pattern = "".join(out).replace(
        "(?P<s>.+?)'s", "(?P<s>.+?)(?:'s|(?<=His)|(?<=Her)|(?<=Its)|(?<=his)|(?<=her)|(?<=its))"
    )
    return re.compile(pattern)


def _kinds(relations: tuple[str, ...]) -> frozenset[str]:
    return frozenset.intersection(*(frozenset(RELATIONS[name].subject_types) for name in relations))


@cache
def _patterns() -> tuple[_Pattern, ...]:
    texts: list[tuple[tuple[str, ...], str]] = []
    for item in RELATIONS.values():
        texts += [((item.name,), text) for text in item.sentences]
    joints = [*JOINTS, *(lead for kind in ENTITY_TYPES.values() for lead in kind.opening)]
    texts += [(joint.relations, text) for joint in joints for text in joint.page]
    out = []
    for relations, text in dict.fromkeys(texts):
        # The ends of a sentence may be capitalised or a slot: only what stands inside is a safe anchor.
        literals = [part for part in _SLOTS.split(text) if part and not part.startswith("{")]
        inner = (part[1:] if text.startswith(part) else part.removeprefix("'s") for part in literals)
        anchor = max(inner, key=len)
        out.append(_Pattern(relations, anchor, _regex(text, relations), _kinds(relations)))
    return tuple(out)


@cache
def _patterns_of(kind: str | None) -> tuple[_Pattern, ...]:
    return tuple(item for item in _patterns() if kind is None or kind in item.kinds)


def read_sentence(
    sentence: str, names: Collection[str] | None = None, *, kind: str | None = None
) -> tuple[Reading, ...]:
    """The facts that a sentence of a page may state; none when it matches no template.

    "A was a parent of B" reads both as ``parent_of(A, B)`` and as ``child_of(B, A)``: ``subject`` tells which is which.

    Args:
        sentence: one sentence, with its full stop.
        kind: entity type that the page is about; relations that don't apply to it are left out.
        names: names that the reader knows. If given, a reading whose object is an entity counts only when the object
            (or every item of a list) is one of them; it also tells "A and B" from a title that holds "and".
    """
    found: dict[Reading, None] = {}
    for pattern in _patterns_of(kind):
        if pattern.anchor not in sentence:
            continue
        match = pattern.regex.fullmatch(sentence)
        if match is None:
            continue
        readings: list[Reading] = []
        for at, name in enumerate(pattern.relations):
            relation = RELATIONS[name]
            text = match.group(f"o{at}")
            year_off = relation.value_kind == "year" and not 100 <= int(text) <= PRESENT_YEAR
            entity = relation.value_kind == "entity"
            objects = _items(text, relation.functional, names) if entity else (text,)
            if year_off or not objects:
                readings = []
                break
            readings.append(Reading(name, _bare(match.groupdict().get("s") or ""), objects))
        found.update(dict.fromkeys(readings))
    return tuple(found)


def _bare(text: str) -> str:
    return text[4:] if text.startswith(("the ", "The ")) and text[4:5].isupper() else text


def _items(text: str, single: bool, names: Collection[str] | None) -> tuple[str, ...]:
    """The names in "A, B and C"; empty when one is unknown."""
    if names is None:
        if single:
            return (_bare(text),)
        parts = re.split(r", (?:and )?| and (?=[A-Z]|the [A-Z])", text)
        return tuple(_bare(part) for part in parts)
    for form in (text, _bare(text)):
        if form in names:
            return (form,)
    if single:
        return ()
    for cut in re.finditer(r", | and ", text):
        for head in (text[: cut.start()], _bare(text[: cut.start()])):
            if head in names and (rest := _items(text[cut.end() :], False, names)):
                return (head, *rest)
    return ()
