"""Whole builds whose teacher reads summaries: by the stand-in, and by a model behind HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import shared_builds
from stand_ins.model_server import ModelServer, SummarizerPlayer

import synth
from synth.agents.summaries import seen_history
from synth.agents.trajectory import history_of
from synth.dataset.rules.validate import validate
from synth.schemas.rejections import Reason

LEAN: dict[str, Any] = {
    "source.entities": 600,
    **shared_builds.LEAN,
    "summaries": {"over": 1_000, "size": 700},
}


@pytest.mark.parametrize("by", ["extractive", "toy-summarizer"])
def test_a_teacher_that_reads_summaries(by: str, tmp_path: Path, world_store: Path) -> None:
    base: dict[str, Any] = {"tasks": 8, "store": world_store}
    with ModelServer({"toy-summarizer": SummarizerPlayer(failing=4)}) as server:
        role = {"backend": "openai", "model": "toy-summarizer", "endpoints": [server.url]}
        settings = LEAN if by == "extractive" else {**LEAN, "roles.summarizer": role}
        built = synth.build("world-search", out=tmp_path / "out", settings=settings, **base)
        asked = len(server.log.records())
        assert server.errors == []
    assert validate(built.path) == []
    rows = [row for row in synth.load(built.path).rows("trajectories") if row.role == "teacher"]
    shown = [one for row in rows for one in row.details.get("shown", ())]
    assert {one["by"] for one in shown} == {by}
    assert any(row.success for row in rows), "it still gets somewhere"
    for row in rows:
        _, full = history_of(row)
        for one, other in zip(full, seen_history(row), strict=True):
            for long, short in zip(one.results, other.results, strict=True):
                assert short == long or (len(long.content) > 1_000 and len(short.content) < len(long.content))
    others = [row for row in synth.load(built.path).rows("trajectories") if row.role == "policy"]
    assert others
    assert not any("shown" in row.details for row in others), "a policy reads all in full"
    card = (built.path / "README.md").read_text()
    assert "**The teacher read summaries** of observations over 1,000 characters" in card
    if by == "extractive":
        assert asked == 0
        assert "sentences taken from them" in card
        return
    missing = [one for one in shown if one.get("text") is None]
    assert missing
    assert {one["reason"] for one in missing} >= {Reason.REFUSAL.value}
    assert all(one["calls"] for one in shown)
    assert built.account is not None
    assert built.account.calls == asked
    assert "| summarizer | toy-summarizer |" in card
