"""Questions over documents, worded and checked by models: a whole build through HTTP over a small site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import shared_builds
from stand_ins.model_server import JobPlayer, ModelServer
from test_docs_proposer import site

import synth
from synth.dataset.audit import audit
from synth.dataset.rules.validate import validate

SETTINGS: dict[str, Any] = {
    **shared_builds.LEAN,
    "roles.policy.rollouts": 1,
}
TASKS = 6


def write(data: Mapping[str, Any], sample: str | None) -> Any:
    return {"question": f"Please tell me: {data['question']}", "parts": [dict(part) for part in data["parts"]]}


def compare(data: Mapping[str, Any], sample: str | None) -> Any:
    return {"parts": [{**part, "verdict": "same"} for part in data["parts"]], "added": []}


def claim(data: Mapping[str, Any], sample: str | None) -> Any:
    """One claim that an excerpt speaks for, as far as we can tell, and one that none does."""
    shown = data["excerpts"][0]["text"][:30]
    open_, unsupported = {"why": "", "quote": shown, "answer": "wembly"}, {"why": "", "quote": "no", "answer": "dravo"}
    return {"alternatives": [open_, unsupported]}


def test_questions_over_documents_are_worded_and_checked(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    for name, text in site().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    player = JobPlayer(
        {
            "tasks/write": write,
            "tasks/confirm": compare,
            "tasks/closed_book": lambda data, sample: {"answer": None},
            "tasks/answerable": lambda data, sample: {"quote": "", "answer": None},
            "tasks/alternatives": claim,
        }
    )
    with ModelServer({"toy": player}) as server:
        role = {"backend": "openai", "model": "toy", "endpoints": [server.url]}
        options: dict[str, Any] = {"source": folder, "tasks": TASKS, "store": tmp_path / "store"}
        plain = synth.build("docs-search", out=tmp_path / "plain", settings=SETTINGS, **options)
        more = {**SETTINGS, "roles.writer": role, "roles.checker": role, "writing.attempts": 1}
        built = synth.build("docs-search", out=tmp_path / "out", settings=more, **options)
        assert server.errors == []
    before, after = (list(synth.load(one.path).rows("tasks")) for one in (plain, built))
    assert [task.answer for task in after] == [task.answer for task in before], "the same candidates are drawn"
    worded = {row.task_id for row in synth.load(built.path).rows("question_rewrites") if row.accepted}
    assert worded
    for old, new in zip(before, after, strict=True):
        assert new.question == (f"Please tell me: {old.question}" if new.id in worded else old.question)
        assert new.provenance.stage == "model_assisted_tasks"
    found = list(synth.load(built.path).rows("task_reviews"))
    assert Counter((row.check, row.outcome) for row in found) == {
        ("closed_book", "passed"): TASKS,
        ("alternatives", "failed"): TASKS,  # no graph of all that is true speaks against it: the claim stays open
        ("answerable", "failed"): TASKS,
    }
    claims = Counter(one.verdict for row in found for one in row.claims)
    assert claims["open"] >= TASKS - 1
    assert claims["unsupported"] >= TASKS - 1
    assert validate(built.path) == []
    assert audit(built.path).violations == audit(plain.path).violations == ()
