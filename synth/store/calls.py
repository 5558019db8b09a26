"""The store of model calls: replies, intents and accounts in one SQLite file, or in PostgreSQL.

Before a call is sent, ``begin`` writes its intent and reserves what it may cost at most; when it ends, ``settle`` books
what it did cost and stores its reply. Both return once that is committed. So a killed process loses no stored reply,
sends none twice, and leaves no call that the accounts don't know.

    with CallStore(store.root / "calls.sqlite") as calls:
        calls.cap("my-dataset", cost=nano_units(5), tokens=None)
        reply = await calls.get(request.key)
        if reply is None:
            await calls.begin(request_id, request.key, "my-dataset", "teacher", tokens=4_000, cost=2_400_000)
            ...                                                     # send it
            reply = await calls.settle(
                request_id, Outcome.DELIVERED, usage=TokenCount(1_200, 310), cost=1_105_000, reply=b"...")

Durability: commits go to SQLite's write-ahead log without a sync. A killed process loses nothing that was acknowledged;
the log is synced every five seconds under way, so a power cut may take the last of those, and never damages the file.

Several processes may use it at once, and a call is under way in one of them at a time. A file is for those of one
machine, on a local disk. While it is open, no code may open it as a plain file: closing that would drop SQLite's locks.
Beside it lies a folder of lock files.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from synth.store.batches import BatchBook
from synth.store.calls_database import BUSY_SECONDS, GIVE_UP_SECONDS, patiently
from synth.store.calls_file import Attempt, CallFile, Settlement
from synth.store.calls_format import (
    MAX_AMOUNT,
    Account,
    CapReached,
    IntentState,
    Outcome,
    TokenCount,
    encode,
    total,
)
from synth.store.calls_room import Room
from synth.store.claims import Claims

__all__ = ["Account", "CallStore", "CapReached", "IntentState", "Outcome", "TokenCount"]

_POLL_SECONDS = 0.05
"""How often calls that wait for room look at what other processes have settled."""
_PAGES = 4
"""Pages of the write-ahead log that one call takes, about, beside its reply's own."""

T = TypeVar("T")


_Begin = tuple[Attempt, "asyncio.Future[bytes | None]"]
_Settle = tuple[Settlement, "asyncio.Future[bytes | None]"]


class CallStore:
    """The calls in ``place``: a file, made when missing, or ``postgresql://...``. For one event loop at a time.

    What earlier processes left open and never settled counts as unknown, at its upper bound, from here on.

    Raises:
        InputError: an address of something else, or the driver of PostgreSQL is not installed.
        StoreError: it can't be opened or written, is something else, damaged, or of another format.
    """

    def __init__(self, place: Path | str) -> None:
        self.place = place
        self._file = CallFile(place)
        self._database = self._file.database
        self.claims = Claims(self._file)
        """Who of several builds does which rows."""
        self._caps: dict[str, tuple[int | None, int | None]] = {}
        self.batches = BatchBook(self._file, self._caps)
        """Calls that are under way in batches of a provider."""
        self._open: dict[str, Attempt] = {}
        self._names: set[str] = set()  # of begins that are queued, and of open intents
        self._begins: deque[_Begin] = deque()
        self._settles: deque[_Settle] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.Handle | None = None
        self._due = 0.0
        self._flushed_at = 0.0
        self._company = False
        """Another process was seen to use the calls."""
        self._busy_since: float | None = None

    async def get(self, key: str) -> bytes | None:
        """The reply that is served under ``key`` (hex), or None: then the call must be made.

        Raises:
            StoreError: the file can't be read, or the reply is damaged.
        """
        return await patiently(self._database, lambda: self._file.get(bytes.fromhex(key)))

    async def begin(
        self, request_id: str, key: str, account: str, role: str, *, tokens: int, cost: int
    ) -> bytes | None:
        """Write down that a call is about to be sent. Committed when this returns None: only then send it. Cancelled,
        it leaves nothing open.

        While another process makes the same call, this waits for it; the reply that it brought is returned, and nothing
        was begun.

        A call that would fit under the cap if open calls cost less than they may waits for those; calls of one account
        begin in the order in which they came.

        Args:
            request_id: names this attempt, in the server's log too; never used before.
            key: key of the call, hex.
            tokens: prompt and completion tokens that it may need at most.
            cost: nano-units that it may cost at most.

        Raises:
            CapReached: it can't fit, whatever becomes of the open calls; or what calls need is not known (``overrun``).
            StoreError: it can't be written; don't send it.
            ValueError: the request id is open already, or an amount is negative or absurd.
        """
        if request_id in self._names:
            raise ValueError(f"request {request_id} was begun already")
        if not (0 <= tokens <= MAX_AMOUNT and 0 <= cost <= MAX_AMOUNT):
            raise ValueError(f"a call can't need {tokens} tokens and cost {cost} nano-units")
        done: asyncio.Future[bytes | None] = self._bind().create_future()
        self._names.add(request_id)
        self._begins.append((Attempt(request_id, bytes.fromhex(key), account, role, tokens, cost), done))
        self._schedule()
        try:
            return await done
        except asyncio.CancelledError:
            if done.cancelled():
                self._names.discard(request_id)  # it stands in the queue still, and is passed over
            elif request_id in self._open:
                # Committed, but the caller will never know: it was not sent.
                self._enqueue(Settlement(self._open.pop(request_id), IntentState.FREE))
            raise

    async def settle(
        self,
        request_id: str,
        outcome: Outcome,
        *,
        usage: TokenCount | None = None,
        cost: int | None = None,
        reply: bytes | None = None,
        reason: str | None = None,
    ) -> bytes | None:
        """Book what became of a call, and store its reply. Committed when this returns: only then use the reply. Booked
        even if the caller is cancelled meanwhile.

        Args:
            usage: tokens that it used; given exactly when it was delivered, as is ``cost``. When either is more than
                was reserved, the call is booked at that, and no further one begins until the account's cap is raised.
            cost: nano-units that it did cost.
            reply: what is stored; None when there is none. A call without usage may have one.
            reason: why the reply must not be served (refusal, truncation, malformed); None = serve it.

        Returns:
            The reply that is served under this key from now on. It is another than ``reply`` when a second process made
            the same call and was first: use what is returned, and every run sees the same. With ``reason``, or without
            ``reply``: None.

        Raises:
            StoreError: it can't be written; the intent stays open and may be settled again.
            ValueError: the request is not open, or what is given doesn't belong together.
        """
        if (outcome is Outcome.DELIVERED) != (usage is not None) or (usage is None) != (cost is None):
            raise ValueError("usage and cost are given exactly when the call was delivered")
        if (reply is None and reason is not None) or (reply is not None and outcome is Outcome.FREE):
            raise ValueError("a reason belongs to a reply, and a call with a reply was not free")
        if usage is not None and not (min(usage) >= 0 and usage.cached <= usage.prompt):
            raise ValueError(f"a call can't have used {usage}")
        if cost is not None and cost < 0:
            raise ValueError(f"a call can't have cost {cost} nano-units")
        if request_id not in self._open:
            raise ValueError(f"request {request_id} is not open")
        self._bind()
        attempt = self._open.pop(request_id)
        body = encode(attempt.key, reply) if reply is not None else None
        other = await self._enqueue(Settlement(attempt, IntentState(outcome.value), usage, cost, body, reason))
        return (None if reason else reply) if other is None else other

    def cap(self, account: str, *, cost: int | None, tokens: int | None) -> None:
        """From now on ``begin`` in this process keeps what the account may have used at most, over all runs and
        processes, within ``cost`` nano-units and ``tokens``; None = no cap. Other processes have caps of their own."""
        self._caps[account] = (cost, tokens)
        if self._begins:
            self._schedule()

    def account(self, name: str) -> Account:
        """What ``name`` has used over all runs, all roles together; zeros for a name that was never used.

        Raises:
            StoreError: the file can't be read.
        """
        with self._database.errors():
            return replace(total(name, self._file.accounts()), batches=self.batches.totals(name))

    def accounts(self) -> tuple[Account, ...]:
        """Every (account, role), in order. Raises the same."""
        with self._database.errors():
            return self._file.accounts()

    def close(self) -> None:
        """Write what waits to be written, and close. Calls of ours that are still open become unknown.

        Raises:
            StoreError: it can't be written.
        """
        if self._timer is not None:
            self._timer.cancel()
        self._database.upkeep.join()
        with self._database.errors():
            self._file.close([settlement for settlement, _ in self._settles])
        queued: list[asyncio.Future[Any]] = [done for _, done in self._settles]
        for done in queued + [done for _, done in self._begins]:
            if not done.get_loop().is_closed():
                done.cancel()

    def __enter__(self) -> CallStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    # Group commits

    def _bind(self) -> asyncio.AbstractEventLoop:
        """The running loop, which the store serves from now on."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            if self._loop is not None and not self._loop.is_closed() and (self._begins or self._settles):
                raise RuntimeError("the store of calls serves one event loop at a time")
            self._names.difference_update(attempt.request_id for attempt, _ in self._begins)
            self._begins.clear()  # their callers are gone with their loop; what was to be settled is kept
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            self._loop = loop
        return loop

    def _enqueue(self, settlement: Settlement) -> asyncio.Future[bytes | None]:
        done: asyncio.Future[bytes | None] = self._bind().create_future()
        self._settles.append((settlement, done))
        self._schedule()
        return done

    def _schedule(self, wait: float = 0.0) -> None:
        """Have a transaction in ``wait`` seconds, or as soon as the last one is long enough ago."""
        loop = self._loop
        assert loop is not None
        now = loop.time()
        due = max(now + wait, self._flushed_at + self._database.pause)
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = loop.call_at(due, self._flush) if due > now else loop.call_soon(self._flush)

    def _flush(self) -> None:
        """One transaction with all that is queued; settlements first, since they make room."""
        self._timer = None
        assert self._loop is not None
        now = self._loop.time()
        if self._database.upkeep.holding:
            self._schedule(BUSY_SECONDS)
            return
        settles = list(self._settles)
        try:
            self._database.upkeep.check()
            with self._file.transaction():
                if self._begins and self._file.is_sweep_due:
                    self._file.sweep()
                others = self._file.settle([settlement for settlement, _ in settles]) if settles else {}
                begun, waiting, over = self._admit()
                if begun:
                    self._file.begin([attempt for attempt, _ in begun])
        except Exception as error:  # whatever it is, no one may wait for ever
            if self._database.is_busy(error):
                self._busy_since = self._busy_since or now
                if now - self._busy_since < GIVE_UP_SECONDS:
                    self._schedule(BUSY_SECONDS)
                    return
            self._busy_since = None
            self._fail(error)
            return
        self._busy_since = None
        self._flushed_at = now
        self._settles.clear()
        self._begins = waiting
        for settlement, settled in settles:
            self._names.discard(settlement.attempt.request_id)
            _resolve(settled, others.get(settlement.attempt.id))
        for attempt, done in begun:
            self._open[attempt.request_id] = attempt
            _resolve(done, None)
        for (attempt, done), end in over:
            self._names.discard(attempt.request_id)
            if isinstance(end, bytes):
                _resolve(done, end)
            else:
                done.set_exception(end)
        self._database.upkeep.written(sum(_PAGES + (len(settlement.body or b"") >> 12) for settlement, _ in settles))
        if waiting:
            self._schedule(_POLL_SECONDS)

    def _admit(self) -> tuple[list[_Begin], deque[_Begin], list[tuple[_Begin, CapReached | bytes]]]:
        """Inside a transaction: which of the queued calls begin, which wait, and which never begin: why, or the reply
        that another process brought since they were looked up."""
        begun: list[_Begin] = []
        waiting: deque[_Begin] = deque()
        over: list[tuple[_Begin, CapReached | bytes]] = []
        rooms: dict[str, Room] = {}
        if self._begins and not self._company:
            self._company = self._file.has_company()
        for attempt, done in self._begins:
            if done.done():
                continue  # cancelled
            if self._company:
                reply = self._file.get(attempt.key)
                if reply is not None:
                    over.append(((attempt, done), reply))
                    continue
                if self._file.is_elsewhere(attempt.key):
                    waiting.append((attempt, done))
                    continue
            attempt.caps = self._caps.get(attempt.account, (None, None))
            room = rooms.get(attempt.account)
            if room is None:
                room = rooms[attempt.account] = Room(attempt.caps, self._file, attempt.account)
            try:
                (begun if room.take(attempt) else waiting).append((attempt, done))
            except CapReached as refusal:
                over.append(((attempt, done), refusal))
        return begun, waiting, over

    def _fail(self, error: Exception) -> None:
        """Nothing of the transaction was written: whoever waits for it is told, and may try again."""
        try:
            with self._database.errors():
                raise error
        except Exception as told:
            failure = told
        settles, begins = self._settles, self._begins
        self._settles, self._begins = deque(), deque()
        for settlement, settled in settles:
            self._open[settlement.attempt.request_id] = settlement.attempt
            if not settled.done():
                settled.add_done_callback(_retrieve)
                settled.set_exception(failure)
        for attempt, done in begins:
            self._names.discard(attempt.request_id)
            if not done.done():
                done.set_exception(failure)


def _resolve(done: asyncio.Future[T], value: T) -> None:
    """Wake who waits, unless it was cancelled or its loop is gone."""
    if not done.done() and not done.get_loop().is_closed():
        done.set_result(value)


def _retrieve(done: asyncio.Future[bytes | None]) -> None:
    """Drop the error of a settlement whose caller was cancelled."""
    if not done.cancelled():
        done.exception()
