"""Of recorded runs, what their dataset says otherwise than that of runs that were made."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.engine import Engine
from synth.identity import hash_64
from synth.schemas.reports import RoleReport
from synth.schemas.searched import SearchedRow
from synth.schemas.trajectories import RECORDED
from synth.store import StoredTable

__all__ = ["recorded_notes", "recorded_role", "tasks_without_runs", "verdicts_of"]


def _runs(engine: Engine) -> Iterator[StoredTable]:
    for node in engine.plan.nodes:
        if node.stage.name == "recorded_runs":
            yield engine.table(node.label, "trajectories")


def recorded_role(role: str, runs: StoredTable) -> RoleReport | None:
    """Who acted in a role, by what the runs say; None where there is none."""
    if not len(runs):
        return None
    models: set[str | None] = set()
    samples = array("q")  # a group_by holds sixty times as much
    for piece in runs.pieces():
        tasks, by = (piece.column(name).to_pylist() for name in ("task_id", "model"))
        models.update(by)
        samples.extend(hash_64(f"{task}\n{model}") for task, model in zip(tasks, by, strict=True))
    most = int(np.unique(np.frombuffer(samples, np.int64), return_counts=True)[1].max())
    named = ", ".join(sorted(model for model in models if model is not None))
    return RoleReport(role=role, backend=RECORDED, model=named or None, rollouts_per_task=most)


def verdicts_of(engine: Engine) -> Counter[str]:
    """How many runs are ``right``, ``wrong`` and ``unjudged``."""
    found: Counter[str] = Counter()
    for runs in _runs(engine):
        told = pc.value_counts(pc.struct_field(runs.arrow.column("verdict"), "correct"))
        for one in told.to_pylist():
            found[{True: "right", False: "wrong", None: "unjudged"}[one["values"]]] += one["counts"]
    return found


def tasks_without_runs(engine: Engine) -> frozenset[str]:
    """Ids of given questions that no run asks."""
    tasks = engine.table("tasks", "tasks").arrow.column("id")
    asked = pa.chunked_array(
        [chunk for runs in _runs(engine) for chunk in runs.arrow.column("task_id").chunks], pa.string()
    )
    return frozenset(tasks.filter(pc.invert(pc.is_in(tasks, value_set=pc.unique(asked)))).to_pylist())


def _searches(engine: Engine) -> Iterator[str]:
    """What came of the search for critical steps in failed runs, and why nothing came of the others."""
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for node in engine.plan.nodes:
        if node.stage.name == "critical_steps":
            for row in engine.table(node.label, "searched").rows():
                if row.failed and (row.counts or row.refused):
                    why = _unverified(row)
                    found[why] += 1
                    examples.setdefault(why, row.refused or "")
    searched, verified = found.total(), found.pop("", 0)
    if not searched:
        return
    yield f"Failed runs that were searched for critical steps: {searched:,}, with a verified one: {verified:,}."
    for why, count in found.most_common():
        example = f" (the first: {examples[why]})"[:300] if examples[why] else ""
        yield f"No step was verified in {count:,}: {why}{example}."


def _unpaired(engine: Engine) -> Iterator[str]:
    """Why steps that were verified made no pair."""
    found: Counter[str] = Counter()
    examples: dict[str, str] = {}
    for node in engine.plan.nodes:
        if node.stage.name == "verified_pairs":
            for one in engine.view(node.label).rejected.rows():
                found[one.reason.value] += 1
                examples.setdefault(one.reason.value, one.detail)
    for reason, count in found.most_common():
        yield f"Verified steps that made no pair: {count:,}, {reason} (the first: {examples[reason]})."[:300]


def _unverified(row: SearchedRow) -> str:
    """Why the search of a failed run verified no step; empty where it did."""
    counts = row.counts
    if counts.get("verified"):
        return ""
    if row.refused is not None and not counts.get("continuations"):
        return "its steps can't be branched from"
    if counts.get("proposed", 0) == counts.get("same_action", 0):
        return "no other action was proposed at any step"
    if not counts.get("candidates"):
        return "expert and scorer saw no better action at any step"
    return "continuations from no other action succeed clearly more often"


def recorded_notes(engine: Engine) -> Iterator[str]:
    """What a reader of the card must know."""
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(verdicts_of(engine).items())) or "none"
    yield f"Runs were recorded elsewhere and are here as they were: {told}."
    if any(getattr(node.config, "environment", None) is not None for node in engine.plan.nodes):
        yield "Their environment was opened again: what it answers otherwise now is in no pair and no continuation."
    else:
        yield "Nobody replayed them: what tools answered is what the record says."
    yield from _searches(engine)
    yield from _unpaired(engine)
    unasked = len(tasks_without_runs(engine)) if any(node.label == "tasks" for node in engine.plan.nodes) else 0
    if unasked:
        yield f"Given questions that no run asks are left out: {unasked:,}."
