"""Array primitives of the generator."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synth.sources.world.draws import Ints, Pool, ragged, unique_first

homes = st.lists(st.integers(-1, 5), min_size=1, max_size=40)


def generator(key: int = 7) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=key))


@given(homes, st.lists(st.integers(-1, 5), max_size=30))
def test_draws_stay_at_home_unless_it_is_empty(community: list[int], subjects: list[int]) -> None:
    where = np.array(community, dtype=np.int64)
    pool = Pool(np.arange(len(where)), where, 6)
    asked = np.array(subjects, dtype=np.int64)
    found = pool.draw(asked, generator(), 0.0)
    for home, member in zip(subjects, found.tolist(), strict=True):
        assert 0 <= member < len(where)
        if home >= 0 and home in community:
            assert where[member] == home


def test_an_empty_pool_gives_nobody() -> None:
    community: Ints = np.zeros(3, dtype=np.int64)
    pool = Pool(np.array([], dtype=np.int64), community, 1)
    assert pool.draw(np.zeros(4, dtype=np.int64), generator(), 0.5).tolist() == [-1] * 4


def test_draws_are_skewed_like_zipf() -> None:
    community = np.zeros(1_000, dtype=np.int64)
    pool = Pool(np.arange(1_000), community, 1)
    found = pool.draw(np.zeros(100_000, dtype=np.int64), generator(), 1.0)
    degree = np.bincount(found, minlength=1_000)
    # Inverse CDF n u^3: the first r of n ranks hold (r / n)^(1/3) of the draws.
    for rank in (1, 8, 125, 512):
        assert abs(degree[:rank].sum() / 100_000 - (rank / 1_000) ** (1 / 3)) < 0.01


@given(homes, st.integers(0, 1_000))
def test_conditions_hold_or_nobody_is_found(community: list[int], key: int) -> None:
    where = np.array(community, dtype=np.int64)
    pool = Pool(np.arange(len(where)), where, 6)
    asked = np.arange(len(where)) % 6
    found = pool.draw_where(asked, lambda rows, members: (rows + members) % 2 == 0, generator(key), 0.3)
    for row, member in enumerate(found.tolist()):
        assert member == -1 or (row + member) % 2 == 0
    nobody = pool.draw_where(asked, lambda rows, members: np.zeros(len(rows), dtype=bool), generator(key), 0.3)
    assert set(nobody.tolist()) == {-1}


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), max_size=40))
def test_partners_are_one_to_one_in_a_community(people: list[tuple[int, bool]]) -> None:
    community = np.array([home for home, _ in people], dtype=np.int64)
    left = np.array([at for at, (_, side) in enumerate(people) if side], dtype=np.int64)
    right = np.array([at for at, (_, side) in enumerate(people) if not side], dtype=np.int64)
    found = Pool(left, community, 5).partner(Pool(right, community, 5))
    pairs = [(a, b) for a, b in zip(left.tolist(), found.tolist(), strict=True) if b >= 0]
    assert len({b for _, b in pairs}) == len(pairs)
    assert all(community[a] == community[b] and not people[b][1] for a, b in pairs)
    wanted = sum(min(int((community[left] == home).sum()), int((community[right] == home).sum())) for home in range(5))
    assert len(pairs) == wanted


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 8)), max_size=40))
def test_ragged_lists(pairs: list[tuple[int, int]]) -> None:
    subjects = np.array([a for a, _ in pairs], dtype=np.int64)
    objects = np.array([b for _, b in pairs], dtype=np.int64)
    offsets, flat = ragged(subjects, objects, 7)
    for at in range(7):
        wanted = list(dict.fromkeys(b for a, b in pairs if a == at and b >= 0))
        assert flat[offsets[at] : offsets[at + 1]].tolist() == wanted


@given(st.lists(st.integers(-1, 5), max_size=30))
def test_unique_first(values: list[int]) -> None:
    found = unique_first(np.array(values, dtype=np.int64)).tolist()
    seen: set[int] = set()
    for value, kept in zip(values, found, strict=True):
        assert kept == (-1 if value in seen or value == -1 else value)
        seen.add(value)
