"""A phrase that stands in one class of runs alone is named, however rare; one that is the evidence is not."""

from __future__ import annotations

import numpy as np
import pytest

from synth.agents.scripted.phrases import PHRASES
from synth.dataset.phrasing import Said, TellingPhrase, phrases_of, telling

WORDS = "look up page name list find open read next other part question answer know long short".split()


def runs(count: int, seed: int, told: str = "", share: float = 0.0) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        said = [" ".join(generator.choice(WORDS, 6)) for _ in range(8)]
        made.append([*said, told] if generator.random() < share else said)
    return made


def collected(runs: list[list[str]]) -> Said:
    said = Said()
    for texts in runs:
        said.add(phrases_of(texts))
    return said


def found(one: list[list[str]], other: list[list[str]]) -> list[TellingPhrase]:
    return list(telling(collected(one), collected(other), "one against other"))


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_what_one_class_alone_says_is_named_whole(share: float) -> None:
    (one,) = found(runs(100, 1, "By the way this went well.", share), runs(100, 2))
    assert one.phrase == "by the way this went well"
    assert one.ratio > 5
    assert (one.others, one.of, one.of_others) == (0, 100, 100)


@pytest.mark.parametrize(
    ("told", "other"),
    [
        ("", ""),
        ("By the way this went well.", "By the way this went well."),
        ('It says "by the way this went well" at 12.', 'It says "that was a failure" at 7.'),
        ("By the way it is Anna Berg.", "By the way it is Carl Dorn."),
        (PHRASES["give_up"][0], ""),
    ],
    ids=["nothing", "both classes", "quotations and numbers", "names", "evidence"],
)
def test_what_tells_nothing_or_is_evidence_is_not_named(told: str, other: str) -> None:
    assert found(runs(100, 1, told, 0.5), runs(100, 2, other, 0.5)) == []


def test_a_few_runs_prove_nothing() -> None:
    assert found(runs(6, 1, "By the way this went well.", 0.5), runs(6, 2)) == []
