"""Sentences compiled to pieces, once, so that writing a page is a loop over tuples."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from synth.sources.world.schema import ENTITY_TYPES, JOINTS, RELATIONS

__all__ = [
    "AN",
    "FAMILY",
    "IS",
    "OBJECT",
    "POSSESSIVE",
    "SUBJECT",
    "THEIR",
    "THEM",
    "THEY",
    "Page",
    "SectionProgram",
    "Sentence",
    "Unit",
    "compiled",
    "page_plan",
]

SUBJECT, POSSESSIVE, AN, THEIR, THEM, THEY, IS, OBJECT = 0, 1, 2, 3, 4, 5, 6, 10
"""Slots. ``OBJECT + k`` is the object of the k-th relation of the sentence."""

FAMILY = frozenset({"child_of", "parent_of", "spouse"})
"""Relations between people of one surname: the subject is named in full there, or by a pronoun."""

_SLOT = re.compile(r"(\{s\}'s|\{\w+\})")
_CODES = {
    "{s}": SUBJECT,
    "{s}'s": POSSESSIVE,
    "{an}": AN,
    "{their}": THEIR,
    "{them}": THEM,
    "{they}": THEY,
    "{is}": IS,
    "{o}": OBJECT,
    "{o2}": OBJECT + 1,
    "{o3}": OBJECT + 2,
}


@dataclass(frozen=True)
class Sentence:
    pieces: tuple[str | int, ...]
    opens: bool
    """The subject is the first thing in the sentence, so a pronoun may stand for it and the next may refer back."""
    by_name: bool = False
    """The sentence holds the noun of the subject's type: "the twin city of the city" needs the name instead."""


@dataclass(frozen=True)
class Unit:
    """One or more relations told by one sentence."""

    relations: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    always: bool = False


@dataclass(frozen=True)
class SectionProgram:
    headings: tuple[str, ...]
    forward: tuple[str, ...]
    inverse: tuple[str, ...]
    joints: tuple[Unit, ...]
    free: bool


@dataclass(frozen=True)
class Page:
    """All that pages of one type may say."""

    leads: tuple[Unit, ...]
    sections: tuple[SectionProgram, ...]
    single: Mapping[str, Unit]
    fillers: tuple[Sentence, ...]
    fillers_alive: tuple[Sentence, ...]
    """Those that suit a living person."""
    forward: tuple[str, ...]
    inverse: tuple[str, ...]
    general: int
    """The section that filler suits best."""
    asides: frozenset[str]
    """What the second sentence of an opening may tell."""


@cache
def compiled(text: str) -> Sentence:
    """A template as pieces: literal strings and slot numbers.

    Raises:
        KeyError: a slot is unknown.
    """
    pieces = tuple(_CODES[part] if part.startswith("{") else part for part in _SLOT.split(text) if part)
    return Sentence(pieces, opens=pieces[0] in (SUBJECT, POSSESSIVE))


def _sentences(kind: str, texts: tuple[str, ...]) -> tuple[Sentence, ...]:
    """Templates compiled for subjects of a type."""
    noun = ENTITY_TYPES[kind].noun
    out = []
    for text in texts:
        words = set(re.findall(r"[a-z]+", _SLOT.sub(" ", text.lower())))
        out.append(replace(compiled(text), by_name=noun in words))
    return tuple(out)


@cache
def page_plan(kind: str) -> Page:
    """The program for pages of a type. Relations that no section names are told in the first one."""
    mine = [item for item in RELATIONS.values() if kind in item.subject_types]
    planned = {name for plan in ENTITY_TYPES[kind].sections for name in plan.relations}
    rest = tuple(item.name for item in mine if item.name not in planned)
    sections = []
    for at, plan in enumerate(ENTITY_TYPES[kind].sections):
        names = plan.relations + (rest if at == 0 else ())
        joints = tuple(
            Unit(joint.relations, _sentences(kind, joint.page), joint.always)
            for joint in JOINTS
            if set(joint.relations) <= set(names)
        )
        sections.append(
            SectionProgram(
                headings=plan.headings,
                forward=tuple(name for name in names if RELATIONS[name].primary),
                inverse=tuple(name for name in names if not RELATIONS[name].primary),
                joints=joints,
                free=not plan.in_order,
            )
        )
    return Page(
        leads=tuple(Unit(joint.relations, _sentences(kind, joint.page)) for joint in ENTITY_TYPES[kind].opening),
        sections=tuple(sections),
        single={item.name: Unit((item.name,), _sentences(kind, item.sentences)) for item in mine},
        fillers=_sentences(kind, tuple(item.text for item in ENTITY_TYPES[kind].fillers)),
        fillers_alive=_sentences(kind, tuple(item.text for item in ENTITY_TYPES[kind].fillers if not item.after_death)),
        forward=tuple(item.name for item in mine if item.primary),
        inverse=tuple(item.name for item in mine if not item.primary),
        general=ENTITY_TYPES[kind].filler_section,
        asides=_asides(kind),
    )


def _asides(kind: str) -> frozenset[str]:
    # A person is known for works; of all else, a plain fact may follow the opening.
    names = {
        item.name
        for item in RELATIONS.values()
        if kind in item.subject_types and item.primary == (kind != "person") and item.name not in _PRIVATE
    }
    return frozenset(names)


_PRIVATE = frozenset({"parent_of", "dedicatee_of", "depicted_in", "successor", "mentored"})
