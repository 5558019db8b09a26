"""Any row of a dataset as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from synth.dataset.show.show_rewards import render_context, render_rl
from synth.dataset.show.show_steps import label_lines, render_branch, render_pair, render_step
from synth.dataset.show.terminal import body, clean, facts, items, part, styled, title
from synth.schemas.contexts import ContextRow
from synth.schemas.documents import Document
from synth.schemas.judgments import JudgmentRow
from synth.schemas.rejections import Rejection
from synth.schemas.rl import RlRow
from synth.schemas.row import Row
from synth.schemas.steps import ContinuationRow, PreferenceRow, StepRow
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges

__all__ = [
    "clean",
    "render_branch",
    "render_pair",
    "render_row",
    "render_step",
    "render_task",
    "render_trajectory",
    "render_verdict",
]


def render_row(
    row: Row,
    task: Task | None = None,
    *,
    trajectory: TrajectoryRow | None = None,
    steps: Sequence[StepRow] = (),
    full: bool = False,
) -> RenderableType:
    """Any row of a dataset.

    Args:
        task: Goes with a trajectory: gold answer and walk.
        trajectory: Goes with a step or a branch of it: what was done, and what the branch is drawn beside.
        steps: Go with a trajectory: labels beside its turns.
        full: Show long texts whole.

    Raises:
        TypeError: a row that no config holds.
        ValueError: ``trajectory`` is not the one that ``row`` is of.
    """
    if isinstance(row, TrajectoryRow):
        return render_trajectory(row, task, steps=steps, full=full)
    if isinstance(row, Task):
        return render_task(row)
    if isinstance(row, StepRow):
        return render_step(row, trajectory, full=full)
    if isinstance(row, ContinuationRow):
        return render_branch(row, trajectory, full=full)
    if isinstance(row, PreferenceRow):
        return render_pair(row, full=full)
    if isinstance(row, RlRow):
        return render_rl(row, full=full)
    if isinstance(row, ContextRow):
        return render_context(row, full=full)
    if isinstance(row, Document):
        about = [("kind", row.kind), ("url", row.url), ("path", row.path), ("licence", row.licence), ("date", row.date)]
        return Group(title("document", row.id), facts([("title", row.title), *about]), body(row.text, full, 40))
    if isinstance(row, JudgmentRow):
        return render_verdict(row, full=full)
    if isinstance(row, Rejection):
        lines = [("stage", row.stage), ("reason", f"{row.reason} · {row.reason.sentence}"), ("detail", row.detail)]
        return Group(title("rejection", row.row_id), facts(lines), body(row.preview, full, 40))
    raise TypeError(f"{type(row).__name__} is a row of no config")


def render_verdict(row: JudgmentRow, *, full: bool = False) -> RenderableType:
    """What was said of an action, pair, answer or run, by whom, and on what it rests."""
    by = row.provenance
    lines = [
        ("of", f"{row.kind} {row.pair_id or row.trajectory_id}"),
        (
            "step",
            None if row.step < 0 else f"{row.step}, alternative {row.alternative}".removesuffix(", alternative -1"),
        ),
        ("verdict", row.verdict if row.value is None else f"{row.verdict} {row.value:g}"),
        ("abstained", f"{row.abstained} · {row.abstained.sentence}" if row.abstained else None),
        ("parts", ", ".join(f"{name} {value}" for name, value in row.parts.items()) or None),
        ("cites", ", ".join(f"step {step}" for step in row.cites) or None),
        ("by", " ".join(part for part in (by.backend, by.model, by.prompt) if part)),
        ("calls", " ".join(row.calls) or None),
    ]
    return Group(title("verdict", row.id), facts(lines), body(row.reason, full, 40))


def render_task(task: Task) -> RenderableType:
    """Question, answer, walk with evidence, checks."""
    lines = [
        ("question", task.question),
        ("answer", " · ".join([task.answer, *task.answer_aliases])),
        ("split", task.split),
        ("shape", f"{task.shape}, {len(task.walk.hops)} hops, {task.difficulty.documents} documents to read"),
        ("checks", ", ".join(f"{check.check} {check.outcome}" for check in task.checks) or None),
    ]
    return Group(title("task", task.id), facts(lines), *_walk(task))


def render_trajectory(
    row: TrajectoryRow, task: Task | None = None, *, steps: Sequence[StepRow] = (), full: bool = False
) -> RenderableType:
    """A rollout turn by turn; with its steps, what each turn is worth; with its task, the gold answer and walk."""
    verdict = {True: "correct", False: "wrong", None: "not judged"}[row.verdict.correct]
    who = row.model or row.provenance.backend or "scripted"
    lines = [
        ("task", row.task_id),
        (
            "role",
            f"{row.role}, rollout {row.rollout}, {who}{', saw the gold walk' * row.privileged}",
        ),
        ("split", row.split),
        ("ended", f"{row.stop_reason} after {row.turns} turns, {row.tool_calls} tool calls"),
        ("answer", row.answer),
        ("gold", task.answer if task else None),
        ("verdict", f"{verdict} ({row.verdict.rule}) {row.verdict.evidence}"),
    ]
    drawn = [title("trajectory", row.id), facts(lines, mark=row.verdict.correct), *_turns(row, steps, full)]
    if task is not None:
        drawn += _walk(task)
    return Group(*drawn)


def _turns(row: TrajectoryRow, steps: Sequence[StepRow], full: bool) -> Iterator[RenderableType]:
    labels = {step.step: step for step in steps if step.trajectory_id == row.id}
    shown = 0
    for number, (start, end) in enumerate(turn_ranges(row.content)):
        yield from items(row.content[shown:start], full)
        yield Text(f"turn {number + 1}", style="bold")
        if label := labels.get(number):
            yield from label_lines(label)
        yield from items(row.content[start:end], full)
        shown = end
    yield from items(row.content[shown:], full)


def _walk(task: Task) -> list[RenderableType]:
    if not task.walk.hops:
        return []
    return [Text("\nwalk", style="bold"), *(_hop(number, hop) for number, hop in enumerate(task.walk.hops, 1))]


def _hop(number: int, hop: Hop) -> RenderableType:
    arrow = "->" if hop.forward else "<-"
    line = f"{hop.source.name}  {arrow} {hop.relation} {arrow}  {hop.target.name}"
    evidence = hop.evidence
    quote = f"{evidence.document_id} [{evidence.start}:{evidence.end}]  “{evidence.quote}”"
    return part(f"hop {number}", Group(Text(clean(line)), styled(quote, "dim")), "bold")
