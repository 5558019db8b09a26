"""Words that a model drafted for relations that the lexicon does not have."""

from __future__ import annotations

from typing import ClassVar

from synth.schemas.row import NonEmpty, Row

__all__ = ["DraftedWordsRow", "RelationFacts", "ShownFact"]


class ShownFact(Row):
    """A fact as a model is shown it."""

    relation: NonEmpty
    """Its label."""
    subject: NonEmpty
    object: NonEmpty


class RelationFacts(Row):
    """A relation without words of its own, and ten facts: some of it, the rest of its neighbours."""

    id: NonEmpty
    """The relation."""
    facts: tuple[ShownFact, ...]
    """In random order."""


class DraftedWordsRow(Row):
    """Words of questions for one relation: those that passed every check, in the form of the lexicon. Where there are
    none of a kind, questions speak as the rule does."""

    table: ClassVar[str | None] = "drafted_words"

    id: NonEmpty
    """The relation."""
    subject_does: tuple[str, ...] = ()
    """Predicates of its subject: "flows~flow | into"."""
    object_does: tuple[str, ...] = ()
    """Predicates of its object."""
    object_is: tuple[str, ...] = ()
    """Noun phrases that name the object by the subject, ``{x}``."""
    subject_is: tuple[str, ...] = ()
    """Noun phrases that name the subject by the object, ``{x}``."""
    asks: tuple[str, ...] = ()
    """Whole questions for a value."""
    said: int
    """Phrases that the writer gave."""
    kept: int
    """Those in the columns above; why the others are not is in ``rejected``."""
    model: str | None = None
    """Who drafted them."""
    reader: str | None = None
    """Who picked the relation by each phrase."""
    prompts: tuple[NonEmpty, ...]
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt files: of drafting, of picking."""
    calls: tuple[str, ...] = ()
    """Keys of the calls."""
