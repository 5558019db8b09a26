"""Packages that `synth new` writes: installed, their tests pass and recipes name their parts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from synth.cli.app import app
from synth.cli.new import Part

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package of each kind, as if they were installed."""
    site = tmp_path_factory.mktemp("site")
    for kind in Part:
        package = site / f"my_{kind}"
        done = CliRunner().invoke(app, ["new", kind, package.name, "--out", str(package)])
        assert done.exit_code == 0, done.output
        info = site / f"my_{kind}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 0.1.0\n")
        project = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
        assert "pytest" in project["optional-dependencies"]["test"]
        tables = project["entry-points"]
        entries = {
            table: "".join(f"{name} = {value}\n" for name, value in each.items()) for table, each in tables.items()
        }
        (info / "entry_points.txt").write_text("".join(f"[{table}]\n{lines}" for table, lines in entries.items()))
    return site


def run(site: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *(str(site / f"my_{kind}") for kind in Part), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, *words], env=environment, cwd=site, capture_output=True, text=True, timeout=400
    )


def test_its_own_tests_pass(site: Path) -> None:
    done = run(site, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"my_{kind}" for kind in Part))
    assert done.returncode == 0, done.stdout
    assert f"{len(Part) + 2} passed" in done.stdout  # an environment has three


WRONG = {
    "questions.shapes={extreem: 1.0}": "no shape is called 'extreem'; there are comparison",
    "source.kind=my_sourc": "choose one of world, triples, tables, docs, records, hub, dataset, runs, own, app, mcp, "
    "web, code, my_source",
    "environment.kind=room": "choose one of graph, search, mcp, app, web, code, own, recorded, my_environment",
    "label_rules=[odd]": "label_rules has no 'odd'",
    "reward=odd": "rewards has no 'odd'",
}
"""Setting -> some words of the line that it gives."""
PLANS = """
import json, sys
from synth.cli import main
for setting in json.loads(sys.argv[1]):
    try:
        main(["plan", "--recipe", "my_shape/recipe.yaml", "--set", setting])
    except SystemExit as end:
        print(end.code, file=sys.stderr)
"""


def test_a_wrong_name_is_one_line(site: Path) -> None:
    done = run(site, "-c", PLANS, json.dumps([*WRONG]))
    lines = done.stderr.splitlines()
    assert lines[1::2] == ["2"] * len(WRONG), done.stderr
    for line, (setting, said) in zip(lines[::2], WRONG.items(), strict=True):
        assert said in line, setting


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("shape", "Odd-One", "no Python name"),
        ("shape", "count", "count is taken"),
        ("format", "json", "there is a Python module json already"),
    ],
)
def test_a_name_that_does_not_do_is_one_line(tmp_path: Path, kind: str, name: str, said: str) -> None:
    done = CliRunner().invoke(app, ["new", kind, name, "--out", str(tmp_path / "new")])
    assert said in str(done.exception)
    assert not (tmp_path / "new").exists()
