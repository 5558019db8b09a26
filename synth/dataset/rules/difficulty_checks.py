"""Rules of the table ``difficulty``: what it says was measured is counted again from the trajectories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import TaskCheck
from synth.schemas.difficulty import DifficultyRow
from synth.schemas.trajectories import TrajectoryRow
from synth.tasks.difficulty import Target

__all__ = ["DifficultyCheck", "PolicyRuns"]


class PolicyRuns:
    """Counts the policy's judged runs per task, and those that succeeded."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.right: Counter[str] = Counter()

    def see(self, file: DataFile, row: int, trajectory: TrajectoryRow) -> None:
        if trajectory.role == "policy" and trajectory.verdict.correct is not None:
            self.tried[trajectory.task_id] += 1
            self.right[trajectory.task_id] += trajectory.success

    def finish(self) -> None:
        """Nothing is left open."""


class DifficultyCheck:
    """Ties each row to its task and to the policy's runs; the curriculum's order is one without gaps, and what was
    chosen for a target of the recipe (``targets``) lies in it."""

    def __init__(self, found: Problems, tasks: TaskCheck, runs: PolicyRuns, targets: Sequence[Target] = ()) -> None:
        self.found, self.tasks, self.runs, self.targets = found, tasks, runs, targets
        self.seen: set[str] = set()
        self.orders: set[int] = set()
        self.place: tuple[str, int] | None = None

    def see(self, file: DataFile, row: int, value: DifficultyRow) -> None:
        self.place = self.place or (file.label, row)
        for what in self._problems(value):
            self.found.add(file.label, row, what)
        self.seen.add(value.task_id)
        self.orders.add(value.order)

    def _problems(self, row: DifficultyRow) -> list[str]:
        wrong = []
        counted = self.runs.right[row.task_id], self.runs.tried[row.task_id]
        if (row.successes, row.rollouts) != counted:
            wrong.append(
                f"successes: {row.successes} of {row.rollouts}; the trajectories say {counted[0]} of {counted[1]}"
            )
        if not 0 <= row.predicted <= 1:
            wrong.append(f"predicted: {row.predicted} is no share")
        elif row.bin != min(9, int(row.predicted * 10)):
            wrong.append(f"bin: {row.bin}, and {row.predicted} is predicted")
        asked = row.closed_book_rollouts > 0
        if row.search_needed != (row.closed_book_successes < row.closed_book_rollouts if asked else None):
            wrong.append("search_needed: does not follow from the answers without tools")
        if row.target is not None:
            wrong += self._wrong_target(row, row.target)
        return wrong

    def _wrong_target(self, row: DifficultyRow, number: int) -> list[str]:
        if not row.chosen:
            return ["target: the task is not part of the curriculum"]
        if not 0 <= number < len(self.targets):
            return [f"target: the recipe has no target {number}"]
        rate = row.successes / row.rollouts if row.rollouts else row.predicted
        if not self.targets[number].takes(rate):
            return [f"target: {number}, and the task's rate of success is {rate:g}"]
        return []

    def finish(self) -> None:
        if self.place is None:
            return
        missing = len(self.tasks.splits.keys() - self.seen)
        if missing:
            self.found.add(*self.place, f"task_id: {missing} tasks have no row")
        if self.orders != set(range(len(self.seen))):
            self.found.add(*self.place, "order: not every place from 0 on is taken once")
