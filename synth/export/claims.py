"""Claims about runs with evidence and verdict: rows to train a verifier with.

DeepVerifier (arXiv 2601.15808) decomposes what a run concludes into questions that can be checked, checks each against
sources, and judges the whole. Here the parts are the hops of the gold walk (or the items of the plan), the labelled
turns and the answer, so that verdicts rest on what was measured; nothing is claimed where nothing was.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from synth.agents.trajectory import history_of
from synth.annotate.evidence.view import EvidenceView
from synth.dataset.usage import usage
from synth.export.contract import About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import run_messages
from synth.export.transcripts import transcript, written
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["VERIFIER"]


def _verifier(run: Run, about: About, cut: int) -> list[Record]:
    row, task = run.row, run.task
    if task is None:
        raise Inexpressible(Why.NO_EVIDENCE)
    common = {
        "question": task.question,
        "run": transcript(run_messages(row), about),
        "success": row.verdict.correct,
        "trajectory_id": row.id,
        "task_id": row.task_id,
        "source": about.dataset,
        "licence": row.licence,
        "cut_observations": cut,
    }
    empty = {"evidence": None, "step": None, "reason": None, "failure": None}
    claims = [*_parts(row, task), *_turns(run, about), *_answer(row, task)]
    if not claims:
        raise Inexpressible(Why.UNMEASURED, row.verdict.evidence)
    return [{**common, **empty, **claim} for claim in claims]


def _parts(row: TrajectoryRow, task: Task) -> Iterator[Record]:
    """Whether the run came to see what the question needs, part by part."""
    _, history = history_of(row)
    view, shown = EvidenceView(task), dict[int, int]()
    for number, step in enumerate(history):
        had = view.plan.had if view.plan is not None else frozenset()
        new = view.take(step)
        for part in new if view.plan is None else view.plan.had - had:
            shown[part] = number
    if view.plan is not None:
        for part in range(view.plan.needed):
            told = {"kind": "plan", "claim": f"This was done: {view.plan.name_of(part)}."}
            yield told | {"verdict": "done" if part in shown else "not_done", "step": shown.get(part)}
        return
    for part, hop in enumerate(task.walk.hops):
        told = {"kind": "hop", "claim": f"The run saw {hop.cue!r}: {hop.target.name}.", "evidence": hop.evidence.quote}
        yield told | {"verdict": "seen" if part in shown else "not_seen", "step": shown.get(part)}


def _turns(run: Run, about: About) -> Iterator[Record]:
    """Whether a turn was right, of those that were measured."""
    labels = {step.step: step for step in run.steps or ()}
    for message in run_messages(run.row):
        step = None if message.turn is None else labels.get(message.turn)
        if step is None or step.label is None:
            continue
        yield {
            "kind": "turn",
            "claim": "\n".join(written(message, about)),
            "verdict": {1: "helps", 0: "neutral", -1: "harms"}[step.label],
            "step": step.step,
            "reason": f"{step.label_reason}: {step.label_detail}",
            "failure": step.failure,
        }


def _answer(row: TrajectoryRow, task: Task) -> Iterator[Record]:
    if row.answer is None or row.verdict.correct is None:
        return
    needed = {number for hop in task.walk.hops for number in hop.needs}
    last = [hop.evidence.quote for number, hop in enumerate(task.walk.hops) if number not in needed]
    yield {
        "kind": "answer",
        "claim": f"The answer is {row.answer}",
        "evidence": "\n".join(dict.fromkeys(last)) or None,
        "verdict": "right" if row.verdict.correct else "wrong",
        "step": row.turns - 1,
        "reason": f"{row.verdict.rule}: {row.verdict.evidence}",
    }


_TEXT = pa.string()
VERIFIER = Format(
    name="verifier",
    summary="Claims about runs, part by part, with evidence and verdict: to train a verifier.",
    source="trajectories",
    needs=("steps", "tasks"),
    layout="parquet",
    convert=_verifier,
    columns={
        **dict.fromkeys(("question", "run", "kind", "claim", "evidence", "verdict"), _TEXT),
        "step": pa.int64(),
        "reason": _TEXT,
        "failure": _TEXT,
        "success": pa.bool_(),
        **dict.fromkeys(("trajectory_id", "task_id", "source", "licence"), _TEXT),
        "cut_observations": pa.int64(),
    },
    usage=usage("verifier"),
)
