"""A finished dataset in numbers: those of the build's report, and those counted from its files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.card.counts import ranked
from synth.dataset.configs import CONFIGS
from synth.dataset.metrics import RunMetric, run_metrics
from synth.dataset.phrasing import TellingPhrase, telling_phrases
from synth.dataset.reader import load
from synth.inputs import parse_json
from synth.schemas.difficulty import DifficultyReport, TaskYield
from synth.schemas.judgments import JudgmentKind
from synth.schemas.reports import CriticalReport, LabelReport, ModelUse, OutcomeReport, PairReport, StageReport
from synth.schemas.row import Row

__all__ = ["Lengths", "Stats", "stats"]


class Lengths(Row):
    """How a measure is spread over the rows."""

    rows: int
    mean: float
    minimum: float
    median: float
    p90: float
    maximum: float


class Stats(Row):
    """What ``synth stats`` reports. ``model_dump(mode="json")`` is what ``--json`` prints."""

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
    ranks: dict[str, int]
    """How well a question over documents reads (``details.rank``) -> tasks."""
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
    metrics: tuple[RunMetric, ...]
    """Runs in nine measures, by role."""
    blamed: dict[str, int]
    """Agent that failed a run -> runs, by the judgments of failures; ``the agent`` in runs of one."""
    blamed_by: dict[str, int]
    """What those judgments rest on -> runs."""
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
    telling: tuple[TellingPhrase, ...]
    """Phrases that tell how a run ends, who acted or what is refused, and are no evidence of it. None is wanted."""


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
    for batch in dataset.batches("judgments", columns=["kind", "verdict", "parts"]):
        failures = [row for row in batch.to_pylist() if row["kind"] == JudgmentKind.FAILURE]
        counters["blamed"].update(parse_json(row["parts"]).get("agent") or "the agent" for row in failures)
        counters["blamed_by"].update(row["verdict"] for row in failures)
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
        ranks=ranked(report.task_yields),
        difficulty=report.difficulty,
        labels=report.labels,
        critical=report.critical,
        share_supervised=_share(report.critical),
        continuations_per_pair=_cost(report.critical),
        pairs=report.pairs,
        models=report.model_uses(),
        lengths={name: _lengths(np.concatenate(parts)) for name, parts in values.items()},
        telling=telling_phrases(dataset),
        metrics=run_metrics(dataset),
        **{name: _sorted(counter) for name, counter in counters.items()},
    )


_COUNTED = (
    "shapes",
    "hops",
    "answer_kinds",
    "surfaces",
    "label_reasons",
    "failures",
    "behaviours",
    "blamed",
    "blamed_by",
)


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
