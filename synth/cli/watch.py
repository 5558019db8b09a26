"""``synth watch``: a running build, seen from another shell."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from synth.cli.options import JsonOption, StoreOption
from synth.late import late

if TYPE_CHECKING:
    from synth.engine import progress, record
    from synth.engine.record import Look
    from synth.pipelines import building
    from synth.store import files
else:
    building = late("synth.pipelines.building")
    files = late("synth.store.files")
    progress = late("synth.engine.progress")
    record = late("synth.engine.record")

__all__ = ["watch"]

_SECONDS = 0.5
_PAGE = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">AGAIN<title>synth watch</title></head>'
    '<body style="color: {foreground}; background: {background}"><pre>{code}</pre></body></html>'
)


def watch(
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="Its name; else the build that wrote to the store last.")
    ] = None,
    store: StoreOption = None,
    once: Annotated[bool, typer.Option("--once", help="Show it as it is now, and go.")] = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Keep a page of it up to date, to look at in a browser."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Watch a build from another shell: stages, rows, model calls, cost, time left. Exits with 1 if it failed."""

    root: Path = store if store is not None else building.default_store()
    look = record.read_record(root, dataset)
    if as_json:
        print(json.dumps({"state": look.state, **asdict(look.record)}, indent=2))
        _write(page, look)
    elif once or not (page or sys.stdout.isatty()):
        Console(highlight=False).print(_drawn(look))
        _write(page, look)
    else:
        with Live(console=Console(highlight=False), auto_refresh=False) as live:
            while True:
                live.update(_drawn(look), refresh=True)
                _write(page, look)
                if look.state != "runs":
                    break
                time.sleep(_SECONDS)
                look = record.read_record(root, look.record.dataset)
    if look.state in ("failed", "killed"):
        raise typer.Exit(1)


def _write(page: Path | None, look: Look) -> None:
    """The page: it renews itself for as long as the build runs."""
    if page is None:
        return
    console = Console(file=StringIO(), record=True, width=120, highlight=False)
    console.print(_drawn(look))
    again = '<meta http-equiv="refresh" content="2">' if look.state == "runs" else ""
    html = console.export_html(code_format=_PAGE.replace("AGAIN", again), inline_styles=True)
    with files.store_errors(page):
        files.write_file(page, html.encode())


def _drawn(look: Look) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for stage in look.record.stages:
        if stage.state == "waiting":
            continue
        running = stage.state == "runs"
        count = f"{stage.done:,}" + (f" of {stage.of:,}" if stage.of else "") if running else ""
        left = f"{progress.duration(stage.seconds_left)} left" if running and stage.seconds_left is not None else ""
        words = ", ".join(word for word in (count, left, stage.spent if running else "", stage.line) if word)
        style = "bold" if running and look.state == "runs" else ""
        table.add_row(Text(stage.label, style=style), Text(words, overflow="fold"))
    waiting = [stage.label for stage in look.record.stages if stage.state == "waiting"]
    rest = f"to come: {', '.join(waiting)}" if waiting and look.state == "runs" else ""
    return Group(table, Text(rest, style="dim"), Text(look.line, style="bold"))
