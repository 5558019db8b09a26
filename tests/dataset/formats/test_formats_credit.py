"""Pages to rank, claims to verify, tools and arguments apart: what the rows say, and what they leave unsaid."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from exporter_samples import page, task, trajectory
from format_samples import ABOUT, QUESTION, called, parquet, run_of, seen, write_samples

from synth.dataset.reader import load
from synth.errors import InputError
from synth.export.contract import Inexpressible, Run, TaskPages, Why
from synth.export.exporting import export_dataset
from synth.export.selection import Selection
from synth.registry import find
from synth.schemas.steps import Behaviour


def records(name: str, item: Any) -> list[dict[str, Any]]:
    return list(find("formats", name).convert(item, ABOUT, 0))


def test_gold_pages_quote_what_makes_them_relevant() -> None:
    about = task(0)
    pages = {number: page(number) for number in range(5)}
    gold = tuple(one for one in pages.values() if one.id in about.gold_documents)
    made = records("ranker", TaskPages(about, gold, ()))
    assert [record["grade"] for record in made] == [1, 2], "the last hop's page answers, the other leads there"
    for record in made:
        quotes = [record["passage"][span["start"] : span["end"]] for span in record["spans"]]
        assert record["evidence"] == "\n".join(quotes)
        assert record["label"] == 1.0
    with pytest.raises(Inexpressible) as error:
        records("ranker", TaskPages(about, (), ()))
    assert error.value.why is Why.NO_EVIDENCE


def test_claims_about_a_run_say_what_was_measured_and_nothing_else() -> None:
    run = run_of(masked=[1])
    assert run.steps is not None
    unmeasured = tuple(step.model_copy(update={"label": None} if step.step == 0 else {}) for step in run.steps)
    made = records("verifier", Run(run.row, unmeasured, task=task(0)))
    turns = {record["step"]: record["verdict"] for record in made if record["kind"] == "turn"}
    assert turns == {1: "harms", 2: "helps"}
    hops = [record for record in made if record["kind"] == "hop"]
    assert [(hop["verdict"], hop["step"]) for hop in hops] == [("not_seen", None)] * 2, "its pages say nothing of it"
    assert [record["verdict"] for record in made if record["kind"] == "answer"] == ["right"]
    with pytest.raises(Inexpressible):
        records("verifier", run)


def test_evidence_that_came_into_view_names_its_turn() -> None:
    row = trajectory(0, "policy")
    made = records("verifier", Run(row, None, task=task(0)))
    assert [(record["verdict"], record["step"]) for record in made if record["kind"] == "hop"] == [
        ("seen", 0),
        ("not_seen", None),
    ], "the second page does not state the second hop"


def test_a_tool_and_its_arguments_are_two_targets() -> None:
    both = (called(0), called(0, "find", place=1))
    answers = (seen(0, "One."), seen(0, "Two.", "find", place=1))
    run = run_of((QUESTION, *both, *answers, called(1), seen(1)), masked=[1])
    (choice,) = records("trl-tools", run)
    assert choice["completion"] == [
        {"role": "assistant", "content": "search\nfind", "reasoning_content": "Thought 0."}
    ], "the masked turn is no target"
    first, second = records("trl-arguments", run)
    assert [json.loads(one["completion"][0]["content"]) for one in (first, second)] == [{"query": "Place 0"}] * 2
    assert (first["tool"], second["tool"]) == ("search", "find")
    for row in (choice, first, second):
        roles = [message["role"] for message in row["prompt"]]
        assert all(pair != ("user", "user") for pair in pairwise(roles)), "several chat templates refuse that"
    assert "find" in second["prompt"][-1]["content"]
    assert [tool["function"]["name"] for tool in json.loads(first["tools"])] == ["search"]


def test_runs_and_steps_are_chosen_by_what_they_do_well(tmp_path: Path) -> None:
    dataset = load(write_samples(tmp_path / "set", 4))
    chosen = Selection(behaviour=(Behaviour.ADAPTIVE_SEARCH,))
    done = export_dataset(dataset, find("formats", "kto"), tmp_path / "kto", selection=chosen)
    ids = [row["id"] for file in (tmp_path / "kto").glob("*.parquet") for row in parquet(file)]
    assert {name.rpartition("/")[2] for name in ids} == {"1"}, "the second step of each run shows it"
    assert done.report.left_out["behaviour"] == sum(1 for _ in dataset.rows("steps")) - len(ids)
    none = Selection(behaviour=(Behaviour.RECOVERY,), success=None)
    with pytest.raises(Exception, match="nothing is left to export"):
        export_dataset(dataset, find("formats", "trl-sft"), tmp_path / "sft", selection=none)


def test_a_pivot_ends_its_prompt_and_holds_what_was_done(tmp_path: Path) -> None:
    dataset = load(write_samples(tmp_path / "set", 4))
    export_dataset(dataset, find("formats", "trl-pivots"), tmp_path / "out")
    rows = [row for file in (tmp_path / "out").glob("*.parquet") for row in parquet(file)]
    runs = {row.id: row for row in dataset.rows("trajectories")}
    pivots = [step for step in dataset.rows("steps") if step.pivot and runs[step.trajectory_id].success]
    assert {row["id"] for row in rows} == {step.id for step in pivots}
    for row in rows:
        assert row["prompt"][-1]["role"] == "tool"
        assert (row["calls"], row["answer"]) == ([], runs[row["id"].rpartition("/")[0]].answer)


def test_what_pictures_need_is_said_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    about, gold = task(0), tuple(page(number) for number in range(5))
    with pytest.raises(InputError) as error:
        records("vision", TaskPages(about, gold, ()))
    assert "[pictures]" in str(error.value)
