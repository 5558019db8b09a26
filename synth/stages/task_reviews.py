"""Checks of tasks by a reader, inside the stage that makes the tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from synth.environments.answers import check_task
from synth.identity import key_of
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import CheckResult, Task
from synth.schemas.writing import ModelCheck, TaskReviewRow
from synth.stages.contract import Context, Implementation, StageConfig
from synth.tasks.graph_facts import TablePages
from synth.tasks.writing.checker import Found, TaskChecker
from synth.tasks.writing.config import CheckKeys

__all__ = ["Checks", "Reviews"]


class Checks(CheckKeys, StageConfig):
    checkers: dict[ModelCheck, Implementation]
    """Who makes each check."""
    prompts: dict[ModelCheck, str]
    """``<stage>/<name>/v<N>@<sha256>`` of each check's prompt file."""


class Reviews:
    """The checks of one stage.

    Args:
        stage: Its name, for rejections.
        search: ``search(query, k)`` -> ids of the best documents.
        complete: Whether the graph behind the tasks holds all that is true.
    """

    def __init__(
        self,
        config: Checks,
        context: Context,
        stage: str,
        pages: TablePages,
        search: Callable[[str, int], Sequence[str]],
        *,
        complete: bool,
    ) -> None:
        self._config = config
        self._context = context
        self._stage = stage
        self._checker = TaskChecker(
            {name: context.make(who) for name, who in config.checkers.items()},
            config,
            lambda task, answer: check_task(task, answer).correct,
            pages,
            search,
            complete=complete,
        )

    def review(self, task: Task, index: int) -> tuple[Task, tuple[Found, ...], Rejection | None]:
        """The task with the checks that it must pass and did, what all checks found, and why it is rejected."""
        draw: Callable[..., Any] = self._context.generator
        found = self._checker.check(
            task,
            lambda check, number: key_of(draw(task.id, check, number)),
            lambda number: draw(task.id, "order of excerpts", number),
        )
        needed = [one for one in found if one.check in self._config.reject]
        against = next((one for one in needed if one.outcome != "passed"), None)
        if against is not None:
            return task, found, self._rejection(task, index, against)
        results = [CheckResult(check=one.check, outcome="passed", detail=one.detail) for one in needed]
        return (task.model_copy(update={"checks": (*task.checks, *results)}) if results else task), found, None

    def _rejection(self, task: Task, index: int, found: Found) -> Rejection:
        return Rejection(
            stage=self._stage,
            row_id=str(index),
            reason=found.reason,
            detail=f"{task.shape}: {found.check} {found.outcome}: {found.detail}",
            split=task.split,
            preview=task.question[:500],
        )

    def rows(self, task: Task, found: Sequence[Found]) -> tuple[TaskReviewRow, ...]:
        """Rows of what was found of a task that is kept, which is counted, too."""
        for one in found:
            self._context.metrics.add(f"{one.check} {one.outcome}")
        return tuple(self._row(task, one) for one in found)

    def _row(self, task: Task, found: Found) -> TaskReviewRow:
        who, prompt = self._config.checkers[found.check], self._config.prompts[found.check]
        return TaskReviewRow(
            task_id=task.id,
            **{name: getattr(found, name) for name in Found.__dataclass_fields__},
            model=who.model_name,
            prompt=prompt,
            split=task.split,
            provenance=self._context.provenance.model_copy(update={**who.origin(), "prompt": prompt}),
        )
