"""A recipe whose source is runs: the same dataset as that of an import, built by the stages of every other one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from stand_ins.model_server import FixedPlayer, ModelServer, Reply
from stand_ins.planted import (
    PlantedEnvironment,
    PlantedExpert,
    PlantedPolicy,
    PlantedScorer,
    failed_run,
    is_critical,
    planted_task,
)

import synth
from synth.api import BuildResult
from synth.dataset.audit.audit import audit
from synth.dataset.configs import config_named
from synth.dataset.layout import write_config
from synth.dataset.rules.derived import derived_problems
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.identity import hash_64
from synth.pipelines.importing import Imported
from synth.recipe.load import parse_recipe
from synth.schemas.arrow import to_arrow
from synth.schemas.tasks import Task
from synth.sources.runs.files import PIECE_BYTES, objects_in, pieces_of
from synth.stages.recorded_runs import numbered

COUNT = 40


def run_on(number: int, *, right: bool, name: str) -> dict[str, Any]:
    """A run that looks the answer up."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": json.dumps({"river": number})}}
    length = str(1000 + number)
    return {
        "id": name,
        "messages": [
            {"role": "system", "content": "Look things up. " * (PIECE_BYTES // COUNT // 8)},
            {"role": "user", "content": f"How many kilometres long is the river number {number} of Tervia?"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": f"The river is {length} kilometres long."},
            {"role": "assistant", "content": length if right else "I do not know, perhaps 7"},
        ],
        "tools": [{"type": "function", "function": {"name": "look"}}],
    }


@pytest.fixture
def given(tmp_path: Path) -> tuple[Path, Path]:
    """Files of runs and of questions; the runs make several pieces."""
    runs = [run_on(at // 2, right=at % 2 == 0, name=f"r{at}") for at in range(2 * COUNT)]
    runs[3] |= {"id": "r2"}
    values: list[Any] = [*runs, runs[0], {"nothing": 1}]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(value) + "\n" for value in values) + "{\n", "utf-8")
    asked = [{"question": run["messages"][1]["content"], "answer": str(1000 + at)} for at, run in enumerate(runs[::2])]
    text = "".join(json.dumps(one) + "\n" for one in [*asked, {"question": "Who is it?", "answer": "nobody"}])
    (tmp_path / "questions.jsonl").write_text(text, "utf-8")
    return tmp_path / "runs.jsonl", tmp_path / "questions.jsonl"


def recipe_of(runs: Path, asked: Path, **more: Any) -> Path:
    source = {"kind": "runs", "path": str(runs), "name": runs.name}
    value = {"name": "runs", "source": source, "questions": {"kind": "given", "path": str(asked)}} | more
    path = runs.parent / "recipe.yaml"
    path.write_text(yaml.safe_dump(value), "utf-8")
    return path


def hashes(done: BuildResult | Imported) -> dict[str, dict[str, str]]:
    assert done.path is not None
    assert validate(done.path) == []
    return dict(synth.load(done.path).report.rows_sha256)


def test_a_recipe_and_an_import_build_the_same(given: tuple[Path, Path], tmp_path: Path) -> None:
    runs, questions = given
    imported = synth.import_file(runs, "auto", tmp_path / "a", tasks_file=questions, store=tmp_path / "store-a")
    built = synth.build(recipe=recipe_of(runs, questions), out=tmp_path / "b", store=tmp_path / "store-b")
    assert hashes(imported) == hashes(built)
    stages = {stage.label: stage for stage in built.report.stages}
    assert (stages["runs"].rows_in, stages["runs"].kept, stages["runs"].rejected) == (
        83,
        81,
        {"invalid_trajectory": 1, "malformed": 1},
    )
    assert stages["runs"].shards > 3
    assert stages["policy"].rejected == {"duplicate_id": 1}
    dataset = synth.load(built.path)
    assert (dataset.count("tasks"), dataset.count("trajectories")) == (COUNT, 2 * COUNT)
    assert dataset.count("preferences") > 0
    assert {(row.row_id, row.stage) for row in dataset.rows("rejected") if row.reason == "duplicate_id"} == {
        ("line 81", "recorded_runs")
    }
    assert {row.id: row.details.get("given", {}).get("id") for row in dataset.rows("trajectories")}["r2-2"] == "r2"


def test_a_judge_labels_the_steps_that_the_rules_leave_open_and_is_asked_once(
    given: tuple[Path, Path], tmp_path: Path
) -> None:
    runs, questions = given
    lines = [json.loads(line) for line in runs.read_text("utf-8").splitlines() if line != "{"]
    for run in lines[1 : 2 * COUNT : 2]:
        length = run["messages"][3]["content"].split()[3]
        run["messages"][4]["content"] = f"The river is {length} or 7 kilometres long"
    runs.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    steps = [{"step": place, "reason": "It guesses.", "cites": [0], "label": -1} for place in (0, 1)]
    reply = Reply(content=json.dumps({"steps": steps}))
    with ModelServer({"toy": FixedPlayer(reply)}) as server:
        role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        recipe = recipe_of(runs, questions, roles={"judge": role}, ratings={"steps": True, "answers": False})
        built = synth.build(recipe=recipe, out=tmp_path / "a", store=tmp_path / "store")
        asked = len(server.log.records())
        again = synth.build(recipe=recipe, out=tmp_path / "b", store=tmp_path / "store")
        assert len(server.log.records()) == asked, "what was asked is stored"
    assert hashes(built) == hashes(again)
    assert not audit(built.path).violations
    judged = [step for step in synth.load(built.path).rows("steps") if step.label_reason == "judged"]
    assert [step.step for step in judged] == [1] * COUNT
    first = judged[0]
    assert (first.label, first.label_detail, first.first_error) == (-1, "a model, by step 0: It guesses.", True)
    assert (first.provenance.model, (first.provenance.prompt or "").split("@")[0]) == ("toy", "judge/steps/v1")
    (stage,) = [one for one in built.report.stages if one.label == "policy-steps"]
    assert stage.numbers["judged"] == COUNT


KILLED = """
import sys
import synth
from synth.store.failpoints import activate
runs, questions, out, store, point = sys.argv[1:]
activate(point)
synth.import_file(runs, "auto", out, tasks_file=questions, store=store)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    "point", ["engine.shard.computed:4:kill", "engine.row.processed:30:kill", "publish.copied:1:kill"]
)
def test_a_killed_import_goes_on(point: str, given: tuple[Path, Path], tmp_path: Path) -> None:
    runs, questions = given
    whole = synth.import_file(runs, "auto", tmp_path / "whole", tasks_file=questions, store=tmp_path / "store-a")
    store, out = tmp_path / "store", tmp_path / "out"
    words = [str(one) for one in (runs, questions, out, store)]
    killed = subprocess.run([sys.executable, "-c", KILLED, *words, point], check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()[-2000:]
    assert not out.exists()
    again = synth.build(recipe=recipe_of(runs, questions), out=out, store=store)
    assert hashes(again) == hashes(whole)
    first, reading = again.report.stages[:2]
    assert first.reused_shards == first.shards, "what was finished is not made again"
    assert reading.reused_shards == (2 if point.startswith("engine.shard") else reading.shards)


def planted_policy(*, task: Task, **about: Any) -> PlantedPolicy:
    return PlantedPolicy(task, 0.9, 0.1)


def planted_expert() -> PlantedExpert:
    return PlantedExpert()


def planted_scorer() -> PlantedScorer:
    return PlantedScorer()


def test_with_an_environment_and_a_policy_of_the_users_critical_steps_are_verified(tmp_path: Path) -> None:
    environment = PlantedEnvironment()
    tasks = [planted_task(number) for number in range(60)]
    runs = {task.id: failed_run(environment, task, planted_policy(task=task)) for task in tasks}
    tasks = [task for task in tasks if is_critical(task, runs[task.id], task.details["decisive"])][:2]
    write_config(tmp_path, config_named("tasks"), to_arrow(tasks, Task).to_batches())
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(runs[task.id].model_dump_json() + "\n" for task in tasks), "utf-8")
    recipe = recipe_of(
        file,
        tmp_path,
        questions={"kind": "dataset", "path": str(tmp_path), "splits": ["train"]},
        environment={"kind": "own", "made_by": "stand_ins.planted:PlantedEnvironment"},
        roles={
            "policy": {"backend": f"{__name__}:planted_policy"},
            "expert": {"backend": f"{__name__}:planted_expert"},
            "prm": {"backend": f"{__name__}:planted_scorer"},
        },
    )
    dataset = synth.load(synth.build(recipe=recipe, out=tmp_path / "out", store=tmp_path / "store").path)
    verified = {(step.trajectory_id, step.step) for step in dataset.rows("steps") if step.criticality is not None}
    assert verified
    assert verified <= {(runs[task.id].id, task.details["decisive"]) for task in tasks}
    assert {(pair.trajectory_id, pair.step) for pair in dataset.rows("preferences")} <= verified


OWN = {
    "source": {"kind": "own"},
    "questions": {"kind": "given", "path": "x"},
    "environment": {"kind": "own", "made_by": "mine:Shop"},
}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"roles": {"teacher": {}}}, "roles.teacher has no effect"),
        ({"roles": {"policy": {}}}, "kind: own, made_by"),
        ({"tasks": 3}, "tasks has no effect"),
        ({"questions": {"kind": "world"}, "tasks": 3}, "graph of facts"),
        ({"source": {"kind": "world"}, "tasks": 3}, "questions of kind recorded need a source of kind runs"),
        ({"source": {"kind": "runs", "path": "x", "format": "adpp"}}, "choose one of adp"),
        ({"source": {"kind": "own"}, "questions": {"kind": "world"}, "tasks": 3}, "graph of facts"),
        ({"source": {"kind": "own"}, "questions": {"kind": "docs"}, "tasks": 3}, "in an environment of your own they"),
        ({"source": {"kind": "own"}, "questions": {"kind": "given", "path": "x"}}, "environment.kind: search needs a"),
        ({**OWN, "roles": {"teacher": {}}}, "no script acts in an environment of yours"),
        ({**OWN, "source": {"kind": "world"}}, "an environment of kind own needs a source of kind own, or runs"),
    ],
)
def test_keys_that_do_not_go_together(change: dict[str, Any], words: str) -> None:
    value = {"name": "r", "source": {"kind": "runs", "path": "x"}, "questions": {"kind": "recorded"}, **change}
    with pytest.raises(InputError, match=words):
        parse_recipe(value, "recipe")


def test_pieces_hold_every_line_once_by_its_number(tmp_path: Path) -> None:
    long = {"n": 2, "words": "x" * 120}
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, [{"n": 1}, long, {"n": 3}])) + "\n\n" + '{"n": 5}')
    (tmp_path / "b.json").write_text(json.dumps([{"n": 6}, {"n": 7}]))
    pieces = pieces_of([tmp_path / "a.jsonl", tmp_path / "b.json"], 50)
    assert len(pieces) > 1
    read = [(place, value["n"]) for piece in pieces for place, value in objects_in(piece, events=False)]
    assert read == [
        ("a.jsonl: line 1", 1),
        ("a.jsonl: line 2", 2),
        ("a.jsonl: line 3", 3),
        ("a.jsonl: line 5", 5),
        ("b.json: object 1", 6),
        ("b.json: object 2", 7),
    ]


def test_files_of_one_name_in_several_folders_are_told_apart(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        chat = {"messages": [{"role": "user", "content": name}, {"role": "assistant", "content": "Here."}]}
        (tmp_path / "runs" / name / "sample.json").write_text(json.dumps([chat, {"nothing": 1}]))
    found = synth.import_file(tmp_path / "runs", "auto", tmp_path / "out").report
    assert (found.objects, found.trajectories) == (4, 2)
    rejected = {row.row_id for row in synth.load(tmp_path / "out").rows("rejected")}
    assert rejected == {"a/sample.json: object 2", "b/sample.json: object 2"}


def test_a_file_that_is_a_list_of_messages_is_one_run(tmp_path: Path) -> None:
    chat = [{"role": "user", "content": "Where?"}, {"role": "assistant", "content": "Here."}]
    (tmp_path / "run.traj.json").write_text(json.dumps(chat))
    ((piece,),) = pieces_of([tmp_path / "run.traj.json"])
    assert list(objects_in([piece], events=False)) == [("object 1", {"messages": chat, "id": "run.traj"})]


def test_runs_are_told_apart_and_numbered() -> None:
    """(id, run, sample, stated number) -> the first that is equal, place among runs of its id, number of the sample."""
    rows = [
        ("a", "x", "s", 4),
        ("b", "x", "s", 7),
        ("a", "x", "s", 4),  # the first once more
        ("a", "y", "t", 0),  # another run of its id
        ("c", "z", "t", 0),  # states a number that is taken
        ("d", "w", "t", -1),
    ]
    columns = [[hash_64(row[at]) for row in rows] for at in range(3)]
    found = numbered(*columns, [row[3] for row in rows])
    assert list(map(tuple, found)) == [
        (-1, 0, 4),
        (-1, 0, 7),
        (0, -1, -1),
        (-1, 1, 0),
        (-1, 0, 1),
        (-1, 0, 2),
    ]


def searched(answer: str) -> dict[str, Any]:
    """A run in words of its model's own: what it searches for stands neither in the question nor in what it saw."""
    call = {
        "id": "1",
        "type": "function",
        "function": {"name": "search", "arguments": '{"query": "Nick Charles saga"}'},
    }
    return {
        "messages": [
            {"role": "user", "content": "Who wrote the novel The Thin Man?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "1", "content": "The Thin Man is a novel by Dashiell Hammett."},
            {"role": "assistant", "content": answer},
        ]
    }


def test_whole_runs_of_a_model_that_was_recorded_make_pairs(tmp_path: Path) -> None:
    answers = ("Dashiell Hammett", "Raymond Chandler", "It was Hammett")
    runs, asked = tmp_path / "runs.jsonl", tmp_path / "questions.jsonl"
    runs.write_text("".join(json.dumps(searched(answer)) + "\n" for answer in answers))
    asked.write_text(json.dumps({"question": "Who wrote the novel The Thin Man?", "answer": answers[0]}))
    built = synth.annotate(runs, asked, tmp_path / "out", store=tmp_path / "store")
    verdicts = sorted(str(run.verdict.correct) for run in synth.load(built.path).rows("trajectories"))
    assert verdicts == ["False", "None", "True"]
    (pair,) = synth.load(built.path).rows("preferences")
    assert (pair.kind, pair.family) == ("trajectory", "whole_run")
    assert validate(built.path) + derived_problems(built.path) == []
