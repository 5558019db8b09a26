"""Tables of the store that stages leave for later ones: what the critical-step search found on a trajectory, and what
pair makers made of a task."""

from __future__ import annotations

from typing import ClassVar

from synth.schemas.row import JsonObject, NonEmpty, Row, Split
from synth.schemas.steps import Criticality

__all__ = ["PairNotes", "SearchedRow", "SearchedStep", "Unpaired"]


class SearchedStep(Row):
    """One step of the searched trajectory."""

    step: int
    score: float | None
    """Score of the recorded action by the ``prm``; None = abstained."""
    criticality: Criticality | None
    """Of the verified alternative, else of the one that differs most; None when nothing was tried."""
    alternative: int
    """Number of that alternative; -1 when there is none."""
    advantage: float | None
    """As in ``steps``."""
    pivot: bool | None
    """As in ``steps``."""
    first_error: bool | None
    """By continuations alone; None when it was not looked for or stayed undecided."""


class SearchedRow(Row):
    table: ClassVar[str | None] = "searched"

    id: NonEmpty
    """Id of the trajectory."""
    task_id: NonEmpty
    failed: bool
    """Which way it was searched: a failed run for better actions, a successful one for worse."""
    refused: str | None
    """Why it could not be branched from; None when it could."""
    steps: tuple[SearchedStep, ...]
    counts: JsonObject
    split: Split


class Unpaired(Row):
    """A failed run of which a maker made no pair."""

    trajectory_id: NonEmpty
    why: str


class PairNotes(Row):
    """What one pair maker made of the runs of one task."""

    table: ClassVar[str | None] = "pair_notes"

    id: NonEmpty
    """Id of the task."""
    made: int
    """Pairs."""
    unpaired: tuple[Unpaired, ...]
    split: Split
