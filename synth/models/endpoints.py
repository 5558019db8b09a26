"""Which replica a call goes to, and when a run has to end because nobody answers.

The calls of one session go to one replica while it works (rendezvous hashing, Thaler and Ravishankar 1998: when a
replica breaks, only its own sessions move, and they come back), so that the replica's prefix cache pays.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass, field

from synth.models.contract import CallFailed, EndpointDown, FailureKind, Patience
from synth.models.failures import Scope, Trouble
from synth.models.pace import Pace

__all__ = ["Endpoints", "Replica"]

_STAY_FOR = 5.0
"""Seconds of pause for which a session stays with its replica."""
_FEW_CALLS = 3
"""Fewer calls than this that fail again and again may be at fault themselves: the endpoint is asked how it is."""
_REFUSED_AT_FIRST = 16
"""Calls refused as wrong, with none ever answered, after which the requests as such must be wrong."""


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
            EndpointDown: nobody answers.
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
            EndpointDown: nobody answers, or nobody will.
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
