"""The graph behind a dataset, published by ids: every question can be asked of it again, without the store."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.documents import ValueKind
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split

__all__ = ["EntityRow", "FactRow"]


class EntityRow(Row):
    """A thing that facts are about."""

    table: ClassVar[str | None] = "entities"

    id: Annotated[NonEmpty, Key()]
    """Id, as walks and facts use it."""
    name: NonEmpty
    """As a person would write it in a sentence."""
    kind: str
    """Its type: ``river``, ``module``, ``page``, ..."""
    aliases: tuple[str, ...] = ()
    """Other names of it, as documents use them."""
    document_id: Annotated[str | None, Ref("documents")] = None
    """The page about it; None when it has none."""
    partition: Split = "train"
    """The split that owns it as gold. Exempt entities (the card lists them) are owned by none, whatever stands here."""


class FactRow(Row):
    """One statement of a document: subject, relation, and an entity or a value. A fact that two places state has two
    rows."""

    table: ClassVar[str | None] = "facts"

    subject: Annotated[NonEmpty, Ref("entities")]
    """Id in ``entities``."""
    relation: NonEmpty
    """What is said of the subject."""
    inverse: str | None = None
    """Name of the relation that reads the same fact from its object: ``capital_of`` beside ``has_capital``, the
    relation itself where it is symmetric. None where there is no such name."""
    object: Annotated[str | None, Ref("entities")] = None
    """Id in ``entities``; None when the object is a value."""
    value: str | None = None
    """The object when it is a value: ISO date, plain decimal number, number with unit, or text."""
    value_kind: ValueKind = "entity"
    """What kind of thing the object is."""
    document_id: Annotated[NonEmpty, Ref("documents")]
    """The document that states it."""
    start: int
    """The span that states it: ``document.text[start:end]``, in code points."""
    end: int
    """Offset just past it."""
