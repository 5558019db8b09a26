"""The numbers of a dataset as tables, for a terminal and for the quality report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from synth.dataset.show.terminal import clean
from synth.dataset.stats import Stats
from synth.schemas.difficulty import DifficultyReport
from synth.schemas.reports import OutcomeReport

__all__ = ["NumberTable", "number_tables", "render_stats"]

_SHOWN = 20
"""Values of each that a terminal shows; ``--json`` has all."""


@dataclass(frozen=True)
class NumberTable:
    """Some of the numbers, for a terminal or a page."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    below: str = ""
    """A line below it."""


def number_tables(numbers: Stats) -> dict[str, NumberTable]:
    """By a short name, in the order in which they are read."""
    by_value = ("by", "value")
    return {
        "rows": NumberTable(
            "rows",
            ("config", "split", "rows"),
            [(config, split, *_n(rows)) for config, of in numbers.tables.items() for split, rows in of.items()],
        ),
        "stages": NumberTable(
            "stages",
            ("stage", "read", "kept", "yield", "rejected", "failed"),
            [
                (
                    of.label,
                    *_n(of.rows_in, of.kept),
                    f"{numbers.yields[of.label]:.1%}",
                    *map(_by, (of.rejected, of.errored)),
                )
                for of in numbers.stages
            ],
        ),
        "candidates": NumberTable(
            "candidates for tasks",
            ("shape", "candidates", "accepted", "yield", "failed"),
            [
                (of.shape, *_n(of.candidates, of.accepted), f"{of.share:.1%}", _by(of.rejected))
                for of in numbers.task_yields
            ],
        ),
        "success": NumberTable(
            "success",
            ("role", "hops", "rollouts", "success", "unjudged", "turns", "tool calls"),
            [_outcome(outcome) for outcome in numbers.outcomes],
        ),
        "ends": NumberTable(
            "how runs end",
            ("role", "reason", "rollouts"),
            [(role, reason, *_n(n)) for role, of in numbers.stop_reasons.items() for reason, n in of.items()],
        ),
        "tasks": NumberTable(
            "tasks",
            (*by_value, "tasks"),
            [
                (name, value or "-", *_n(count))
                for name in ("shapes", "hops", "answer_kinds", "ranks", "surfaces")
                for value, count in _commonest(getattr(numbers, name))
            ],
        ),
        **_difficulty(numbers.difficulty),
        "labels": NumberTable(
            "labels of steps",
            ("role", "trajectories", "steps", "+1", "0", "-1", "not measured", "first errors", "may be a target"),
            [
                (
                    of.role,
                    *_n(of.trajectories, of.steps),
                    *("-" if share is None else f"{share:.1%}" for _, share in of.signs.values()),
                    *_n(of.unmeasured, of.first_errors),
                    f"{of.targets / of.steps:.1%}",
                )
                for of in numbers.labels
            ],
        ),
        "steps": NumberTable(
            "why a step has its label, why runs fail",
            (*by_value, "steps"),
            [
                (name, value, *_n(count))
                for name in ("label_reasons", "failures", "behaviours")
                for value, count in getattr(numbers, name).items()
            ],
        ),
        "metrics": NumberTable(
            "runs in nine measures (FinTrace): shares, and what was rated 1 to 5",
            ("role", "axis", "measure", "value", "runs"),
            [
                (of.role, of.axis, of.name, f"- ({of.why})" if of.value is None else f"{of.value:.3f}", *_n(of.runs))
                for of in numbers.metrics
            ],
        ),
        "blamed": NumberTable(
            "who failed runs, and what says so",
            (*by_value, "runs"),
            [
                (name, value, *_n(count))
                for name, found in (("agent", numbers.blamed), ("rests on", numbers.blamed_by))
                for value, count in _commonest(found)
            ],
        ),
        "critical": NumberTable(
            "critical steps",
            ("role", "recorded run", "searched", "steps", "tried", "verified", "share", "continuations", "per pair"),
            [
                (
                    *(of.role, of.outcome),
                    *_n(of.trajectories, of.steps, of.tried, of.verified),
                    f"{of.share:.1%}",
                    *_n(of.continuations),
                    "-" if of.cost is None else f"{of.cost:.1f}",
                )
                for of in numbers.critical
            ],
        ),
        "pairs": NumberTable(
            "pairs",
            ("kind", "family", "pairs", "same kind", "earliest", "recoveries", "selected"),
            [
                (of.kind.value, of.family, *_n(of.pairs, of.same_kind, of.earliest, of.recoveries, of.selected))
                for of in numbers.pairs
            ],
        ),
        "models": NumberTable(
            "model calls behind the rows, at the recipe's prices",
            ("role", "model", "calls", "prompt tokens", "cached", "completion tokens", "cost"),
            [
                (
                    *(use.role, use.model),
                    *_n(use.calls, use.prompt_tokens, use.cached_tokens, use.completion_tokens),
                    f"{use.cost:,.4f}" if use.cost else "-",
                )
                for use in numbers.models
            ],
        ),
        "telling": NumberTable(
            "phrases that tell the class of a row",
            ("phrase", "classes", "runs with it", "of the others", "ratio"),
            [
                (
                    of.phrase,
                    of.classes,
                    f"{of.runs:,} of {of.of:,}",
                    f"{of.others:,} of {of.of_others:,}",
                    str(of.ratio),
                )
                for of in numbers.telling[:_SHOWN]
            ],
        ),
        "lengths": NumberTable(
            "lengths (characters, turns, calls)",
            ("of", "rows", "mean", "minimum", "median", "90 %", "maximum"),
            [
                (
                    name,
                    *_n(of.rows),
                    *(f"{value:,.1f}" for value in (of.mean, of.minimum, of.median, of.p90, of.maximum)),
                )
                for name, of in numbers.lengths.items()
            ],
        ),
    }


def _commonest(counts: dict[str, int]) -> list[tuple[str, int]]:
    """What stands in a table for a terminal: chains have hundreds of surfaces, most of them seen once."""
    shown = list(counts.items())
    if len(shown) <= _SHOWN + 1:
        return shown
    return [*shown[:_SHOWN], (f"{len(shown) - _SHOWN:,} others", sum(count for _, count in shown[_SHOWN:]))]


def _difficulty(found: DifficultyReport | None) -> dict[str, NumberTable]:
    if found is None:
        return {}
    auc = "-" if found.auc is None else f"{found.auc:.3f}"
    return {
        "difficulty": NumberTable(
            "difficulty: the policy's success as predicted from structure, and as measured",
            ("predicted", "tasks", "rollouts", "mean predicted", "measured", "95 %"),
            [
                (
                    f"{of.low:.1f}-{of.high:.1f}",
                    *_n(of.tasks, of.rollouts),
                    *(f"{of.predicted:.1%}", f"{of.measured:.1%}"),
                    f"{of.measured_low:.1%} to {of.measured_high:.1%}",
                )
                for of in found.bins
            ],
            f"calibration error {found.error:.3f}, Brier {found.brier:.3f} (of the mean {found.brier_of_mean:.3f}), "
            f"AUC {auc}, right without tools {_percent(found.closed_book)}, "
            f"search needed {_percent(found.search_needed)}, curriculum {found.chosen:,} tasks",
        ),
        "curriculum": NumberTable(
            "curriculum",
            ("success", "share asked for", "tasks", "share"),
            [
                (
                    f"{of.low:g} to {of.high:g}",
                    f"{of.share:.1%}",
                    *_n(of.tasks),
                    f"{of.tasks / max(1, found.chosen):.1%}",
                )
                for of in found.targets
            ],
        ),
    }


def _percent(share: float | None) -> str:
    return "not measured" if share is None else f"{share:.1%}"


def _n(*numbers: int) -> tuple[str, ...]:
    return tuple(f"{number:,}" for number in numbers)


def _by(counts: Mapping[str, int]) -> str:
    return (
        ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items(), key=lambda of: (-of[1], of[0]))) or "0"
    )


def _outcome(outcome: OutcomeReport) -> tuple[str, ...]:
    rows = max(1, outcome.trajectories)
    shares = (f"{outcome.successes / rows:.1%}", f"{outcome.abstained:,}")
    return (
        outcome.role, str(outcome.hops or "given"), f"{outcome.trajectories:,}", *shares,
        f"{outcome.turns / rows:.2f}", f"{outcome.tool_calls / rows:.2f}",
    )  # fmt: skip


def render_stats(numbers: Stats) -> RenderableType:
    """The numbers as tables for a terminal."""
    title = Text(f"{clean(numbers.dataset)}, seed {numbers.seed}", style="bold")
    return Group(title, *(_table(of) for of in number_tables(numbers).values() if of.rows))


def _table(of: NumberTable) -> RenderableType:
    table = Table(title=of.title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for name in of.head:
        table.add_column(name, overflow="fold", header_style="dim")
    for line in of.rows:
        table.add_row(*(Text(clean(cell)) for cell in line))
    return Group(Text(""), table, *([Text(of.below)] if of.below else []))
