"""One task, trajectory, document or rejection as text for a terminal.

Data is data: no markup in it is obeyed, and control characters (escape sequences, direction overrides) are spelled out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from synth.schemas.adp import (
    ApiAction,
    CodeAction,
    ImageObservation,
    MessageAction,
    TextObservation,
    WebObservation,
)
from synth.schemas.documents import Document
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["clean", "render_row", "render_task", "render_trajectory"]

_KEPT = {"\n", "\t"}
_DIRECTION = {*map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\u200e", "\u200f", "\u061c"}


def clean(text: str) -> str:
    """The text with everything that could steer a terminal spelled out."""
    if text.isprintable():
        return text
    return "".join(
        f"\\x{ord(sign):02x}" if (ord(sign) < 0x20 and sign not in _KEPT) or 0x7F <= ord(sign) < 0xA0
        else f"\\u{ord(sign):04x}" if sign in _DIRECTION or sign in "\u2028\u2029"
        else sign
        for sign in text.replace("\r\n", "\n")
    )  # fmt: skip


def render_row(row: Row, task: Task | None = None, *, full: bool = False) -> RenderableType:
    """Any row of a dataset. ``task`` goes with a trajectory; ``full`` shows long texts whole.

    Raises:
        TypeError: a row that no config holds.
    """
    if isinstance(row, TrajectoryRow):
        return render_trajectory(row, task, full=full)
    if isinstance(row, Task):
        return render_task(row)
    if isinstance(row, Document):
        facts = [("kind", row.kind), ("url", row.url), ("path", row.path), ("licence", row.licence), ("date", row.date)]
        return Group(_title("document", row.id), _facts([("title", row.title), *facts]), _body(row.text, full, 40))
    if isinstance(row, Rejection):
        facts = [("stage", row.stage), ("reason", f"{row.reason} · {row.reason.sentence}"), ("detail", row.detail)]
        return Group(_title("rejection", row.row_id), _facts(facts), _body(row.preview, full, 40))
    raise TypeError(f"{type(row).__name__} is a row of no config")


def render_task(task: Task) -> RenderableType:
    """Question, answer, walk with evidence, checks."""
    facts = [
        ("question", task.question),
        ("answer", " · ".join([task.answer, *task.answer_aliases])),
        ("split", task.split),
        ("shape", f"{task.shape}, {len(task.walk.hops)} hops, {task.difficulty.documents} documents to read"),
        ("checks", ", ".join(f"{check.check} {check.outcome}" for check in task.checks) or None),
    ]
    return Group(_title("task", task.id), _facts(facts), *_walk(task))


def render_trajectory(row: TrajectoryRow, task: Task | None = None, *, full: bool = False) -> RenderableType:
    """A rollout turn by turn; with its task, also the gold answer and walk."""
    verdict = {True: "correct", False: "wrong", None: "not judged"}[row.verdict.correct]
    facts = [
        ("task", row.task_id),
        (
            "role",
            f"{row.role}, rollout {row.rollout}, {row.model or 'scripted'}{', saw the gold walk' * row.privileged}",
        ),
        ("split", row.split),
        ("ended", f"{row.stop_reason} after {row.turns} turns, {row.tool_calls} tool calls"),
        ("answer", row.answer),
        ("gold", task.answer if task else None),
        ("verdict", f"{verdict} ({row.verdict.rule}) {row.verdict.evidence}"),
    ]
    body = [_title("trajectory", row.id), _facts(facts, mark=row.verdict.correct), *_turns(row, full)]
    if task is not None:
        body += _walk(task)
    return Group(*body)


def _title(kind: str, name: str) -> RenderableType:
    return Rule(Text(f"{kind} {clean(name)}", style="bold"), align="left")


def _facts(facts: list[tuple[str, str | None]], mark: bool | None = None) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts:
        if value:
            style = {True: "green", False: "red", None: "yellow"}[mark] if name == "verdict" else ""
            table.add_row(name, Text(clean(value), style=style))
    return Padding(table, (0, 0, 1, 0))


def _body(text: str, full: bool, lines: int) -> RenderableType:
    text = clean(text).rstrip()
    shown = text.splitlines()
    if not full and len(shown) > lines:
        more = len(shown) - lines
        text = "\n".join([*shown[:lines], f"… {more:,} more line{'s' * (more > 1)} (--full shows all)"])
    if not full and len(text) > 80 * lines:
        text = f"{text[: 80 * lines]} … {len(text) - 80 * lines:,} more characters (--full shows all)"
    return Text(text)


def _turns(row: TrajectoryRow, full: bool) -> Iterator[RenderableType]:
    turn, acting = 0, False
    for item in row.content:
        action = isinstance(item, ApiAction | CodeAction | MessageAction)
        if action and not acting:
            turn += 1
            yield Text(f"turn {turn}", style="bold")
        acting = action
        if isinstance(item, ApiAction | CodeAction | MessageAction):
            yield from _action(item, full)
        elif isinstance(item, TextObservation):
            who = "user" if item.source == "user" else item.name or item.source
            yield _part(who, _body(item.content, full, 12), "blue" if item.source == "user" else "dim")
        elif isinstance(item, ImageObservation):
            yield _part("image", Text(clean(item.content)), "dim")
        elif isinstance(item, WebObservation):
            text = item.axtree or item.html or ""
            yield _part("page", Group(Text(clean(item.url or "")), _body(text, full, 12)), "dim")


def _action(item: ApiAction | CodeAction | MessageAction, full: bool) -> Iterator[RenderableType]:
    if item.reasoning_content:
        yield _part("thinks", _styled(item.reasoning_content, "italic"), "magenta")
    if item.description:
        yield _part("says", Text(clean(item.description)), "magenta")
    if isinstance(item, ApiAction):
        arguments = ", ".join(
            f"{name}={json.dumps(value, ensure_ascii=False, sort_keys=True)}"
            for name, value in sorted(item.kwargs.items())
        )
        yield _part("calls", _styled(f"{item.function}({arguments})", "cyan"), "cyan")
    elif isinstance(item, CodeAction):
        yield _part("runs", Group(_styled(item.language, "dim"), _body(item.content, full, 40)), "cyan")
    else:
        yield _part("answers", _styled(item.content, "bold"), "green")
    if item.reward is not None:
        yield _part("reward", Text(f"{item.reward:g}"), "dim")


def _styled(text: str, style: str) -> Text:
    return Text(clean(text), style=style)


def _part(label: str, body: RenderableType, style: str) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(clean(label), style=style), body)
    return Padding(table, (0, 0, 0, 2))


def _walk(task: Task) -> list[RenderableType]:
    if not task.walk.hops:
        return []
    return [Text("\nwalk", style="bold"), *(_hop(number, hop) for number, hop in enumerate(task.walk.hops, 1))]


def _hop(number: int, hop: Hop) -> RenderableType:
    arrow = "->" if hop.forward else "<-"
    line = f"{hop.source.name}  {arrow} {hop.relation} {arrow}  {hop.target.name}"
    evidence = hop.evidence
    quote = f"{evidence.document_id} [{evidence.start}:{evidence.end}]  “{evidence.quote}”"
    return _part(f"hop {number}", Group(Text(clean(line)), _styled(quote, "dim")), "bold")
