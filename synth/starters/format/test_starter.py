"""An export writes a line for each answered run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import synth
from synth.cli import main

HERE = Path(__file__).parent


def test_an_export_has_a_line_for_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    main(["export", str(path), "--to", "starter", "--out", str(tmp_path / "lines")])
    files = (tmp_path / "lines").rglob("*.jsonl")
    tasks = {json.loads(line)["task"] for file in files for line in file.read_text("utf-8").splitlines()}
    assert tasks
    assert tasks <= {row.id for row in synth.load(path).rows("tasks")}
