"""``validate`` finds every way of breaking rl rows and contexts, and takes what is right about them."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from breaking import DOCUMENTS, TASKS, Mutation, edit, must_be_found, table, within
from context_samples_rows import reward_tables
from exporter_samples import sample_report
from rich.console import Console

from synth.cli import main
from synth.dataset.layout import write_dataset
from synth.dataset.reader import load
from synth.dataset.rules.validate import validate
from synth.dataset.show.rows import render_row
from synth.schemas.contexts import ContextRow
from synth.schemas.rl import ExtraInfo, RlRow

pytestmark = pytest.mark.thorough

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


context_row = partial(within, CONTEXTS, 0)
rl_row = partial(within, RL, 0)

MUTATIONS: dict[str, Mutation] = {
    "rl of no task": rl_row("task_id: there is no task task-x", task_id="task-x"),
    "rl in another split": rl_row("split: test, but the file is of train", split="test"),
    "rl twice": (table(RL, lambda t: pa.concat_tables([t, t.slice(0, 1)])), RL, "id: another row is"),
    "rl with another answer": rl_row("is not that of its task", lambda r: truth(r, answer="Nobody")),
    "rl with another rubric": rl_row("is not that of its task", lambda r: truth(r, rubric=())),
    "rl with another question": rl_row(
        "prompt: its last message is not the question", lambda r: said(r, 1, "Who", "Why")
    ),
    "rl of another group": rl_row("extra_info: names another row", lambda r: elsewhere(r, id="rl-x")),
    "rl of another length": rl_row("hops: 3, but its task has 2", hops=3),
    "context with another answer": context_row("is not that of its task", lambda r: truth(r, answer="Nobody")),
    "context over its budget": context_row("but the budget is 690", budget=690),
    "context far below its budget": context_row("but the budget is 710", budget=710),
    "tokens miscounted": context_row("words-1 counts", lambda r: {"tokens": r.tokens - 1}),
    "context twice": within(
        CONTEXTS, 1, "another context has task_id task-0000000000000000", task_id="task-0000000000000000"
    ),
    "gold document missing": context_row(
        "the gold document p0 is missing", lambda r: {"documents": r.documents[: gold(r)] + r.documents[gold(r) + 1 :]}
    ),
    "gold called random": context_row(
        "is gold and called a distractor", lambda r: item(r, gold(r), kind="random", tier=4)
    ),
    "random called gold": context_row("is called gold and is not", lambda r: item(r, other(r), kind="gold", tier=0)),
    "tier of another kind": context_row("random of tier 0", lambda r: item(r, other(r), tier=0)),
    "gold cut": context_row("a gold document is cut", lambda r: item(r, gold(r), cut="sentence")),
    "document twice": context_row(
        "stands there 2 times", lambda r: item(r, other(r), document_id=r.documents[gold(r)].document_id)
    ),
    "another document": context_row("there is no document p999", lambda r: item(r, other(r), document_id="p999")),
    "text of another document": context_row("the text of p61 differs", lambda r: item(r, other(r), document_id="p61")),
    "text changed": context_row(" differs", lambda r: said(r, 0, "It was founded", "It was burned")),
    "cut document called whole": context_row(
        "is not whole",
        lambda r: item(r, next((n for n, one in enumerate(r.documents) if one.cut != "none")), cut="none"),
    ),
    "whole document called cut": context_row("is whole", lambda r: item(r, other(r), cut="sentence")),
    "two documents cut": context_row("2 are cut", lambda r: item(r, other(r), cut="sentence")),
    "span moved": context_row(" differs", lambda r: item(r, other(r), start=r.documents[other(r)].start + 1)),
    "spans overlap": context_row("overlaps another", lambda r: item(r, 1, start=r.documents[0].end - 2)),
    "token offset moved": context_row(
        "documents[1].token_end", lambda r: item(r, 1, token_end=r.documents[1].token_end + 1)
    ),
    "gold positions moved": context_row(
        "gold_positions:", lambda r: {"gold_positions": tuple(n + 1 for n in r.gold_positions)}
    ),
    "gold depths moved": context_row("gold_depths:", lambda r: {"gold_depths": tuple(n / 2 for n in r.gold_depths)}),
    "question left out": context_row(
        "the question does not stand below the documents", lambda r: said(r, 0, "Question: Who", "Question: Why")
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
def test_every_break_is_found(whole: Path, name: str) -> None:
    must_be_found(MUTATIONS[name], whole)


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
    command = [sys.executable, "-c", "from synth.cli import main; main()", "serve-reward", str(whole), "--port", "0"]
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


def test_a_folder_without_a_dataset_is_the_users_mistake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve-reward", str(tmp_path)])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert said.err.startswith("synth: ")
    assert "this folder holds no dataset" in said.err
