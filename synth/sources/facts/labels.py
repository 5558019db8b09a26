"""Words of relations that go by a usual name: "date of birth", "author", "elevation". They replace what
:mod:`synth.sources.facts.words` derives from a label's form, key by key, and stand in ``synth/lexicon/labels.yaml``."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from typing import Any

from synth.lexicon.model import RelationEntry
from synth.lexicon.reading import usual_labels
from synth.sources.facts.words import RelationShape, derive_relation, plain_label

__all__ = ["nature_of", "word_relation"]


def nature_of(kind: str, labels: Iterable[str]) -> frozenset[str]:
    """Whether things of a kind, about which there are facts with these labels, are people ("person"), have a
    location ("place"), both or neither."""
    usual = usual_labels()
    plain = {plain_label(label).lower() for label in labels}
    found = {"person"} if kind == "person" or plain & usual.people else set()
    if kind != "person" and (kind in usual.places or plain & usual.located):
        found.add("place")
    return frozenset(found)


def word_relation(shape: RelationShape, nature: Set[str] = frozenset()) -> RelationEntry:
    """All that is said of a relation: in words of its own where it goes by a usual name, else derived from its label.

    Args:
        shape: What its facts look like.
        nature: What all its subjects are: see :func:`nature_of`.
    """
    usual = usual_labels()
    noun = plain_label(shape.label).lower()
    participle = usual.participle(noun, shape.subject) if shape.value == "entity" else None
    if participle is not None:
        entry = derive_relation(replace(shape, label=f"{participle} by"))
        named = (f"the {noun} of {{x}}", f"{{x's}} {noun}")
        return entry.model_copy(update={"question": entry.question.model_copy(update={"object_is": named})})
    label = usual.event(noun, shape.value) or noun
    entry = derive_relation(shape if label == noun else replace(shape, label=label))
    known = usual.known_as(label, shape.value, nature)
    if known is None or (known.subject == "place" and shape.value == "entity" and not shape.usual):
        return entry  # a country is not "in" its provinces
    question = {key: getattr(known.question, key) for key in known.question.model_fields_set}
    changes: dict[str, Any] = {"question": entry.question.model_copy(update=question)}
    if known.page:
        changes["page"] = known.page
    if known.in_size is not None and entry.in_size is not None:
        changes["in_size"] = known.in_size
    return entry.model_copy(update=changes)
