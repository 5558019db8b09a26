"""What accepted candidates must not be alike in, beside the key of their stage: near duplicates among tasks."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from synth.filtering.dedup import Asked, Double, TaskFilter, TaskRules, compared_answer, task_structure
from synth.retrieval.encoder import Encoder
from synth.schemas.arrow import from_arrow
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.stages.contract import Implementation, StageConfig

__all__ = ["Accepting", "asked", "double_rejection"]

_COLUMNS = ("id", "question", "answer", "answer_parts", "split", "shape")
_PREVIEW = 500


class Accepting(StageConfig):
    """Judges candidates as they are accepted, in order of their index.

    Not part of the stage's fingerprint: candidates are the same whatever is accepted of them, so other thresholds
    propose nothing anew. It is in the fingerprint of all who read what was accepted.
    """

    rules: TaskRules
    """Which tasks are duplicates."""
    encoder: Implementation | None = None
    """Makes vectors of questions, where ``rules.semantic`` is given."""

    def filter(self, folder: Path | None = None) -> TaskFilter:
        """A filter that has accepted nothing yet; its files lie in ``folder``.

        Raises:
            InputError: the encoder's library or model is not there.
        """
        encoder: Encoder | None = None if self.encoder is None else self.encoder.make()
        return TaskFilter(self.rules, encoder, folder=folder)


def asked(rows: pa.Table) -> list[Asked]:
    """What is compared of the tasks in ``rows``.

    Walks are compared by the stage's own key; a reverse task's plan is compared here.
    """
    found = []
    columns = rows.select(_COLUMNS).to_pylist()
    for number, row in enumerate(columns):
        parts = sorted(part["answer"] for part in row["answer_parts"])
        answer, structure = "\n".join(parts) or row["answer"], None
        if row["shape"] == "reverse":
            task = from_arrow(rows.slice(number, 1), Task)[0]
            answer, structure = compared_answer(task), task_structure(task)
        found.append(Asked(row["id"], row["question"], answer, row["split"], structure))
    return found


def double_rejection(stage: str, task: Asked, index: int, double: Double) -> Rejection:
    """What is said of candidate ``index``, which is like an accepted task."""
    how = {"exact": "same words", "structural": "same plan", "near": "n-grams", "semantic": "cosine"}[double.kind]
    other = f"{double.of.id} of the split {double.of.split}" if double.conflict else double.of.id
    return Rejection(
        stage=stage,
        row_id=str(index),
        reason=Reason.SPLIT_CONFLICT if double.conflict else Reason.NEAR_DUPLICATE,
        detail=f"like {other}: {how} {double.score:.4f}",
        split=task.split,  # type: ignore[arg-type]
        preview=task.question[:_PREVIEW],
    )
