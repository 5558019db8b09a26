"""``validate`` finds nothing in a good dataset, and every way of breaking one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from breaking import (
    DOCUMENTS,
    REJECTED,
    TASKS,
    TRAJECTORIES,
    Mutation,
    card,
    cut,
    damage,
    edit,
    evidence,
    hop,
    item,
    must_be_found,
    report,
    rewrite,
    row,
    table,
    values,
)
from exporter_samples import sample_report, sample_tables
from stand_ins.forging import seal

from synth.cli.app import main
from synth.dataset.configs import config_named
from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import Problem, validate
from synth.errors import InputError
from synth.schemas.adp import ApiAction, MessageAction, TextObservation
from synth.schemas.arrow import arrow_schema

pytestmark = pytest.mark.thorough

of_policy = partial(row, TRAJECTORIES, 1)
of_run = partial(row, TRAJECTORIES, 0)
of_task = partial(row, TASKS, 0)

MUTATIONS: dict[str, Mutation] = {
    # layout
    "stray file": (lambda f: (f / "tasks" / "x.tmp").write_text(""), "tasks/x.tmp", None, "not a dataset file"),
    "data beside the configs": (
        lambda f: shutil.copy(f / REJECTED, f / "a.parquet"),
        "a.parquet",
        None,
        "not a dataset file",
    ),
    "unknown config": (
        lambda f: shutil.copytree(f / "rejected", f / "walks"),
        "walks/rejected-00000-of-00001.parquet",
        None,
        "unknown config 'walks'",
    ),
    "unknown split": (
        lambda f: (f / TASKS).rename(f / "tasks/dev-00000-of-00001.parquet"),
        "tasks/dev-00000-of-00001.parquet",
        None,
        "tasks has no split 'dev'",
    ),
    "numbering": (
        lambda f: (f / TASKS).rename(f / "tasks/train-00000-of-00002.parquet"),
        "tasks/train-00000-of-00002.parquet",
        None,
        "their names say otherwise",
    ),
    "file lost": (lambda f: (f / TASKS).unlink(), "report.json", None, "says 12 rows of tasks/train; the files hold 0"),
    "file cut off": (cut(TASKS), TASKS, None, "can't be read as Parquet"),
    "page damaged": (damage(DOCUMENTS), DOCUMENTS, None, "can't be read as Parquet"),
    "no page index": (table(TASKS, lambda t: t, write_page_index=False), TASKS, None, "no page index"),
    "large row groups": (
        lambda f: rewrite(f, DOCUMENTS, lambda t: pa.concat_tables([t] * 10)),
        DOCUMENTS,
        None,
        "holds 620 rows, too many",
    ),
    "empty file": (table(REJECTED, lambda t: t.slice(0, 0)), REJECTED, None, "has no rows"),
    # schemas
    "column lost": (table(TASKS, lambda t: t.drop_columns(["answer"])), TASKS, None, "column answer is missing"),
    "column added": (
        table(TASKS, lambda t: t.append_column("hint", t.column("answer"))),
        TASKS,
        None,
        "column hint is unknown",
    ),
    "column of another type": (
        table(REJECTED, lambda t: t.set_column(1, "row_id", pa.array([1, 2, 3, 4]))),
        REJECTED,
        None,
        "column row_id is int64, not string",
    ),
    "another schema version": (
        table(TASKS, lambda t: t.replace_schema_metadata({"synth.schema_version": "0.1.0"})),
        TASKS,
        None,
        "schema version is 0.1.0",
    ),
    "no schema version": (table(TASKS, lambda t: t.replace_schema_metadata(None)), TASKS, None, "is not stated"),
    # rows
    "null where none may be": (
        values(TASKS, "question", lambda row, old: None if row == 3 else old),
        TASKS,
        3,
        "question: Input should be a valid string",
    ),
    "unknown reason": (
        values(REJECTED, "reason", lambda row, old: "because" if row == 2 else old),
        REJECTED,
        2,
        "reason: ",
    ),
    "unknown role": (
        values(TRAJECTORIES, "role", lambda row, old: "boss" if row == 5 else old),
        TRAJECTORIES,
        5,
        "role: ",
    ),
    "JSON broken": (values(TASKS, "details", lambda row, old: "{" if row == 1 else old), TASKS, 1, "no JSON"),
    "JSON not canonical": (
        values(TASKS, "details", lambda row, old: " {}" if row == 1 else old),
        TASKS,
        1,
        "details does not round-trip",
    ),
    "plan of another version": (
        values(TASKS, "details", lambda row, old: '{"plan":{"evidence":1}}' if row == 1 else old),
        TASKS,
        1,
        "details.plan",
    ),
    # tasks
    "task twice": (
        table(TASKS, lambda t: pa.concat_tables([t, t.slice(2, 1)])),
        TASKS,
        12,
        "another task is task-0000000000000002 too",
    ),
    "task in the file of another split": (
        values(TASKS, "split", lambda row, old: "test" if row == 4 else old),
        TASKS,
        4,
        "split: test, but the file is of train",
    ),
    "check failed": of_task(
        "checks: unique_answer failed",
        lambda t: {"checks": (t.checks[0].model_copy(update={"outcome": "failed"}), *t.checks[1:])},
    ),
    "check abstained": of_task(
        "checks: no_shortcut abstained",
        lambda t: {"checks": (t.checks[0], t.checks[1].model_copy(update={"outcome": "abstained"}))},
    ),
    "no check": of_task("checks: none recorded", checks=()),
    "gold entity of two splits": (
        edit(TASKS, 7, lambda t: {"gold_entities": (*t.gold_entities, "place-10")}),
        "tasks/validation-00000-of-00001.parquet",
        0,
        "gold_entities: place-10 is gold in train too (tasks/train-00000-of-00001.parquet, row 7)",
    ),
    "quote is not there": row(
        TASKS,
        2,
        "walk.hops[1].evidence: p7 says 'It was founded by Ada 7' there, not 'It was sunny'",
        lambda t: evidence(t, quote="It was sunny"),
    ),
    "span is one off": row(
        TASKS,
        2,
        "walk.hops[1].evidence: p7 says ' It was founded by Ada 7' there",
        lambda t: evidence(t, start=t.walk.hops[1].evidence.start - 1),
    ),
    "evidence in no document": row(
        TASKS,
        2,
        "walk.hops.evidence.document_id: there is no document nowhere",
        lambda t: evidence(t, document_id="nowhere"),
    ),
    "gold document is none": row(TASKS, 2, "gold_documents: there is no document nowhere", gold_documents=("nowhere",)),
    "cue is not in the question": row(
        TASKS, 2, "walk.hops[0].cue: not in the question", lambda t: hop(t, 0, cue="in the moon")
    ),
    "hop needs itself": row(TASKS, 2, "walk.hops[1].needs", lambda t: hop(t, 1, needs=(1,))),
    # documents
    "text of a document changed": (
        edit(DOCUMENTS, 7, lambda d: {"text": d.text.replace("founded", "built")}),
        TASKS,
        2,
        "walk.hops[1].evidence: p7 says 'It was built by Ada 7 —' there",
    ),
    "document twice": (edit(DOCUMENTS, 8, lambda d: {"id": "p9"}), DOCUMENTS, 9, "another document is p9 too"),
    "document lost": (
        table(DOCUMENTS, lambda t: t.filter(pc.not_equal(t["id"], "p6"))),
        TASKS,
        2,
        "walk.hops.evidence.document_id: there is no document p6",
    ),
    "link outside the text": row(
        DOCUMENTS, 3, "links[0]: span", lambda d: {"links": (d.links[0].model_copy(update={"end": 10000}),)}
    ),
    "link to nowhere": row(
        DOCUMENTS,
        3,
        "links.target: there is no document nowhere",
        lambda d: {"links": (d.links[0].model_copy(update={"target": "nowhere"}),)},
    ),
    # trajectories
    "trajectory twice": row(
        TRAJECTORIES, 3, "another trajectory is trajectory-policy-0000 too", id="trajectory-policy-0000"
    ),
    "sample twice": row(
        TRAJECTORIES,
        3,
        "rollout: another trajectory has task_id task-0000000000000000, role policy, rollout 0 too",
        task_id="task-0000000000000000",
    ),
    "trajectory of no task": row(TRAJECTORIES, 3, "task_id: there is no task task-x", task_id="task-x"),
    "split not inherited": row(
        TRAJECTORIES, 3, "split: train, but its task is of validation", task_id="task-0000000000000003"
    ),
    "trajectory in the file of another split": row(
        TRAJECTORIES, 3, "split: test, but the file is of train", split="test"
    ),
    "call without answer": of_policy(
        "content[1].tool_call_id: no later observation answers 'call_0'",
        lambda t: {"content": (*t.content[:2], *t.content[3:])},
    ),
    "call without id": of_policy("content[1].tool_call_id: missing", lambda t: item(t, 1, tool_call_id=None)),
    "ids not unique": of_policy(
        "content[3].tool_call_id: 'call_0' is the id of content[1] already", lambda t: item(t, 3, tool_call_id="call_0")
    ),
    "ADP version": of_policy("schema_version: '3.0.0' is none of", schema_version="3.0.0"),
    "count as text in details": of_policy("details.hit_count: '3' is text", details={"hit_count": "3"}),
    "language that no code uses": of_policy(
        "available_code_languages: 'sh' listed but used by no code action", available_code_languages=("sh",)
    ),
    "question of another task": of_policy(
        "content[0]: does not hold the question of its task", lambda t: item(t, 0, content="Who founded Rome?")
    ),
    "no question": of_policy("content[0]: is not the user's question", lambda t: {"content": t.content[1:]}),
    "success against the verdict": of_run("success: False, but the verdict says True", success=False),
    "tool calls miscounted": of_run("tool_calls: 3", tool_calls=3),
    "turns miscounted": of_run("turns: 9", turns=9),
    "answer not the last message": of_run("answer: is not that of the last message", answer="something"),
    "answer of a rollout that was cut off": of_run(
        "answer: set, though the rollout ended with max_turns", stop_reason="max_turns"
    ),
    "other tools": of_run("available_custom_tools: are not those of tool_schemas", available_custom_tools=("open",)),
    # rejected
    "rejection lost": (
        table(REJECTED, lambda t: t.slice(1)),
        "rejected",
        None,
        "stage tasks: 4 rejected by the report, 3 listed",
    ),
    "rejection of another stage": (
        values(REJECTED, "stage", lambda row, old: "walks" if row == 0 else old),
        "rejected",
        None,
        "stage walks: 0 rejected by the report, 1 listed",
    ),
    "rejection twice with another id": (
        table(REJECTED, lambda t: pa.concat_tables([t, t.slice(0, 1).set_column(1, "row_id", pa.array(["9"]))])),
        "rejected",
        None,
        "stage tasks: 4 rejected by the report, 5 listed",
    ),
    # report
    "no report": (lambda f: (f / "report.json").unlink(), "report.json", None, "can't be read"),
    "report damaged": (lambda f: (f / "report.json").write_text("{"), "report.json", None, "Invalid JSON"),
    "report with an unknown field": (report(lambda r: r.update(more=1)), "report.json", None, "more: unknown field"),
    "report miscounts": (
        report(lambda r: r["tables"]["tasks"].update(train=13)),
        "report.json",
        None,
        "says 13 rows of tasks/train; the files hold 12",
    ),
    "report of other outcomes": (
        report(lambda r: r["outcomes"][0].update(successes=11)),
        "report.json",
        None,
        "outcomes: ",
    ),
    "report of other licences": (
        report(lambda r: r.update(document_licences={"MIT": 62})),
        "report.json",
        None,
        "document_licences: ",
    ),
    "report of licences of rows": (
        report(lambda r: r.update(row_licences={"MIT": 62})),
        "report.json",
        None,
        "row_licences: ",
    ),
    "fewer tasks than asked for": (report(lambda r: r.update(wanted=21)), "report.json", None, "wanted 21 tasks"),
    # card
    "no card": (lambda f: (f / "README.md").unlink(), "README.md", None, "can't be read"),
    "no front matter": (lambda f: (f / "README.md").write_text("# x"), "README.md", None, "no YAML front matter"),
    "card miscounts for datasets": (
        card("num_examples: 62", "num_examples: 63"),
        "README.md",
        None,
        "says 63 rows of documents/corpus; the files hold 62",
    ),
    "card miscounts in its text": (
        card("| tasks | train | 12 |", "| tasks | train | 120 |"),
        "README.md",
        None,
        "| 12 |",
    ),
    "card tells another success": (card("| 50.0 % | 0 |", "| 90.0 % | 0 |"), "README.md", None, "| 50.0 % |"),
    "card claims another licence": (card("license: cc0-1.0", "license: mit"), "README.md", None, "license is 'mit'"),
    "card points to other files": (
        card("path: tasks/train-*.parquet", "path: data/train-*.parquet"),
        "README.md",
        None,
        "configs: tasks does not match its files",
    ),
    "card lacks a config": (card("config_name: rejected", "config_name: dropped"), "README.md", None, "configs: "),
}


def test_a_good_dataset_has_no_problem(finished: Path, plain: Path) -> None:
    assert validate(finished) == []
    assert validate(plain) == []
    assert validate(str(finished)) == []


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(name: str, plain: Path) -> None:
    must_be_found(MUTATIONS[name], plain)


def test_a_deep_audit_of_details_that_can_not_be_read_names_the_row(
    plain_copied: Callable[[], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = plain_copied()
    values(TASKS, "details", lambda row, old: '{"plan":{"evidence":1}}' if row == 1 else old)(folder)
    with pytest.raises(SystemExit):
        main(["validate", str(folder), "--deep"])
    told = capsys.readouterr()
    assert f"{TASKS}, row 1: details.plan" in told.out
    assert "Traceback" not in told.err


def test_prose_of_the_card_may_be_edited(plain_copied: Callable[[], Path]) -> None:
    folder = plain_copied()
    card("# World search\n", "# World search\n\nRead by Ada, with 3 remarks.\n")(folder)
    assert validate(folder) == []


def test_a_problem_is_one_line() -> None:
    assert str(Problem("a/b.parquet", 3, "id: x")) == "a/b.parquet, row 3: id: x"
    assert str(Problem("README.md", None, "no")) == "README.md: no"


def test_a_broken_file_does_not_flood(plain_copied: Callable[[], Path]) -> None:
    folder = plain_copied()
    values(DOCUMENTS, "title", lambda row, old: "")(folder)
    found = [problem for problem in validate(folder, limit=5) if problem.file == DOCUMENTS]
    assert len(found) == 6
    assert found[-1].what == "and 59 more problems in this file"


def test_exempt_entities_may_be_gold_in_two_splits(plain_copied: Callable[[], Path]) -> None:
    folder = plain_copied()
    edit(TASKS, 7, lambda t: {"gold_entities": (*t.gold_entities, "place-10")})(folder)
    report(lambda r: r.update(exempt_entities=["place-10"]))(folder)
    seal(folder)
    assert validate(folder) == []


def test_many_files_of_one_split(tmp_path: Path) -> None:
    tables = sample_tables(450)
    write_dataset(tmp_path / "out", tables, sample_report(tables), file_bytes=1)
    assert len(list((tmp_path / "out" / "documents").iterdir())) == 3
    assert len(list((tmp_path / "out" / "trajectories").iterdir())) == 10
    assert validate(tmp_path / "out") == []


@pytest.mark.parametrize("empty", ["rejected", "trajectories"])
def test_a_dataset_with_an_empty_config_is_good(empty: str, tmp_path: Path) -> None:
    tables = {**sample_tables(5, 0), empty: arrow_schema(config_named(empty).row_type).empty_table()}
    write_dataset(tmp_path / "out", tables, sample_report(tables))
    assert validate(tmp_path / "out") == []


def test_rollouts_that_were_cut_off_or_gave_up_are_good(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    tables = sample_tables()
    write_dataset(folder, tables, sample_report(tables))

    def cut_off(row: Any) -> dict[str, Any]:
        last = ApiAction(function="search", kwargs={"query": "x"})
        return {"content": (*row.content[:-1], last), "answer": None, "stop_reason": "max_turns", "tool_calls": 3}

    def parallel(row: Any) -> dict[str, Any]:
        calls = [ApiAction(function="search", kwargs={}, tool_call_id=f"p{number}") for number in range(2)]
        seen = [TextObservation(content="", source="environment", tool_call_id=f"p{number}") for number in (1, 0)]
        content = (row.content[0], *calls, *seen, MessageAction(content="I can't tell."))
        return {"content": content, "answer": None, "stop_reason": "gave_up", "turns": 2}

    edit(TRAJECTORIES, 1, cut_off)(folder)
    edit(TRAJECTORIES, 2, parallel)(folder)
    seal(folder)
    found = validate(folder)
    # Their counts changed with them; the rows themselves are fine.
    assert {problem.file for problem in found} <= {"report.json"}


@pytest.mark.parametrize("place", ["missing", "empty", "a file"])
def test_what_is_no_dataset_is_said_in_one_line(place: str, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    if place == "empty":
        folder.mkdir()
    elif place == "a file":
        folder.write_text("")
    with pytest.raises(InputError) as raised:
        validate(folder)
    assert "\n" not in str(raised.value)
