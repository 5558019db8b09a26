"""Counts labels, critical steps, continuations and pairs while rows stream past."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from synth.schemas.reports import CriticalReport, LabelReport, PairReport
from synth.schemas.steps import PairKind

__all__ = ["Criticals"]

Outcome = Literal["failed", "succeeded", "unjudged"]
_OUTCOMES: dict[bool | None, Outcome] = {True: "succeeded", False: "failed", None: "unjudged"}
_SIGNS = {1: "helps", -1: "harms", None: "unmeasured"}
_OF_STEPS = (PairKind.VERIFIED_STEP.value, PairKind.VERIFIED_STEP_SUCCESS.value)


@dataclass(slots=True)
class _Run:
    """One trajectory."""

    role: str
    outcome: Outcome
    steps: int = 0
    tried: int = 0
    verified: int = 0
    continuations: int = 0
    pairs: int = 0
    scored: bool = False

    @property
    def searched(self) -> bool:
        return self.scored or self.tried > 0 or self.continuations > 0


class Criticals:
    """Trajectories first, then steps, continuations and pairs in any order; holds a few numbers per trajectory."""

    def __init__(self) -> None:
        self._runs: dict[str, _Run] = {}
        self._labels: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self._labelled: set[str] = set()
        self._pairs: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0] * 5)

    def see_trajectories(self, batch: pa.RecordBatch) -> None:
        correct = pc.struct_field(batch.column("verdict"), "correct").to_pylist()
        for name, role, right in zip(*_lists(batch, "id", "role"), correct, strict=True):
            if role:
                self._runs[name] = _Run(role, _OUTCOMES[right])

    def see_steps(self, batch: pa.RecordBatch) -> None:
        columns = _lists(batch, "trajectory_id", "role", "label", "first_error", "train", "score")
        tried = pc.is_valid(batch.column("criticality")).to_pylist()
        verified = pc.struct_field(batch.column("criticality"), "verified").to_pylist()
        for name, role, label, first, train, score, was_tried, shown in zip(*columns, tried, verified, strict=True):
            if not role:  # ``validate`` looks at files that may hold anything
                continue
            sums = self._labels[role]
            sums["trajectories"] += name not in self._labelled
            self._labelled.add(name)
            sums["steps"] += 1
            sums[_SIGNS.get(label, "neutral")] += 1
            sums["first_errors"] += bool(first)
            sums["targets"] += bool(train)
            if run := self._runs.get(name):
                run.steps += 1
                run.scored |= score is not None
                run.tried += was_tried
                run.verified += bool(shown)

    def see_continuations(self, batch: pa.RecordBatch) -> None:
        for name in batch.column("trajectory_id").to_pylist():
            if run := self._runs.get(name):
                run.continuations += 1

    def see_pairs(self, batch: pa.RecordBatch) -> None:
        columns = _lists(batch, "trajectory_id", "kind", "family", "same_kind", "position", "nature", "selected")
        for name, kind, family, same, position, nature, selected in zip(*columns, strict=True):
            if not kind or not family:
                continue
            sums = self._pairs[kind, family]
            for place, value in enumerate((1, same, position == "earliest", nature == "recovery", selected)):
                sums[place] += bool(value)
            if kind in _OF_STEPS and (run := self._runs.get(name)):
                run.pairs += 1

    def labels(self) -> tuple[LabelReport, ...]:
        """One per role, sorted."""
        names = ("trajectories", "steps", "helps", "neutral", "harms", "unmeasured", "first_errors", "targets")
        return tuple(
            LabelReport(role=role, **{name: sums[name] for name in names})
            for role, sums in sorted(self._labels.items())
        )

    def critical(self) -> tuple[CriticalReport, ...]:
        """One per role and outcome of which trajectories were searched, sorted by both."""
        names = ("steps", "tried", "verified", "continuations", "pairs")
        grouped: dict[tuple[str, Outcome], list[_Run]] = defaultdict(list)
        for run in self._runs.values():
            if run.searched:
                grouped[run.role, run.outcome].append(run)
        return tuple(
            CriticalReport(
                role=role,
                outcome=outcome,
                trajectories=len(runs),
                **{name: sum(getattr(run, name) for run in runs) for name in names},
            )
            for (role, outcome), runs in sorted(grouped.items())
        )

    def pairs(self) -> tuple[PairReport, ...]:
        """One per kind and family, kinds in the order of ``PairKind``."""
        names = ("pairs", "same_kind", "earliest", "recoveries", "selected")
        return tuple(
            PairReport(kind=kind, family=family, **dict(zip(names, sums, strict=True)))
            for kind in PairKind
            for (name, family), sums in sorted(self._pairs.items())
            if name == kind.value
        )


def _lists(batch: pa.RecordBatch, *names: str) -> list[list[Any]]:
    return [batch.column(name).to_pylist() for name in names]
