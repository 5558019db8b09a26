"""A recipe asks about what the source reads."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main

HERE = Path(__file__).parent


def test_the_source_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    pages = {row.title: row.text for row in synth.load(path).rows("documents")}
    assert "river" in pages["Almond"]
    assert all(set(row.gold_documents) for row in synth.load(path).rows("tasks"))
