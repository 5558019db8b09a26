"""Calls that a provider works through as one batch: what was reserved for them, and the id by which it is asked.

A batch outlives the process that sent it. So its open intents belong to the batch and not to a process: they stay
reserved under the account's cap until somebody brings the replies, whoever that is.

    made      the calls are reserved; the file may or may not have been sent
    sent      the provider's id is known
    gone      no call is open any more; the row stays, for what it did cost
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from synth.store.calls_database import patiently
from synth.store.calls_file import Attempt, CallFile, Settlement
from synth.store.calls_format import BatchTotals, CapReached, IntentState, TokenCount, encode
from synth.store.calls_room import Room

__all__ = ["Batch", "BatchBook", "BatchEnd", "BatchMade", "BatchedCall"]

_PAGES = 4
"""Pages of the write-ahead log that one call takes, about, beside its reply's own."""
_COLUMNS = "id, name, account, role, endpoint, terms, remote, owner, calls, open, delivered, cost, cost_open"


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch."""

    id: int
    name: str
    """By which it is found at the provider while its id there is not known."""
    account: str
    role: str
    endpoint: str
    """Up to and with ``/v1``."""
    terms: str
    """JSON of what its calls cost."""
    remote: str | None
    """The provider's id; None = not known, perhaps it was never sent."""
    owner: int | None
    """The process that is sending it; None = none is."""
    calls: int
    open: int
    delivered: int
    cost: int
    """Nano-units, of delivered calls exactly and of unknown ones at most."""
    cost_open: int


@dataclass(frozen=True, slots=True)
class BatchedCall:
    """A call that wants to go with a batch."""

    request_id: str
    key: str
    """Hex."""
    tokens: int
    cost: int


@dataclass(frozen=True, slots=True)
class BatchMade:
    """What became of the calls that wanted to go with a batch, by request id."""

    batch: Batch | None
    """None: none of them goes."""
    begun: frozenset[str]
    replies: Mapping[str, bytes] = field(default_factory=dict)
    """Brought meanwhile by another process."""
    waiting: frozenset[str] = frozenset()
    """Have room once other calls have ended, or are under way elsewhere."""
    over: Mapping[str, CapReached] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BatchEnd:
    """How one call of a batch ends; as :meth:`CallStore.settle` is told it."""

    request_id: str
    state: IntentState
    tokens: TokenCount | None = None
    cost: int | None = None
    reply: bytes | None = None
    reason: str | None = None


class BatchBook:
    """Batches in the store of calls. ``caps``: of the accounts, on cost and tokens."""

    def __init__(self, file: CallFile, caps: Mapping[str, tuple[int | None, int | None]]) -> None:
        self._file = file
        self._database = file.database
        self._caps = caps

    async def make(
        self, name: str, account: str, role: str, endpoint: str, terms: str, calls: Sequence[BatchedCall]
    ) -> BatchMade:
        """Reserve what ``calls`` may cost, as far as the caps allow, and write the batch down. Committed when this
        returns: only then send it. The batch is this process's to send until :meth:`sent`.

        Raises:
            StoreError: it can't be written; don't send it.
        """

        def make() -> BatchMade:
            with self._file.transaction():
                return self._make(name, account, role, endpoint, terms, calls)

        return await patiently(self._database, make)

    def _make(
        self, name: str, account: str, role: str, endpoint: str, terms: str, calls: Sequence[BatchedCall]
    ) -> BatchMade:
        file, execute = self._file, self._database.execute
        file.sweep()
        room = Room(self._caps.get(account, (None, None)), file, account)
        begun: list[Attempt] = []
        replies: dict[str, bytes] = {}
        waiting: set[str] = set()
        over: dict[str, CapReached] = {}
        for call in calls:
            key = bytes.fromhex(call.key)
            reply = file.get(key)
            attempt = Attempt(call.request_id, key, account, role, call.tokens, call.cost)
            if reply is not None:
                replies[call.request_id] = reply
                continue
            if file.is_elsewhere(key):
                waiting.add(call.request_id)
                continue
            try:
                if room.take(attempt):
                    begun.append(attempt)
                else:
                    waiting.add(call.request_id)
            except CapReached as refusal:
                over[call.request_id] = refusal
        batch = None
        if begun:
            sums = (len(begun), len(begun), sum(each.cost for each in begun))
            execute(
                "INSERT INTO batches (name, account, role, endpoint, terms, owner, calls, open, delivered, cost, "
                "cost_open) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)",
                (name, account, role, endpoint, terms, file.owner, *sums),
            )
            batch = self._one("name = ?", name)
            assert batch is not None
            for attempt in begun:
                attempt.batch = batch.id
            file.begin(begun)
        return BatchMade(batch, frozenset(each.request_id for each in begun), replies, frozenset(waiting), over)

    async def sent(self, batch: Batch, remote: str) -> Batch:
        """The provider knows it as ``remote``. Committed when this returns: only then ask for it.

        Raises:
            StoreError: it can't be written.
        """

        def note() -> None:
            with self._file.transaction():
                query = "UPDATE batches SET remote = ?, owner = NULL WHERE id = ?"
                self._database.execute(query, (remote, batch.id))

        await patiently(self._database, note)
        found = await self.read(batch)
        assert found is not None
        return found

    async def take(self, batch: Batch) -> bool:
        """Whether a batch that nobody is sending, and whose id is not known, is ours to look for from now on."""

        def take() -> bool:
            with self._file.transaction():
                self._file.sweep()
                query = "UPDATE batches SET owner = ? WHERE id = ? AND owner IS NULL AND remote IS NULL"
                return bool(self._database.execute(query, (self._file.owner, batch.id)).rowcount)

        return await patiently(self._database, take)

    async def read(self, batch: Batch) -> Batch | None:
        """It as it is now."""
        return await patiently(self._database, lambda: self._one("id = ?", batch.id))

    async def of(self, key: str) -> Batch | None:
        """The batch in which the call ``key`` is under way; None = in none."""

        def look() -> Batch | None:
            query = "SELECT owner FROM intents WHERE key = ? AND state = 'open' AND owner < 0"
            row = self._database.execute(query, (bytes.fromhex(key),)).fetchone()
            return None if row is None else self._one("id = ?", -row[0])

        return await patiently(self._database, look)

    async def under_way(self, account: str) -> tuple[Batch, ...]:
        """Batches of ``account`` that have open calls."""
        return tuple(batch for batch in await patiently(self._database, lambda: self.all(account)) if batch.open)

    def all(self, account: str | None = None) -> tuple[Batch, ...]:
        """All batches there ever were, or those of one account, in order."""
        query = f"SELECT {_COLUMNS} FROM batches WHERE account = coalesce(?, account) ORDER BY id"
        return tuple(Batch(*row) for row in self._database.execute(query, (account,)).fetchall())

    def totals(self, account: str) -> BatchTotals | None:
        """What ``account`` has had in batches; None = nothing."""
        mine = self.all(account)
        sums = (sum(getattr(batch, name) for batch in mine) for name in ("delivered", "cost", "open", "cost_open"))
        return BatchTotals(*sums) if mine else None

    async def calls(self, batch: Batch) -> dict[str, str]:
        """Its open calls: request id -> key, hex."""

        def look() -> dict[str, str]:
            return {attempt.request_id: attempt.key.hex() for attempt in self._open(batch)}

        return await patiently(self._database, look)

    async def settle(self, batch: Batch, ends: Iterable[BatchEnd]) -> dict[str, bytes | None]:
        """Book how calls of ``batch`` ended and store their replies; of those that are open still, so what is told
        twice, by this process or another, counts once. Committed when this returns.

        Returns:
            By request id, of those that it settled, the reply that is served from now on; None = none is.

        Raises:
            StoreError: it can't be written.
        """
        found = {end.request_id: end for end in reversed(list(ends))}

        def settle() -> dict[str, bytes | None]:
            with self._file.transaction():
                return self._settle(batch, found)

        return await patiently(self._database, settle)

    def _settle(self, batch: Batch, ends: Mapping[str, BatchEnd]) -> dict[str, bytes | None]:
        mine = [attempt for attempt in self._open(batch) if attempt.request_id in ends]
        settlements = []
        for attempt in mine:
            end = ends[attempt.request_id]
            body = None if end.reply is None else encode(attempt.key, end.reply)
            settlements.append(Settlement(attempt, end.state, end.tokens, end.cost, body, end.reason))
        others = self._file.settle(settlements)
        spent = sum(
            min(end.cost, attempt.cost) if end.cost is not None else attempt.cost
            for attempt in mine
            if (end := ends[attempt.request_id]).state is not IntentState.FREE
        )
        delivered = sum(ends[attempt.request_id].state is IntentState.DELIVERED for attempt in mine)
        freed = sum(attempt.cost for attempt in mine)
        self._database.execute(
            "UPDATE batches SET open = open - ?, delivered = delivered + ?, cost = cost + ?, cost_open = cost_open - ? "
            "WHERE id = ?",
            (len(mine), delivered, spent, freed, batch.id),
        )
        self._database.upkeep.written(sum(_PAGES + (len(each.body or b"") >> 12) for each in settlements))
        served = {}
        for attempt in mine:
            end = ends[attempt.request_id]
            own = end.reply if end.reason is None else None
            served[attempt.request_id] = others.get(attempt.id, own)
        return served

    def _open(self, batch: Batch) -> list[Attempt]:
        rows = self._database.execute(
            "SELECT id, request_id, key, account, tokens_bound, cost_bound FROM intents "
            "WHERE owner = ? AND state = 'open' ORDER BY id",
            (-batch.id,),
        ).fetchall()
        caps = self._caps.get(batch.account, (None, None))
        return [
            Attempt(request_id, bytes(key), batch.account, batch.role, tokens, cost, number, slot, batch.id, caps)
            for number, request_id, key, slot, tokens, cost in rows
        ]

    def _one(self, where: str, value: object) -> Batch | None:
        row = self._database.execute(f"SELECT {_COLUMNS} FROM batches WHERE {where}", (value,)).fetchone()
        return None if row is None else Batch(*row)
