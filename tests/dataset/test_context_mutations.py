"""``validate`` finds every way of breaking rl rows and contexts, and takes what is right about them."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from breaking import DOCUMENTS, TASKS, Break, edit, must_be_found_in, table
from context_samples_rows import reward_tables
from exporter_samples import sample_report
from rich.console import Console

from synth.dataset.layout import write_dataset
from synth.dataset.reader import load
from synth.dataset.rules.validate import validate
from synth.dataset.show.rows import render_row
from synth.schemas.contexts import ContextRow
from synth.schemas.rl import ExtraInfo, RlRow

RL = "rl/train-00000-of-00001.parquet"
CONTEXTS = "contexts/train-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rewards") / "world-search"
    tables = reward_tables()
    write_dataset(folder, tables, sample_report(tables))
    return folder


def gold(row: ContextRow) -> int:
    return row.gold_positions[0]


def item(row: ContextRow, place: int, **changes: Any) -> dict[str, Any]:
    items = list(row.documents)
    items[place] = items[place].model_copy(update=changes)
    return {"documents": tuple(items)}


def other(row: ContextRow) -> int:
    """A document that is not gold and is whole."""
    return next(n for n, item in enumerate(row.documents) if item.kind != "gold" and item.cut == "none")


def said(row: ContextRow | RlRow, place: int, old: str, new: str) -> dict[str, Any]:
    messages = list(row.prompt)
    content = messages[place].content
    assert old in content
    messages[place] = messages[place].model_copy(update={"content": content.replace(old, new, 1)})
    return {"prompt": tuple(messages)}


def truth(row: ContextRow | RlRow, **changes: Any) -> dict[str, Any]:
    model = row.reward_model
    return {"reward_model": model.model_copy(update={"ground_truth": model.ground_truth.model_copy(update=changes)})}


def elsewhere(row: ContextRow | RlRow, **changes: Any) -> dict[str, ExtraInfo]:
    return {"extra_info": row.extra_info.model_copy(update=changes)}


MUTATIONS: dict[str, tuple[Break, str, str]] = {
    "rl of no task": (edit(RL, 0, lambda r: {"task_id": "task-x"}), RL, "task_id: there is no task task-x"),
    "rl in another split": (edit(RL, 0, lambda r: {"split": "test"}), RL, "split: test, but the file is of train"),
    "rl twice": (table(RL, lambda t: pa.concat_tables([t, t.slice(0, 1)])), RL, "id: another row is"),
    "rl with another answer": (edit(RL, 0, lambda r: truth(r, answer="Nobody")), RL, "is not that of its task"),
    "rl with another rubric": (edit(RL, 0, lambda r: truth(r, rubric=())), RL, "is not that of its task"),
    "rl with another question": (
        edit(RL, 0, lambda r: said(r, 1, "Who", "Why")),
        RL,
        "prompt: its last message is not the question",
    ),
    "rl of another group": (edit(RL, 0, lambda r: elsewhere(r, id="rl-x")), RL, "extra_info: names another row"),
    "rl of another length": (edit(RL, 0, lambda r: {"hops": 3}), RL, "hops: 3, but its task has 2"),
    "context with another answer": (
        edit(CONTEXTS, 0, lambda r: truth(r, answer="Nobody")),
        CONTEXTS,
        "is not that of its task",
    ),
    "context over its budget": (
        edit(CONTEXTS, 0, lambda r: {"budget": 690}),
        CONTEXTS,
        "but the budget is 690",
    ),
    "context far below its budget": (
        edit(CONTEXTS, 0, lambda r: {"budget": 710}),
        CONTEXTS,
        "but the budget is 710",
    ),
    "tokens miscounted": (
        edit(CONTEXTS, 0, lambda r: {"tokens": r.tokens - 1}),
        CONTEXTS,
        "words-1 counts",
    ),
    "context twice": (
        edit(CONTEXTS, 1, lambda r: {"task_id": "task-0000000000000000"}),
        CONTEXTS,
        "another context has task_id task-0000000000000000",
    ),
    "gold document missing": (
        edit(CONTEXTS, 0, lambda r: {"documents": r.documents[: gold(r)] + r.documents[gold(r) + 1 :]}),
        CONTEXTS,
        "the gold document p0 is missing",
    ),
    "gold called random": (
        edit(CONTEXTS, 0, lambda r: item(r, gold(r), kind="random", tier=4)),
        CONTEXTS,
        "is gold and called a distractor",
    ),
    "random called gold": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), kind="gold", tier=0)),
        CONTEXTS,
        "is called gold and is not",
    ),
    "tier of another kind": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), tier=0)),
        CONTEXTS,
        "random of tier 0",
    ),
    "gold cut": (edit(CONTEXTS, 0, lambda r: item(r, gold(r), cut="sentence")), CONTEXTS, "a gold document is cut"),
    "document twice": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), document_id=r.documents[gold(r)].document_id)),
        CONTEXTS,
        "stands there 2 times",
    ),
    "another document": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), document_id="p999")),
        CONTEXTS,
        "there is no document p999",
    ),
    "text of another document": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), document_id="p61")),
        CONTEXTS,
        "the text of p61 is another one",
    ),
    "text changed": (
        edit(CONTEXTS, 0, lambda r: said(r, 0, "It was founded", "It was burned")),
        CONTEXTS,
        "is another one",
    ),
    "cut document called whole": (
        edit(
            CONTEXTS,
            0,
            lambda r: item(r, next(n for n, one in enumerate(r.documents) if one.cut != "none"), cut="none"),
        ),
        CONTEXTS,
        "is not whole",
    ),
    "whole document called cut": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), cut="sentence")),
        CONTEXTS,
        "is whole",
    ),
    "two documents cut": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), cut="sentence")),
        CONTEXTS,
        "2 are cut",
    ),
    "span moved": (
        edit(CONTEXTS, 0, lambda r: item(r, other(r), start=r.documents[other(r)].start + 1)),
        CONTEXTS,
        "is another one",
    ),
    "spans overlap": (
        edit(CONTEXTS, 0, lambda r: item(r, 1, start=r.documents[0].end - 2)),
        CONTEXTS,
        "overlaps another",
    ),
    "token offset moved": (
        edit(CONTEXTS, 0, lambda r: item(r, 1, token_end=r.documents[1].token_end + 1)),
        CONTEXTS,
        "documents[1].token_end",
    ),
    "gold positions moved": (
        edit(CONTEXTS, 0, lambda r: {"gold_positions": tuple(n + 1 for n in r.gold_positions)}),
        CONTEXTS,
        "gold_positions:",
    ),
    "gold depths moved": (
        edit(CONTEXTS, 0, lambda r: {"gold_depths": tuple(n / 2 for n in r.gold_depths)}),
        CONTEXTS,
        "gold_depths:",
    ),
    "question left out": (
        edit(CONTEXTS, 0, lambda r: said(r, 0, "Question: Who", "Question: Why")),
        CONTEXTS,
        "the question does not stand below the documents",
    ),
    "question of the task changed": (
        edit(TASKS, 0, lambda t: {"question": t.question.replace("Who", "Tell me who")}),
        CONTEXTS,
        "is not that of its task",
    ),
    "page of the exam in a train context": (
        edit(DOCUMENTS, 18, lambda d: {"partition": "test"}),
        CONTEXTS,
        "p18 of partition test stands in a train context and is not its gold",
    ),
    "page of the collection changed": (
        edit(DOCUMENTS, 18, lambda d: {"text": d.text + " More."}),
        CONTEXTS,
        "p18 is not whole",
    ),
}


def test_the_whole_dataset_holds(whole: Path) -> None:
    assert validate(whole) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(whole: Path, tmp_path: Path, name: str) -> None:
    breaks, file, words = MUTATIONS[name]
    must_be_found_in(breaks, file, words, whole, tmp_path / "copy")


def test_rows_are_shown_for_a_person(whole: Path) -> None:
    dataset = load(whole)
    shown = []
    for config in ("rl", "contexts"):
        console = Console(width=100, record=True, file=StringIO())
        console.print(render_row(next(iter(dataset.rows(config)))))
        shown.append(console.export_text())
    rl, context = shown
    assert "Who founded the place where Place 0 lies?" in rl
    assert "Place 1: Place 0 lies in Place 1." in rl
    assert "0.7 for a right answer + 0.3 for the rubric" in rl
    assert "of 700 by words-1" in context
    assert "(gold, " in context
    assert "cut at the end of a " in context


def test_the_reward_server_knows_the_rows_of_a_dataset(whole: Path) -> None:
    context = next(iter(load(whole).rows("contexts")))
    command = [sys.executable, "-c", "from synth.cli import main; main()", "reward", str(whole), "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "(46 ground truths)" in line  # 20 tasks, their 20 rl rows, 6 contexts
        connection = http.client.HTTPConnection("127.0.0.1", int(line.split("127.0.0.1:")[1].split()[0]), timeout=20)
        right = f"Answer: {context.reward_model.ground_truth.answer}"
        items = [{"response": right, "id": name} for name in (context.id, context.task_id, "rl-0000")]
        connection.request("POST", "/score", json.dumps({"items": items}), {"Content-Type": "application/json"})
        rewards = json.loads(connection.getresponse().read())["rewards"]
        assert [one["correct"] for one in rewards] == [True, True, True]
        connection.close()
        process.terminate()
        assert process.wait(timeout=20) == 0
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_a_folder_without_a_dataset_is_the_users_mistake(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from synth.cli import main; main()", "reward", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("synth: ")
    assert "this folder holds no dataset" in done.stderr
