"""What a report says of predicted difficulty: how far the chances are from what the runs did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import fsum
from typing import Any

import numpy as np
import pyarrow as pa

from synth.annotate.critical.intervals import wilson
from synth.schemas.difficulty import DifficultyReport, ReliabilityBin, TargetReport
from synth.schemas.reports import BuildReport
from synth.tasks.difficulty import Bin, Target, expected_calibration_error, reliability

__all__ = ["Calibrations", "auc", "brier", "targets_of"]

# The last one is null where it was not measured.
_COLUMNS = ("predicted", "successes", "rollouts", "closed_book_successes", "closed_book_rollouts", "search_needed")


class Calibrations:
    """Holds a few numbers per task. The report is the same for any order of the rows."""

    def __init__(self, targets: Sequence[Target] = ()) -> None:
        """
        Args:
            targets: Shares that were asked for, in the order of the recipe (:func:`targets_of`).
        """
        self._targets = tuple(targets)
        self._columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self._chosen: Counter[int | None] = Counter()

    def see(self, batch: pa.RecordBatch) -> None:
        columns = [batch.column(name).to_pylist() for name in _COLUMNS]
        for values in zip(*columns, strict=True):
            # ``validate`` looks at files that may hold anything.
            if None not in values[:-1] and 0 <= values[0] <= 1 and 0 <= values[1] <= values[2]:
                for name, value in zip(_COLUMNS, values, strict=True):
                    self._columns[name].append(value)
        of = batch.column("target").to_pylist()
        self._chosen.update(
            target for target, chosen in zip(of, batch.column("chosen").to_pylist(), strict=True) if chosen
        )

    def report(self) -> DifficultyReport | None:
        """None where there was no row, or no judged rollout."""
        predicted, right, tried = (self._columns[name] for name in ("predicted", "successes", "rollouts"))
        total = sum(tried)
        if total <= 0:
            return None
        table = reliability(predicted, right, tried)
        mean = sum(right) / total
        asked = sum(self._columns["closed_book_rollouts"])
        needed = [one for one in self._columns["search_needed"] if one is not None]
        return DifficultyReport(
            tasks=len(predicted),
            bins=tuple(map(_row, table)),
            error=round(expected_calibration_error(table), 6),
            brier=brier(predicted, right, tried),
            brier_of_mean=brier([mean] * len(predicted), right, tried),
            auc=auc(predicted, right, tried),
            closed_book=round(sum(self._columns["closed_book_successes"]) / asked, 6) if asked else None,
            search_needed=round(sum(needed) / len(needed), 6) if needed else None,
            chosen=sum(self._chosen.values()),
            targets=tuple(
                TargetReport(low=target.low, high=target.high, share=target.share, tasks=self._chosen[number])
                for number, target in enumerate(self._targets)
            ),
        )


def targets_of(report: BuildReport) -> tuple[Target, ...]:
    """The curriculum's targets, as the recipe in the report says; none where it says nothing that can be read."""
    asked = (report.recipe.get("difficulty") or {}).get("targets") or ()
    try:
        return tuple(Target(float(item["low"]), float(item["high"]), float(item["share"])) for item in asked)
    except (KeyError, TypeError, ValueError):
        return ()


def _row(of: Bin) -> ReliabilityBin:
    low, high = wilson(of.measured * of.effective, of.effective)
    return ReliabilityBin(
        low=of.low,
        high=of.high,
        tasks=of.tasks,
        rollouts=of.rollouts,
        predicted=round(of.predicted, 6),
        measured=round(of.measured, 6),
        measured_low=round(low, 6),
        measured_high=round(high, 6),
    )


def brier(chances: Sequence[float], right: Sequence[int], tried: Sequence[int]) -> float:
    """Mean squared distance of each task's chance from the outcome of each of its rollouts, rounded to 6 digits."""
    squares = (r * (1 - p) ** 2 + (t - r) * p**2 for p, r, t in zip(chances, right, tried, strict=True))
    return round(fsum(squares) / sum(tried), 6)


def auc(chances: Sequence[float], right: Sequence[int], tried: Sequence[int]) -> float | None:
    """Area under the ROC curve over rollouts: the chance that one that succeeded has the higher prediction, ties half.
    None where all ended alike."""
    won, lost = np.asarray(right), np.asarray(tried) - np.asarray(right)
    if won.sum() <= 0 or lost.sum() <= 0 or lost.min() < 0:
        return None
    # Counted by hand: scipy.stats takes longer to import than a small build's whole report to make.
    _, group = np.unique(np.asarray(chances, dtype=np.float64), return_inverse=True)
    winners, losers = np.bincount(group, weights=won), np.bincount(group, weights=lost)
    beaten = float((winners * (np.cumsum(losers) - losers / 2)).sum())
    return round(beaten / (int(won.sum()) * int(lost.sum())), 6)
