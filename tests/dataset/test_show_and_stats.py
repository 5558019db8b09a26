"""Rows as text for a terminal, and a dataset in numbers."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from critical_samples import whole_tables
from exporter_samples import page, rejection, sample_report, task, trajectory
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from synth.dataset.layout import write_dataset
from synth.dataset.reader import load
from synth.dataset.show.numbers import render_stats
from synth.dataset.show.rows import clean, render_row, render_task, render_trajectory
from synth.dataset.stats import _trajectory_characters, stats
from synth.schemas.adp import CodeAction, ImageObservation, MessageAction, TextObservation, WebObservation
from synth.schemas.arrow import to_arrow
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict


def printed(what: Any, width: int = 100) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None, legacy_windows=False)
    console.print(what)
    return console.file.getvalue()  # type: ignore[attr-defined, no-any-return]


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_trajectory_tells_its_story() -> None:
    text = words(printed(render_trajectory(trajectory(3, "policy"), task(3))))
    for piece in (
        "trajectory trajectory-policy-0003",
        "policy, rollout 0, scripted",
        "answered after 3 turns, 2 tool calls",
        "gold Ada 10",
        "verdict wrong (exact) Nobody",
        "user Who founded the place where Place 9 lies?",
        'turn 1 thinks I look it up. calls search(query="Ada")',
        'turn 2 thinks I look it up. calls search(k=5, query="Place 3")',
        "turn 3 thinks Found. answers Nobody",
        "hop 1 Place 9 -> lies_in -> Place 10",
        "“It was founded by Ada 10”",
    ):
        assert piece in text


def test_privilege_is_shown() -> None:
    assert "saw the gold walk" in words(printed(render_trajectory(trajectory(3, "teacher"))))
    assert "saw the gold walk" not in words(printed(render_trajectory(trajectory(3, "policy"))))


def test_an_unjudged_answer_is_not_called_wrong() -> None:
    row = trajectory(3, "policy").model_copy(
        update={"verdict": Verdict(correct=None, rule="none"), "stop_reason": StopReason.MAX_TURNS, "answer": None}
    )
    text = words(printed(render_trajectory(row)))
    assert "verdict not judged (none)" in text
    assert "max_turns after" in text


def test_other_kinds_of_items_are_shown() -> None:
    content = (
        CodeAction(language="python", content="print(1)", tool_call_id="a", reward=0.5),
        WebObservation(
            html="<p>", axtree=None, url="http://x", image_observation=None, viewport_size=None, tool_call_id="a"
        ),
        ImageObservation(content="p.png", source="environment"),
        MessageAction(content="bye", description="said beside"),
    )
    text = words(printed(render_trajectory(trajectory(1, "policy").model_copy(update={"content": content}))))
    for piece in (
        "runs python print(1)",
        "reward 0.5",
        "page http://x",
        "image p.png",
        "says said beside",
        "answers bye",
    ):
        assert piece in text


def test_long_texts_are_cut_unless_asked_for() -> None:
    long = "\n".join(f"line {number}" for number in range(100))
    content = (TextObservation(content=long, source="environment"), MessageAction(content="x"))
    row = trajectory(1, "policy").model_copy(update={"content": content})
    text = printed(render_trajectory(row))
    assert "line 11" in text
    assert "line 12" not in text
    assert "88 more lines (--full shows all)" in text
    assert "line 99" in printed(render_trajectory(row, full=True))
    wide = row.model_copy(update={"content": (TextObservation(content="y" * 5_000, source="user"),)})
    assert "more characters" in printed(render_trajectory(wide))
    assert printed(render_trajectory(wide, full=True)).count("y") >= 5_000


def test_a_task_shows_evidence_and_checks() -> None:
    text = words(printed(render_task(task(2))))
    assert "unique_answer passed, no_shortcut passed" in text
    assert "p6 [" in text
    assert "composition, 2 hops, 2 documents to read" in text


def test_documents_and_rejections() -> None:
    assert "title Place 3" in words(printed(render_row(page(3))))
    text = words(printed(render_row(rejection(1))))
    assert "shortcut · A part of the question is enough to find the answer." in text
    with pytest.raises(TypeError, match="Verdict"):
        render_row(Verdict(correct=None, rule="x"))


NASTY = "[bold red]x[/] [link=http://evil]y[/link] \x1b[31mred\x1b]0;title\x07 \u202eevil\u2066 \x9b2J \r over :smile:"


def test_no_markup_of_the_data_is_obeyed() -> None:
    content = (
        TextObservation(content=NASTY, source="user"),
        MessageAction(content=NASTY, description=NASTY, reasoning_content=NASTY),
    )
    row = trajectory(1, "policy").model_copy(
        update={"content": content, "id": NASTY, "answer": NASTY, "verdict": Verdict(correct=True, rule=NASTY)}
    )
    bad = task(1).model_copy(update={"question": NASTY, "answer": NASTY})
    document = page(1).model_copy(update={"title": NASTY, "text": NASTY})
    for what in (render_trajectory(row, bad), render_task(bad), render_row(document)):
        text = printed(what, width=400)
        assert "[bold red]x[/]" in text
        assert ":smile:" in text
        assert "\\x1b[31mred" in text
        for sign in ("\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\r"):
            assert sign not in text


@given(st.text())
def test_clean_leaves_nothing_that_steers_a_terminal(text: str) -> None:
    result = clean(text)
    assert not any(ord(sign) < 0x20 and sign not in "\n\t" for sign in result)
    assert not any(0x7F <= ord(sign) < 0xA0 for sign in result)
    assert not any(sign in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" for sign in result)
    if text.isprintable():
        assert result == text


def _texts(row: Any) -> list[str]:
    """What is said, thought or shown on the chosen side."""
    texts: list[str] = []
    for item in row.chosen:
        texts += [getattr(item, name, None) or "" for name in ("content", "reasoning_content", "description")]
        if hasattr(item, "kwargs"):
            texts.append(json.dumps(item.kwargs, separators=(",", ":"), ensure_ascii=False))
    return texts


def test_stats_count_the_files_and_read_the_report(finished: Path) -> None:
    numbers = stats(finished)
    assert numbers.tables["trajectories"] == {"train": 24, "validation": 8, "test": 8}
    assert numbers.success == {"policy": 0.5, "teacher": 1.0}
    assert numbers.yields["tasks"] == 20 / 24
    assert numbers.stop_reasons == {"policy": {"answered": 20}, "teacher": {"answered": 20}}
    assert numbers.rules == {"exact": 40}
    assert numbers.hops == {"2": 20}
    assert numbers.shapes == {"composition": 20}
    assert numbers.answer_kinds == {"entity": 20}
    questions = [len(task(number).question) for number in range(20)]
    assert numbers.lengths["question"].maximum == max(questions)
    assert numbers.lengths["question"].mean == pytest.approx(np.mean(questions))
    assert numbers.lengths["document"].rows == 62
    assert numbers.lengths["turns"].median == 3
    assert numbers.label_reasons == {"progress": 70, "supported_answer": 30, "propagated": 10, "wrong_turn": 10}
    assert numbers.failures == {"finding.bad_query": 10}
    assert numbers.behaviours == {"adaptive_search": 40}
    assert numbers.share_supervised == 10 / 30
    assert numbers.continuations_per_pair == 80 / 10
    assert [(line.role, line.helps, line.harms) for line in numbers.labels] == [("policy", 40, 20), ("teacher", 60, 0)]
    assert sum(line.pairs for line in numbers.pairs) == numbers.lengths["chosen side"].rows == 35
    assert numbers.lengths["turns of a continuation"].mean == 1.5
    chosen = [sum(len(text) for text in _texts(row)) for row in load(finished).rows("preferences")]
    assert numbers.lengths["chosen side"].mean == pytest.approx(np.mean(chosen))
    assert json.loads(json.dumps(numbers.model_dump(mode="json")))["seed"] == 7


def test_runs_are_measured_by_role_and_what_nobody_rated_is_null(tmp_path: Path) -> None:
    tables = whole_tables(4)
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    found = {(one.role, one.name): one for one in stats(tmp_path / "out").metrics}
    assert found["policy", "task pass rate"].value == 0.5
    assert found["policy", "task relevance"].value == 0.75, "of the failed runs one call of two harms"
    assert found["policy", "tool-calling F1"].value == 1.0, "two calls, matched to two hops"
    assert found["policy", "information utilization"].value == 0.5, "all saw everything, half answered right"
    rated = found["policy", "answer quality"]
    assert (rated.value, rated.runs, rated.why) == (None, 0, "no run was rated (ratings)")
    assert len(found) == 9 * len({role for role, _ in found})


def test_characters_of_a_trajectory() -> None:
    rows = [trajectory(number, "teacher") for number in range(9)]
    rows[4] = rows[4].model_copy(update={"content": ()})
    rows[8] = rows[8].model_copy(update={"content": ()})

    def length(row: TrajectoryRow) -> int:
        total = 0
        for item in row.content:
            for name in ("content", "reasoning_content", "description"):
                total += len(getattr(item, name, None) or "")
            if hasattr(item, "kwargs"):
                total += len(json.dumps(item.kwargs, separators=(",", ":"), ensure_ascii=False))
        return total

    content = to_arrow(rows, TrajectoryRow).column("content").combine_chunks()
    wanted = [length(row) for row in rows]
    assert _trajectory_characters(content).tolist() == wanted
    assert _trajectory_characters(content.slice(2, 4)).tolist() == wanted[2:6]
    assert _trajectory_characters(pa.chunked_array([content]).chunk(0).slice(8)).tolist() == [0]


def test_stats_as_text(finished: Path) -> None:
    text = words(printed(render_stats(stats(finished))))
    for piece in (
        "world-search, seed 7",
        "trajectories train 24",
        "tasks 24 20 83.3% shortcut 4 0",
        "policy 2 20 50.0% 0 3.00 2.00",
        "teacher answered 20",
        "shapes composition 20",
        "policy 20 60 66.7% 0.0% 33.3% 0 10 66.7%",
        "label_reasons wrong_turn 10",
        "failures finding.bad_query 10",
        "policy failed 10 30 10 10 33.3% 80 8.0",
        "verified_step decision 10 10 10 0 10",
    ):
        assert piece in text


def test_rare_surfaces_share_a_line(finished: Path) -> None:
    surfaces = {f"family {number:02}": 100 - number for number in range(60)}
    numbers = stats(finished).model_copy(update={"surfaces": surfaces})
    text = words(printed(render_stats(numbers), 160))
    assert "surfaces family 19 81 " in text
    assert "family 20" not in text
    assert f"surfaces 40 others {sum(range(41, 81)):,} " in text
    few = numbers.model_copy(update={"surfaces": dict(list(surfaces.items())[:21])})
    assert "surfaces family 20 80 " in words(printed(render_stats(few), 160))


def test_stats_of_a_dataset_without_trajectories(tmp_path: Path) -> None:
    from exporter_samples import sample_report, sample_tables

    from synth.dataset.layout import write_dataset
    from synth.schemas.arrow import arrow_schema

    tables = {**sample_tables(3, 0), "trajectories": arrow_schema(TrajectoryRow).empty_table()}
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    numbers = stats(tmp_path / "out")
    assert numbers.success == {}
    assert set(numbers.lengths) == {"question", "document"}
    assert (numbers.labels, numbers.critical, numbers.pairs) == ((), (), ())
    assert (numbers.share_supervised, numbers.continuations_per_pair) == (None, None)
    assert (numbers.label_reasons, numbers.failures, numbers.behaviours) == ({}, {}, {})
    assert "success" not in printed(render_stats(numbers))
