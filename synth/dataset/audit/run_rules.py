"""Verdicts, judged once more: the answer of every rollout and continuation against its task."""

from __future__ import annotations

from collections.abc import Mapping

from synth.dataset.audit.findings import Findings
from synth.dataset.audit.reading import rows
from synth.dataset.reader import Dataset
from synth.environments.answers import check_task
from synth.schemas.steps import ContinuationRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow

__all__ = ["RUN_RULES", "answers_of", "judge_runs"]

RUN_RULES: Mapping[str, str] = {
    "verdict": "Judged again, every answer of a rollout or continuation gets the verdict that is stored.",
}
_KEPT = (
    "id",
    "question",
    "answer",
    "answer_aliases",
    "answer_kind",
    "answer_parts",
    "answer_ordered",
    "details",
    "shape",
)


def answers_of(task: Task) -> Task:
    """The task without its walk and checks: what a verdict needs."""
    walk = task.walk.model_copy(update={"hops": ()})
    return Task.model_construct(**{name: getattr(task, name) for name in _KEPT}, walk=walk)


def judge_runs(dataset: Dataset, tasks: Mapping[str, Task], found: Findings) -> None:
    """``tasks``: by id, as ``answers_of`` leaves them."""
    for config, row_type in (("trajectories", TrajectoryRow), ("continuations", ContinuationRow)):
        for place, row in rows(dataset, config, row_type):
            task = tasks.get(row.task_id)
            if task is None:
                continue  # the plain validation says so
            if row.stop_reason is StopReason.REJECTED and row.verdict.correct is None:
                continue  # it gave no answer that could be judged
            found.rows["verdict"] += 1
            verdict = check_task(task, row.answer)
            if verdict.correct != row.verdict.correct:
                said = f"{row.answer!r} against {task.answer!r} is {_word(verdict.correct)}"
                found.add(place, row.id, "verdict", f"{said}, the row says {_word(row.verdict.correct)}")
            elif row.success != (verdict.correct is True):
                found.add(place, row.id, "verdict", f"success is {row.success}, the answer is {_word(verdict.correct)}")


def _word(correct: bool | None) -> str:
    return "unjudged" if correct is None else "right" if correct else "wrong"
