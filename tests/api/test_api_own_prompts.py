"""Builds with prompts of one's own: rows name them, `validate` proves them, exports and schedules keep them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from shared_builds import LEAN, hashes

import synth
from synth.api import BuildRequest
from synth.cli import main
from synth.dataset.rules.validate import validate
from synth.flows.build import parameters_of

MINE = "You look things up, and you say what you found.\n\n{{ instructions }}\n"
PLAN = "Parts of this, please: {{ question }}"
RECIPE = f"""\
name: small
tasks: 6
source: {{kind: world, entities: 400}}
questions: {{kind: world, shapes: {{parallel: 1}}}}
management: {{delegate: true}}
prompts: mine
{"".join(f"{key}: {json.dumps(value)}{chr(10)}" for key, value in LEAN.items())}"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    for name, text in {"agents/search/v2": MINE, "export/plan/v1": PLAN}.items():
        (tmp_path / "own" / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / "mine" / f"{name}.md").write_text(text)
    (tmp_path / "own" / "recipe.yaml").write_text(RECIPE)
    return tmp_path / "own" / "recipe.yaml"


def test_rows_name_the_prompt_and_exports_use_it(recipe: Path, tmp_path: Path) -> None:
    built = synth.build(recipe=recipe, out=tmp_path / "out", store=tmp_path / "store")
    dataset = synth.load(built.path)
    wanted = f"agents/search/v2@{hashlib.sha256(MINE.encode()).hexdigest()}"
    runs = list(dataset.rows("trajectories"))
    assert {row.provenance.prompt for row in runs} == {wanted}
    assert all(row.system_prompt.startswith("You look things up, and") for row in runs)
    assert validate(built.path) == []
    assert str(tmp_path) not in (built.path / "report.json").read_text("utf-8")
    synth.export(built.path, "trl-plans", tmp_path / "plans")
    records = "".join(str(pq.read_table(path).to_pylist()) for path in (tmp_path / "plans").rglob("*.parquet"))
    assert records.count("Parts of this, please:") >= 3

    # Another text makes new runs of the same tasks; the report's own text proves the rows.
    (recipe.parent / "mine" / "agents" / "search" / "v2.md").write_text(MINE + "Be brief.\n")
    again = synth.build(recipe=recipe, out=tmp_path / "again", store=tmp_path / "store")
    states = {stage.label: stage.reused_shards == stage.shards for stage in again.report.stages}
    assert states["tasks"]
    assert states["documents"]
    assert not states["teacher-rollouts"]
    report = built.path / "report.json"
    told = json.loads(report.read_text("utf-8"))
    told["recipe"]["prompts"]["agents/search/v2"] += "Be brief.\n"
    report.write_text(json.dumps(told))
    assert any("the text of agents/search/v2" in str(problem) for problem in validate(built.path))


def test_a_plan_says_where_a_prompt_is_used(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old = recipe.parent / "mine" / "agents" / "search" / "v1.md"
    old.write_text("Older. {{ instructions }}")
    main(["plan", "--recipe", str(recipe), "--store", str(tmp_path / "store")])
    said = capsys.readouterr().out
    assert "your prompt agents/search/v2: teacher-rollouts, policy-rollouts" in said
    assert "your prompt export/plan/v1: used by exports" in said
    assert "your prompt agents/search/v1: not used: agents/search/v2 took its place" in said


def test_a_schedule_finds_the_folder(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(recipe.parent)
    for given in ({"prompts": "mine"}, {"settings": {"prompts": "mine"}}):
        told = parameters_of(BuildRequest(dataset="world-search", **given))
        assert str(recipe.parent / "mine") in (told["prompts"], told["settings"].get("prompts"))
    main(["plan", "world-search", "--tasks=3", "--prompts=mine", f"--store={tmp_path / 'store'}"])
    assert "your prompt agents/search/v2: teacher-rollouts" in capsys.readouterr().out


@pytest.mark.thorough
def test_worker_processes_take_the_same_texts(recipe: Path, tmp_path: Path) -> None:
    here = synth.build(recipe=recipe, out=tmp_path / "here", store=tmp_path / "one")
    there = synth.build(recipe=recipe, out=tmp_path / "there", store=tmp_path / "two", executor="processes", workers=2)
    assert hashes(here.path) == hashes(there.path)
