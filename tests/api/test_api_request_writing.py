"""Whole builds whose requests a model words, through HTTP: a good writer, a bad one, and what a plan says of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from api_builds import played_by
from stand_ins.model_server import JobPlayer, ModelServer, Reply

import synth
from synth.api import BuildResult
from synth.cli import main
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.schemas.plans import Plan
from synth.schemas.rejections import Reason

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    "critical": None,
    "preferences": None,
    "difficulty": None,
    "rl": False,
    "roles": {"teacher": {}},
    "questions.safety_pairs": 0.5,
}
TASKS = 8
OTHERWISE = (
    (r"\b(?:could|would|can) you\b", "would you kindly"),
    (r"\bi'd like you to\b", "I would be glad if you could"),
    (r"\bi'm\b", "I am"),
    (r"\bcancel\b", "call off"),
    (r"\b(?:switch|change)\b", "adjust"),
    (r"\bmy (\w+ (?:to|from))\b", r"the \1"),
    (r"\bplease\b", "kindly"),
    (r"\bthat ends in\b", "ending in"),
    (r"\bnow on\b", "today on"),
)


def otherwise(text: str, behind: str) -> str:
    """``text`` as it goes on behind ``behind``."""
    for old, new in OTHERWISE:
        text = re.sub(old, new, text, flags=re.I)
    text = re.sub(r"(?<=[.!?] )[a-z]", lambda match: match.group().upper(), text)
    return text[:1].upper() + text[1:] if not behind or behind.endswith((". ", "! ", "? ")) else text


def good(data: Mapping[str, Any], sample: str | None) -> Any:
    """The request in other words, stretch by stretch, and where each part went."""
    question, rest, parts = "", data["question"], []
    for part in data["parts"]:
        front, _, rest = rest.partition(part["words"])
        question += otherwise(front, question)
        words = otherwise(part["words"], question)
        parts.append({**part, "words": words})
        question += words
    return {"question": f"{question}{otherwise(rest, question)} I appreciate it.", "parts": parts}


def same(data: Mapping[str, Any], sample: str | None) -> Any:
    """A second reader who finds each part where the writer above put it."""
    parts = []
    for part in data["parts"]:
        at = data["new"].lower().index(otherwise(part["words"], "").lower())
        parts.append({**part, "words": data["new"][at : at + len(otherwise(part["words"], ""))], "verdict": "same"})
    return {"parts": parts, "added": []}


def settings(server: ModelServer, *roles: str) -> dict[str, Any]:
    return {**LEAN, **played_by(server, *roles)}


def build(folder: Path, more: Mapping[str, Any], tasks: int = TASKS, store: Path | None = None) -> BuildResult:
    store = store or folder.parent / "store"
    return synth.build("app-desk", tasks=tasks, out=folder, store=store, settings=dict(more))


def rows(built: BuildResult, table: str) -> list[Any]:
    return list(synth.load(built.path).rows(table))


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    """The same tasks without any model."""
    return build(tmp_path_factory.mktemp("plain") / "out", LEAN)


def test_a_good_writer_words_the_requests_and_the_tasks_are_the_same(plain: BuildResult, tmp_path: Path) -> None:
    writer, checker = JobPlayer({"tasks/write_request": good}), JobPlayer({"tasks/confirm_request": same})
    with ModelServer({"toy-writer": writer, "toy-checker": checker}) as server:
        more = settings(server, "writer", "checker")
        built = build(tmp_path / "out", more)
        calls = len(server.log.records())
        assert build(tmp_path / "again", more).reused
        assert len(server.log.records()) == calls, "nothing is asked for twice"
        assert server.errors == []
    before, after = rows(plain, "tasks"), rows(built, "tasks")
    told = {row.task_id: row for row in rows(built, "question_rewrites") if row.accepted}
    assert len(after) == TASKS
    assert len(told) >= 3
    for old, new in zip(before, after, strict=True):
        assert (new.answer, new.details["goal"], new.gold_entities) == (
            old.answer,
            old.details["goal"],
            old.gold_entities,
        )
        if new.id not in told:
            assert new == old.model_copy(update={"provenance": new.provenance})
            continue
        row = told[new.id]
        assert new.question == row.question != old.question == row.before == new.details["question_before"]
        assert (new.provenance.model, new.provenance.prompt) == ("toy-writer", row.prompt)
        assert row.prompt.startswith("tasks/write_request/v1@")
        assert (row.confirmed, row.confirmed_by) == ("same", "toy-checker")
        assert (new.checks[:-1], new.checks[-1].check) == (old.checks, "wording")
        first, second = (Plan.model_validate(task.details["plan"]) for task in (old, new))
        assert [call.arguments for call in first.calls] == [call.arguments for call in second.calls]
        given = [one.words for call in second.calls for one in call.given.values() if one.source == "question"]
        assert all(words in new.question for words in given)
    twins = [task for task in after if "twin" in task.details]
    assert twins, "there are twins among them"
    assert not {task.id for task in twins} & {row.task_id for row in rows(built, "question_rewrites")}, (
        "twins keep their words"
    )
    assert all(run.success for run in rows(built, "trajectories")), "the teacher understands the new words"
    assert validate(built.path) == []
    assert audit(built.path).violations == ()
    card = (built.path / "README.md").read_text()
    assert "anew by the model toy-writer where its words passed every check" in card


_WRONGS: dict[str, int] = {}
"""Question -> the number of what is wrong with its new words."""


def bad(data: Mapping[str, Any], sample: str | None) -> Any:
    """Something wrong, another thing for each request."""
    kind = _WRONGS.setdefault(data["question"], len(_WRONGS)) % 5
    wording = good(data, sample)
    if kind == 0:
        return "Certainly! Here is a much better request."
    if kind == 1:
        return Reply(refusal="I can't help with that.")
    if kind == 2:
        return {"question": "Please do what I want.", "parts": data["parts"]}
    if kind == 3:
        return {**wording, "question": f"{wording['question']} My number is 4711."}
    return wording


def doubts(data: Mapping[str, Any], sample: str | None) -> Any:
    return {"parts": [{**part, "verdict": "unsure"} for part in data["parts"]], "added": []}


def test_what_a_bad_writer_writes_is_recorded_and_every_task_keeps_its_words(
    plain: BuildResult, tmp_path: Path
) -> None:
    players = JobPlayer({"tasks/write_request": bad, "tasks/confirm_request": doubts})
    with ModelServer({"toy-writer": players}) as server:
        built = build(tmp_path / "out", {**settings(server, "writer"), "writing.attempts": 1})
    before, after = rows(plain, "tasks"), rows(built, "tasks")
    assert [(task.id, task.question, task.details) for task in after] == [
        (task.id, task.question, task.details) for task in before
    ]
    tried = rows(built, "question_rewrites")
    assert not any(row.accepted for row in tried)
    found = {row.reason for row in tried}
    assert found <= {Reason.MALFORMED, Reason.REFUSAL, Reason.MEANING_CHANGED, Reason.NOT_CONFIRMED}
    assert len(found) >= 3
    assert validate(built.path) == []


def test_a_plan_counts_the_calls_of_the_writer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plain: BuildResult
) -> None:
    players = JobPlayer({"tasks/write_request": good, "tasks/confirm_request": same})
    with ModelServer({"toy-writer": players}) as server:
        options = [f"--set={key}={json.dumps(value)}" for key, value in settings(server, "writer").items()]
        store = f"--store={tmp_path / 'store'}"
        main(["plan", "app-desk", "--tasks=40", "--pilot=4", "--json", store, *options])
    said = json.loads(capsys.readouterr().out)
    (stage,) = said["pilot"]["stages"]
    assert stage["label"] == "tasks"
    made = players.asked["tasks/write_request"] + players.asked["tasks/confirm_request"]
    assert 8 <= made <= 32
    assert said["model_calls"] == stage["calls"]["expected"] == pytest.approx(10 * made, rel=0.3)
