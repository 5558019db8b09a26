"""Predicted difficulty: a policy's chance of success from a task's structure, fitted on what was measured.

A logistic model on a few measures of structure, monotone by construction (more hops, more pages, more choice, more
obfuscation never make a task easier) and cross-fitted: the prediction for a task comes from a model that never saw it,
so that predicted and measured success can be compared (:func:`reliability`). Everything is deterministic: folds go by
the task's id, the fit is Newton's method on a convex loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from synth.errors import InputError
from synth.identity import digest
from synth.schemas.documents import ValueKind
from synth.schemas.tasks import Task

__all__ = [
    "MONOTONE",
    "Bin",
    "SuccessModel",
    "Target",
    "choose",
    "cross_fit",
    "expected_calibration_error",
    "fit",
    "fit_tasks",
    "fold_of",
    "measures",
    "predict",
    "reliability",
]

Floats = NDArray[np.float64]

MONOTONE = ("hops", "constraints", "branching", "documents", "operations", "obfuscation")
"""Measures that can't make a task easier. The shape and the kind of answer are further ones, without a direction."""

_SHAPES = (
    "composition", "conjunction", "comparison", "superlative", "count", "intersection", "temporal", "computation",
    "parallel", "cycle", "masked", "given",
)  # fmt: skip
_KINDS: tuple[ValueKind, ...] = get_args(ValueKind)
_RIDGES = (1.0, 4.0, 16.0, 64.0, 256.0)
"""Strengths of the pull towards the mean success, in observations, from which the data choose."""
_INNER = 4
"""Parts of the tasks that are fitted without, to choose one of them."""


def measures(task: Task) -> Floats:
    """The measures of ``MONOTONE``, then one column per shape and per kind of answer; as many for every task."""
    difficulty = task.difficulty
    values = [
        float(difficulty.hops),
        float(difficulty.constraints),
        math.log(max(1.0, difficulty.branching)),
        float(difficulty.documents),
        float(len(task.walk.operations)),
        float(task.obfuscation),
        *(float(task.shape == shape) for shape in _SHAPES),
        *(float(task.answer_kind == kind) for kind in _KINDS),
    ]
    return np.asarray(values, dtype=np.float64)


def fold_of(task_id: str, folds: int) -> int:
    """The fold of a task: by its id alone, so that more tasks move no task."""
    return int(digest("difficulty", task_id)[:8], 16) % folds


@dataclass(frozen=True)
class SuccessModel:
    """A fitted model. Its numbers are rounded: no platform's last bit decides anything."""

    mean: Floats
    scale: Floats
    weights: Floats
    intercept: float

    def plain(self) -> dict[str, Any]:
        """Its numbers, as JSON holds them."""
        return {name: np.round(value, 6).tolist() for name, value in vars(self).items()}

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> SuccessModel:
        """The model of :meth:`plain`."""
        table = {name: np.asarray(plain[name], dtype=np.float64) for name in ("mean", "scale", "weights")}
        return cls(**table, intercept=float(plain["intercept"]))


def fit(features: Floats, successes: Floats, rollouts: Floats, groups: NDArray[np.int64]) -> SuccessModel:
    """The model of (n, measures) and (n,) counts. Weights of ``MONOTONE`` that would come out positive are set to
    zero, and the others fitted again without them. How much it trusts the measures is chosen by leaving out the
    ``groups`` (n,), 0 to 3, one after the other.

    Raises:
        ValueError: no rollout, or counts that can't be.
    """
    if len(features) == 0 or rollouts.sum() <= 0:
        raise ValueError("difficulty can't be fitted without a judged rollout")
    if np.any(successes < 0) or np.any(successes > rollouts):
        raise ValueError("successes lie between 0 and the number of rollouts")
    losses = [_left_out(features, successes, rollouts, groups, ridge) for ridge in _RIDGES]
    best = max(number for number, loss in enumerate(losses) if loss <= min(losses) + 1e-9)
    return _fit(features, successes, rollouts, _RIDGES[best])


def _left_out(features: Floats, successes: Floats, rollouts: Floats, groups: NDArray[np.int64], ridge: float) -> float:
    """Log loss on what a model has not seen."""
    loss = 0.0
    for number in range(_INNER):
        out = groups == number
        if not out.any() or not rollouts[~out].sum():
            continue
        chance = np.clip(
            predict(_fit(features[~out], successes[~out], rollouts[~out], ridge), features[out]), 1e-6, 1 - 1e-6
        )
        right, wrong = successes[out], rollouts[out] - successes[out]
        loss -= float((right * np.log(chance) + wrong * np.log(1 - chance)).sum())
    return round(loss, 6)


def _fit(features: Floats, successes: Floats, rollouts: Floats, ridge: float) -> SuccessModel:
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-9, scale, 1.0)
    table = (features - mean) / scale
    free = (features.std(axis=0) > 1e-9).copy()
    while True:
        weights, intercept = _newton(table * free, successes, rollouts, ridge)
        wrong = free.copy()
        wrong[len(MONOTONE) :] = False
        wrong &= weights > 0
        if not wrong.any():
            return SuccessModel(mean, scale, np.where(free, weights, 0.0), intercept)
        free &= ~wrong


def _newton(table: Floats, successes: Floats, rollouts: Floats, ridge: float) -> tuple[Floats, float]:
    design = np.column_stack([table, np.ones(len(table))])
    rate = (successes.sum() + 1.0) / (rollouts.sum() + 2.0)
    start = np.zeros(design.shape[1])
    start[-1] = math.log(rate / (1 - rate))
    centre = start.copy()
    penalty = np.full(design.shape[1], ridge)
    penalty[-1] = 1.0
    weights = start
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (rollouts * chance - successes) + penalty * (weights - centre)
        curve = (design * (rollouts * chance * (1 - chance))[:, None]).T @ design + np.diag(penalty)
        step: Any = np.linalg.solve(curve, slope)
        weights = weights - step
        if float(np.abs(step).max()) < 1e-10:
            break
    return weights[:-1], float(weights[-1])


def predict(model: SuccessModel, features: Floats) -> Floats:
    """(n,) chances of success, rounded to 6 digits: no platform's last bit decides anything."""
    score = ((features - model.mean) / model.scale) @ model.weights + model.intercept
    return np.round(1.0 / (1.0 + np.exp(-np.clip(score, -30, 30))), 6)


def fit_tasks(tasks: Sequence[Task], successes: Sequence[int], rollouts: Sequence[int]) -> SuccessModel:
    """The model of all of ``tasks``, with the counts of each.

    Raises:
        ValueError: no rollout, or counts that can't be.
    """
    right, tried = np.asarray(successes, dtype=np.float64), np.asarray(rollouts, dtype=np.float64)
    group = np.asarray([fold_of(f"inner {task.id}", _INNER) for task in tasks])
    features = np.stack([measures(task) for task in tasks]) if tasks else np.zeros((0, 0))
    return fit(features, right, tried, group)


def cross_fit(
    tasks: Sequence[Task], successes: Sequence[int], rollouts: Sequence[int], *, folds: int = 5
) -> tuple[list[float], list[int]]:
    """(predictions, folds), one each per task. A task is predicted by the model of the other folds; where those hold no
    judged rollout, by one half."""
    if not tasks:
        return [], []
    features = np.stack([measures(task) for task in tasks])
    right, tried = np.asarray(successes, dtype=np.float64), np.asarray(rollouts, dtype=np.float64)
    fold = np.asarray([fold_of(task.id, folds) for task in tasks])
    group = np.asarray([fold_of(f"inner {task.id}", _INNER) for task in tasks])
    predicted = np.full(len(tasks), 0.5)
    for number in range(folds):
        mine, others = fold == number, (fold != number) & (tried > 0)
        if mine.any() and others.any():
            predicted[mine] = predict(
                fit(features[others], right[others], tried[others], group[others]), features[mine]
            )
    return [float(value) for value in predicted], [int(value) for value in fold]


@dataclass(frozen=True)
class Bin:
    """One row of a reliability table."""

    low: float
    high: float
    tasks: int
    rollouts: int
    predicted: float
    """Mean prediction, weighted by rollouts."""
    measured: float
    """Share of the rollouts that succeeded."""
    effective: float
    """Independent rollouts that would say as much as these: at least the number of tasks, at most of rollouts."""


def reliability(
    predicted: Sequence[float], successes: Sequence[int], rollouts: Sequence[int], *, bins: int = 10
) -> list[Bin]:
    """Predicted against measured success, in equal bins; bins without a rollout are left out."""
    rows: list[list[tuple[float, int, int]]] = [[] for _ in range(bins)]
    for chance, right, tried in zip(predicted, successes, rollouts, strict=True):
        if tried:
            rows[min(bins - 1, int(chance * bins))].append((chance, right, tried))
    found = []
    for number, row in enumerate(rows):
        total = sum(tried for _, _, tried in row)
        if total:
            mean = math.fsum(chance * tried for chance, _, tried in row) / total
            measured = sum(right for _, right, _ in row) / total
            effective = _effective([(right, tried) for _, right, tried in row])
            found.append(Bin(number / bins, (number + 1) / bins, len(row), total, mean, measured, effective))
    return found


def _effective(counts: Sequence[tuple[int, int]]) -> float:
    """Effective number of rollouts of tasks with (successes, rollouts), each task a cluster: p (1 - p) over the
    variance of the ratio estimator. The same for any order of the tasks."""
    total, tasks = sum(tried for _, tried in counts), len(counts)
    rate = sum(right for right, _ in counts) / total
    if tasks < 2 or not 0 < rate < 1:
        return float(tasks)
    squares = math.fsum((right - rate * tried) ** 2 for right, tried in counts)
    variance = squares * tasks / (tasks - 1) / total**2
    return float(tasks) if variance == 0 else min(max(rate * (1 - rate) / variance, tasks), total)


def expected_calibration_error(table: Sequence[Bin]) -> float:
    """Mean distance of predicted and measured success, weighted by rollouts."""
    total = sum(row.rollouts for row in table)
    return math.fsum(row.rollouts * abs(row.predicted - row.measured) for row in table) / total if total else 0.0


@dataclass(frozen=True)
class Target:
    """A share of the curriculum between two rates of success (DARC)."""

    low: float
    high: float
    share: float

    def takes(self, rate: float) -> bool:
        """Whether ``rate`` lies in it: from ``low`` on, below ``high``; 1 belongs to a target that ends there."""
        return self.low <= rate < self.high or (self.high >= 1 and rate >= self.low)


def choose(
    ids: Sequence[str], rates: Sequence[float], targets: Sequence[Target], wanted: int | None
) -> dict[str, int | None]:
    """``wanted`` of the tasks, of which each target has its share (largest remainders first); what the shares leave
    open are tasks of no target. None wants all tasks, or with targets as many as let every target have its share.
    Value: the target that a task was chosen for, None for those that fill up.

    ``rates`` are success rates, measured or predicted, one per id. Within a target the choice goes by a hash of the id,
    so that it says nothing about anything else.

    Raises:
        InputError: a target can't have its share, more tasks are wanted than there are, shares sum to more than 1, an
            interval is empty, or two overlap.
    """
    _consistent(targets)
    order = sorted(zip(ids, rates, strict=True), key=lambda item: digest("curriculum", item[0]))
    groups = [[name for name, rate in order if target.takes(rate)] for target in targets]
    outside = [name for name, rate in order if not any(target.takes(rate) for target in targets)]
    shares = [target.share for target in targets]

    def possible(size: int) -> bool:
        sizes = _sizes(shares, size)
        enough = all(0 < part <= len(group) for part, group in zip(sizes, groups, strict=True))
        return enough and size - sum(sizes) <= len(outside)

    if wanted is None or not possible(wanted):
        most = next((size for size in range(len(order), 0, -1) if possible(size)), 0)
        if wanted is not None or (not most and targets):
            raise _refused(wanted, most, targets, groups, len(outside))
        wanted = most
    sizes = _sizes(shares, wanted)
    chosen: dict[str, int | None] = {}
    for number, (group, size) in enumerate(zip(groups, sizes, strict=True)):
        chosen |= dict.fromkeys(group[:size], number)
    return chosen | dict.fromkeys(outside[: wanted - sum(sizes)])


def _consistent(targets: Sequence[Target]) -> None:
    where = "difficulty.targets"
    if sum(target.share for target in targets) > 1 + 1e-9:
        raise InputError("the shares sum to more than 1", where=where)
    if any(not 0 <= target.low < target.high <= 1 for target in targets):
        raise InputError("a target lies between two rates of success, the lower one first", where=where)
    if any(left.high > right.low for left, right in pairwise(sorted(targets, key=lambda target: target.low))):
        raise InputError("two targets overlap: a task serves one", where=where)


def _refused(
    wanted: int | None, most: int, targets: Sequence[Target], groups: Sequence[Sequence[str]], outside: int
) -> InputError:
    """What keeps a curriculum of ``wanted`` tasks from being made, where at ``most`` so many can be had."""
    there = sum(map(len, groups)) + outside
    sizes = _sizes([target.share for target in targets], there if wanted is None else wanted)
    lacking = [number for number, (size, group) in enumerate(zip(sizes, groups, strict=True)) if size > len(group)]
    if wanted is not None and wanted > there:
        what = f"{wanted} tasks are wanted for the curriculum, there are {there}"
    elif lacking:
        target, have = targets[lacking[0]], len(groups[lacking[0]])
        what = (
            f"target {lacking[0]} asks for {sizes[lacking[0]]} tasks that the policy solves at a rate of "
            f"{target.low:g} to {target.high:g}, there are {have}"
        )
    elif any(size == 0 for size in sizes):
        what = f"{wanted} tasks are too few for the share of target {sizes.index(0)}"
    else:
        what = (
            f"the shares leave {(wanted or there) - sum(sizes)} tasks to such as no target takes, there are {outside}"
        )
    mend = f"a curriculum of {most} tasks is possible (difficulty.tasks)" if most else None
    if targets and not most:
        mend = (
            "more rollouts of the policy tell rates apart (roles.policy.rollouts); other tasks may be as hard as asked"
        )
    return InputError(what, where="difficulty", mend=mend)


def _sizes(shares: Sequence[float], wanted: int) -> list[int]:
    exact = [share * wanted for share in shares]
    sizes = [int(value + 1e-9) for value in exact]
    left = min(int(sum(exact) + 1e-9), wanted) - sum(sizes)
    for number in sorted(range(len(exact)), key=lambda n: (sizes[n] - exact[n], n))[:left]:
        sizes[number] += 1
    return sizes
