"""What rows are drawn with on a terminal: titles, facts, texts, and the items of a trajectory.

Data is data: no markup in it is obeyed, and control characters (escape sequences, direction overrides) are spelled out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from synth.schemas.adp import (
    ApiAction,
    CodeAction,
    ContentItem,
    ImageObservation,
    MessageAction,
    TextObservation,
    WebObservation,
)

__all__ = ["Beside", "body", "clean", "facts", "items", "part", "styled", "title"]

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


def title(kind: str, name: str) -> RenderableType:
    return Rule(Text(f"{kind} {clean(name)}", style="bold"), align="left")


def facts(lines: Sequence[tuple[str, str | None]], mark: bool | None = None) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in lines:
        if value:
            style = {True: "green", False: "red", None: "yellow"}[mark] if name == "verdict" else ""
            table.add_row(name, Text(clean(value), style=style))
    return Padding(table, (0, 0, 1, 0))


def body(text: str, full: bool, lines: int) -> RenderableType:
    text = clean(text).rstrip()
    shown = text.splitlines()
    if not full and len(shown) > lines:
        more = len(shown) - lines
        text = "\n".join([*shown[:lines], f"… {more:,} more line{'s' * (more > 1)} (--full shows all)"])
    if not full and len(text) > 80 * lines:
        text = f"{text[: 80 * lines]} … {len(text) - 80 * lines:,} more characters (--full shows all)"
    return Text(text)


def items(content: Sequence[ContentItem], full: bool) -> Iterator[RenderableType]:
    """Actions and observations one after the other; ``full`` shows long texts whole."""
    for item in content:
        if isinstance(item, ApiAction | CodeAction | MessageAction):
            yield from _action(item, full)
        elif isinstance(item, TextObservation):
            who = "user" if item.source == "user" else item.name or item.source
            yield part(who, body(item.content, full, 12), "blue" if item.source == "user" else "dim")
        elif isinstance(item, ImageObservation):
            yield part("image", Text(_picture(item.content)), "dim")
        elif isinstance(item, WebObservation):
            text = item.axtree or item.html or ""
            picture = item.image_observation
            shown = [Text(_picture(picture.content))] if picture is not None else []
            yield part("page", Group(Text(clean(item.url or "")), *shown, body(text, full, 12)), "dim")


def _picture(content: str) -> str:
    """Where a picture is, or how large one is that stands in the row itself."""
    if content.startswith("data:"):
        kind, _, data = content.removeprefix("data:").partition(",")
        return f"a picture, {clean(kind.split(';')[0])}, {len(data) * 3 // 4:,} bytes"
    return clean(content)


def _action(item: ApiAction | CodeAction | MessageAction, full: bool) -> Iterator[RenderableType]:
    if item.reasoning_content:
        yield part("thinks", styled(item.reasoning_content, "italic"), "magenta")
    if item.description:
        yield part("says", Text(clean(item.description)), "magenta")
    if isinstance(item, ApiAction):
        arguments = ", ".join(
            f"{name}={json.dumps(value, ensure_ascii=False, sort_keys=True)}"
            for name, value in sorted(item.kwargs.items())
        )
        yield part("calls", styled(f"{item.function}({arguments})", "cyan"), "cyan")
    elif isinstance(item, CodeAction):
        yield part("runs", Group(styled(item.language, "dim"), body(item.content, full, 40)), "cyan")
    else:
        yield part("answers", styled(item.content, "bold"), "green")
    if item.reward is not None:
        yield part("reward", Text(f"{item.reward:g}"), "dim")


def styled(text: str, style: str) -> Text:
    return Text(clean(text), style=style)


def part(label: str, body: RenderableType, style: str) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    table.add_column(width=10, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(clean(label), style=style), body)
    return Padding(table, (0, 0, 0, 2))


class Beside:
    """Rows of two cells, side by side where the terminal is wide enough, else one column after the other."""

    WIDE = 100
    """Columns of a terminal from which on two texts stand side by side."""

    def __init__(self, left: str, right: str, rows: Sequence[tuple[RenderableType, RenderableType]]) -> None:
        self.left = left
        self.right = right
        self.rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        heads = [Text(clean(name), style="bold underline") for name in (self.left, self.right)]
        if options.max_width >= self.WIDE:
            table = Table.grid(padding=(0, 2), expand=True)
            for _ in heads:
                table.add_column(ratio=1, overflow="fold")
            table.add_row(*heads)
            for row in self.rows:
                table.add_row(*row)
            yield table
            return
        for side, head in enumerate(heads):
            yield head
            for row in self.rows:
                yield row[side]
            yield Text("")
