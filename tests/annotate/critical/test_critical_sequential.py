"""The test's error is a guarantee: exact computations, brute force on small designs, simulation through ``compare``."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.annotate.critical.branching import BranchPoint
from synth.annotate.critical.comparisons import Budget, Comparison, Finding, compare
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.intervals import criticality, newcombe, wilson
from synth.annotate.critical.sequential import Design, Futility, characteristics, futile, size, threshold
from synth.identity import derive_generator

CONFIG = CriticalConfig(strategy="audit")
DESIGN = Design(CONFIG.max_pairs, CONFIG.first_look)
RULE = Futility(CONFIG.minimal_difference, CONFIG.futility_confidence, CONFIG.futility_first, CONFIG.futility_barren)
MOST = 12
"""Candidates of a trajectory in these tests."""


class Coins:
    """Outcomes with given success rates: a source for ``compare`` without trajectories."""

    def __init__(self, rates: dict[BranchPoint, float], generator: np.random.Generator) -> None:
        self.rates = rates
        self.seen: dict[BranchPoint, list[bool]] = defaultdict(list)
        self.per_step: Counter[int] = Counter()
        self.generator = generator

    @property
    def spent(self) -> int:
        return sum(self.per_step.values())

    def spent_at(self, step: int) -> int:
        return self.per_step[step]

    def outcomes(self, place: BranchPoint) -> tuple[bool, ...]:
        return tuple(self.seen[place])

    def drawn(self, place: BranchPoint) -> int:
        return len(self.seen[place])

    def draw(self, place: BranchPoint) -> object:
        self.per_step[place.step] += 1
        self.seen[place].append(bool(self.generator.random() < self.rates[place]))
        return None


def comparisons(steps: int, alternatives: int) -> list[Comparison]:
    """All alternatives of a step share its original side."""
    return [
        Comparison(BranchPoint(step, "alternative", number), BranchPoint(step, "original"))
        for step in range(steps)
        for number in range(alternatives)
    ]


def brute_force(design: Design, limit: float, p: float) -> float:
    """Chance of reaching the limit at equal rates, by going through every sequence of pairs."""
    total = 0.0
    for draws in product((0, 1), repeat=2 * design.max_pairs):
        a = b = 0
        for n in range(1, design.max_pairs + 1):
            a, b = a + draws[2 * n - 2], b + draws[2 * n - 1]
            if design.statistic(n, a, b) >= limit:
                total += p ** sum(draws) * (1 - p) ** (len(draws) - sum(draws))
                break
    return total


def test_the_size_is_that_of_brute_force() -> None:
    design = Design(max_pairs=5, first=2)
    for limit in (1.0, 1.6, 2.2):
        worst = max(brute_force(design, limit, p) for p in np.linspace(0.02, 0.98, 33))
        assert worst <= size(design, limit) <= worst * 1.001


@pytest.mark.parametrize("share", [1, 3, MOST, 36])
def test_no_rates_of_the_wrong_sign_pass_more_often_than_the_level(share: int) -> None:
    """Not only on the grid of the calibration, and also where the better side is truly the worse one."""
    level = CONFIG.error / share
    limit = threshold(DESIGN, level)
    assert size(DESIGN, limit) <= level
    for p in np.linspace(0.003, 0.997, 30):
        assert characteristics(DESIGN, level, float(p), float(p)).accepted <= level + 1e-12
        for worse in (0.02, 0.1, 0.3):
            if p - worse > 0:
                equal = characteristics(DESIGN, level, float(p), float(p)).accepted
                assert characteristics(DESIGN, level, float(p - worse), float(p)).accepted <= equal + 1e-12


def test_the_threshold_wastes_little_of_the_level() -> None:
    for share in range(1, MOST + 1):
        level = CONFIG.error / share
        assert size(DESIGN, threshold(DESIGN, level)) > 0.8 * level


def test_smaller_levels_have_higher_thresholds() -> None:
    limits = [threshold(DESIGN, CONFIG.error / share) for share in range(1, 25)]
    assert limits == sorted(limits)
    assert threshold(Design(3, 2), 1e-6) == float("inf")  # three pairs can't prove that much
    with pytest.raises(ValueError, match="level"):
        threshold(DESIGN, 0.0)
    with pytest.raises(ValueError, match="looks"):
        Design(3, 5)


def test_a_trajectory_without_critical_steps_is_safe_for_every_base_rate() -> None:
    """Union bound over the candidates with the exact size of each: holds whatever they share."""
    for candidates in range(1, MOST + 1):
        level = CONFIG.error / candidates
        assert candidates * size(DESIGN, threshold(DESIGN, level)) <= CONFIG.error


@pytest.mark.parametrize("base", [0.2, 0.5, 0.8])
def test_luck_alone_is_accepted_in_few_trajectories(base: float) -> None:
    """Through ``compare`` itself: 12 candidates at 4 steps that share their original sides, no budget in the way."""
    runs = 500
    accepted = 0
    free = Budget(step=10**6, trajectory=10**6)
    tests = comparisons(4, 3)
    rates = {place: base for test in tests for place in (test.better, test.worse)}
    for run in range(runs):
        results = compare(tests, Coins(rates, derive_generator(1, "luck", run)), CONFIG, budget=free, group=False)
        accepted += any(result.finding is Finding.VERIFIED for result in results)
    low, _ = wilson(accepted, runs, 0.999)
    assert accepted / runs < 0.05
    assert low <= CONFIG.error


@pytest.mark.parametrize(("better", "worse"), [(0.9, 0.1), (0.8, 0.2)])
def test_large_gaps_are_found_with_all_stops_in_place(better: float, worse: float) -> None:
    for candidates in (1, 2, 4, MOST):
        found = characteristics(DESIGN, CONFIG.error / candidates, better, worse, RULE)
        assert found.accepted >= 0.95
        assert found.pairs <= 16
    assert characteristics(DESIGN, CONFIG.error / 3, better, worse, RULE).pairs <= 12


def test_a_small_gap_mostly_stays_open() -> None:
    """Said in the README of the method: a gap of .2 is beyond what some dozen continuations can show."""
    found = characteristics(DESIGN, CONFIG.error / 3, 0.6, 0.4, RULE)
    assert 0.1 < found.accepted < 0.25


def test_hopeless_candidates_are_given_up_early() -> None:
    for base in (0.0, 0.05, 0.5, 0.95, 1.0):
        assert characteristics(DESIGN, CONFIG.error / 3, base, base, RULE).pairs < 10.5
    assert futile(DESIGN, threshold(DESIGN, 0.01), None, 32, 16, 16)
    assert futile(DESIGN, threshold(DESIGN, 0.01), None, 31, 16, 16)  # one more pair can't do it
    assert not futile(DESIGN, threshold(DESIGN, 0.01), None, 2, 0, 0)
    assert futile(DESIGN, float("inf"), None, 0, 0, 0)


@pytest.mark.parametrize(("better", "worse"), [(0.9, 0.1), (0.6, 0.4), (0.3, 0.3)])
def test_the_exact_characteristics_are_those_of_the_machine(better: float, worse: float) -> None:
    test = comparisons(1, 1)
    rates = {test[0].better: better, test[0].worse: worse}
    runs, accepted, pairs = 600, 0, 0
    for run in range(runs):
        (result,) = compare(test, Coins(rates, derive_generator(2, "machine", run)), CONFIG)
        accepted += result.finding is Finding.VERIFIED
        pairs += result.pairs
    exact = characteristics(DESIGN, CONFIG.error, better, worse, RULE)
    low, high = wilson(accepted, runs, 0.999)
    assert low <= exact.accepted <= high
    assert abs(pairs / runs - exact.pairs) < 1.2


class TestCompare:
    @pytest.mark.parametrize("other", [True, False])
    def test_an_acceptance_hands_its_level_on(self, other: bool) -> None:
        """Holm: what reached the threshold of the whole level only is accepted once the other candidate is."""
        tests = comparisons(2, 1)
        assert threshold(DESIGN, CONFIG.error) <= DESIGN.statistic(4, 4, 0) < threshold(DESIGN, CONFIG.error / 2)
        outcomes = {
            tests[0].better: [True] * 4 + [True, False] * 40,
            tests[0].worse: [False] * 4 + [True, False] * 40,
            tests[1].better: [other] * 80,
            tests[1].worse: [False] * 80,
        }

        class Given(Coins):
            def draw(self, place: BranchPoint) -> object:
                self.per_step[place.step] += 1
                self.seen[place].append(outcomes[place][len(self.seen[place])])
                return None

        results = compare(tests, Given({}, derive_generator(0)), CONFIG)
        assert [result.finding is Finding.VERIFIED for result in results] == [other, other]
        assert results[0].level == (CONFIG.error if other else CONFIG.error / 2)
        assert results[1].level == CONFIG.error / 2
        # Alone it has the whole level, and is accepted on the spot.
        (alone,) = compare(tests[:1], Given({}, derive_generator(0)), CONFIG)
        assert (alone.finding, alone.pairs) == (Finding.VERIFIED, 4)

    def test_other_alternatives_of_a_verified_step_are_not_needed(self) -> None:
        tests = comparisons(1, 3)
        rates = {tests[0].worse: 0.0} | {test.better: 1.0 for test in tests}
        results = compare(tests, Coins(rates, derive_generator(0)), CONFIG)
        assert [result.finding for result in results] == [Finding.VERIFIED, Finding.NOT_NEEDED, Finding.NOT_NEEDED]
        every = compare(tests, Coins(rates, derive_generator(0)), CONFIG, group=False)
        assert all(result.finding is Finding.VERIFIED for result in every)

    def test_the_same_action_at_another_step_is_not_needed(self) -> None:
        same = [replace(test, action="open it") for test in comparisons(3, 1)]
        rates = {test.worse: 0.0 for test in same} | {test.better: 1.0 for test in same}
        results = compare(same, Coins(rates, derive_generator(0)), CONFIG)
        assert [result.finding for result in results] == [Finding.VERIFIED, Finding.NOT_NEEDED, Finding.NOT_NEEDED]
        others = [replace(test, action=f"open {number}") for number, test in enumerate(same)]
        results = compare(others, Coins(rates, derive_generator(0)), CONFIG)
        assert all(result.finding is Finding.VERIFIED for result in results)
        # Where the first one shows nothing, the next is tested.
        rates |= {same[0].better: 0.0}
        results = compare(same, Coins(rates, derive_generator(0)), CONFIG)
        assert [result.finding for result in results] == [Finding.FUTILE, Finding.VERIFIED, Finding.NOT_NEEDED]

    def test_alternatives_of_a_step_share_its_original_side(self) -> None:
        tests = comparisons(1, 3)
        coins = Coins({tests[0].worse: 0.0} | {test.better: 0.0 for test in tests}, derive_generator(0))
        results = compare(tests, coins, CONFIG)
        # Nothing that never succeeds is compared with anything.
        assert coins.spent == sum(result.pairs for result in results)
        coins = Coins({tests[0].worse: 1.0} | {test.better: 1.0 for test in tests}, derive_generator(0))
        results = compare(tests, coins, CONFIG)
        assert coins.spent == max(result.pairs for result in results) + sum(result.pairs for result in results)

    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 40), st.integers(0, 100), st.integers(0, 10**6))
    def test_budgets_are_kept(self, step: int, trajectory: int, seed: int) -> None:
        tests = comparisons(3, 2)
        rates = {place: 0.5 for test in tests for place in (test.better, test.worse)}
        coins = Coins(rates, derive_generator(seed))
        results = compare(tests, coins, CONFIG, budget=Budget(step, trajectory))
        assert coins.spent <= trajectory
        assert all(coins.spent_at(at) <= step for at in range(3))
        assert len(results) == len(tests)
        for result in results:
            assert result.better <= result.pairs <= coins.drawn(result.comparison.better)
            if result.finding is Finding.VERIFIED:
                assert DESIGN.statistic(result.pairs, result.better, result.worse) > 0

    def test_sides_without_verdicts_are_abstained_from(self) -> None:
        class Silent(Coins):
            def outcomes(self, place: BranchPoint) -> tuple[bool, ...]:
                return ()

        (result,) = compare(
            comparisons(1, 1),
            Silent(
                dict.fromkeys([BranchPoint(0, "alternative", 0), BranchPoint(0, "original")], 0.5), derive_generator(0)
            ),
            CONFIG,
        )
        assert result.finding is Finding.ABSTAINED
        assert result.pairs == 0


class TestIntervals:
    def test_known_values(self) -> None:
        low, high = wilson(81, 263)
        assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)  # Newcombe 1998, table I
        low, high = newcombe(56, 70, 48, 80)
        assert (round(low, 4), round(high, 4)) == (0.0524, 0.3339)  # Newcombe 1998, table II, case (a), method 10
        low, high = newcombe(9, 10, 3, 10)
        assert (round(low, 4), round(high, 4)) == (0.1705, 0.8090)  # case (b)
        low, high = newcombe(10, 10, 0, 10)
        assert (round(low, 4), round(high, 4)) == (0.6075, 1.0)  # case (h)

    @given(st.integers(1, 40), st.integers(1, 40), st.data())
    def test_the_interval_holds_the_difference_and_turns_with_the_sides(
        self, n: int, m: int, data: st.DataObject
    ) -> None:
        a, b = data.draw(st.integers(0, n)), data.draw(st.integers(0, m))
        low, high = newcombe(a, n, b, m)
        assert -1 <= low <= a / n - b / m <= high <= 1
        back = newcombe(b, m, a, n)
        assert (round(back[0], 12), round(back[1], 12)) == (round(-high, 12), round(-low, 12))
        measured = criticality(2, (a, n), (b, m), verified=False, confidence=0.9)
        assert measured.low >= low - 1e-12
        assert measured.alternative == 2

    def test_nothing_seen_means_nothing_known(self) -> None:
        assert wilson(0, 0) == (0.0, 1.0)
        assert newcombe(0, 0, 3, 4) == (-1.0, 1.0)
