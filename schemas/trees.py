"""Trees of runs: what was tried from one state, and how it ended."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.details import Facts
from synth.schemas.provenance import Provenance
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split

__all__ = ["Branch", "Grown", "TreeNodeRow"]


class Branch(Row):
    step: int
    """First turn that is this run's own; those before it are ``retry_of``'s."""


class Grown(Facts):
    """That a run is a branch of another one."""

    branch: Branch


class TreeNodeRow(Row):
    """A turn in a tree of runs. What it does and what it saw stand in the run that it refers to."""

    table: ClassVar[str | None] = "tree_nodes"
    unique_together = (("trajectory_id", "step"),)

    id: Annotated[NonEmpty, Key()]
    """``<trajectory_id>/<step>``."""
    task_id: NonEmpty
    """The task of that run."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The first run that took the turn."""
    step: int
    """Number of the turn in it."""
    parent: str | None
    """The node before it; null for a first turn."""
    draws: int
    """Turns of the policy, drawn in the state before it, that do the same or nearly the same."""
    of: int
    """All that were drawn there: where they do not agree, the policy is uncertain, and the tree may branch."""
    successes: int
    """Runs through the node that ended with the right answer."""
    leaves: int
    """Runs through it whose end was judged."""
    value: float | None
    """The former by the latter; null where no end was judged."""
    split: Split
    """That of the task."""
    provenance: Provenance
    """What made the row."""
