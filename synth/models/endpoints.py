"""Which replica a call goes to, and when a run has to end because no endpoint answers.

The calls of one session go to one replica while it works (rendezvous hashing, Thaler and Ravishankar 1998: when a
replica breaks, only its own sessions move, and they come back), so that the replica's prefix cache pays.

How many calls an endpoint is given at once: additive increase, multiplicative decrease (Chiu and Jain 1989), as TCP
does it. The window doubles from its start until the first sign of overload (429, 503, a timeout), is halved at each
sign, at most once per round trip, and grows by one per window that went well. A server's ``Retry-After`` stops the
whole endpoint, not only the call that got it.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field

from synth.identity import derive_generator
from synth.models.contract import CallFailed, EndpointDown, FailureKind, Patience
from synth.models.failures import Scope, Trouble

__all__ = ["Endpoints", "Pace", "Replica", "backoff"]

_STAY_FOR = 5.0
"""Seconds of pause for which a session stays with its replica."""
_FEW_CALLS = 3
"""Fewer calls than this that fail again and again may be at fault themselves: the endpoint is asked how it is."""
_REFUSED_AT_FIRST = 16
"""Calls refused as wrong, with none ever answered, after which the requests as such must be wrong."""


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


@dataclass(eq=False)
class Replica:
    """One address, with its own window. Shared by all who call it."""

    address: str
    """Up to and with ``/v1``."""
    pace: Pace
    proxy: str | None = None
    headers: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def url(self) -> str:
        return f"{self.address}/chat/completions"


@dataclass
class _Silence:
    """Since the last reply: what failed."""

    since: float
    attempts: int = 0
    calls: set[str] = field(default_factory=set)


class Endpoints:
    """All replicas that serve one model, and whether any of them still answers. Lives on one event loop at a time."""

    def __init__(
        self, model: str, replicas: tuple[Replica, ...], patience: Patience, ask: Callable[[Replica], Awaitable[bool]]
    ) -> None:
        self.model = model
        self.replicas = replicas
        self.patience = patience
        """Of the most patient of the roles that call the model."""
        self._ask = ask
        """Whether a replica answers anything at all (``GET /models``)."""
        self._shut: dict[Replica, Trouble] = {}
        """Replicas that will not serve this model again in this run: wrong key, used-up quota, unknown model."""
        self._silence: _Silence | None = None
        self._last_reply = float("-inf")
        self._refused: set[str] = set()
        self._down: EndpointDown | None = None

    async def enter(self, session: str) -> Replica:
        """The replica for a call of ``session``, with a place on it that :meth:`Pace.leave` gives back.

        Raises:
            EndpointDown: no endpoint answers.
        """
        while True:
            if self._down is not None:
                raise copy(self._down)
            replica = self._choose(session)
            if await replica.pace.enter():
                if self._down is None and replica not in self._shut:
                    return replica
                replica.pace.leave()

    def _choose(self, session: str) -> Replica:
        if len(self.replicas) == 1:
            return self.replicas[0]
        now = asyncio.get_running_loop().time()
        left = [replica for replica in self.replicas if replica not in self._shut]
        ranked = sorted(left, key=lambda replica: _weight(session, replica.address), reverse=True)
        for replica in ranked:
            pace = replica.pace
            if pace.paused(now) <= (0.0 if pace.broken else _STAY_FOR) and not (pace.broken and pace.in_flight):
                return replica
        return min(ranked, key=lambda replica: replica.pace.paused(now))

    def answered(self, replica: Replica) -> None:
        """A reply came."""
        replica.pace.went_well()
        self._silence = None
        self._refused.clear()
        self._last_reply = asyncio.get_running_loop().time()

    async def failed(self, replica: Replica, trouble: Trouble, call: str, sent: float, first: float) -> bool:
        """Book a failed attempt of ``call``, sent at ``sent``, whose first attempt was sent at ``first``.

        Returns:
            Whether the call itself may be blamed: something else was answered since its first attempt, or the
            endpoint is well and only a call or two fail.

        Raises:
            CallFailed: a retry would fail in the same way.
            EndpointDown: no endpoint answers, or none will.
        """
        now = asyncio.get_running_loop().time()
        if trouble.scope is Scope.CALL:
            self._silence = None  # it read the request and answered
            if trouble.kind is FailureKind.REQUEST and self._last_reply == float("-inf"):
                self._refused.add(call)
                if len(self._refused) >= _REFUSED_AT_FIRST:
                    raise self._end(trouble, replica, "refuses every request")
            raise CallFailed(trouble.kind, trouble.detail)
        if trouble.scope is Scope.UNKNOWN_MODEL and self._last_reply > float("-inf") and len(self.replicas) == 1:
            raise CallFailed(trouble.kind, trouble.detail)
        if trouble.scope is not Scope.ATTEMPT:
            self._shut[replica] = trouble
            if len(self._shut) == len(self.replicas):
                raise self._end(trouble, replica, "serves nothing to us")
            replica.pace.dismiss()
            return False
        was_broken = replica.pace.broken
        answers = trouble.kind is FailureKind.RATE_LIMITED or (trouble.overload and trouble.wait is not None)
        replica.pace.went_wrong(sent, overload=trouble.overload, wait=trouble.wait, answers=answers)
        moves = (replica.pace.broken and not was_broken) or replica.pace.paused(now) > _STAY_FOR
        if moves and len(self.replicas) - len(self._shut) > 1:
            replica.pace.dismiss()
        return await self._judge(replica, trouble, call, now, sent, first)

    async def _judge(
        self, replica: Replica, trouble: Trouble, call: str, now: float, sent: float, first: float
    ) -> bool:
        if self._silence is None:
            self._silence = _Silence(since=max(sent, self._last_reply))
        silence = self._silence
        silence.attempts += 1
        if len(silence.calls) < _FEW_CALLS:
            silence.calls.add(call)
        if self._last_reply >= first:
            return True
        silent = now - silence.since
        over = silence.attempts >= self.patience.attempts and silent >= self.patience.seconds
        # Nothing was answered meanwhile. A call that was never sent, or that came too early, is not to blame.
        if len(silence.calls) >= _FEW_CALLS or not trouble.costs:
            well = False
        else:
            well = silence.attempts >= self.patience.attempts and await self._ask(replica)
        if over and not well:
            raise self._end(trouble, replica, f"gave no reply for {silent:,.0f} s in {silence.attempts} attempts")
        return well

    def _end(self, trouble: Trouble, replica: Replica, what: str) -> EndpointDown:
        others = f" (and {len(self.replicas) - 1} more)" if len(self.replicas) > 1 else ""
        mend = trouble.mend or "see that the server runs, then run the same command again: what is finished is kept"
        self._down = EndpointDown(
            f"{what}; it last said: {trouble.kind.value}: {trouble.detail}",
            where=f"model {self.model} at {replica.address}{others}",
            mend=mend,
        )
        for each in self.replicas:
            each.pace.dismiss()
        return self._down


def _weight(session: str, address: str) -> bytes:
    return hashlib.blake2b(f"{session}\n{address}".encode(), digest_size=8).digest()
