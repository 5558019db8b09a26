"""Judgments and checks: an agent says what it makes of where it stands, and the evidence tells whether that is true."""

from __future__ import annotations

from collections import Counter

import pytest

import synth
from synth.dataset.reader import Dataset


def _right(dataset: Dataset, role: str) -> Counter[bool | None]:
    return Counter(step.judged_right for step in dataset.rows("steps") if step.role == role)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("judge")
    settings = {"source.entities": 300, "difficulty": None, "preferences": None}
    built = synth.build("reseek", tasks=20, out=folder / "out", store=folder / "store", settings=settings)
    return synth.load(built.path)


def test_what_was_shown_is_judged_and_the_evidence_tells_how_well(searched: Dataset) -> None:
    said = {role: _right(searched, role) for role in ("teacher", "policy")}
    assert said["teacher"][True] > said["teacher"][False] == 0  # what is trained on is true
    assert said["policy"][True] > said["policy"][False] > 0
    judged = [
        item
        for run in searched.rows("trajectories")
        for item in run.content
        if getattr(item, "function", "") == "judge"
    ]
    assert len({item.kwargs["useful"] for item in judged}) == 2
    assert len(judged) == sum(counts[True] + counts[False] for counts in said.values())


def test_rows_for_training_have_the_judgments(searched: Dataset) -> None:
    values = [turn.judged_right for row in searched.rows("rl") for run in row.runs for turn in run.turns]
    assert Counter(values) == _right(searched, "teacher") + _right(searched, "policy")
