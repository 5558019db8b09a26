"""The label rule `starter`: sees the labels that a run's steps have so far, and may change them, with a reason."""

from __future__ import annotations

from collections.abc import Iterator

from synth.annotate.labels.label import StepLabel
from synth.identity import versioned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["label"]


@versioned(1)  # raise it when its labels change
def label(row: TrajectoryRow, task: Task, labels: tuple[StepLabel, ...]) -> Iterator[StepLabel]:
    """One label for each of the run's steps, in order: here the same, with a remark at the last."""
    yield from labels[:-1]
    for last in labels[-1:]:
        yield last.model_copy(update={"label_detail": f"{last.label_detail} (the last of {row.turns})".strip()})
