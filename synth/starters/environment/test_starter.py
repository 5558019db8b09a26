"""The environment answers, keeps its state exactly, and a recipe builds a dataset in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.environments.contract import ToolCall
from synth.schemas.provenance import Provenance
from synth.starters.environment.starter import Starter, StarterEpisode
from synth.tasks.draft import finish
from synth.tasks.given import GivenQuestion, bare_task

HERE = Path(__file__).parent
ABOUT = Provenance(
    dataset="starter",
    stage="test",
    stage_version=1,
    fingerprint="none",
    seed=0,
    source="own",
    source_sha256="0" * 64,
)


@pytest.fixture
def episode() -> StarterEpisode:
    asked = GivenQuestion(line=1, question="What do the lamp and the rope cost together?", answer="25")
    return Starter().reset(finish(bare_task(asked).draft, (), ABOUT, 0))


def add(number: int, article: str) -> ToolCall:
    return ToolCall(id=f"c{number}", name="add", arguments={"article": article})


def test_a_wrong_call_is_answered_in_words(episode: StarterEpisode) -> None:
    assert episode.step(add(0, "moon")).error == "not_found"
    assert episode.step(ToolCall(id="c1", name="add", arguments={})).error == "bad_arguments"


def test_a_snapshot_brings_the_state_back(episode: StarterEpisode) -> None:
    episode.step(add(0, "lamp"))
    before = episode.snapshot()
    once = episode.step(add(1, "rope"))
    episode.restore(before)
    assert episode.step(add(1, "rope")) == once
    assert episode.check("25").correct


def test_a_recipe_finds_the_critical_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path), "--deep"])  # it exits where a row does not hold
    made = synth.load(path)
    assert all(run.success for run in made.rows("trajectories") if run.role == "teacher")
    assert any(pair.kind == "verified_step" for pair in made.rows("preferences"))
