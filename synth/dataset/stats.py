"""A finished dataset in numbers: those of the build's report, and those counted from its files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from synth.dataset.configs import CONFIGS
from synth.dataset.reader import load
from synth.dataset.show.terminal import clean
from synth.schemas.reports import (
    CriticalReport,
    DifficultyReport,
    LabelReport,
    ModelUse,
    OutcomeReport,
    PairReport,
    StageReport,
    TaskYield,
)
from synth.schemas.row import Row

__all__ = ["Lengths", "Stats", "render_stats", "stats"]


class Lengths(Row):
    """How a measure is spread over the rows."""

    rows: int
    mean: float
    minimum: float
    median: float
    p90: float
    maximum: float


class Stats(Row):
    """What ``synth stats`` tells. ``model_dump(mode="json")`` is what ``--json`` prints."""

    dataset: str
    seed: int
    tables: dict[str, dict[str, int]]
    """Config -> split -> rows."""
    stages: tuple[StageReport, ...]
    yields: dict[str, float]
    """Stage -> kept over read."""
    success: dict[str, float]
    """Role -> share of rollouts whose answer was judged correct."""
    outcomes: tuple[OutcomeReport, ...]
    """By role and number of hops."""
    stop_reasons: dict[str, dict[str, int]]
    """Role -> reason -> rollouts."""
    rules: dict[str, int]
    """Rule that judged the answer -> rollouts."""
    task_yields: tuple[TaskYield, ...]
    """Candidates for tasks by shape, and the checks that they failed."""
    shapes: dict[str, int]
    hops: dict[str, int]
    answer_kinds: dict[str, int]
    surfaces: dict[str, int]
    """Family of sentences that worded the question -> tasks."""
    difficulty: DifficultyReport | None
    """Predicted against measured success; None where it was not measured."""
    labels: tuple[LabelReport, ...]
    """Labels of steps, by role."""
    label_reasons: dict[str, int]
    """Why a step has its label -> steps."""
    failures: dict[str, int]
    """Why a run failed -> trajectories."""
    behaviours: dict[str, int]
    """What a turn does well -> steps."""
    critical: tuple[CriticalReport, ...]
    """The search for critical steps, by role and outcome of the recorded run."""
    share_supervised: float | None
    """Verified steps over all steps of the failed trajectories searched; None when none was."""
    continuations_per_pair: float | None
    """Continuations from failed trajectories per pair of a verified step; None when there is no pair."""
    pairs: tuple[PairReport, ...]
    """Pairs by kind and family."""
    models: tuple[ModelUse, ...]
    """Model calls behind the rows, by role and model; cost at the recipe's prices."""
    lengths: dict[str, Lengths]
    """In code points for texts."""


def stats(folder: str | Path) -> Stats:
    """Count a dataset. Rows stream.

    Raises:
        InputError: there is no dataset in the folder.
        DatasetError: its report or a file can't be read.
    """
    dataset = load(folder)
    report = dataset.report
    counters: dict[str, Counter[str]] = {name: Counter() for name in _COUNTED}
    rules: Counter[str] = Counter()
    stops: dict[str, Counter[str]] = {}
    values: dict[str, list[np.ndarray[Any, Any]]] = {}
    for batch in dataset.batches("tasks"):
        counters["shapes"].update(batch.column("shape").to_pylist())
        counters["answer_kinds"].update(batch.column("answer_kind").to_pylist())
        counters["surfaces"].update(batch.column("surface").to_pylist())
        counters["hops"].update(map(str, pc.struct_field(batch.column("difficulty"), "hops").to_pylist()))
        values.setdefault("question", []).append(_characters(batch.column("question")))
    for batch in dataset.batches("trajectories"):
        for role, reason in zip(batch.column("role").to_pylist(), batch.column("stop_reason").to_pylist(), strict=True):
            stops.setdefault(role, Counter())[reason] += 1
        rules.update(pc.struct_field(batch.column("verdict"), "rule").to_pylist())
        values.setdefault("turns", []).append(batch.column("turns").to_numpy(zero_copy_only=False))
        values.setdefault("tool calls", []).append(batch.column("tool_calls").to_numpy(zero_copy_only=False))
        values.setdefault("trajectory", []).append(_trajectory_characters(batch.column("content")))
    for batch in dataset.batches("steps", columns=["label_reason", "failure", "behaviours"]):
        counters["label_reasons"].update(batch.column("label_reason").to_pylist())
        counters["failures"].update(batch.column("failure").drop_null().to_pylist())
        counters["behaviours"].update(batch.column("behaviours").flatten().to_pylist())
    for batch in dataset.batches("continuations", columns=["turns"]):
        values.setdefault("turns of a continuation", []).append(batch.column("turns").to_numpy(zero_copy_only=False))
    for batch in dataset.batches("preferences", columns=["chosen", "rejected"]):
        for side in ("chosen", "rejected"):
            values.setdefault(f"{side} side", []).append(_trajectory_characters(batch.column(side)))
    for batch in dataset.batches("documents", columns=["text"]):
        values.setdefault("document", []).append(_characters(batch.column("text")))
    return Stats(
        dataset=report.dataset,
        seed=report.seed,
        tables={
            config.name: {split: dataset.count(config.name, split) for split in dataset.splits(config.name)}
            for config in CONFIGS
        },
        stages=report.stages,
        yields={stage.label: stage.yield_ for stage in report.stages},
        success=_success(report.outcomes),
        outcomes=report.outcomes,
        stop_reasons={role: dict(sorted(counts.items())) for role, counts in sorted(stops.items())},
        rules=_sorted(rules),
        task_yields=report.task_yields,
        difficulty=report.difficulty,
        labels=report.labels,
        critical=report.critical,
        share_supervised=_share(report.critical),
        continuations_per_pair=_cost(report.critical),
        pairs=report.pairs,
        models=report.model_uses(),
        lengths={name: _lengths(np.concatenate(parts)) for name, parts in values.items()},
        **{name: _sorted(counter) for name, counter in counters.items()},
    )


_COUNTED = ("shapes", "hops", "answer_kinds", "surfaces", "label_reasons", "failures", "behaviours")
_SHOWN = 20
"""Values of each that a terminal shows; ``--json`` has all."""


def _share(found: tuple[CriticalReport, ...]) -> float | None:
    failed = [line for line in found if line.outcome == "failed"]
    steps = sum(line.steps for line in failed)
    return sum(line.verified for line in failed) / steps if steps else None


def _cost(found: tuple[CriticalReport, ...]) -> float | None:
    failed = [line for line in found if line.outcome == "failed"]
    pairs = sum(line.pairs for line in failed)
    return sum(line.continuations for line in failed) / pairs if pairs else None


def _sorted(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _commonest(counts: dict[str, int]) -> list[tuple[str, int]]:
    """What stands in a table for a terminal: chains have hundreds of surfaces, most of them seen once."""
    shown = list(counts.items())
    if len(shown) <= _SHOWN + 1:
        return shown
    return [*shown[:_SHOWN], (f"{len(shown) - _SHOWN:,} others", sum(count for _, count in shown[_SHOWN:]))]


def _success(outcomes: tuple[OutcomeReport, ...]) -> dict[str, float]:
    rows, right = Counter[str](), Counter[str]()
    for outcome in outcomes:
        rows[outcome.role] += outcome.trajectories
        right[outcome.role] += outcome.successes
    return {role: right[role] / rows[role] for role in sorted(rows) if rows[role]}


def _characters(column: pa.Array) -> np.ndarray[Any, Any]:
    return np.asarray(pc.fill_null(pc.utf8_length(column), 0).to_numpy(zero_copy_only=False))


def _trajectory_characters(content: pa.Array) -> np.ndarray[Any, Any]:
    """Code points of everything that is said, thought or shown in each trajectory, arguments included."""
    items = content.flatten()
    total = np.zeros(len(items), np.int64)
    for name in ("content", "reasoning_content", "description", "kwargs", "html", "axtree"):
        total += _characters(pc.struct_field(items, name))
    lengths = pc.fill_null(pc.list_value_length(content), 0).to_numpy(zero_copy_only=False)
    sums = np.concatenate([[0], np.cumsum(total)])
    ends = np.cumsum(lengths)
    return np.asarray(sums[ends] - sums[ends - lengths])


def _lengths(values: np.ndarray[Any, Any]) -> Lengths:
    low, middle, high, top = (float(value) for value in np.quantile(values, (0, 0.5, 0.9, 1)))
    return Lengths(rows=len(values), mean=float(values.mean()), minimum=low, median=middle, p90=high, maximum=top)


def render_stats(numbers: Stats) -> RenderableType:
    """The numbers as tables for a terminal."""
    return Group(
        Text(f"{clean(numbers.dataset)}, seed {numbers.seed}", style="bold"),
        _table(
            "rows",
            ("config", "split", "rows"),
            [
                (config, split, f"{rows:,}")
                for config, splits in numbers.tables.items()
                for split, rows in splits.items()
            ],
        ),
        _table(
            "stages",
            ("stage", "read", "kept", "yield", "rejected", "failed"),
            [
                (
                    stage.label,
                    f"{stage.rows_in:,}",
                    f"{stage.kept:,}",
                    f"{numbers.yields[stage.label]:.1%}",
                    ", ".join(f"{reason} {count:,}" for reason, count in _by_count(stage.rejected)) or "0",
                    ", ".join(f"{kind} {count:,}" for kind, count in _by_count(stage.errored)) or "0",
                )
                for stage in numbers.stages
            ],
        ),
        _table(
            "candidates for tasks",
            ("shape", "candidates", "accepted", "yield", "failed"),
            [
                (
                    of.shape,
                    f"{of.candidates:,}",
                    f"{of.accepted:,}",
                    f"{of.share:.1%}",
                    ", ".join(f"{check} {count:,}" for check, count in _by_count(of.rejected)) or "0",
                )
                for of in numbers.task_yields
            ],
        ),
        _table(
            "success",
            ("role", "hops", "rollouts", "success", "unjudged", "turns", "tool calls"),
            [_outcome(outcome) for outcome in numbers.outcomes],
        ),
        _table(
            "ends",
            ("role", "reason", "rollouts"),
            [(role, reason, f"{n:,}") for role, counts in numbers.stop_reasons.items() for reason, n in counts.items()],
        ),
        _table(
            "tasks",
            ("by", "value", "tasks"),
            [
                (name, value or "-", f"{count:,}")
                for name in ("shapes", "hops", "answer_kinds", "surfaces")
                for value, count in _commonest(getattr(numbers, name))
            ],
        ),
        *_difficulty(numbers.difficulty),
        _table(
            "labels of steps",
            ("role", "trajectories", "steps", "+1", "0", "-1", "not measured", "first errors", "may be a target"),
            [
                (
                    of.role,
                    f"{of.trajectories:,}",
                    f"{of.steps:,}",
                    *("-" if share is None else f"{share:.1%}" for _, share in of.signs.values()),
                    f"{of.unmeasured:,}",
                    f"{of.first_errors:,}",
                    f"{of.targets / of.steps:.1%}",
                )
                for of in numbers.labels
            ],
        ),
        _table(
            "steps",
            ("by", "value", "steps"),
            [
                (name, value, f"{count:,}")
                for name in ("label_reasons", "failures", "behaviours")
                for value, count in getattr(numbers, name).items()
            ],
        ),
        _table(
            "critical steps",
            ("role", "recorded run", "searched", "steps", "tried", "verified", "share", "continuations", "per pair"),
            [
                (
                    of.role,
                    of.outcome,
                    *(f"{n:,}" for n in (of.trajectories, of.steps, of.tried, of.verified)),
                    f"{of.share:.1%}",
                    f"{of.continuations:,}",
                    "-" if of.cost is None else f"{of.cost:.1f}",
                )
                for of in numbers.critical
            ],
        ),
        _table(
            "pairs",
            ("kind", "family", "pairs", "same kind", "earliest", "recoveries", "selected"),
            [
                (
                    of.kind.value,
                    of.family,
                    *(f"{n:,}" for n in (of.pairs, of.same_kind, of.earliest, of.recoveries, of.selected)),
                )
                for of in numbers.pairs
            ],
        ),
        _table(
            "model calls behind the rows, at the recipe's prices",
            ("role", "model", "calls", "prompt tokens", "cached", "completion tokens", "cost"),
            [
                (
                    use.role,
                    use.model,
                    *(f"{n:,}" for n in (use.calls, use.prompt_tokens, use.cached_tokens, use.completion_tokens)),
                    f"{use.cost:,.4f}" if use.cost else "-",
                )
                for use in numbers.models
            ],
        ),
        _table(
            "lengths",
            ("of", "mean", "minimum", "median", "90 %", "maximum"),
            [
                (name, *(f"{value:,.1f}" for value in (of.mean, of.minimum, of.median, of.p90, of.maximum)))
                for name, of in numbers.lengths.items()
            ],
        ),
    )


def _difficulty(found: DifficultyReport | None) -> list[RenderableType]:
    if found is None:
        return []
    lines: list[tuple[str, ...]] = [
        (
            f"{of.low:.1f}-{of.high:.1f}",
            f"{of.tasks:,}",
            f"{of.rollouts:,}",
            f"{of.predicted:.1%}",
            f"{of.measured:.1%}",
            f"{of.measured_low:.1%} to {of.measured_high:.1%}",
        )
        for of in found.bins
    ]
    auc = "-" if found.auc is None else f"{found.auc:.3f}"
    summary = (
        f"calibration error {found.error:.3f}, Brier {found.brier:.3f} (of the mean {found.brier_of_mean:.3f}), "
        f"AUC {auc}, right without tools {_percent(found.closed_book)}, search needed {_percent(found.search_needed)}, "
        f"curriculum {found.chosen:,} tasks"
    )
    title = "difficulty: the policy's success as predicted from structure, and as measured"
    heads = ("predicted", "tasks", "rollouts", "mean predicted", "measured", "95 %")
    parts: list[RenderableType] = [_table(title, heads, lines), Text(summary)]
    if found.targets:
        asked: list[tuple[str, ...]] = [
            (f"{of.low:g} to {of.high:g}", f"{of.share:.1%}", f"{of.tasks:,}", f"{of.tasks / max(1, found.chosen):.1%}")
            for of in found.targets
        ]
        parts.append(_table("curriculum", ("success", "share asked for", "tasks", "share"), asked))
    return parts


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.1%}"


def _outcome(outcome: OutcomeReport) -> tuple[str, ...]:
    rows = max(1, outcome.trajectories)
    shares = (f"{outcome.successes / rows:.1%}", f"{outcome.abstained:,}")
    return (
        outcome.role, str(outcome.hops or "given"), f"{outcome.trajectories:,}", *shares,
        f"{outcome.turns / rows:.2f}", f"{outcome.tool_calls / rows:.2f}",
    )  # fmt: skip


def _by_count(counts: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _table(title: str, head: tuple[str, ...], lines: list[tuple[str, ...]]) -> RenderableType:
    if not lines:
        return Text("")
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in head:
        table.add_column(name, overflow="fold", header_style="dim")
    for line in lines:
        table.add_row(*(Text(clean(cell)) for cell in line))
    return Group(Text(""), table)
