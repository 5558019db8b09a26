"""Delta debugging: what is left does it, and nothing of it can be taken away."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from synth.exploration.pipeline import minimal


@given(st.integers(0, 12), st.sets(st.integers(0, 11), max_size=5))
def test_exactly_what_is_needed_is_left_in_order(count: int, needed: set[int]) -> None:
    wanted = {item for item in needed if item < count}
    assert minimal(range(count), lambda part: wanted <= set(part)) == tuple(sorted(wanted))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8))
def test_no_single_item_can_be_taken_from_what_is_left(items: list[int]) -> None:
    """A test that is not monotonic: the last writer wins, as with calls that overwrite each other."""

    def end(part: tuple[int, ...]) -> dict[int, int]:
        return {item % 2: item for item in part}

    left = minimal(items, lambda part: end(part) == end(tuple(items)))
    assert end(left) == end(tuple(items))
    for at in range(len(left)):
        assert end(left[:at] + left[at + 1 :]) != end(left)


def test_each_part_is_asked_about_once() -> None:
    asked: list[tuple[int, ...]] = []

    def holds(part: tuple[int, ...]) -> bool:
        asked.append(part)
        return {1, 6} <= set(part)

    assert minimal(range(8), holds) == (1, 6)
    assert len(asked) == len(set(asked))
    assert all(len(pair) == 2 for pair in itertools.pairwise(asked))
