"""The event loop that a hub lives on, and its connections there."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from synth.models.transport import Transport
    from synth.redaction import Redactor

__all__ = ["Home", "HomeGone"]

_LOOK_SECONDS = 0.2
"""How often a call that is carried to another loop looks whether that still runs."""

_GARBAGE_AFTER = 20_000
"""Python looks for cycles after 700 new containers. With hundreds of calls under way most of them live for a while, and
it looks again and again at what it can't free: a fifth of all time. While connections are open, it looks after this
many."""

T = TypeVar("T")


class HomeGone(Exception):
    """The loop that a call was carried to ended before the call did, or is about to."""


class _SeldomGarbage:
    """Threshold of the youngest generation, raised while anybody is inside."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._before = gc.get_threshold()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = young, *older = gc.get_threshold()
                if young:  # 0 = the user turned the search off
                    gc.set_threshold(max(young, _GARBAGE_AFTER), *older)
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._before)


_seldom_garbage = _SeldomGarbage()


class Home:
    """The loop of the first call is home; it moves when home is closed, or idle while another loop calls.

    So a build may open a loop per stage, and a notebook may call from a thread without any, and there is still one
    window per endpoint and one flight per call.

    When the last call of the loop itself is over, the loop may be over, too. So that call returns only when what others
    have sent from there is settled: sent again from elsewhere, it would be paid for twice.

    Args:
        moved: called when another loop becomes home.
        settled: waits, at home, until nothing that was sent is under way.
        redactor: takes keys out of what servers send.
    """

    def __init__(
        self, moved: Callable[[], None], settled: Callable[[], Awaitable[None]], redactor: Redactor | None = None
    ) -> None:
        self._moved, self._settled, self._redactor = moved, settled, redactor
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: asyncio.AbstractEventLoop | None = None
        """A home that is being closed: what it is given now would be lost, or leave connections open."""
        self._inside = 0
        """Calls at home, those that are carried there included."""
        self._own = 0
        """Of these, calls of the loop itself."""
        self._leaving = False
        self._transport: Transport | None = None
        self._keeper: AsyncGenerator[None, None] | None = None

    @property
    def transport(self) -> Transport:
        """The connections of the loop at home. Only on that loop, inside of :meth:`carry`."""
        assert self._transport is not None
        return self._transport

    def leaving(self) -> bool:
        """Whether nothing may be sent any more from the loop at home. Only there."""
        return self._leaving

    async def carry(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Await ``work()`` at home, from whatever loop.

        Raises:
            HomeGone: home is another's loop, and that ended first, or may end now: call again.
        """
        here = asyncio.get_running_loop()
        with self._lock:
            home = self._loop
            gone = home is None or home is self._ending or not home.is_running() or not self._inside
            if home is not here and gone:
                self._leave()
                self._loop = home = here
                self._inside = self._own = 0
                self._moved()
            if home is here:
                self._own += 1
                self._leaving = False
            elif self._leaving:
                raise HomeGone
            self._inside += 1
        try:
            if home is here:
                return await self._hosted(work, home)
            assert home is not None
            return await self._carried(work, home)
        finally:
            with self._lock:
                if self._loop is home:
                    self._inside -= 1

    async def _hosted(self, work: Callable[[], Coroutine[Any, Any, T]], home: asyncio.AbstractEventLoop) -> T:
        cancelled = True
        try:
            if self._transport is None:
                await self._open()
            found = await work()
            cancelled = False
            return found
        except Exception:
            cancelled = False
            raise
        finally:
            last = False
            with self._lock:
                if self._loop is home:
                    self._own -= 1
                    # Who was cancelled does not wait for others.
                    last = self._leaving = not cancelled and not self._own and self._inside > 1
            if last:
                await self._settled()

    async def _carried(self, work: Callable[[], Coroutine[Any, Any, T]], home: asyncio.AbstractEventLoop) -> T:
        there = self._there(work)
        try:
            future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(there, home))
        except RuntimeError:  # it was closed just now
            there.close()
            raise HomeGone from None
        try:
            # A loop that stops forgets what it was given and tells nobody.
            while not (await asyncio.wait([future], timeout=_LOOK_SECONDS))[0]:
                if not home.is_running():
                    raise HomeGone
        finally:
            future.cancel()
        if future.cancelled():  # not by us: the loop was, with all that ran on it
            raise HomeGone
        return future.result()

    async def _there(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        here = asyncio.get_running_loop()
        if here is self._ending or here is not self._loop:  # since it was given to this loop
            raise HomeGone
        if self._transport is None:
            await self._open()
        return await work()

    async def _open(self) -> None:
        from synth.models.transport import Transport

        here = asyncio.get_running_loop()
        transport = Transport(self._redactor)
        self._transport = transport

        async def keep() -> AsyncGenerator[None, None]:
            # asyncio.run closes the generators of its loop before it closes the loop: then the connections go, too.
            try:
                with _seldom_garbage:
                    yield
            finally:
                if self._transport is transport:  # not we left: the loop ends
                    self._transport, self._keeper, self._ending = None, None, here
                await transport.close()

        self._keeper = keep()
        await self._keeper.__anext__()

    def _leave(self) -> None:
        """Close what is open at the old home, if that still runs."""
        home, keeper = self._loop, self._keeper
        self._transport, self._keeper = None, None
        if keeper is not None and home is not None and home.is_running():
            asyncio.run_coroutine_threadsafe(keeper.aclose(), home)

    def close(self) -> None:
        """Leave home. From any thread; waits for it where it is another's loop."""
        with self._lock:
            home, keeper = self._loop, self._keeper
            self._transport, self._keeper, self._loop = None, None, None
        if keeper is None or home is None or not home.is_running():
            return
        done = asyncio.run_coroutine_threadsafe(keeper.aclose(), home)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            done.result(timeout=10)
