"""Rows name the reward, which likes short right answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.starters.reward.starter import reward

HERE = Path(__file__).parent


def test_rows_name_the_reward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    path = synth.build(recipe="recipe.yaml", out=tmp_path / "out", store=tmp_path / "store").path
    main(["validate", str(path)])  # it exits where a row does not hold
    rows = list(synth.load(path).rows("rl"))
    assert {row.verifier.function for row in rows} == {"starter:reward"}
    truth = rows[0].reward_model.ground_truth
    short, long, wrong = reward([truth.answer, f"It is {truth.answer}.", "no idea"], truth)
    assert short > long > wrong == 0
