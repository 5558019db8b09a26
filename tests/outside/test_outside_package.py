"""An installed package's source, environment, shape, stages, label rule, reward and format, each named like ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ADDS = {
    "sources": "atlas = shelf:ATLAS",
    "environments": "reading_room = shelf:READING_ROOM",
    "shapes": "extreme = shelf:propose_extreme",
    "stages": "atlas_pages = shelf:AtlasPages\nshort_runs = shelf:ShortRuns\nwide_pairs = shelf:WidePairs",
    "label_rules": "marked = shelf:marked",
    "rewards": "brief = shelf:brief_reward",
    "formats": "answers = shelf:ANSWERS",
}
RECIPE = """
name: shelved
tasks: 6
source: {kind: atlas}
questions: {kind: world, shapes: {composition: 0.4, extreme: 0.6}}
environment: {kind: reading_room}
roles: {teacher: {}, policy: {}}
critical: null
preferences: {selection: {kinds: [trajectory]}}
difficulty: null
label_rules: [marked]
reward: brief
stages: [source, graph, index, tasks, rollouts, {stage: short_runs, config: {turns: 9}}, label_steps, wide_pairs,
         preferences, rl]
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the package is installed in."""
    folder = tmp_path_factory.mktemp("site")
    info = folder / "shelf-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shelf\nVersion: 1.0\n")
    groups = "\n".join(f"[synth.{table}]\n{entries}\n" for table, entries in ADDS.items())
    (info / "entry_points.txt").write_text(groups)
    (folder / "shelf.py").write_text((Path(__file__).parent / "shelf.py").read_text("utf-8"))
    (folder / "recipe.yaml").write_text(RECIPE)
    return folder


def synth(site: Path, *words: str, code: int = 0) -> str:
    path = os.pathsep.join([str(site), str(Path(__file__).resolve().parents[2])])
    command = [sys.executable, "-c", "import sys; from synth.cli import main; sys.exit(main())", *words]
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    done = subprocess.run(command, env=environment, cwd=site, capture_output=True, text=True, timeout=400)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_recipe_builds_a_dataset_with_each(site: Path) -> None:
    synth(site, "build", "--recipe", "recipe.yaml", "--out", "out", "--store", "store")
    synth(site, "validate", "out")
    synth(site, "export", "out", "--to", "answers", "--out", "lines")
    made = __import__("synth").load(site / "out")
    tasks, runs = list(made.rows("tasks")), list(made.rows("trajectories"))
    assert "extreme" in {row.shape for row in tasks}
    assert {row.environment for row in tasks} == {"reading_room"}
    assert max(row.turns for row in runs) <= 9
    assert all(row.label_detail.endswith("(looked at)") for row in made.rows("steps"))
    assert {(row.verifier.function, row.verifier.version) for row in made.rows("rl")} == {("shelf:brief_reward", 3)}
    pairs = list(made.rows("preferences"))
    assert {row.provenance.stage for row in pairs} == {"wide_pairs"}
    assert all(row.selected for row in pairs)
    report = json.loads((site / "out" / "report.json").read_text("utf-8"))
    assert report["source"] == {**report["source"], "kind": "atlas", "fictional": True}
    lines = [json.loads(line) for file in (site / "lines").rglob("*.jsonl") for line in file.read_text().splitlines()]
    assert {line["task"] for line in lines} <= {row.id for row in tasks}
    assert lines


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("questions.shapes={extreem: 1.0}", "no shape is called 'extreem'; there are comparison"),
        ("source.entities=-3", "config.entities: Input should be"),
        (
            "source.kind=atlass",
            "choose one of world, triples, tables, docs, records, hub, dataset, runs, app, mcp, web, atlas",
        ),
        ("environment.kind=room", "choose one of graph, search, mcp, app, web, recorded, reading_room"),
        ("label_rules=[odd]", "label_rules has no 'odd'"),
        ("reward=odd", "rewards has no 'odd'"),
    ],
)
def test_a_wrong_name_is_one_line(site: Path, setting: str, said: str) -> None:
    told = synth(site, "plan", "--recipe", "recipe.yaml", "--set", setting, code=2)
    assert said in told
    assert len(told.strip().splitlines()) == 1
