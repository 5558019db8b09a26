"""FinTrace's nine metrics of a run on four axes (arXiv 2604.10015), as far as the rows allow.

The paper has a judge score five of them from 1 to 5. Here three of those are shares computed from labels and evidence;
logical progression and answer quality come from ``judgments``, and are null without ratings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.dataset.reader import Dataset
from synth.inputs import parse_json
from synth.schemas.judgments import JudgmentKind
from synth.schemas.row import Row
from synth.schemas.steps import LabelReason

__all__ = ["RunMetric", "run_metrics"]

AXES: Mapping[str, Sequence[str]] = {
    "action correctness": ("tool-calling F1", "task relevance"),
    "execution efficiency": ("step efficiency", "redundancy"),
    "process quality": ("logical progression", "information utilization", "progress"),
    "output quality": ("task pass rate", "answer quality"),
}
_WHY = {
    "tool-calling F1": "no task has a walk",
    "task relevance": "no call has a label",
    "step efficiency": "no task has a run that is right",
    "redundancy": "no call has a label",
    "logical progression": "no run was rated (ratings)",
    "information utilization": "in no run all evidence came into view",
    "progress": "no evidence is known",
    "task pass rate": "no run was judged",
    "answer quality": "no run was rated (ratings)",
}
_WASTE = (LabelReason.REDUNDANT, LabelReason.REPEATED_FAILURE)


class RunMetric(Row):
    """One measure of the runs of a role: the mean over those in which it was measured."""

    role: str
    axis: str
    name: str
    value: float | None
    """A share from 0 to 1, more is better; of what was rated, 1 to 5. None: not measured."""
    runs: int
    """Runs in which it was measured."""
    why: str | None
    """Why there is none."""


@dataclass
class _Run:
    role: str
    task_id: str
    turns: int
    correct: bool | None
    labels: list[tuple[int | None, str]] = field(default_factory=list)
    """Label and reason of each call."""
    matched: int = 0
    progress: float | None = None
    rated: Mapping[str, Any] = field(default_factory=dict)


def run_metrics(dataset: Dataset) -> tuple[RunMetric, ...]:
    """By role, in the order of the axes; empty where there are no labelled runs. Holds a few numbers per run."""
    runs = _runs(dataset)
    hops = {
        row["id"]: row["difficulty"]["hops"]
        for batch in dataset.batches("tasks", columns=["id", "difficulty"])
        for row in batch.to_pylist()
    }
    shortest: dict[str, int] = {}
    for run in runs.values():
        if run.correct:
            shortest[run.task_id] = min(run.turns, shortest.get(run.task_id, run.turns))
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs.values():
        for name, value in _measured(run, hops.get(run.task_id, 0), shortest.get(run.task_id)):
            found[run.role, name].append(value)
    return tuple(
        RunMetric(
            role=role,
            axis=axis,
            name=name,
            value=sum(values) / len(values) if values else None,
            runs=len(values),
            why=None if values else _WHY[name],
        )
        for role in sorted({run.role for run in runs.values()})
        for axis, names in AXES.items()
        for name in names
        for values in [found[role, name]]
    )


def _measured(run: _Run, hops: int, shortest: int | None) -> Iterator[tuple[str, float]]:
    calls = len(run.labels)
    if hops:
        yield "tool-calling F1", 2 * run.matched / (calls + hops)
    known = [(label, reason) for label, reason in run.labels if label is not None]
    if known:
        yield "task relevance", sum(label >= 0 for label, _ in known) / len(known)
        yield "redundancy", 1 - sum(reason in _WASTE for _, reason in known) / len(known)
    if shortest is not None:
        yield "step efficiency", shortest / max(run.turns, shortest)
    if run.progress is not None:
        yield "progress", run.progress
    if run.correct is not None:
        yield "task pass rate", float(run.correct)
        if run.progress == 1.0:
            yield "information utilization", float(run.correct)
    for name, part in (("logical progression", "coherence"), ("answer quality", "completion")):
        if run.rated.get(part) is not None:
            yield name, float(run.rated[part])


def _runs(dataset: Dataset) -> dict[str, _Run]:
    if "steps" not in dataset.configs:
        return {}
    runs = {
        row["id"]: _Run(row["role"], row["task_id"], row["turns"], row["verdict"]["correct"])
        for batch in dataset.batches("trajectories", columns=["id", "role", "task_id", "turns", "verdict"])
        for row in batch.to_pylist()
    }
    names = ["trajectory_id", "action_kind", "label", "label_reason", "gold_match", "progress"]
    for batch in dataset.batches("steps", columns=names):
        for row in batch.to_pylist():
            if (run := runs.get(row["trajectory_id"])) is None:
                continue  # `validate` says so
            run.matched += (row["gold_match"] or 0) >= 0 and row["gold_match"] is not None
            run.progress = run.progress if row["progress"] is None else max(row["progress"], run.progress or 0.0)
            if row["action_kind"] not in ("answer", "give_up"):
                run.labels.append((row["label"], row["label_reason"]))
    for batch in dataset.batches("judgments", columns=["kind", "trajectory_id", "parts"]):
        for row in batch.to_pylist():
            if row["kind"] == JudgmentKind.RUN and row["trajectory_id"] in runs:
                runs[row["trajectory_id"]].rated = parse_json(row["parts"])
    return runs
