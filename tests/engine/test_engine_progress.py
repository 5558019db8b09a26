"""What a build says."""

from __future__ import annotations

import io
from pathlib import Path

from engine_toys import plan
from rich.console import Console

from synth.engine import CallsNow, Engine, Live, LocalExecutor, Plain, Quiet, progress_for
from synth.engine.progress import report_line
from synth.schemas.reports import RunUse, StageReport
from synth.store import Store


def test_plain_lines_say_what_became_of_the_rows(tmp_path: Path) -> None:
    stream = io.StringIO()
    with Engine(plan(20), Store(tmp_path), LocalExecutor(), Plain(stream, seconds=0)) as engine:
        engine.run()
    lines = stream.getvalue().splitlines()
    assert lines[0] == "pages (stage 1 of 5): 3 to do"
    assert lines[1].startswith("pages (stage 1 of 5): 1 of 3; ")
    assert lines[4].startswith("pages: 51 kept of 60, 9 empty (")
    assert "answers (stage 4 of 5): 20 of 20" in lines
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
    assert "answers (stage 4 of 5): 14 to do, 16 finished before" in stream.getvalue().splitlines()


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


def test_model_calls_are_told_while_they_run() -> None:
    use = RunUse(calls=1_204, from_store=200, failed=2, prompt_tokens=1_100_000, completion_tokens=90_000, cost=0.5153)
    now = CallsNow(512, 83.24, use)
    assert now.line == "512 in flight, 83 calls/s, 1,204 calls (200 from the store), 1.2M tokens, 2 failed, cost 0.5153"
    assert CallsNow(1, 0.31, RunUse()).line == "1 in flight, 0.3 calls/s, 0 calls, 0 tokens"
    stream = io.StringIO()
    plain = Plain(stream, seconds=0)
    plain.begin("rollouts", 90, 10)
    plain.calls("rollouts", now)
    plain.advance("rollouts", 5)
    assert stream.getvalue().splitlines()[1:] == [
        f"rollouts: 10 of 100; {now.line}",
        f"rollouts: 15 of 100; 0.0 s left; {now.line}",
    ]


def test_a_stage_that_called_models_says_what_was_sent_and_paid() -> None:
    report = StageReport(
        label="rollouts",
        stage="rollouts",
        version=1,
        fingerprint="f",
        rows_in=4,
        kept=4,
        shards=1,
        seconds=2.0,
        run=RunUse(calls=30, from_store=10, cost=1.5),
    )
    assert report_line(report) == "rollouts: 4 kept of 4 (2.0 s, 20 calls, cost 1.50)"


def test_the_live_table_shows_them() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    live = Live(console)
    live.begin("rollouts", 90, 10)
    live.calls("rollouts", CallsNow(7, 12.0, RunUse(calls=3)))
    live.calls("nobody", CallsNow(7, 12.0, RunUse(calls=3)))
    live.close()
    assert "7 in flight, 12 calls/s, 3 calls" in console.file.getvalue()  # type: ignore[attr-defined]
