"""Plain functions on an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from functools import partial

import pytest

from synth.models.bridge import run, together, wait, waiting_is_cheap


async def _later(value: int, seconds: float = 0.0) -> int:
    await asyncio.sleep(seconds)
    return value


def _sum(count: int) -> int:
    return sum(wait(_later(number)) for number in range(count))


def test_many_plain_functions_wait_at_the_same_time_in_one_thread() -> None:
    inside = 0
    most = 0

    async def seen() -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return threading.get_ident()

    def work() -> tuple[int, int]:
        assert waiting_is_cheap()
        return wait(seen()), wait(seen())

    async def main() -> list[tuple[int, int]]:
        return await asyncio.gather(*(run(work) for _ in range(500)))

    found = asyncio.run(main())
    assert {ident for pair in found for ident in pair} == {threading.get_ident()}
    assert most == 500


async def test_results_and_errors_come_back() -> None:
    def fails() -> int:
        wait(_later(1))
        raise KeyError("mine")

    assert await run(_sum, 10) == 45
    with pytest.raises(KeyError, match="mine"):
        await run(fails)


def test_what_the_awaitable_raises_is_raised_where_the_function_waits() -> None:
    async def torn() -> int:
        raise OSError("torn")

    def work() -> str:
        try:
            wait(torn())
        except OSError as error:
            return f"{error}, then {wait(_later(7))}"
        return "nothing was raised"

    assert asyncio.run(run(work)) == "torn, then 7"


async def test_a_cancelled_function_cleans_up() -> None:
    cleaned = []

    def work() -> None:
        try:
            wait(_later(1, 60))
        finally:
            cleaned.append(wait(_later(2)))

    task = asyncio.create_task(run(work))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned == [2]


def test_context_variables_are_the_functions_own() -> None:
    name: contextvars.ContextVar[int] = contextvars.ContextVar("name", default=-1)

    def work(number: int) -> tuple[int, int]:
        before = name.get()
        name.set(number)
        wait(_later(0))
        return before, name.get()

    async def main() -> list[tuple[int, int]]:
        name.set(100)
        found = await asyncio.gather(*(run(work, number) for number in range(5)))
        assert name.get() == 100
        return found

    assert asyncio.run(main()) == [(100, number) for number in range(5)]


def test_without_a_loop_the_thread_waits() -> None:
    assert not waiting_is_cheap()
    assert _sum(4) == 6


def test_on_a_loop_but_outside_run_it_says_so() -> None:
    async def main() -> None:
        wait(_later(1))

    with pytest.raises(RuntimeError, match="call it through"):
        asyncio.run(main())


PLACE: contextvars.ContextVar[str] = contextvars.ContextVar("place")


def test_functions_that_go_together_wait_at_the_same_time_with_the_callers_context() -> None:
    inside = most = 0

    async def seen(number: int) -> int:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0.01)
        inside -= 1
        return number

    def one(number: int) -> tuple[int, str]:
        found = wait(seen(number)), PLACE.get()
        PLACE.set(f"moved by {number}")
        return found

    def work() -> list[tuple[int, str]]:
        PLACE.set("here")
        found = together([partial(one, number) for number in range(20)])
        assert PLACE.get() == "here", "each has a copy"
        return found

    assert asyncio.run(run(work)) == [(number, "here") for number in range(20)]
    assert most == 20
    PLACE.set("outside")
    assert together([partial(one, number) for number in range(1)]) == [(0, "outside")]


async def test_when_one_of_them_raises_the_others_are_cut_off() -> None:
    ended: list[str] = []

    def fails() -> None:
        wait(_later(1))
        raise KeyError("mine")

    def waits() -> None:
        try:
            wait(_later(1, 60.0))
        except asyncio.CancelledError:
            ended.append("cut off")
            raise

    with pytest.raises(KeyError, match="mine"):
        await run(together, [fails, waits, waits])
    assert ended == ["cut off", "cut off"]
