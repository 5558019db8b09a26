"""Benchmarks that a dataset must stay away from, compared with its tasks once more.

A report holds the names and hashes of the files that the build looked at, and neither the files nor their places: who
audits gives the files again. What is not given is not checked, and the rule says so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from synth.dataset.audit.findings import Findings, Place
from synth.filtering.decontamination.benchmarks import Benchmarks, Item, read_benchmark
from synth.filtering.decontamination.config import Rules
from synth.schemas.adp import TextObservation, error_lines
from synth.schemas.reports import BuildReport
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["BENCHMARK_RULES", "Contamination"]

BENCHMARK_RULES: Mapping[str, str] = {
    "benchmark": "No task, and no run without one, overlaps with a benchmark that the recipe names or that was given.",
}
_TOGETHER = 256
"""Tasks that are looked at together."""


class Contamination:
    """Sees every task once, and runs that have none.

    Args:
        files: Benchmarks that were given to the audit. Those of the recipe are known by their hashes, whatever they are
            called; others are looked at as well.

    Raises:
        InputError: a file can't be read, or holds nothing to compare with.
    """

    def __init__(self, found: Findings, report: BuildReport | None, files: Sequence[Path]) -> None:
        self._found = found
        self._why: list[str] = []
        self._waiting: list[tuple[Place, Task]] = []
        self._screen: Benchmarks | None = None
        self._tasks = 0
        wanted = {} if report is None else report.recipe.get("decontaminate") or {}
        rules = self._rules({name: value for name, value in wanted.items() if name != "benchmarks"})
        missing = {} if report is None else {sha: name for name, sha in report.benchmarks.items()}
        items: list[Item] = []
        for path in files:
            content, rows = read_benchmark(path.name, str(path), rules)
            missing.pop(hashlib.sha256(content).hexdigest(), None)
            items += rows
        if items:
            self._screen = Benchmarks(items, rules)
        for sha, name in sorted(missing.items(), key=lambda item: item[1]):
            self._why.append(f"{name} (sha256 {sha[:16]}) was not given: say --benchmark FILE")

    def _rules(self, wanted: Mapping[str, object]) -> Rules:
        if wanted.get("encoder", "hashed") != "hashed":
            # A dataset must not say which model is loaded here.
            self._why.append("vectors of a model are not compared")
            wanted = {**wanted, "similarity": None, "encoder": "hashed", "model": None, "revision": None}
        try:
            return Rules.model_validate(wanted)
        except ValidationError as error:
            self._why.append(f"the report's rules do not parse ({error_lines(error)[0]}): the usual ones were used")
            return Rules()

    def see(self, place: Place, task: Task) -> None:
        self._tasks += 1
        if self._screen is not None:
            self._waiting.append((place, task.model_copy(update={"checks": ()})))
            if len(self._waiting) == _TOGETHER:
                self._look()

    def see_run(self, place: Place, row: TrajectoryRow) -> None:
        """A run whose task the dataset does not hold: its question and its answer."""
        self._tasks += 1
        if self._screen is None:
            return
        self._found.rows["benchmark"] += 1
        first = row.content[0] if row.content else None
        question = first.content if isinstance(first, TextObservation) else ""
        said = self._screen.run(question, row.answer)
        if said is not None:
            self._found.add(place, row.id, "benchmark", said)

    def settle(self) -> None:
        """Judge what is left, and say what was not compared."""
        self._look()
        if self._why and self._tasks:
            self._found.leave("benchmark", f"not checked: {'; '.join(self._why)}", self._tasks)

    def _look(self) -> None:
        if self._screen is None or not self._waiting:
            return
        self._found.rows["benchmark"] += len(self._waiting)
        verdicts = self._screen.look([task for _, task in self._waiting])
        for (place, task), verdict in zip(self._waiting, verdicts, strict=True):
            if verdict is not None:
                self._found.add(place, task.id, "benchmark", verdict[1])
        self._waiting = []
