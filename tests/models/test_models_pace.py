"""How many calls an endpoint is given at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.models.contract import Patience
from synth.models.endpoints import Pace, backoff

QUICK = Patience(first_delay=0.005, longest_delay=0.02)


def loop_time() -> float:
    return asyncio.get_running_loop().time()


async def storm(pace: Pace, callers: int, rounds: int, work: Callable[[], Awaitable[bool]]) -> None:
    """``callers`` that call ``rounds`` times each; ``work`` says whether it went well, else it was too much."""

    async def caller() -> None:
        for _ in range(rounds):
            assert await pace.enter()
            sent = loop_time()
            if await work():
                pace.went_well()
            else:
                pace.went_wrong(sent, overload=True, wait=None, answers=True)
            pace.leave()

    await asyncio.gather(*(caller() for _ in range(callers)))


@pytest.mark.parametrize("hidden", [3, 20, 70])
def test_the_window_finds_a_hidden_limit(hidden: int) -> None:
    inside = refused = done = most = 0

    async def work() -> bool:
        nonlocal inside, refused, done, most
        if inside >= hidden:
            refused += 1
            await asyncio.sleep(0)
            return False
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.002)
        inside -= 1
        done += 1
        return True

    async def main() -> int:
        pace = Pace(256, QUICK)
        await storm(pace, 150, 20, work)
        assert pace.in_flight == 0
        return pace.window

    window = asyncio.run(main())
    assert done + refused == 150 * 20
    assert most == hidden  # it was used to the full
    assert window <= 2 * hidden
    # One window too large per saw tooth at most, after the first: far fewer are refused than served.
    assert refused < done / 4 + 256


def test_without_trouble_the_window_doubles_up_to_its_ceiling_and_stays() -> None:
    async def main() -> list[int]:
        pace = Pace(100, Patience(window=4))
        seen = [pace.window]

        async def work() -> bool:
            await asyncio.sleep(0)
            seen.append(pace.window)
            return True

        await storm(pace, 200, 5, work)
        assert pace.window == 100
        return seen

    seen = asyncio.run(main())
    assert seen[0] == 4
    assert max(seen) == 100
    assert seen == sorted(seen)


def test_a_window_that_is_not_used_does_not_grow() -> None:
    async def main() -> int:
        pace = Pace(100, Patience(window=4))
        for _ in range(50):
            await pace.enter()
            pace.went_well()
            pace.leave()
        return pace.window

    assert asyncio.run(main()) == 4


async def test_one_round_trip_halves_once_and_then_grows_by_one_per_window() -> None:
    pace = Pace(64, Patience(window=64))
    sent = loop_time()
    for _ in range(64):
        assert await pace.enter()
    await asyncio.sleep(0.001)
    for _ in range(64):
        pace.went_wrong(sent, overload=True, wait=None, answers=True)
    assert pace.window == 32
    for _ in range(64):
        pace.leave()
    await asyncio.sleep(0.001)
    for expected in (33, 34):
        for _ in range(expected - 1):
            assert await pace.enter()
        for _ in range(expected):  # rounding: a window's worth, and one
            pace.went_well()
        assert pace.window == expected
        for _ in range(expected - 1):
            pace.leave()
    pace.went_wrong(loop_time(), overload=True, wait=None, answers=True)
    assert pace.window == 17


def test_a_wait_stops_everybody_and_then_lets_them_in_in_order() -> None:
    async def main() -> tuple[float, list[float], list[int]]:
        pace = Pace(2, QUICK)
        assert await pace.enter()
        pace.went_wrong(loop_time(), overload=True, wait=0.05, answers=True)
        until = loop_time() + 0.05
        pace.leave()
        entered: list[float] = []
        order: list[int] = []

        async def caller(number: int) -> None:
            assert await pace.enter()
            entered.append(loop_time())
            order.append(number)
            await asyncio.sleep(0)
            pace.leave()

        await asyncio.gather(*(caller(number) for number in range(6)))
        return until, entered, order

    until, entered, order = asyncio.run(main())
    assert min(entered) >= until - 0.01
    assert order == list(range(6))


def test_a_longer_wait_that_comes_later_counts() -> None:
    async def main() -> float:
        pace = Pace(8, QUICK)
        start = loop_time()
        waiting = asyncio.create_task(pace.enter())
        pace.went_wrong(start, overload=True, wait=0.3, answers=True)
        held = asyncio.create_task(pace.enter())
        await asyncio.sleep(0.002)
        pace.went_wrong(start, overload=True, wait=0.4, answers=True)
        assert await held
        assert await waiting
        return loop_time() - start

    assert asyncio.run(main()) >= 0.4


async def test_a_broken_one_is_tried_by_one_call_at_a_time() -> None:
    patience = Patience(first_delay=0.002, longest_delay=0.01, broken_after=5, window=32)
    pace = Pace(32, patience)
    sent = loop_time()
    for _ in range(32):
        assert await pace.enter()
    await asyncio.sleep(0.001)
    for number in range(32):
        assert pace.broken is (number >= 5)
        pace.went_wrong(sent, overload=False, wait=None, answers=False)
        pace.leave()
    assert pace.window == 1
    assert pace.paused(loop_time()) > 0
    assert await pace.enter()  # once the pause is over
    assert pace.paused(loop_time()) == 0
    assert not pace.has_room(loop_time())
    pace.went_well()
    assert not pace.broken
    assert pace.window == 2


async def test_who_stops_waiting_takes_no_place_with_him() -> None:
    pace = Pace(1, QUICK)
    assert await pace.enter()
    tasks = [asyncio.create_task(pace.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    pace.leave()  # the second gets the place in the same moment in which it is cancelled
    tasks[1].cancel()
    results: list[Any] = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError, asyncio.CancelledError, bool]
    assert pace.in_flight == 1


async def test_dismissed_callers_have_no_place() -> None:
    pace = Pace(1, QUICK)
    assert await pace.enter()
    tasks = [asyncio.create_task(pace.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    pace.dismiss()
    assert await asyncio.gather(*tasks) == [False, False, False]
    assert pace.in_flight == 1


@given(st.integers(2, 500), st.text(max_size=5))
def test_delays_grow_and_stay_within_bounds(attempt: int, name: str) -> None:
    patience = Patience(first_delay=0.25, longest_delay=30)
    whole = min(30.0, 0.25 * 2 ** min(attempt - 2, 30))
    assert whole / 2 <= backoff(patience, attempt, name) <= whole
    assert backoff(patience, attempt, name) == backoff(patience, attempt, name)


def test_delays_of_different_calls_differ() -> None:
    assert len({backoff(Patience(), 5, str(name)) for name in range(100)}) == 100
