"""Whole builds whose teacher tries failed runs once more, with a reflection by a model behind HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from api_builds import played_by
from stand_ins.model_server import ModelServer, ReflectorPlayer, ScriptedPlayer

import synth
from synth.dataset.rules.validate import validate
from synth.schemas.rejections import Reason

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    "source.entities": 600,
    "critical": None,
    "distractors": None,
    "contexts": None,
    "difficulty": None,
    "rl": False,
    "roles.policy.rollouts": 1,
    "roles.teacher.rollouts": 2,
}


def test_failed_runs_are_tried_once_more(tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 12, "store": world_store}
    here = synth.build("world-search", out=tmp_path / "here", settings=LEAN, **base)
    tasks = list(synth.load(here.path).rows("tasks"))
    leaked = {task.question: task.answer for task in tasks[::3]}
    players = {
        "toy-teacher": ScriptedPlayer.scripted(tasks, "policy", language="world"),
        "toy-reflector": ReflectorPlayer(leaked),
    }
    with ModelServer(players) as server:
        settings = {**LEAN, **played_by(server, "teacher", "reflector")}
        settings["roles.teacher.options"] = {"send_reasoning": "reasoning"}
        built = synth.build("world-search", out=tmp_path / "out", settings=settings, **base)
        asked = len(server.log.records())
        assert server.errors == []
    assert built.account is not None
    assert built.account.calls == asked
    assert validate(built.path) == []
    dataset = synth.load(built.path)
    rows = [row for row in dataset.rows("trajectories") if row.role == "teacher"]
    rejected = list(dataset.rows("rejected"))
    questions = {task.id: task.question for task in tasks}
    ungrounded = {row.row_id for row in rejected if row.reason is Reason.UNGROUNDED}
    first = {row.id: row for row in rows if row.retry_of is None}
    again = [row for row in rows if row.retry_of is not None]
    assert again
    for row in again:
        assert row.rollout >= 2
        reflection = row.details["reflection"]
        assert reflection["by"] == "toy-reflector"
        assert row.system_prompt.endswith(reflection["notes"])
        assert questions[row.task_id] not in leaked
        if row.retry_of in first:
            failed = first[row.retry_of]
            assert (failed.task_id, failed.rollout, failed.success) == (row.task_id, row.rollout - 2, False)
            assert row.system_prompt == f"{failed.system_prompt}\n\n{reflection['notes']}"
        else:
            assert row.retry_of in ungrounded, "the first try was rejected for what it named"
    refused = [row for row in rejected if row.reason is Reason.ANSWER_IN_REFLECTION]
    assert refused
    assert {questions[row.row_id] for row in refused} <= set(leaked)
    assert all(row.part is not None and row.part >= 2 for row in refused)
    tried = {row.retry_of for row in again}
    wrong = [row for row in first.values() if row.verdict.correct is False and questions[row.task_id] not in leaked]
    assert sum(row.id not in tried for row in wrong) <= len(ungrounded), "each was tried, and each try is accounted for"
    report = json.loads((built.path / "report.json").read_text())
    teacher = [outcome for outcome in report["outcomes"] if outcome["role"] == "teacher"]
    assert sum(outcome["trajectories"] for outcome in teacher) == len(first)
    assert sum(outcome["successes"] for outcome in teacher) == sum(row.success for row in first.values())
    assert sum(outcome["retries"] for outcome in teacher) == len(again)
    assert sum(outcome["retry_successes"] for outcome in teacher) == sum(row.success for row in again)
    card = (built.path / "README.md").read_text()
    assert f"of\n{len(again)} second tries {sum(row.success for row in again)} succeeded" in card
    pairs = {(row.trajectory_id, row.other_trajectory_id) for row in dataset.rows("preferences")}
    assert not any((one.id, one.retry_of) in pairs for one in again), "their prompts differ"
