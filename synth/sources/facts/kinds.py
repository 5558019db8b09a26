"""Infers what kind of thing an entity is from its relations, where the file gives no type."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from synth.lexicon.reading import kinds_by_facts
from synth.sources.facts.words import plain_label

__all__ = ["kinds_of_objects", "kinds_of_subjects"]

_OF = re.compile(r"(?:is (?:an? )?)?([a-z]+) of")
_RELATIVE = frozenset(
    "child son daughter parent mother father sibling brother sister spouse wife husband colleague student".split()
)
_NO_KIND = frozenset(
    """part member kind type sort instance example class subclass piece number name date year place cause title size
    length height age case form version copy out because made north south east west edge point native most full head
    side front top capable consists""".split()
)
"""Nouns before "of" that relate two things and do not name a kind: "part of"."""
_WIDE = frozenset(("work", "organisation", "place"))
"""Broad kinds that contain others."""
_UNIT = re.compile(r" ?[(\[][^)\]]*[)\]]$")


def kinds_of_subjects(facts: Mapping[str, Sequence[tuple[str, str]]], labels: Mapping[str, str]) -> dict[str, str]:
    """Kinds that follow from the relations of which an entity is the subject: id -> kind.

    Args:
        facts: Relation -> its (subject, object) ids.
        labels: Relation -> its label.
    """
    plain = _plain(labels)
    order = {kind: place for place, kind in enumerate(dict.fromkeys(kinds_by_facts("subject").values()))}
    told: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    named: dict[str, str] = {}
    for relation, pairs in facts.items():
        noun = _noun(plain[relation])
        kind = kinds_by_facts("subject").get(plain[relation])
        for subject, _ in pairs:
            if noun is not None:
                named.setdefault(subject, noun)
            if kind is not None:
                told[subject][kind].add(relation)
    kinds = {thing: min(several, key=order.__getitem__) for thing, several in told.items()}
    for thing, noun in named.items():
        kind = kinds.get(thing, "")
        # Its name outweighs a single relation, and any number of relations that fit many kinds of things.
        if kind != "person" and (kind in _WIDE or len(told[thing][kind]) < 2):
            kinds[thing] = noun
    return kinds


def kinds_of_objects(facts: Mapping[str, Sequence[tuple[str, str]]], labels: Mapping[str, str]) -> dict[str, str]:
    """Kinds that follow from the relations of which an entity is the object: whoever directed a film is a person."""
    known, plain = kinds_by_facts("object"), _plain(labels)
    told = [(relation, known[plain[relation]]) for relation in facts if plain[relation] in known]
    return {thing: kind for relation, kind in reversed(told) for _, thing in facts[relation]}


def _plain(labels: Mapping[str, str]) -> dict[str, str]:
    return {relation: _UNIT.sub("", plain_label(label).lower()) for relation, label in labels.items()}


def _noun(label: str) -> str | None:
    """The kind of subject that a label names: "province of" a province, "child of" a person."""
    said = _OF.fullmatch(label)
    if said is None or said[1] in _NO_KIND:
        return None
    return "person" if said[1] in _RELATIVE else said[1]
