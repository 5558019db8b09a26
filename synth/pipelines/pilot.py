"""What the stages that call models will take: from a few tasks that are built now, extrapolated to all of them.

A pilot is a build of the same recipe with fewer tasks, cut off after the last stage that calls a model. Its rows are
the first ones of the whole build, so everything that it pays for stands in the store when that one runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from synth.annotate.critical.intervals import wilson
from synth.engine import Engine, ModelExecutor, StageNode
from synth.engine.usage import is_model_bound
from synth.errors import InputError
from synth.pipelines.finishing import successes
from synth.schemas.reports import ModelUse, RunUse, StageReport
from synth.stages.contract import CandidateStage, RowStage, Stage, implementations

__all__ = ["CONFIDENCE", "Estimate", "Pilot", "StageEstimate", "Success", "predict", "run_pilot"]

CONFIDENCE = 0.9
"""Share of builds whose true total lies between ``low`` and ``high``, where tasks are alike and independent."""


@dataclass(frozen=True)
class Estimate:
    """A sum over all tasks, with a prediction interval."""

    expected: float
    low: float | None
    """None when the pilot had one task: it says nothing about how they differ."""
    high: float | None


@dataclass(frozen=True)
class StageEstimate:
    """What one stage run that calls a model will take in all, the pilot's rows included."""

    label: str
    models: tuple[str, ...]
    """``role: model``."""
    pilot_rows: int
    rows: int
    """Rows of the whole build; an estimate itself, where the stage works over rows that a model makes."""
    rows_known: bool
    """Whether ``rows`` is exact."""
    calls: Estimate
    prompt_tokens: Estimate
    completion_tokens: Estimate
    cost: Estimate
    seconds: tuple[float, float] | None
    """Waiting alone, if as many calls are in flight as the build allows and the endpoint keeps its pace; and all of
    it, if it goes on as the pilot went. None when every call of the pilot was in the store, or the build's calls go in
    batches: no time was measured."""
    kept: bool
    """Whether the build uses the rows of the pilot as they are (their calls it finds in the store in any case)."""


@dataclass(frozen=True)
class Success:
    """How often a role that a model plays succeeded in the pilot."""

    role: str
    runs: int
    successes: int
    low: float
    """Of the rate, with ``high``: Wilson's interval, in which tasks count and not their runs, which are alike."""
    high: float


@dataclass(frozen=True)
class Pilot:
    tasks: int
    """Of the pilot."""
    tasks_total: int
    """Of the whole build."""
    stages: tuple[StageEstimate, ...]
    unknown: tuple[str, ...]
    """Labels of stage runs that call a model and had no row in the pilot."""
    success: tuple[Success, ...] = ()
    """By role; runs that were rejected count as failures."""

    @property
    def seconds(self) -> tuple[float, float] | None:
        """Of all stages together, as far as a time was measured; None where none was."""
        known = [stage.seconds for stage in self.stages if stage.seconds is not None]
        return (sum(low for low, _ in known), sum(high for _, high in known)) if known else None


def run_pilot(engine: Engine, wanted: int | None, tasks: int) -> Pilot:
    """Build ``tasks`` tasks as far as the last stage that calls a model, and extrapolate.

    Args:
        engine: Of the whole build; used, not run (but for its tasks, where the recipe gives no number).
        wanted: Tasks of the whole build; None = all that are given.
        tasks: Tasks of the pilot; no more than ``wanted`` are made.

    Raises:
        InputError: a pilot of no task.
        SynthError: a stage could not run: a cap, an endpoint, too few tasks.
    """
    if tasks < 1:
        raise InputError(
            f"a pilot of {tasks} tasks says nothing", where="--pilot", mend="give 1 or more, 5 for example"
        )
    if wanted is None:
        wanted = _given(engine)
    tasks = min(tasks, wanted)
    small = Engine(
        replace(engine.plan, wanted=tasks), engine.store, engine.executor, engine.progress, models=engine.models
    )
    found: list[StageEstimate] = []
    unknown: list[str] = []
    success: list[Success] = []
    try:
        for node in engine.plan.nodes:
            if is_model_bound(node.config):
                estimate = _estimate(engine, small, node.label, tasks, wanted)
                if estimate is None:
                    unknown.append(node.label)
                else:
                    found.append(estimate)
                role = node.label.removesuffix("-rollouts")
                if role != node.label:
                    small.run_stage(role)
                    runs = small.run_stage(node.label).rows_in * node.config.model_dump()["rollouts"]
                    success.append(_success(role, runs, successes(small.table(role, "trajectories")), tasks))
    finally:
        small.release()
    return Pilot(tasks, wanted, tuple(found), tuple(unknown), tuple(success))


def _success(role: str, runs: int, good: int, tasks: int) -> Success:
    low, high = wilson(good / runs * tasks if runs else 0, tasks if runs else 0, CONFIDENCE)
    return Success(role, runs, good, low, high)


def _given(engine: Engine) -> int:
    """How many tasks there are when the recipe gives no number: looks at all of them, and calls no model."""
    (label,) = (node.label for node in engine.plan.nodes if issubclass(node.stage, CandidateStage))
    return engine.run_stage(label).kept


def _estimate(engine: Engine, small: Engine, label: str, tasks: int, wanted: int) -> StageEstimate | None:
    models = engine.models
    assert models is not None
    before = models.use()
    report = small.run_stage(label)
    sent = models.use().since(before)
    if not report.rows_in:
        return None
    node = engine.plan.node(label)
    before_tasks = _is_before_tasks(engine, label)
    # What is done with the source is done for all tasks: the pilot did all of it.
    rows = report.rows_in if before_tasks else round(report.rows_in * wanted / tasks)
    over: type[Stage[Any]] = node.stage
    uses = [list(report.models)]
    if issubclass(node.stage, RowStage):
        over = engine.plan.node(node.source_of(node.stage.over)[0]).stage
        uses = _by_task(small, node, tasks)
    whole = len(uses) if before_tasks else wanted * len(uses) / tasks
    totals = {
        name: predict([sum(getattr(use, name) for use in task) for task in uses], whole)
        for name in ("calls", "prompt_tokens", "completion_tokens", "cost")
    }
    return StageEstimate(
        label=label,
        models=_names(uses),
        pilot_rows=report.rows_in,
        rows=rows,
        rows_known=before_tasks or tasks == wanted or issubclass(over, CandidateStage),
        seconds=_seconds(models, sent, totals["calls"].expected, report, rows, node),
        kept=small.fingerprint(label).value == engine.fingerprint(label).value,
        **totals,
    )


def _is_before_tasks(engine: Engine, label: str) -> bool:
    """Whether a stage run knows nothing of tasks: none of what it reads comes from them."""
    node = engine.plan.node(label)
    sources = [node.source_of(name)[0] for name in node.reads]
    return not issubclass(node.stage, CandidateStage) and all(_is_before_tasks(engine, source) for source in sources)


def _seconds(
    models: ModelExecutor, sent: RunUse, calls: float, report: StageReport, rows: int, node: StageNode
) -> tuple[float, float] | None:
    latency = models.latency()
    if latency is None or sent.calls <= sent.from_store:
        return None
    runtimes = [one.runtime for _, one in implementations(node.config) if one.model is not None]
    if any(runtime.batch is not None for runtime in runtimes):
        return None  # the provider says when, and a pilot is too small for a batch
    slots = sum(runtime.concurrency * max(1, len(runtime.endpoints)) for runtime in runtimes)
    waiting = calls * latency / min(models.in_flight, rows, slots)
    return waiting, max(waiting, (report.seconds or 0.0) * rows / report.rows_in)


def _by_task(small: Engine, node: StageNode, tasks: int) -> list[list[ModelUse]]:
    """What the model calls of each task used. A task of the pilot that no row of the stage belongs to used nothing;
    rows that belong to no task stand for themselves."""
    assert issubclass(node.stage, RowStage)
    label, table = node.source_of(node.stage.over)
    rows = small.row_uses(node.label)
    found: dict[str, list[ModelUse]] = {}
    for row, uses in zip(small.table(label, table).rows(0, len(rows)), rows, strict=True):
        found.setdefault(str(getattr(row, "task_id", None) or row.id), []).extend(uses)
    return list(found.values()) + [[] for _ in range(tasks - len(found))]


def _names(uses: Sequence[Sequence[ModelUse]]) -> tuple[str, ...]:
    return tuple(sorted({f"{use.role}: {use.model}" for row in uses for use in row}))


def predict(values: Sequence[float], whole: float) -> Estimate:
    """The sum over ``whole`` values, of which ``values`` are the first: those are known, the others are drawn from a
    normal distribution with their mean and variance (Student's prediction interval)."""
    from scipy.stats import t

    n = len(values)
    known, rest = float(sum(values)), max(0.0, whole - n)
    mean = known / n
    expected = known + rest * mean
    if not rest:
        return Estimate(expected, expected, expected)
    if n < 2:
        return Estimate(expected, None, None)
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * math.sqrt(variance * (rest + rest * rest / n))
    return Estimate(expected, max(known, expected - half), expected + half)
