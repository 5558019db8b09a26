"""What a build says."""

from __future__ import annotations

import io
from pathlib import Path

from engine_toys import plan

from synth.engine import Engine, Live, LocalExecutor, Plain, Quiet, progress_for
from synth.engine.progress import report_line
from synth.schemas.reports import StageReport
from synth.store import Store


def test_plain_lines_say_what_became_of_the_rows(tmp_path: Path) -> None:
    stream = io.StringIO()
    with Engine(plan(20), Store(tmp_path), LocalExecutor(), Plain(stream, seconds=0)) as engine:
        engine.run()
    lines = stream.getvalue().splitlines()
    assert lines[:2] == ["pages: 3 to do", "pages: 1 of 3"]
    assert lines[4].startswith("pages: 51 kept of 60, 9 empty (")
    assert "answers: 20 of 20" in lines
    assert "\x1b" not in stream.getvalue()
    again = io.StringIO()
    with Engine(plan(20), Store(tmp_path), LocalExecutor(), Plain(again)) as engine:
        engine.run()
    assert again.getvalue().splitlines()[0] == "pages: 51 kept of 60, 9 empty (from the store)"
    assert len(again.getvalue().splitlines()) == 5


def test_a_build_that_goes_on_counts_from_where_it_was(tmp_path: Path) -> None:
    with Engine(plan(20), Store(tmp_path), LocalExecutor()) as engine:
        engine.run()
    stream = io.StringIO()
    with Engine(plan(30), Store(tmp_path), LocalExecutor(), Plain(stream)) as engine:
        engine.run()
    assert "answers: 14 to do, 16 finished before" in stream.getvalue().splitlines()


def test_the_kind_follows_the_stream() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert isinstance(progress_for(io.StringIO()), Plain)
    assert isinstance(progress_for(Terminal(), quiet=True), Quiet)
    live = progress_for(Terminal())
    assert isinstance(live, Live)
    live.close()


def test_live_draws_and_leaves_the_finished_lines(tmp_path: Path) -> None:
    from rich.console import Console

    stream = io.StringIO()
    live = Live(Console(file=stream, force_terminal=True, width=100))
    with Engine(plan(20), Store(tmp_path), LocalExecutor(), live) as engine:
        engine.run()
        live.note("a note")
    text = stream.getvalue()
    assert "a note" in text
    assert "pages: 51 kept of 60, 9 empty" in text
    live.close()


def test_a_report_on_one_line() -> None:
    report = StageReport(
        label="a", stage="b", version=1, fingerprint="f", rows_in=1200, kept=1000, rejected={"empty": 200}, seconds=1.25
    )
    assert report_line(report) == "a: 1,000 kept of 1,200, 200 empty (1.2 s)"
