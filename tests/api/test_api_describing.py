"""Entities that a model describes instead of naming them: whole builds through HTTP. The facts are true by
construction; that they are enough and that each is needed is asked of the graph; the words are held to the facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from shared_builds import world_store
from stand_ins.model_server import JobPlayer, ModelServer

import synth
from synth.api import BuildResult
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.schemas.rejections import Reason
from synth.schemas.writing import QuestionRewriteRow

pytestmark = pytest.mark.thorough

SETTINGS: dict[str, Any] = {
    "source.entities": 600,
    **shared_builds.LEAN,
    "roles.policy.rollouts": 1,
    "questions.shapes": {"composition": 0.5, "conjunction": 0.5},
    "questions.obfuscation": {0: 1.0},
    "writing.described": 1.0,
}
TASKS = 16


def says(statement: str) -> str:
    return statement.replace("X", "it").replace("_", " ")


def honest(data: Mapping[str, Any], sample: str | None) -> Any:
    """One fact, said as it stands."""
    first = data["facts"][0]
    words = says(first["statement"])
    return {"description": f"the {data['kind']} where {words}", "parts": [{"fact": first["fact"], "words": words}]}


def keeps(data: Mapping[str, Any], sample: str | None) -> Any:
    return {"question": None, "parts": []}


def compares(data: Mapping[str, Any], sample: str | None) -> Any:
    """An honest second reader of what ``honest`` writes."""
    parts = []
    for part in data["parts"]:
        stands = says(part["words"]) in data["new"]
        parts.append(
            {
                "number": part["number"],
                "words": says(part["words"]) if stands else "",
                "verdict": "same" if stands else "missing",
            }
        )
    return {"parts": parts, "added": []}


def build(folder: Path, player: JobPlayer, **more: Any) -> BuildResult:
    with ModelServer({"toy": player}) as server:
        role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        built = synth.build(
            "world-search",
            tasks=TASKS,
            out=folder / "out",
            store=world_store(folder),
            settings={**SETTINGS, "roles.writer": role, **more},
        )
        assert server.errors == []
    return built


def rows(built: BuildResult, table: str) -> list[Any]:
    return list(synth.load(built.path).rows(table))


def test_a_description_of_true_facts_that_are_enough_takes_the_place_of_a_name(tmp_path: Path) -> None:
    player = JobPlayer({"tasks/describe": honest, "tasks/confirm": compares, "tasks/write": keeps})
    built = build(tmp_path, player, **{"writing.attempts": 4})
    tasks = {task.id: task for task in rows(built, "tasks")}
    assert len(tasks) == TASKS
    tried = [row for row in rows(built, "question_rewrites") if row.kind == "described"]
    accepted: list[QuestionRewriteRow] = [row for row in tried if row.accepted]
    assert len(accepted) >= 3
    for row in accepted:
        task = tasks[row.task_id]
        (part,) = row.parts
        described = task.walk.hops[0]
        assert (described.cue, described.needs) == (part.after, ())
        assert part.after in task.question
        name = described.target.name
        assert name not in task.question
        assert name in row.before == task.details["question_before"]
        assert described.target.id in task.gold_entities, "what is described has to be found"
        assert (task.obfuscation, task.surface, task.provenance.prompt) == (2, "described", row.prompt)
        assert {check.outcome for check in task.checks} == {"passed"}
        assert {"unique_answer", "no_shortcut", "evidence", "retrievable", "description"} <= {
            check.check for check in task.checks
        }
    # The facts are true: only the graph had a word to say against what was refused.
    assert {row.reason for row in tried if not row.accepted} <= {
        Reason.SHORTCUT,
        Reason.NOT_UNIQUE,
        Reason.NOT_RETRIEVABLE,
        Reason.SPLIT_CONFLICT,
        Reason.ANSWER_IN_QUESTION,
    }
    named = {task.id for task in tasks.values()} - {row.task_id for row in accepted}
    assert all(tasks[name].obfuscation == 0 for name in named), "the others keep the grammar's words"
    assert validate(built.path) == []
    assert audit(built.path).violations == (), "a second opinion, by other code"


def lies(log: dict[str, str]) -> Any:
    """Goes wrong in one way after the other, and writes down in which it did."""
    numbers = count()

    def describe(data: Mapping[str, Any], sample: str | None) -> Any:
        good = honest(data, sample)
        phrase, part = good["description"], good["parts"][0]
        number = next(numbers)
        tail = "abcdefghijklmnop"[number // 16 % 16] + "abcdefghijklmnop"[number % 16]  # every phrase is another
        ways: list[tuple[str, Any]] = [
            ("a fact of its own", {**good, "description": f"{phrase} near a cathedral {tail}"}),
            ("a name of its own", {**good, "description": f"{phrase} near Molde {tail}"}),
            ("a number of its own", {**good, "description": f"{phrase} of 1{number}"}),
            ("no such fact", {**good, "description": f"{phrase} {tail}", "parts": [{**part, "fact": 99}]}),
            ("no fact", {"description": f"{phrase} {tail}", "parts": []}),
            ("the name left out", {"description": f"the one known {tail}", "parts": [{**part, "words": tail}]}),
            ("words elsewhere", {**good, "description": f"the {data['kind']} {tail}"}),
            ("a denial", {**good, "description": f"{phrase} and never {tail}"}),
        ]
        way, answer = ways[number % len(ways)]
        log[answer["description"]] = way
        return answer

    return describe


def test_words_that_say_more_or_less_than_the_facts_are_refused(tmp_path: Path) -> None:
    log: dict[str, str] = {}
    player = JobPlayer({"tasks/describe": lies(log), "tasks/confirm": compares, "tasks/write": keeps})
    built = build(tmp_path, player, **{"writing.attempts": 8})
    tried = [row for row in rows(built, "question_rewrites") if row.kind == "described"]
    assert not any(row.accepted for row in tried)
    assert {row.reason for row in tried} == {Reason.MEANING_CHANGED}
    assert len({log[row.question] for row in tried}) == 8, Counter(log[row.question] for row in tried)
    assert all(task.obfuscation == 0 for task in rows(built, "tasks"))
    assert validate(built.path) == []


def test_a_second_reader_who_is_not_sure_keeps_the_name(tmp_path: Path) -> None:
    def unsure(data: Mapping[str, Any], sample: str | None) -> Any:
        told = compares(data, sample)
        return {**told, "parts": [{**part, "verdict": "unsure"} for part in told["parts"]]}

    player = JobPlayer({"tasks/describe": honest, "tasks/confirm": unsure, "tasks/write": keeps})
    built = build(tmp_path, player, **{"writing.attempts": 4})
    tried = [row for row in rows(built, "question_rewrites") if row.kind == "described"]
    asked = [row for row in tried if row.confirmed is not None]
    assert {(row.reason, row.confirmed) for row in asked} == {(Reason.NOT_CONFIRMED, "abstained")}
    assert not any(row.accepted for row in tried)
    assert all(task.obfuscation == 0 for task in rows(built, "tasks"))


def test_only_the_world_can_be_asked_again(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("# A\n\nText.\n")
    role = {"backend": "openai", "model": "m", "base_url": "http://a/v1"}
    with pytest.raises(InputError, match=r"writing.described: only questions about the world"):
        synth.build(
            "docs-search",
            tasks=2,
            source=tmp_path / "docs",
            out=tmp_path / "out",
            store=tmp_path / "s",
            settings={"roles.writer": role, "writing.described": 0.5},
        )
