"""What the store of calls writes and reads: one synchronous connection, one transaction at a time.

accounts   (account, role) -> counters, kept equal to the sums over the intents
intents    one row per attempt, in the order in which they were begun
replies    one row per reply, in the order in which they came
keys       last 16 bytes of a call's key -> the reply that is served: of several to one call, the first
stops      account -> caps under which a call used more than was reserved for it: nothing is sent until they are raised
owners     who has open intents and claims: the name of a lock that its process holds while it lives
work       rows of stages that several builds share: who is at one, and its record once it is done
batches    what was uploaded as one file of calls: their intents have no owner but the batch (its id, negative), so they
           stay open and reserved when the process that sent them ends

Two of 10^9 hashes agree in 16 bytes with a chance of 10^-21, and then neither is served the other's reply: each reply
carries a check sum of its whole key.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from synth.store.calls_database import database_at
from synth.store.calls_format import COUNTERS, Account, IntentState, TokenCount, decode, encode, read_accounts, total

__all__ = ["Attempt", "CallFile", "Settlement"]

_KEY_BYTES = 16

_SWEEP_SECONDS = 1.0
"""Between two looks for processes that died."""


@dataclass(eq=False, slots=True)
class Attempt:
    """A call that waits to begin, or is open in this process."""

    request_id: str
    key: bytes
    account: str
    role: str
    tokens: int
    cost: int
    id: int = 0
    """Row of ``intents``, and of ``accounts``: once it is begun."""
    slot: int = 0
    batch: int = 0
    """Row of ``batches`` that it goes with; 0 = it is sent by itself."""
    caps: tuple[int | None, int | None] = (None, None)
    """On cost and tokens, when it was begun."""


@dataclass(eq=False, slots=True)
class Settlement:
    """How an attempt ends."""

    attempt: Attempt
    state: IntentState
    tokens: TokenCount | None = None
    cost: int | None = None
    body: bytes | None = None
    """Its reply, encoded."""
    reason: str | None = None
    """Why the reply is not to be served; None = it is."""


class CallFile:
    """The calls in ``place``, a file or an address of PostgreSQL.

    Raises:
        InputError: an address of something else, or its driver is not installed.
        StoreError: it can't be opened or written, is something else, damaged, or of another format.
    """

    def __init__(self, place: Path | str) -> None:
        self.database = database_at(place)
        self._slots: dict[tuple[str, str], int] = {}
        self._swept_at = 0.0
        self._name = ""
        try:
            with self.database.errors():
                self.owner = self._register()
        except BaseException:
            self.database.close()
            raise

    def _register(self) -> int:
        """Become an owner, and settle what dead owners left open. Both in one transaction: no sweep meets an owner
        between the making of its lock and its row."""
        name = os.urandom(8).hex()
        execute = self.database.execute
        with self.transaction():
            self.sweep()
            self.database.hold(name)
            self._name = name
            execute("INSERT INTO owners (lock) VALUES (?)", (name,))
            owner = execute("SELECT id FROM owners WHERE lock = ?", (name,)).fetchone()[0]
        return int(owner)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is done inside stands afterwards, or nothing of it.

        Raises:
            Exception: ``database.is_busy`` when another process writes just now; nothing was done.
        """
        try:
            with self.database.transaction():
                yield
        except BaseException:
            self._slots.clear()  # rows that they name may be gone
            raise

    # Inside a transaction

    @property
    def is_sweep_due(self) -> bool:
        """Whether dead processes were looked for more than a second ago."""
        return time.monotonic() - self._swept_at > _SWEEP_SECONDS

    def sweep(self) -> None:
        """What dead processes left open is unknown from now on, and what they had claimed is free."""
        self._swept_at = time.monotonic()
        owners: dict[str, int | None] = dict.fromkeys(self.database.strays())
        owners |= dict(self.database.execute("SELECT lock, id FROM owners").fetchall())
        owners.pop(self._name, None)
        for name, owner in owners.items():
            with self.database.gone(name) as gone:
                if gone and owner is not None:
                    self._give_up(owner)

    def _give_up(self, owner: int) -> None:
        """What ``owner`` left open is unknown, and it is an owner no more."""
        execute = self.database.execute
        left = execute(
            "SELECT account, count(*), CAST(sum(tokens_bound) AS BIGINT), CAST(sum(cost_bound) AS BIGINT) FROM intents "
            "WHERE owner = ? AND state = 'open' GROUP BY account",
            (owner,),
        ).fetchall()
        for slot, calls, tokens, cost in left:
            lost = {"unknown": calls, "tokens_unknown": tokens, "cost_unknown": cost}
            self._count(slot, {**lost, "open": -calls, "tokens_open": -tokens, "cost_open": -cost})
        execute("UPDATE intents SET state = 'unknown' WHERE owner = ? AND state = 'open'", (owner,))
        execute("DELETE FROM work WHERE owner = ? AND record IS NULL", (owner,))
        execute("UPDATE batches SET owner = NULL WHERE owner = ?", (owner,))
        execute("DELETE FROM owners WHERE id = ?", (owner,))

    def _count(self, slot: int, sums: dict[str, int]) -> None:
        changes = ", ".join(f"{name} = {name} + ?" for name in sums)
        self.database.execute(f"UPDATE accounts SET {changes} WHERE id = ?", (*sums.values(), slot))

    def _slot(self, account: str, role: str) -> int:
        """The row of ``accounts``, made when missing."""
        found = self._slots.get((account, role))
        if found is None:
            execute = self.database.execute
            execute("INSERT INTO accounts (account, role) VALUES (?, ?) ON CONFLICT DO NOTHING", (account, role))
            row = execute("SELECT id FROM accounts WHERE account = ? AND role = ?", (account, role)).fetchone()
            found = self._slots[account, role] = int(row[0])
        return found

    def _last(self, table: str) -> int:
        return int(self.database.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])

    def begin(self, attempts: Sequence[Attempt]) -> None:
        """Add open intents and reserve what they may need."""
        reserved: dict[int, dict[str, int]] = defaultdict(lambda: {"open": 0, "tokens_open": 0, "cost_open": 0})
        for number, attempt in enumerate(attempts, self._last("intents") + 1):
            attempt.id, attempt.slot = number, self._slot(attempt.account, attempt.role)
            sums = reserved[attempt.slot]
            sums["open"] += 1
            sums["tokens_open"] += attempt.tokens
            sums["cost_open"] += attempt.cost
        self.database.many(
            "INSERT INTO intents (id, request_id, key, account, owner, state, tokens_bound, cost_bound) "
            "VALUES (?, ?, ?, ?, ?, 'open', ?, ?)",
            [
                (each.id, each.request_id, each.key, each.slot, -each.batch or self.owner, each.tokens, each.cost)
                for each in attempts
            ],
        )
        for slot, sums in reserved.items():
            self._count(slot, sums)

    def settle(self, settlements: Sequence[Settlement]) -> dict[int, bytes | None]:
        """Book what became of open intents, and store their replies. None is booked at more than was reserved for it:
        one that says so is unknown, and the caps that it was begun under can't be kept.

        Returns:
            By intent, replies that are served already where another was to be.
        """
        booked: dict[int, dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
        ends: list[tuple[str | int | None, ...]] = []
        for settlement in settlements:
            attempt, state, tokens, cost = settlement.attempt, settlement.state, settlement.tokens, settlement.cost
            sums = booked[attempt.slot]
            if tokens is not None and cost is not None:
                if tokens.prompt + tokens.completion > attempt.tokens or cost > attempt.cost:
                    state, tokens, cost = IntentState.UNKNOWN, None, None
                    sums["overruns"] += 1
                    self._stop(attempt)
                else:
                    sums["prompt_tokens"] += tokens.prompt
                    sums["completion_tokens"] += tokens.completion
                    sums["cached_tokens"] += tokens.cached
                    sums["cost_exact"] += cost
            sums["open"] -= 1
            sums["tokens_open"] -= attempt.tokens
            sums["cost_open"] -= attempt.cost
            sums[state.value] += 1
            if state is IntentState.UNKNOWN:
                sums["tokens_unknown"] += attempt.tokens
                sums["cost_unknown"] += attempt.cost
            ends.append((state.value, *(tokens or (None, None, None)), cost, attempt.id))
        self.database.many(
            "UPDATE intents SET state = ?, prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?, cost = ? "
            "WHERE id = ?",
            ends,
        )
        for slot, sums in booked.items():
            self._count(slot, sums)
        return self._store([each for each in settlements if each.body is not None])

    def _stop(self, attempt: Attempt) -> None:
        """Remember the caps under which ``attempt`` was begun as ones that can't be kept."""
        if attempt.caps != (None, None):
            self.database.execute(
                "INSERT INTO stops VALUES (?, ?, ?) ON CONFLICT (account) "
                "DO UPDATE SET cost = excluded.cost, tokens = excluded.tokens",
                (attempt.account, *attempt.caps),
            )

    def _store(self, settlements: Sequence[Settlement]) -> dict[int, bytes | None]:
        if not settlements:
            return {}
        rows = list(enumerate(settlements, self._last("replies") + 1))
        write, execute = self.database.many, self.database.execute
        values = [(number, each.attempt.id, each.reason, each.body) for number, each in rows]
        write("INSERT INTO replies VALUES (?, ?, ?, ?)", values)
        served = [
            (each.attempt.key[-_KEY_BYTES:], number, each.attempt) for number, each in rows if each.reason is None
        ]
        keys = [(key, number) for key, number, _ in served]
        if write("INSERT INTO keys VALUES (?, ?) ON CONFLICT DO NOTHING", keys) == len(served):
            return {}
        first = "SELECT reply FROM keys WHERE key = ?"
        return {
            attempt.id: self.get(attempt.key)
            for key, number, attempt in served
            if execute(first, (key,)).fetchone() != (number,)
        }

    def get(self, key: bytes) -> bytes | None:
        """The reply that is served under ``key``.

        Raises:
            DamagedReply: it can't be read.
        """
        query = "SELECT body FROM keys JOIN replies ON replies.id = keys.reply WHERE keys.key = ?"
        row = self.database.execute(query, (key[-_KEY_BYTES:],)).fetchone()
        return None if row is None else decode(key, row[0])

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, role by role."""
        return read_accounts(self.database)

    def booked(self, account: str) -> dict[str, tuple[int, int, int | None]]:
        """By ``cost`` and ``tokens``: what all roles of ``account`` have spent and reserved, and the cap under which
        a call used more than was reserved for it."""
        found = total(account, read_accounts(self.database, account))
        query = "SELECT cost, tokens FROM stops WHERE account = ?"
        stops = self.database.execute(query, (account,)).fetchone() or (None, None)
        return {
            "cost": (found.cost_spent, found.cost_open, stops[0]),
            "tokens": (found.tokens_spent, found.tokens_open, stops[1]),
        }

    # Claims

    def is_elsewhere(self, key: bytes) -> bool:
        """Inside a transaction: whether another process has a call of this key under way."""
        query = "SELECT 1 FROM intents WHERE key = ? AND state = 'open' AND owner <> ?"
        return self.database.execute(query, (key, self.owner)).fetchone() is not None

    def has_company(self) -> bool:
        """Whether another process uses the calls."""
        return int(self.database.execute("SELECT count(*) FROM owners").fetchone()[0]) > 1

    def claim(self, unit: bytes) -> tuple[bool, bytes | None]:
        """Whether the work on ``unit`` is ours to do now, and its record once it is done."""
        execute = self.database.execute
        if execute("INSERT INTO work VALUES (?, ?, NULL) ON CONFLICT DO NOTHING", (unit, self.owner)).rowcount:
            return True, None
        owner, record = execute("SELECT owner, record FROM work WHERE unit = ?", (unit,)).fetchone() or (None, None)
        return owner == self.owner and record is None, None if record is None else decode(unit, record)

    def deliver(self, unit: bytes, record: bytes) -> None:
        """The work on ``unit``, which is ours, is done."""
        query = "UPDATE work SET record = ? WHERE unit = ? AND owner = ? AND record IS NULL"
        self.database.execute(query, (encode(unit, record), unit, self.owner))

    def close(self, settlements: Sequence[Settlement] = ()) -> None:
        """Write ``settlements``, end as an owner (what is open becomes unknown), and close."""
        try:
            self.database.ending()
            with self.transaction():
                self.settle(settlements)
                self._give_up(self.owner)
        finally:
            self.database.close()
