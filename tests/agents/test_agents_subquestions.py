"""Questions come apart into parts, parts go to helpers, and every helper is judged by the answer of its own part."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import synth
from synth.agents.contract import Step
from synth.agents.helpers import helper_rows
from synth.agents.subquestions import part_asked, sub_questions, sub_task, whole_answer
from synth.agents.trajectory import facts_of, history_of
from synth.annotate.evidence.view import EvidenceView
from synth.annotate.rewards.plans import plan_reward
from synth.dataset.phrasing import Wording
from synth.dataset.reader import Dataset
from synth.dataset.rules.validate import validate
from synth.schemas.details import details_with
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Recorded, TrajectoryRow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("swarm")
    settings = {"source.entities": 400, "difficulty": None, "rl": False}
    built = synth.build("searchswarm", tasks=10, out=folder / "out", store=folder / "store", settings=settings)
    return synth.load(built.path)


@pytest.fixture(scope="module")
def tasks(made: Dataset) -> list[Task]:
    return list(made.rows("tasks"))


@pytest.fixture(scope="module")
def swarm(made: Dataset) -> list[TrajectoryRow]:
    asked = {row.trajectory_id for row in made.rows("helper_runs")}
    return [row for row in made.rows("trajectories") if row.id in asked]


def test_parts_are_questions_that_the_walk_answers(tasks: list[Task]) -> None:
    apart = [task for task in tasks if sub_questions(task)]
    assert len(apart) >= 5
    for task in apart:
        answers: dict[int, str] = {}
        for number, part in enumerate(sub_questions(task), 1):
            assert set(part.needs) <= set(answers)
            question = part.asked(answers)
            answers[number] = part.answer.name
            assert "#" not in question
            assert part.answer.name not in question
            assert part_asked(task, question) == part
            sub, known = sub_task(task, question)
            assert known == part
            assert sub.answer == part.answer.name
            assert all(hop.cue in question for hop in sub.walk.hops)
        assert whole_answer(task, answers) == task.answer
        assert whole_answer(task, {}) is None
        assert sub_task(task, "What is it?") == (task.model_copy(update={"question": "What is it?"}), None)
    assert not any(sub_questions(task) for task in tasks if task.shape == "conjunction")


def test_helpers_are_rows_judged_by_their_own_part(made: Dataset, swarm: list[TrajectoryRow]) -> None:
    assert validate(made.path) == []
    rows = list(made.rows("helper_runs"))
    assert len(rows) > len(swarm) >= 3
    for row in rows:
        assert row.gold is not None
        assert row.verdict.correct is (row.answer is not None)
        assert row.turns >= 2
        assert row.tool_calls >= 1
    kept = {one.id: one for run in swarm for one in helper_rows(run, run.provenance)}
    assert {row.id for row in rows} == set(kept)


def test_what_a_helper_says_is_evidence_only_where_it_is_right(tasks: list[Task], swarm: list[TrajectoryRow]) -> None:
    of = {task.id: task for task in tasks}
    good = [run for run in swarm if run.success]
    assert good
    for run in good:
        task, recorded = of[run.task_id], facts_of(run)
        assert EvidenceView(task, history_of(run)[1]).progress == 1
        wrong = [{**one, "verdict": {**one["verdict"], "correct": False}} for one in recorded["delegated"]]
        told = details_with(run.details, Recorded(environment={**recorded, "delegated": wrong}))
        misled = run.model_copy(update={"details": told})
        right, false = (_unsaid(history_of(one)[1][0]) for one in (run, misled))
        assert EvidenceView(task, [right]).hops
        assert not EvidenceView(task, [false]).hops


def _unsaid(step: Step) -> Step:
    said = {"content": "The helper answers: Nobody\nIt read no page."}
    return step.model_copy(update={"results": tuple(one.model_copy(update=said) for one in step.results)})


def test_delegating_is_trained_and_helpers_are_rows_of_the_export(
    made: Dataset, swarm: list[TrajectoryRow], tmp_path: Path
) -> None:
    synth.export(made.path, "trl-sft", tmp_path / "sft")
    rows = [row for file in (tmp_path / "sft").rglob("*.parquet") for row in pq.read_table(file).to_pylist()]
    by = {row["id"]: [json.loads(text) for text in row["messages"]] for row in rows}
    helpers = {row.id for row in made.rows("helper_runs") if row.verdict.correct}
    assert helpers
    assert helpers <= set(by)
    called = Counter(
        call["function"]["name"]
        for run in swarm
        for message in by.get(run.id, ())
        for call in message.get("tool_calls", ())
    )
    assert set(called) == {"delegate"}
    for row in rows:
        tools = {tool["function"]["name"] for tool in json.loads(row["tools"])}
        assert ("delegate" in tools) == (row["id"] not in helpers)
    synth.export(made.path, "openai", tmp_path / "openai", select=["role=teacher"])
    lines = [json.loads(line) for line in (tmp_path / "openai" / "train.jsonl").read_text().splitlines()]
    said = [message for line in lines for message in line["messages"] if message.get("tool_calls")]
    assert any(call["function"]["name"] == "delegate" for message in said for call in message["tool_calls"])
    assert all(message.get("weight", 1) == 1 for message in said)


def test_words_about_helpers_are_no_wording_that_gives_a_run_away(made: Dataset, swarm: list[TrajectoryRow]) -> None:
    wording = Wording()
    alone = [run for run in made.rows("trajectories") if run.role == "policy"]
    assert len(swarm) >= 3
    for number in range(40):
        for run in (*swarm[:3], *alone[:3]):
            wording.see(run.model_copy(update={"task_id": f"{run.task_id}-{number}"}))
    assert not [one for one in wording.telling() if "helper" in one.phrase]


def test_plans_are_targets_and_the_reward_knows_them(made: Dataset, tasks: list[Task], tmp_path: Path) -> None:
    synth.export(made.path, "trl-plans", tmp_path / "plans")
    rows = [row for file in (tmp_path / "plans").rglob("*.parquet") for row in pq.read_table(file).to_pylist()]
    said = {kind: [row for row in rows if row["kind"] == kind] for kind in ("plan", "next")}
    apart = {task.id: sub_questions(task) for task in tasks if sub_questions(task)}
    assert {row["task_id"] for row in said["plan"]} == set(apart)
    assert len(said["next"]) == sum(len(parts) + 1 for parts in apart.values())
    plans = [[json.loads(text) for text in row["completion"]] for row in said["plan"]]
    assert plan_reward(completions=plans, parts=[row["parts"] for row in said["plan"]]) == [1.0] * len(plans)
    for row in said["next"]:
        told, asked = (json.loads(row[name][0])["content"] for name in ("prompt", "completion"))
        assert "#" not in asked
        known = told.split("Known so far:")[1]
        assert (asked == "nothing") == (row["answers"][-1] in known)
