"""``synth.annotate``: labels, critical steps and pairs for trajectories that came from outside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from small_runs import play, recorded
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
from synth.agents.loop import Limits
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.labels import label
from synth.dataset.rules.validate import validate
from synth.environments.search import SearchEnvironment
from synth.schemas.adp import dump
from synth.schemas.arrow import trajectory_of
from synth.schemas.preferences import PairKind
from synth.schemas.rejections import Reason
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

DOCUMENTS = small_documents()
ENVIRONMENT = SearchEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
TASKS = small_tasks()


def run(task: Task, number: int) -> TrajectoryRow:
    """A run of the weak policy, or for number 0 of the teacher."""
    agent = ScriptedTeacher(task) if number == 0 else ScriptedPolicy(task, PolicyConfig(skill=0.2, bad_argument=0.2))
    done = play(agent, ENVIRONMENT, task, number, seed=3, limits=Limits(max_turns=12))
    return recorded(done, ENVIRONMENT, "teacher" if number == 0 else "policy", number)


@cache
def recorded_runs() -> tuple[TrajectoryRow, ...]:
    return tuple(run(task, number) for task in TASKS for number in range(4))


def outside(row: TrajectoryRow, **details: Any) -> dict[str, Any]:
    """The row as somebody else would hand it over: the protocol's columns, and what ``details`` says."""
    value = dump(trajectory_of(row))
    return value | {"details": details}


def asked(question: str, *items: dict[str, Any], name: str = "run", **details: Any) -> dict[str, Any]:
    """A hand-written trajectory."""
    first = {"class_": "text_observation", "content": question, "source": "user"}
    return {"schema_version": "1.2.0", "id": name, "content": [first, *items], "details": details}


def called(number: int, tool: str, said: str, **arguments: Any) -> list[dict[str, Any]]:
    return [
        {"class_": "api_action", "function": tool, "kwargs": arguments, "tool_call_id": f"c{number}"},
        {"class_": "text_observation", "content": said, "source": "environment", "tool_call_id": f"c{number}"},
    ]


def message(text: str) -> dict[str, Any]:
    return {"class_": "message_action", "content": text}


def lines(path: Path, values: Iterable[dict[str, Any]]) -> Path:
    path.write_text("\n".join(json.dumps(value) for value in values) + "\n", encoding="utf-8")
    return path


ROLES = ("teacher", "policy")


def annotated(tmp_path: Path, runs: Any, tasks: Any, **options: Any) -> SimpleNamespace:
    """Rows of all tables of what comes of ``runs``, a valid dataset."""
    out = tmp_path / "out"
    dataset = synth.load(synth.annotate(runs, tasks, out, **options).path)
    assert validate(out) == []
    names = ("tasks", "trajectories", "steps", "continuations", "preferences", "rejected")
    return SimpleNamespace(**{name: list(dataset.rows(name)) if name in dataset.configs else [] for name in names})


QUESTIONS = (
    {"question": "Who wrote the Atlas?", "answer": "Jon Maak"},
    {"question": "How many books are there?", "answer": 80000, "aliases": ["80,000 books"]},
)


def test_files_without_an_environment(tmp_path: Path) -> None:
    runs = lines(
        tmp_path / "runs.jsonl",
        [
            asked(
                "Who wrote the Atlas?",
                *called(0, "look", "The Atlas is a book."),
                *called(1, "look", "Jon Maak wrote it."),
                message("Jon Maak"),
                name="good",
            ),
            asked(
                "Who wrote the Atlas?",
                *called(0, "look", "No such argument.", q=1),
                *called(1, "look", "No such argument.", q=1),
                message("Edda Torrin"),
                name="bad",
                tool_errors={"c0": "bad_arguments", "c1": "bad_arguments"},
            ),
            asked("How many books are there?", message("I counted 80,000 of them and 12 maps."), name="open"),
            asked("how many BOOKS are there", message("I counted them."), name="told", correct=True),
        ],
    )
    found = annotated(tmp_path, runs, lines(tmp_path / "questions.jsonl", QUESTIONS))
    assert {one.stage for one in found.rejected} <= {"trajectory_pairs", "preferences"}
    assert [(pair.kind, pair.trajectory_id, pair.other_trajectory_id) for pair in found.preferences] == [
        (PairKind.TRAJECTORY, "good", "bad")
    ]
    by_id = {row.id: row for row in found.trajectories}
    assert {name: row.verdict.correct for name, row in by_id.items()} == {
        "good": True,
        "bad": False,
        "open": None,
        "told": True,
    }
    reasons = {(step.trajectory_id, step.step): step.label_reason for step in found.steps}
    assert reasons["good", 2] is LabelReason.SUPPORTED_ANSWER
    assert reasons["bad", 0] is LabelReason.INVALID_CALL
    assert reasons["bad", 1] is LabelReason.REPEATED_FAILURE
    assert reasons["open", 0] is LabelReason.UNMEASURED
    assert [step.step for step in found.steps if step.trajectory_id == "bad" and step.first_error] == [0]
    assert found.continuations == []
    (task,) = [task for task in found.tasks if task.answer == "Jon Maak"]
    assert (task.shape, task.checks) == ("given", ())


@pytest.mark.parametrize(
    ("value", "reason", "words"),
    [
        (asked("Who is it?", message("x")), Reason.INVALID_TRAJECTORY, "no task asks 'Who is it"),
        (asked("Who is it?", message("x"), task_id="no"), Reason.INVALID_TRAJECTORY, "no task 'no'"),
        (asked("Who wrote the Atlas?", message("x"), role="judge"), Reason.INVALID_TRAJECTORY, "details.role"),
        (asked("Who wrote the Atlas?", message("x"), role="expert"), Reason.INVALID_TRAJECTORY, "its role is expert"),
        (asked("Who wrote the Atlas?", message("x"), tools=["a"]), Reason.INVALID_TRAJECTORY, "details.tools"),
        (
            asked("Who wrote the Atlas?", message("x"), stop_reason="max_turns"),
            Reason.INVALID_TRAJECTORY,
            "stop_reason",
        ),
        (asked("Who wrote the Atlas?", message("x"), correct="yes"), Reason.INVALID_TRAJECTORY, "details.correct"),
        (asked("Who wrote the Atlas?", message("x"), tool_errors={"c": 1}), Reason.INVALID_TRAJECTORY, "tool_errors"),
        (asked("Who wrote the Atlas?"), Reason.INVALID_TRAJECTORY, "nobody acts"),
        (asked("Who wrote the Atlas?") | {"schema_version": "9"}, Reason.INVALID_TRAJECTORY, "schema_version"),
        (asked("Who wrote the Atlas?", message("Jon Maak"), name="good"), Reason.DUPLICATE_ID, "earlier"),
    ],
)
def test_what_can_not_be_used_is_rejected_with_a_reason(
    tmp_path: Path, value: dict[str, Any], reason: Reason, words: str
) -> None:
    good = asked("Who wrote the Atlas?", message("Jon Maak"), name="good")
    found = annotated(tmp_path, [good, value], lines(tmp_path / "q.jsonl", QUESTIONS))
    assert [row.id for row in found.trajectories] == ["good"]
    (rejection,) = (one for one in found.rejected if one.stage in ("read_runs", "recorded_runs"))
    assert rejection.reason is reason
    assert words in rejection.detail


def test_bad_files_are_the_users_mistake(tmp_path: Path) -> None:
    questions = lines(tmp_path / "q.jsonl", QUESTIONS)
    runs = tmp_path / "runs.jsonl"
    out = tmp_path / "out"
    with pytest.raises(synth.InputError, match="does not exist"):
        synth.annotate(runs, questions, out)
    runs.write_text("\n")
    with pytest.raises(synth.InputError, match="no run"):
        synth.annotate(runs, questions, out)
    runs.write_text("{\n")
    with pytest.raises(synth.InputError, match="none of 1 lines is JSON"):
        synth.annotate(runs, questions, out)
    with pytest.raises(synth.InputError, match="environment"):
        synth.annotate(runs, questions, out, policy=lambda task: ScriptedPolicy(task))
    assert not out.exists()


def test_with_the_environment_they_are_what_they_were(tmp_path: Path) -> None:
    """Through JSON and back: verdicts, errors of calls, labels."""
    values = [outside(row, task_id=row.task_id, role=row.role, system_prompt="s") for row in recorded_runs()]
    found = annotated(tmp_path, values, TASKS, environment=ENVIRONMENT)
    assert [row.id for row in found.trajectories] == [
        row.id for role in ROLES for row in recorded_runs() if row.role == role
    ]
    tasks = {task.id: task for task in TASKS}
    runs = sorted(recorded_runs(), key=lambda row: ROLES.index(row.role))
    wanted = [step for row in runs for step in label(row, tasks[row.task_id])]
    assert any(step.label_reason is LabelReason.INVALID_CALL for step in wanted)
    for row, own in zip(runs, found.trajectories, strict=True):
        assert (own.verdict, own.turns, own.tool_calls) == (row.verdict, row.turns, row.tool_calls)
        assert own.details.get("tool_errors", {}) == row.details.get("tool_errors", {})
    assert [(s.trajectory_id, s.step, s.label, s.label_reason, s.train) for s in found.steps] == [
        (s.trajectory_id, s.step, s.label, s.label_reason, s.train) for s in wanted
    ]
    kinds = {pair.kind for pair in found.preferences}
    assert kinds == {PairKind.TRAJECTORY, PairKind.PERTURBATION}
    assert len({pair.id for pair in found.preferences}) == len(found.preferences)


def test_another_environment_gives_labels_and_no_pairs_by_execution(tmp_path: Path) -> None:
    good = next(row for row in recorded_runs() if row.success and row.turns > 2)
    value = outside(good, task_id=good.task_id)
    value["content"][2]["content"] += " And more."
    found = annotated(tmp_path, [value], TASKS, environment=ENVIRONMENT)
    assert len(found.steps) == good.turns
    assert found.preferences == []
    assert [one.reason for one in found.rejected if one.part is not None] == [Reason.ENVIRONMENT_ERROR]


def test_with_the_policy_critical_steps_are_verified(tmp_path: Path) -> None:
    environment = PlantedEnvironment()
    cases = []
    for number in range(200):
        task = planted_task(number)
        policy = PlantedPolicy(task, 0.9, 0.1)
        row = failed_run(environment, task, policy)
        if is_critical(task, row, task.details["decisive"]):
            cases.append((task, row))
    cases = cases[:4]
    values = [outside(row, system_prompt="Go on.") for _, row in cases]

    def run() -> Any:
        return annotated(
            tmp_path,
            values,
            [task for task, _ in cases],
            environment=environment,
            policy=lambda task: PlantedPolicy(task, 0.9, 0.1),
            expert=PlantedExpert(),
            scorer=PlantedScorer(),
            search=CriticalConfig(),
        )

    found = run()
    assert found == run(), "drawn from the seed alone"
    verified = {(s.trajectory_id, s.step) for s in found.steps if s.criticality and s.criticality.verified}
    true = {(row.id, task.details["decisive"]) for task, row in cases}
    assert verified
    assert verified <= true
    assert {(pair.trajectory_id, pair.step) for pair in found.preferences} <= verified
    assert found.continuations
