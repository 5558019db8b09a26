"""Any row of a dataset as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from synth.dataset.show.show_steps import label_lines, render_branch, render_pair, render_step
from synth.dataset.show.terminal import body, clean, facts, items, part, styled, title
from synth.schemas.contexts import ContextItem, ContextRow
from synth.schemas.documents import Document
from synth.schemas.judgments import JudgmentRow
from synth.schemas.preferences import PreferenceRow
from synth.schemas.rejections import Rejection
from synth.schemas.rl import GroundTruth, RlRow
from synth.schemas.row import Row
from synth.schemas.steps import ContinuationRow, StepRow
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges

__all__ = [
    "clean",
    "render_branch",
    "render_judgment",
    "render_pair",
    "render_row",
    "render_step",
    "render_task",
    "render_trajectory",
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
        return render_judgment(row, full=full)
    if isinstance(row, Rejection):
        lines = [("stage", row.stage), ("reason", f"{row.reason} · {row.reason.sentence}"), ("detail", row.detail)]
        return Group(title("rejection", row.row_id), facts(lines), body(row.preview, full, 40))
    raise TypeError(f"{type(row).__name__} is a row of no config")


def render_judgment(row: JudgmentRow, *, full: bool = False) -> RenderableType:
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
    return Group(title("judgment", row.id), facts(lines), body(row.reason, full, 40))


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


def render_rl(row: RlRow, *, full: bool = False) -> RenderableType:
    """Question, answer, tools, rubric, and the system prompt."""
    truth = row.reward_model.ground_truth
    lines: list[tuple[str, str | None]] = [
        *_task_lines(row.task_id, truth, row.split),
        ("shape", f"{row.shape}, {row.hops} hops, obfuscation {row.obfuscation}"),
        ("tools", ", ".join(str(tool.get("function", {}).get("name")) for tool in row.tools)),
        ("reward", _weights(row)),
        *([("judged by", "the state that is left behind")] if truth.judged_by == "state" else []),
    ]
    return Group(
        title("rl", row.id), facts(lines), *_rubric(truth), part("prompt", body(row.prompt[0].content, full, 12), "dim")
    )


def render_context(row: ContextRow, *, full: bool = False) -> RenderableType:
    """Question, answer, rubric and the documents in their order; ``full`` shows the message itself."""
    truth = row.reward_model.ground_truth
    lines: list[tuple[str, str | None]] = [
        *_task_lines(row.task_id, truth, row.split),
        ("shape", f"{row.shape}, {row.hops} hops, obfuscation {row.obfuscation}"),
        ("tokens", f"{row.tokens:,} of {row.budget:,} by {row.tokenizer}"),
        ("gold at", ", ".join(f"{depth:.0%}" for depth in row.gold_depths)),
        ("reward", _weights(row)),
    ]
    shown = [_document(place, item) for place, item in enumerate(row.documents)]
    message = [part("prompt", body(row.prompt[-1].content, full, 12), "dim")] if full else []
    return Group(
        title("context", row.id), facts(lines), *_rubric(truth), part("documents", Group(*shown), "blue"), *message
    )


def _task_lines(task_id: str, truth: GroundTruth, split: str) -> Iterator[tuple[str, str]]:
    yield "task", task_id
    yield "question", truth.question
    parts = [part.answer for part in truth.answer_parts]
    yield "answer", "; ".join(parts) if parts else " · ".join([truth.answer, *truth.answer_aliases])
    yield "split", split


def _weights(row: RlRow | ContextRow) -> str:
    verifier = row.verifier
    if not verifier.function.startswith("synth."):
        return f"by {verifier.function.partition('@')[0]}"
    return f"{verifier.outcome_weight:g} for a right answer + {verifier.rubric_weight:g} for the rubric"


def _rubric(truth: GroundTruth) -> Iterator[RenderableType]:
    if truth.rubric:
        named = [
            f"{' / '.join(item.names)}: {' '.join(fact.statement for fact in item.facts)}" for item in truth.rubric
        ]
        yield part("rubric", Group(*(styled(line, "") for line in named)), "magenta")


def _document(place: int, item: ContextItem) -> Text:
    size = item.token_end - item.token_start
    notes = [item.kind.replace("_", " "), f"{size:,} tokens"]
    if item.cut != "none":
        notes.append(f"cut at the end of a {item.cut}")
    if item.names_answer:
        notes.append("names the answer")
    return styled(f"{place}. {item.title} ({', '.join(notes)})", "bold" if item.kind == "gold" else "")
