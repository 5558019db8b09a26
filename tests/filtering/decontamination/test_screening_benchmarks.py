"""Benchmarks are read from whatever form they come in; what is not theirs to be compared with is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from synth.errors import InputError
from synth.filtering.decontamination.benchmarks import BenchmarkFilter, Benchmarks, file_digest, read_items
from synth.filtering.decontamination.config import Rules

LONG = "Which bridge over the quiet river was closed in the year of the flood?"
ROWS: list[dict[str, Any]] = [
    {"Question": LONG, "Final answer": "Old Gate", "context": ["A page about", {"text": "something else entirely"}]},
    {"Question": "Who?", "Final answer": "Nobody", "context": []},
]


def texts(content: bytes, name: str, **rules: Any) -> list[tuple[str, ...]]:
    return [item.texts for item in read_items(content, name, name, Rules(**rules))]


def test_every_form_gives_the_same_rows(tmp_path: Path) -> None:
    short = [{"Question": row["Question"], "Final answer": row["Final answer"]} for row in ROWS]
    wanted = [(LONG, "Old Gate"), ("Who?", "Nobody")]
    lines = "\n\n".join(json.dumps(row) for row in ROWS)
    assert texts(lines.encode(), "a.jsonl") == wanted
    assert texts(("\ufeff" + lines).encode(), "A.JSONL") == wanted
    assert texts(json.dumps(ROWS).encode(), "a.json") == wanted
    table = "Question,Final answer\r\n" + "\r\n".join(f'"{row["Question"]}",{row["Final answer"]}' for row in ROWS)
    assert texts(table.encode(), "a.csv") == wanted
    pq.write_table(pa.Table.from_pylist(short), tmp_path / "a.parquet")
    assert texts((tmp_path / "a.parquet").read_bytes(), "a.parquet") == wanted
    assert texts(f"{LONG}\n\nWho?\n".encode(), "a.txt") == [(LONG,), ("Who?",)]


def test_context_counts_when_it_is_named() -> None:
    lines = json.dumps(ROWS[0]).encode()
    assert texts(lines, "a.jsonl") == [(LONG, "Old Gate")]
    wanted = (LONG, "A page about", "something else entirely")
    assert texts(lines, "a.jsonl", fields=("Question", "context")) == [wanted]
    assert texts(b'{"a": "a big red old new hot wet day", "b": [{"c": "x"}]}', "a.jsonl") == [
        ("a big red old new hot wet day", "x")
    ], "a row without a usual name counts as a whole"


def test_short_names_are_no_overlap() -> None:
    screen = Benchmarks(read_items(json.dumps(ROWS[0]).encode(), "a.jsonl", "a.jsonl", Rules()), Rules())
    assert screen.overlap("The answer is Old Gate, as far as anybody in the town can remember.") is None
    assert screen.overlap("bridge over the quiet river was closed in") is not None, "eight words of theirs, all of ours"
    assert screen.overlap("the quiet river was closed") is None
    found = screen.overlap(f"Tell me: {LONG}")
    assert found is not None
    assert (found[0].row, found[0].file, found[1]) == (1, "a.jsonl", 14)


def test_numbers_may_be_told_apart() -> None:
    line = b"In 1954 the town had twelve mills and 7,000 people in all of its streets."
    other = "In 1961 the town had nine mills and 12,500 people in all of its streets."
    for mask in (True, False):
        rules = Rules(mask_numbers=mask)
        screen = Benchmarks(read_items(line, "a.txt", "a.txt", rules), rules)
        assert (screen.overlap(other) is not None) == mask


def test_a_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LONG)
    digest = file_digest(str(path), Rules())
    assert BenchmarkFilter(files={"a.txt": str(path)}, sha256={"a.txt": digest}).overlap(LONG) is not None
    path.write_text(LONG + " Yes.")
    with pytest.raises(InputError, match="was changed"):
        BenchmarkFilter(files={"a.txt": str(path)}, sha256={"a.txt": digest})


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", b'a,b\n"x"y,2\n', "is not CSV"),
        ("a.txt", b"\xff\xfe", "is not UTF-8 text"),
        ("a.json", b"[" * 100_000, "is no JSON"),
        ("a.jsonl", b"", "nothing would be found"),
        ("a", b"x", "with the ending ''"),
    ],
)
def test_what_can_not_be_read_is_said(name: str, content: bytes, line: str) -> None:
    with pytest.raises(InputError) as caught:
        texts(content, name)
    assert line in str(caught.value)
