"""Files that others wrote, and our own exports, as tables of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opening import card_runs, every_config_opens

import synth
from synth.api import BuildResult
from synth.cli import main
from synth.dataset.audit.audit import audit
from synth.dataset.rules.validate import validate
from synth.dataset.stats import stats
from synth.errors import InputError, StoreError
from synth.export.importing.contract import Importer
from synth.registry import find
from synth.schemas.adp import Trajectory

QUESTION = "In which country does Mosk lie?"


def write(path: Path, *values: Any) -> Path:
    path.write_text("".join(json.dumps(value) + "\n" for value in values), encoding="utf-8")
    return path


def openai(answer: str = "Tervia", question: str = QUESTION, **more: Any) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"query": "Mosk"}'}}
    return {
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": question}]},
            {"role": "assistant", "content": "Let me look.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Mosk lies in Tervia."},
            {"role": "assistant", "content": answer},
        ],
        "tools": [{"type": "function", "function": {"name": "search"}}],
        **more,
    }


SHAREGPT = {
    "conversations": [
        {"from": "human", "value": QUESTION},
        {"from": "function_call", "value": '<think>I look.</think>\n{"name": "search", "arguments": "{\\"q\\": 1}"}'},
        {"from": "observation", "value": "Mosk lies in Tervia."},
        {"from": "gpt", "value": "Tervia"},
    ],
    "system": "Be brief.",
    "tools": json.dumps([{"name": "search", "description": "Finds.", "parameters": {"type": "object"}}]),
}
ATIF = {
    "schema_version": "ATIF-v1.5",
    "session_id": "s1",
    "agent": {"name": "someone", "version": "3", "model_name": "theirs"},
    "steps": [
        {"step_id": 1, "source": "user", "message": QUESTION, "timestamp": "2026-01-01T00:00:00Z"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "",
            "tool_calls": [{"tool_call_id": "t", "function_name": "search", "arguments": {}}],
            "observation": {"results": [{"source_call_id": "t", "content": "Mosk lies in Tervia."}]},
        },
        {"step_id": 3, "source": "agent", "message": "Tervia", "metrics": {"prompt_tokens": 3}},
    ],
}
ADP_1 = {
    "id": "theirs",
    "available_apis": ["search"],
    "content": [
        {"class_": "text_observation", "content": QUESTION, "source": "user"},
        {"class_": "api_action", "function": "search", "kwargs": {"q": "Mosk"}},
        {"class_": "text_observation", "content": "Mosk lies in Tervia.", "source": "environment"},
        {"class_": "message_action", "content": "Tervia"},
    ],
    "details": {},
}


@pytest.mark.parametrize(
    ("name", "value"), [("openai", openai()), ("sharegpt", SHAREGPT), ("atif", ATIF), ("adp", ADP_1)]
)
def test_what_others_wrote(name: str, value: dict[str, Any], tmp_path: Path) -> None:
    done = synth.import_file(write(tmp_path / "theirs.jsonl", value), name, tmp_path / "out", licence="MIT")
    (row,) = synth.load(done.path).rows("trajectories")
    assert [item.class_ for item in row.content] == [
        "text_observation",
        "api_action",
        "text_observation",
        "message_action",
    ]
    call, seen = row.content[1:3]
    assert call.function == "search"
    assert call.tool_call_id == seen.tool_call_id is not None
    assert seen.content == "Mosk lies in Tervia."
    assert (row.answer, row.turns, row.tool_calls, row.licence) == ("Tervia", 2, 1, "MIT")
    assert (row.success, row.verdict.correct, row.verdict.rule) == (False, None, "unjudged")
    assert done.report.judged == {"unjudged": 1}


def test_sharegpt_thoughts_and_arguments_are_read(tmp_path: Path) -> None:
    synth.import_file(write(tmp_path / "f.jsonl", SHAREGPT), "sharegpt", tmp_path / "out")
    (row,) = synth.load(tmp_path / "out").rows("trajectories")
    assert row.content[1].reasoning_content == "I look."
    assert row.content[1].kwargs == {"q": 1}
    assert row.system_prompt == "Be brief."
    assert row.tool_schemas[0]["function"]["description"] == "Finds."


def test_questions_judge_runs(tmp_path: Path) -> None:
    file = write(tmp_path / "runs.jsonl", openai(), openai("Nowhere"), openai(question="What is it?"))
    tasks = write(tmp_path / "questions.jsonl", {"question": QUESTION, "answer": "Tervia"})
    done = synth.import_file(file, "openai", tmp_path / "out", tasks_file=tasks)
    assert done.report.judged == {"right": 1, "wrong": 1}
    assert done.report.rejected == {"invalid_trajectory": 1}
    dataset = synth.load(done.path)
    (task,) = dataset.rows("tasks")
    right, wrong = dataset.rows("trajectories")
    assert right.task_id == wrong.task_id == task.id
    assert (right.rollout, wrong.rollout) == (0, 1)
    rejected = next(iter(dataset.rows("rejected")))
    assert (rejected.row_id, rejected.stage) == ("line 3", "read_runs")


def test_whoever_vouches_gets_examples(tmp_path: Path) -> None:
    file = write(tmp_path / "runs.jsonl", openai())
    synth.import_file(file, "openai", tmp_path / "in")
    with pytest.raises(InputError, match="nothing is left to export"):
        synth.export(tmp_path / "in", "trl-rft", tmp_path / "out")
    synth.import_file(file, "openai", tmp_path / "in", all_correct=True)
    report = synth.export(tmp_path / "in", "trl-rft", tmp_path / "out").report
    assert (report.source, report.exported) == ("runs", 1)


def test_nothing_vanishes(tmp_path: Path) -> None:
    file = write(
        tmp_path / "runs.jsonl",
        openai(id="a"),
        openai(id="a"),
        {"messages": 3},
        [],
        {"messages": [{"role": "user", "content": "Hello?"}]},
        {"messages": [{"role": "assistant", "content": "Hello."}]},
    )
    file.write_text(file.read_text() + "{broken\n\n")
    report = synth.import_file(file, "openai", tmp_path / "out").report
    assert report.objects == 7
    assert report.trajectories + sum(report.rejected.values()) == 7
    assert report.rejected == {"duplicate_id": 1, "invalid_trajectory": 4, "malformed": 1}
    assert sum(report.causes.values()) == 6
    assert report.causes["nobody acts: there is no turn of an agent"] == 1
    assert report.examples["nobody acts: there is no turn of an agent"] == "line 5"
    assert validate(tmp_path / "out") == []


def test_runs_of_one_id_that_differ_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "logs" / "more").mkdir(parents=True)
    write(tmp_path / "logs" / "a.jsonl", openai(id="a"), openai("Mosk", id="a"))
    write(tmp_path / "logs" / "more" / "b.json", openai(id="a"))
    (tmp_path / "logs" / "notes.md").write_text("no run")
    report = synth.import_file(tmp_path / "logs", "auto", tmp_path / "out").report
    assert (report.objects, report.rejected) == (3, {"duplicate_id": 1})
    assert report.causes == {"an earlier run is the same": 1}
    first, second = synth.load(tmp_path / "out").rows("trajectories")
    assert (first.id, second.id, second.details["given"]["id"]) == ("a", "a-2", "a")
    (rejected,) = synth.load(tmp_path / "out").rows("rejected")
    assert rejected.row_id == "more/b.json: object 1"


def test_what_would_be_taken_is_shown_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "f.jsonl", openai(), {"steps": 3}, {"steps": 4}, ATIF)
    main(["import", str(file), "--check"])
    told = capsys.readouterr().out
    assert "2 of 4 objects are runs" in told
    assert "2  no run of a format that we know: its keys are steps (line 2)" in told
    assert {path.name for path in tmp_path.iterdir()} == {"f.jsonl"}
    assert synth.import_file(file, "auto", None).report == synth.import_file(file, "auto", tmp_path / "out").report


def test_where_none_is_taken_the_reasons_are_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "f.jsonl", openai(), openai("Mosk"))
    with pytest.raises(SystemExit) as end:
        main(["import", str(file), "--from", "atif", "--out", str(tmp_path / "out")])
    assert end.value.code == 2
    assert "is it really atif?" in capsys.readouterr().err
    rows = list(synth.load(tmp_path / "out").rows("rejected"))
    assert [(row.row_id, row.detail) for row in rows] == [(f"line {n}", "schema_version: missing") for n in (1, 2)]


def test_what_is_taken_is_a_dataset(tmp_path: Path) -> None:
    """Whole to ``validate``, ``load_dataset`` and every reader of a card and a report."""
    tasks = write(tmp_path / "q.jsonl", {"question": QUESTION, "answer": "Tervia"}, {"question": "", "answer": "x"})
    wrapped = openai(question=f"Answer in one word.\n\n{QUESTION}\nThink first.")
    file = write(tmp_path / "f.jsonl", openai("<answer>Tervia</answer>", model="theirs"), SHAREGPT, ATIF, wrapped, {})
    done = synth.import_file(file, "auto", tmp_path / "out", tasks_file=tasks)
    assert done.report.judged == {"right": 4}
    assert validate(tmp_path / "out") == []
    report = synth.load(tmp_path / "out").report
    assert [(stage.label, stage.rows_in, stage.kept) for stage in report.stages[:4]] == [
        ("tasks", 2, 1),
        ("runs", 5, 4),
        ("teacher", 0, 0),
        ("policy", 4, 4),
    ]
    assert report.tables["trajectories"] == {"train": 4}
    assert every_config_opens(tmp_path / "out", tmp_path / "cache") == {"tasks", "trajectories", "steps", "rejected"}
    labels = [(step.label, step.label_reason) for step in synth.load(tmp_path / "out").rows("steps")]
    assert labels[:2] == [(1, "progress"), (1, "supported_answer")]
    assert synth.export(tmp_path / "out", "prm", tmp_path / "prm").report.exported == 4
    card_runs(tmp_path / "out")


def test_questions_of_people_are_found_by_their_ids_and_with_several_answers(tmp_path: Path) -> None:
    question = {"id": "q7", "question": QUESTION, "answers": ["Tervia", "the Tervian Republic"]}
    tasks = write(tmp_path / "q.jsonl", question)
    asked = openai("The Tervian Republic", question="Where is it?", task_id="q7")
    done = synth.import_file(write(tmp_path / "f.jsonl", asked), "auto", tmp_path / "out", tasks_file=tasks)
    assert done.report.judged == {"right": 1}
    assert validate(tmp_path / "out") == []


def test_a_list_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([openai(id="a"), openai(id="b")]))
    assert synth.import_file(path, "openai", tmp_path / "out").report.trajectories == 2


_CHAT = [{"role": "user", "content": "What is 2 + 2?"}, {"role": "assistant", "content": "4"}]
_CALLED = {"id": "c", "function": "calc", "arguments": {"sum": "2 + 2"}, "type": "function"}
_TOLD = [{"agent_name": "Solver", "step": 1, "content": "5"}, {"agent_name": "Critic", "step": 2, "content": "No: 4."}]


@pytest.mark.parametrize(
    ("value", "runs", "turns"),
    [
        ({"traj": _CHAT, "reward": 1.0}, 1, 1),
        ({"index": 3, "output": {"history": [_CHAT[0], {"role": "agent", "content": "4"}], "result": None}}, 1, 1),
        ({"question": "What is 2 + 2?", "trajectory": _TOLD, "faulty_agents": []}, 1, 2),
        ({"eval": {}, "samples": [{"id": n, "messages": [*_CHAT, *_CHAT][: 2 * n]} for n in (1, 2)]}, 2, 1),
        ({"samples": [{"messages": [_CHAT[0], {"role": "assistant", "content": "", "tool_calls": [_CALLED]}]}]}, 1, 1),
    ],
)
def test_chats_are_found_wherever_they_stand(value: dict[str, Any], runs: int, turns: int, tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps(value))
    rows = [*synth.load(synth.import_file(tmp_path / "log.json", "auto", tmp_path / "out").path).rows("trajectories")]
    assert (len(rows), rows[0].turns) == (runs, turns)


def test_a_folder_of_harbors_trials_has_their_verdicts(tmp_path: Path) -> None:
    for name, reward in (("good", 1.0), ("bad", 0.0), ("half", 0.5), ("died", None)):
        trial = tmp_path / "jobs" / name
        for folder in ("agent", "verifier"):
            (trial / folder).mkdir(parents=True)
        judged = {"verifier_result": {"rewards": {"reward": reward}}, "task_name": "find-mosk"}
        (trial / "result.json").write_text(json.dumps(judged))
        (trial / "config.json").write_text("{}")
        (trial / "verifier" / "ctrf.json").write_text("{}")
        if reward is not None:
            (trial / "agent" / "trajectory.json").write_text(json.dumps(ATIF | {"session_id": name}))
    done = synth.import_file(tmp_path / "jobs", "auto", tmp_path / "out")
    rows = [*synth.load(done.path).rows("trajectories")]
    assert {row.id: row.verdict.correct for row in rows} == {"good": True, "bad": False, "half": None}
    assert {row.task_id for row in rows} == {"find-mosk"}
    assert done.report.rejected == {"invalid_trajectory": 1}  # the trial that left no run


def test_a_file_of_events_is_one_run(tmp_path: Path) -> None:
    said = [{"type": "text", "text": "Tervia"}]
    events = [{"type": "summary", "summary": "x", "leafUuid": "x"}] * 12
    events += [{"type": "user", "sessionId": "s", "message": {"role": "user", "content": QUESTION}}]
    events += [{"type": "assistant", "sessionId": "s", "message": {"role": "assistant", "id": "m", "content": said}}]
    write(tmp_path / "session.jsonl", *events)
    with (tmp_path / "session.jsonl").open("a") as file:
        file.write('{"type": "assist')  # a session that was killed
    (row,) = synth.load(synth.import_file(tmp_path / "session.jsonl", "auto", tmp_path / "out").path).rows(
        "trajectories"
    )
    assert (row.id, row.answer, row.turns) == ("s", "Tervia", 1)


@pytest.mark.parametrize(("name", "importer"), [("adp-1", "adp"), ("adp-2", "auto"), ("atif-1.8", "atif")])
def test_our_own_exports_come_back(name: str, importer: str, small: BuildResult, tmp_path: Path) -> None:
    synth.export(small.path, name, tmp_path / "there", select=["split=train"])
    done = synth.import_file(tmp_path / "there" / "train.jsonl", importer, tmp_path / "back")
    was = list(synth.load(small.path).rows("trajectories", "train"))
    now = list(synth.load(done.path).rows("trajectories"))
    same = {"verdict": None, "provenance": None, "privileged": False, "environment": "", "environment_version": ""}
    drop = dict.fromkeys(same)
    assert [row.model_dump() | drop for row in now] == [row.model_dump() | drop for row in was]


WRONG = {
    "unknown format": (
        ["--from", "adpp"],
        "choose one of adp, atif, auto, frameworks, group-chat, openai, openhands, rows, sessions",
    ),
    "no file": (["--from", "adp"], "does not exist"),
    "neither": (["--from", "adp"], "give --out DIR, or --check"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_line_and_changes_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, words = WRONG[name]
    file = tmp_path / "runs.jsonl"
    if name != "no file":
        write(file, openai())
    out = [] if name == "neither" else ["--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as end:
        main(["import", str(file), *out, *arguments])
    told = capsys.readouterr().err
    assert end.value.code == 2
    assert told.count("\n") == 1
    assert words.lower() in told.lower()
    assert {path.name for path in tmp_path.iterdir()} <= {"runs.jsonl"}


def test_a_folder_that_is_no_dataset_is_left_alone(tmp_path: Path) -> None:
    file = write(tmp_path / "f.jsonl", openai())
    with pytest.raises(StoreError, match="left alone"):
        synth.import_file(file, "openai", tmp_path)


def group_log(number: int, *, right: bool) -> dict[str, Any]:
    """A log of two agents and a terminal."""
    said = [("Finder", "```sh\nfind Mosk\n```"), ("Computer_terminal", "exitcode: 1"), ("Teller", "Tervia")]
    history = [{"role": "user", "name": name, "content": text} for name, text in [*said, ("Finder", "TERMINATE")]]
    return {"id": f"log{number}", "question": QUESTION, "history": history, "is_correct": right}


def test_logs_of_several_agents_say_who_failed_them(tmp_path: Path) -> None:
    file = write(tmp_path / "logs.jsonl", group_log(0, right=False), group_log(1, right=True))
    synth.import_file(file, "auto", tmp_path / "out")
    assert validate(tmp_path / "out") == []
    dataset = synth.load(tmp_path / "out")
    assert [(one.trajectory_id, one.step, one.parts["agent"]) for one in dataset.rows("judgments")] == [
        ("log0", 0, "Finder")
    ]
    assert (stats(tmp_path / "out").blamed, stats(tmp_path / "out").blamed_by) == ({"Finder": 1}, {"record": 1})
    synth.export(tmp_path / "out", "openai", tmp_path / "openai", select=["role=policy"])
    told = json.loads(next((tmp_path / "openai").glob("*.jsonl")).read_text().splitlines()[0])["messages"]
    assert [one["content"] for one in told] == [
        f"{QUESTION}\n\n[Finder]",
        "```sh\nfind Mosk\n```",
        "exitcode: 1\n\n[Teller]",
        "Tervia",
        "[Finder]",
        "TERMINATE",
    ]


def test_a_verdict_that_came_with_a_run_stands_beside_a_gold_answer(tmp_path: Path) -> None:
    file = write(tmp_path / "runs.jsonl", openai(correct=False), openai("It is Tervia, or so they say.", correct=True))
    asked = write(tmp_path / "q.jsonl", {"question": QUESTION, "answer": "Tervia"})
    synth.import_file(file, "auto", tmp_path / "out", tasks_file=asked)
    assert [row.verdict.rule for row in synth.load(tmp_path / "out").rows("trajectories")] == ["recorded"] * 2
    assert validate(tmp_path / "out") == []
    assert not audit(tmp_path / "out").violations


def test_the_command_says_what_it_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "f.jsonl", openai(), {})
    main(["import", str(file), "--from", "openai", "--out", str(tmp_path / "out")])
    assert "1 of 2 objects are runs" in capsys.readouterr().out
    main(["import", str(file), "--from", "openai", "--out", str(tmp_path / "out"), "--json"])
    assert json.loads(capsys.readouterr().out)["rejected"] == {"invalid_trajectory": 1}


LEAKED = "In which year did the ferry between Tarnow and the island of Brask stop for the last time?"


def test_runs_that_overlap_with_a_benchmark_are_rejected_and_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark = write(tmp_path / "held-out.jsonl", {"question": LEAKED, "answer": "1903"})
    file = write(tmp_path / "f.jsonl", openai(), openai(question=LEAKED.replace("?", " !").upper()))
    plain = synth.import_file(file, "openai", tmp_path / "plain")
    assert (plain.report.trajectories, synth.load(plain.path).report.benchmarks) == (2, {})
    found = [one for one in audit(plain.path, benchmarks=[benchmark]).violations if one.rule == "benchmark"]
    assert len(found) == 1
    assert "row 1 of held-out.jsonl" in found[0].what
    words = ["import", str(file), "--from", "openai", "--benchmark", str(benchmark), "--out", str(tmp_path / "clean")]
    main(words)
    assert "1 contaminated" in capsys.readouterr().out
    (rejected,) = synth.load(tmp_path / "clean").rows("rejected")
    assert (rejected.row_id, rejected.reason) == ("line 2", "contaminated")
    assert "row 1 of held-out.jsonl" in rejected.detail
    assert not [one for one in audit(tmp_path / "clean", benchmarks=[benchmark]).violations if one.rule == "benchmark"]
    with pytest.raises(InputError, match="does not exist"):
        synth.import_file(file, "openai", tmp_path / "none", benchmarks=[tmp_path / "nowhere.jsonl"])
    assert not (tmp_path / "none").exists()


def test_of_runs_that_do_the_same_all_but_one_are_marked_where_that_is_asked_for(tmp_path: Path) -> None:
    other = openai()
    other["messages"][2]["content"] = "I will search."  # other words, the same call and the same answer
    file = write(tmp_path / "f.jsonl", openai(), openai(), other, openai("Mosk"), openai(question="Where is Mosk?"))
    assert synth.import_file(file, "openai", tmp_path / "all").report.rejected == {"duplicate_id": 1}
    done = synth.import_file(file, "openai", tmp_path / "distinct", distinct=True, all_correct=True)
    assert (done.report.trajectories, done.report.rejected) == (4, {"duplicate_id": 1})
    first, same, *others = synth.load(done.path).rows("trajectories")
    assert (same.duplicate_of, {row.duplicate_of for row in (first, *others)}) == (first.id, {None})
    assert synth.export(done.path, "openai", tmp_path / "out").report.exported == 3


BROKEN: list[tuple[str, dict[str, Any], str]] = [
    ("adp", {"id": "x"}, "content: missing"),
    ("atif", {"schema_version": "2"}, "is not a version 1 of ATIF"),
    ("atif", ATIF | {"steps": [{"source": "agent", "tool_calls": [{}]}]}, r"steps\[0\].tool_calls\[0\].function_name"),
    ("openai", {"messages": [{"role": "robot"}]}, "'robot' is none of system"),
    ("openai", openai(tools="{"), "tools: no JSON"),
    ("sharegpt", {"conversations": [{"from": "gpt"}]}, "value: missing"),
    ("sharegpt", {"conversations": [{"from": "robot", "value": "x"}]}, "'robot' is none of human"),
    ("adp", ADP_1 | {"schema_version": "2.0.0"}, "'2.0.0' is not a version 1"),
    ("adp", ADP_1 | {"content": [{"class_": "audio_observation"}]}, "'audio_observation' is none of api_action"),
    ("auto", {"a": 1, "b": 2}, "its keys are a, b"),
    ("openhands", {"history": [3]}, "not a list of objects"),
    ("swe-agent", {"trajectory": [{"role": "robot"}]}, "'robot' is none of system"),
]


@pytest.mark.parametrize(("name", "value", "words"), BROKEN)
def test_what_is_wrong_is_said_with_its_place(name: str, value: dict[str, Any], words: str) -> None:
    importer = find("importers", name)
    assert isinstance(importer, Importer)
    with pytest.raises(ValueError, match=words):
        importer.read(value)
    assert importer.name == name
    assert importer.summary.endswith(".")


def test_an_importer_gives_trajectories() -> None:
    assert isinstance(find("importers", "openai").read(openai()), Trajectory)
