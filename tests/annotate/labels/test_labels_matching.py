from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from synth.annotate.labels.assignment import assign
from synth.annotate.labels.findings import best_assignment

WEIGHT = st.sampled_from((0.0, 0.4, 0.7, 1.0))


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(WEIGHT, min_size=n, max_size=n), min_size=1, max_size=5)))
def test_it_is_the_best_of_all_assignments(weights: list[list[float]]) -> None:
    pairs = best_assignment(weights)
    assert len({row for row, _ in pairs}) == len({column for _, column in pairs}) == len(pairs)
    assert all(weights[row][column] > 0 for row, column in pairs)
    rows, columns = len(weights), len(weights[0])
    padded = [*range(columns), *([-1] * rows)]
    best = max(
        sum(weights[row][column] for row, column in enumerate(chosen) if column >= 0)
        for chosen in set(permutations(padded, rows))
    )
    assert abs(sum(weights[row][column] for row, column in pairs) - best) < 1e-4


def test_the_earlier_of_two_equal_steps_is_taken() -> None:
    assert best_assignment([[0.0], [1.0], [1.0]]) == [(1, 0)]
    assert best_assignment([]) == best_assignment([[]]) == []
    assert best_assignment([[0.0, 0.0]]) == []


def test_of_equal_sums_the_one_of_scipy_is_found() -> None:
    generator = np.random.default_rng(3)
    for _ in range(300):
        table = generator.choice([0.0, 0.0, 0.4, 0.7, 1.0], size=generator.integers(1, 9, size=2))
        rows, columns = linear_sum_assignment(table, maximize=True)
        assert assign(table.tolist()) == list(zip(rows.tolist(), columns.tolist(), strict=True))
