"""The filter of tasks by predicted success, fitted on an earlier dataset."""

from __future__ import annotations

from synth.dataset.reader import load
from synth.errors import InputError
from synth.recipe.parts import Aim
from synth.registry import factory_of
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.tasks import Task
from synth.stages.contract import Implementation
from synth.tasks.difficulty import fit_tasks

__all__ = ["aimed"]


def aimed(wanted: Aim) -> Implementation:
    """
    Raises:
        InputError: the earlier dataset does not say how often the policy succeeded.
        DatasetError: it is none.
    """
    dataset = load(wanted.after)
    known = {"tasks", "difficulty"} <= set(dataset.configs)
    counts: dict[str, DifficultyRow] = {row.task_id: row for row in dataset.rows("difficulty")} if known else {}
    tasks: list[Task] = [task for task in dataset.rows("tasks") if task.id in counts]
    of = [counts[task.id] for task in tasks]
    try:
        model = fit_tasks(tasks, [row.successes for row in of], [row.rollouts for row in of])
    except ValueError:
        raise InputError(
            f"{wanted.after} does not say how often the policy succeeded",
            where="difficulty.aim.after",
            mend="name a dataset that was built with roles.policy and difficulty",
        ) from None
    options = {"low": wanted.low, "high": wanted.high, "model": model.plain()}
    return Implementation(kind="aim", factory=factory_of("task_filters", "aim"), options=options)
