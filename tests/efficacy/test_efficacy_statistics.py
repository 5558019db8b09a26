from __future__ import annotations

import numpy as np
import pytest
from efficacy_lab.statistics import compare, detectable, interval

from synth.identity import derive_generator


def test_the_interval_is_students() -> None:
    found = interval([0.4, 0.5, 0.6])
    assert found.mean == pytest.approx(0.5)
    # t(0.975, 2) = 4.3027, standard error 0.1 / sqrt(3)
    assert found.high == pytest.approx(0.5 + 4.3027 * 0.1 / 3**0.5, abs=1e-4)
    assert found.low == pytest.approx(0.5 - 4.3027 * 0.1 / 3**0.5, abs=1e-4)


def test_one_seed_has_no_interval() -> None:
    found = compare("b", "a", {"a": {0: 0.4}, "b": {0: 0.6}})
    assert (found.difference.low, found.difference.high, found.detectable) == (None, None, None)
    assert found.verdict == "not shown"


def test_seeds_are_paired_and_those_of_one_arm_only_are_left_out() -> None:
    rates = {"a": {0: 0.2, 1: 0.8, 2: 0.5}, "b": {0: 0.3, 1: 0.91, 3: 0.0}}
    found = compare("b", "a", rates)
    assert found.difference.n == 2
    assert found.difference.mean == pytest.approx(0.105)


@pytest.mark.parametrize(("shift", "verdict"), [(0.3, "higher"), (-0.3, "lower"), (0.0, "not shown")])
def test_the_verdict_goes_by_the_interval(shift: float, verdict: str) -> None:
    noise = (0.01, -0.01, 0.005, -0.005)
    a = dict.fromkeys(range(4), 0.5)
    b = {seed: 0.5 + shift + noise[seed] for seed in a}
    assert compare("b", "a", {"a": a, "b": b}).verdict == verdict


def test_the_detectable_difference_is_found_as_often_as_it_says() -> None:
    n, spread = 5, 0.05
    generator = derive_generator(7, "power")
    draws = generator.normal(0.0, spread, (4000, n))
    # With the true spread known, the difference for which a t test of five values has power 0.8:
    scaled = np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    scaled *= spread / scaled.std(ddof=1)
    least = detectable(scaled.tolist())
    assert least is not None
    hits = sum(low > 0 for row in draws if (low := interval((row + least).tolist()).low) is not None)
    assert hits / len(draws) == pytest.approx(0.8, abs=0.02)


def test_nothing_to_compare_is_an_error() -> None:
    with pytest.raises(ValueError, match="no value"):
        compare("b", "a", {"a": {0: 0.1}, "b": {1: 0.2}})


def test_two_seeds_that_differ_alike_show_nothing() -> None:
    rates = {"a": {0: 0.44, 1: 0.40}, "b": {0: 0.464, 1: 0.424}}
    two = compare("a", "b", rates)
    assert (two.verdict, two.detectable) == ("not shown", None)
    three = compare("a", "b", {arm: {**seeds, 2: seeds[0] - 0.02} for arm, seeds in rates.items()})
    assert three.verdict == "lower"
    assert three.detectable is None, "no spread: nothing to tell power by"
