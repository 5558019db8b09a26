"""How many calls an endpoint is given at once, and when.

Additive increase, multiplicative decrease (Chiu and Jain 1989), as TCP does it: the window doubles from its start
until the first sign of overload (429, 503, a timeout), is halved at each sign, at most once per round trip, and grows
by one per window that went well. A server's ``Retry-After`` stops the whole endpoint, not only the call that got it.
"""

from __future__ import annotations

import asyncio
from collections import deque

from synth.identity import derive_generator
from synth.models.contract import Patience

__all__ = ["Pace", "backoff"]


def backoff(patience: Patience, attempt: int, name: str) -> float:
    """Seconds to wait before attempt ``attempt`` (2, 3, ...): exponential, half of it drawn for each ``name``."""
    whole = min(patience.longest_delay, patience.first_delay * 2.0 ** min(attempt - 2, 30))
    return whole * float(0.5 + 0.5 * derive_generator(0, "backoff", name, attempt).random())


class Pace:
    """The window of one endpoint. Lives on one event loop at a time; times are
    those of its clock (all loops share the monotonic one).

    :meth:`enter` waits for a place, :meth:`leave` gives it back. Who waits is woken in the order of coming.
    """

    def __init__(self, ceiling: int, patience: Patience) -> None:
        self.ceiling = ceiling
        """Calls at once at most, whatever the endpoint takes."""
        self.in_flight = 0
        self.patience = patience
        """Of the most patient of those who call it."""
        self._window = float(min(patience.window, ceiling))
        self._doubling_below = float(ceiling)
        self._paused_until = 0.0
        self._last_cut = float("-inf")
        self._waiting: deque[asyncio.Future[bool]] = deque()
        self._failed_in_row = 0
        self._trials = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def window(self) -> int:
        """Calls at once that the endpoint is given now."""
        return min(self.ceiling, int(self._window))

    @property
    def broken(self) -> bool:
        """Nothing came back lately: it is tried, one call at a time."""
        return self._failed_in_row >= self.patience.broken_after

    def paused(self, now: float) -> float:
        """Seconds until it may be called again."""
        return max(0.0, self._paused_until - now)

    def has_room(self, now: float) -> bool:
        return self.in_flight < self.window and now >= self._paused_until and not self._waiting

    async def enter(self) -> bool:
        """Wait for a place. False = the waiting was ended by :meth:`dismiss`, and there is no place."""
        loop = asyncio.get_running_loop()
        if self.has_room(loop.time()):
            self.in_flight += 1
            return True
        place: asyncio.Future[bool] = loop.create_future()
        self._waiting.append(place)
        self._wake(loop)
        try:
            return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.result():
                self.leave()  # it was given a place in the same moment
            raise

    def leave(self) -> None:
        self.in_flight -= 1
        if self._waiting:
            self._wake(asyncio.get_running_loop())

    def dismiss(self) -> None:
        """Send everybody who waits away, to choose anew."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(False)

    def went_well(self) -> None:
        self._failed_in_row = self._trials = 0
        if self.in_flight >= self.window or self._waiting:  # a window that is not used proves nothing
            step = 1.0 if self._window < self._doubling_below else 1.0 / self._window
            self._window = min(float(self.ceiling), self._window + step)

    def went_wrong(self, sent: float, *, overload: bool, wait: float | None, answers: bool) -> None:
        """An attempt that was sent at ``sent`` failed. ``answers`` = it is well, and only wants fewer calls."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if overload and sent >= self._last_cut:  # what was sent before the cut says nothing about the new window
            self._window = max(1.0, self._window / 2)
            self._doubling_below = self._window
            self._last_cut = now
        if wait is not None:
            self._pause(now + min(wait, self.patience.longest_wait), loop)
        if answers:
            return
        self._failed_in_row += 1
        if self.broken and sent >= self._last_cut:
            self._last_cut = now
            self._doubling_below = max(1.0, self._window / 2, self._doubling_below / 2)
            self._window = 1.0
            delay = min(self.patience.longest_delay, 4 * self.patience.first_delay * 2.0 ** min(self._trials, 30))
            self._trials += 1
            self._pause(now + delay, loop)

    def _pause(self, until: float, loop: asyncio.AbstractEventLoop) -> None:
        if until > self._paused_until:
            self._paused_until = until
            if self._waiting:
                self._wake(loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        """Give places to those who wait, as far as there are any; look again when the pause ends."""
        now = loop.time()
        if now < self._paused_until:
            if self._timer is None or self._timer.cancelled() or self._timer.when() < self._paused_until:
                if self._timer is not None:
                    self._timer.cancel()
                self._timer = loop.call_at(self._paused_until, self._resume, loop)
            return
        while self._waiting and self.in_flight < self.window:
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(True)

    def _resume(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._wake(loop)

    def moved(self) -> None:
        """The loop is gone, with all that waited on it."""
        self._waiting.clear()
        self._timer = None
        self.in_flight = 0
