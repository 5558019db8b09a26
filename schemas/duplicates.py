"""Rows that are alike: which pairs were found, with their scores, and which row stands for the others."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.row import Key, NonEmpty, Row

__all__ = ["DuplicateRow"]


class DuplicateRow(Row):
    """A pair of rows that are alike. Of each kind the pairs form a forest: at most one less than there are rows, and
    enough for the clusters at every higher threshold."""

    table: ClassVar[str | None] = "duplicates"

    id: Annotated[NonEmpty, Key()]
    """Hash of what it is."""
    level: Literal["documents", "trajectories", "preferences"]
    """The table of both rows. Of alike documents and pairs all but one stand in ``rejected``; of alike trajectories
    all but one have ``duplicate_of``."""
    kind: Literal["exact", "structural", "near", "semantic"]
    """``exact``: the same words; ``structural``: the same calls and the same answer on the same task; ``near``: shared
    n-grams of words; ``semantic``: near vectors."""
    score: float
    """Share of the n-grams (Jaccard similarity) or cosine; 1 for ``exact`` and ``structural``."""
    one: NonEmpty
    """Id of a row."""
    other: NonEmpty
    """Id of the row that is like it."""
    representative: NonEmpty
    """Id of the row that stays for the whole cluster of both."""
