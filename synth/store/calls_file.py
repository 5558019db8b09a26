"""The SQLite file behind the store of calls: one synchronous connection, one transaction at a time.

accounts   (account, role) -> counters, kept equal to the sums over the intents
intents    one row per attempt, in the order in which they were begun
replies    one row per reply, in the order in which they came
keys       last 16 bytes of a call's key -> the reply that is served: of several to one call, the first
stops      account -> caps under which a call used more than was reserved for it: nothing is sent until they are raised
owners     who has open intents: the name of a lock file that its process holds while it lives

Two of 10^9 hashes agree in 16 bytes with a chance of 10^-21, and then neither is served the other's reply: each reply
carries a check sum of its whole key.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from synth.errors import StoreError
from synth.store.calls_format import (
    COUNTERS,
    Account,
    IntentState,
    TokenCount,
    check_tables,
    decode,
    is_busy,
    make_tables,
    read_accounts,
    sqlite_errors,
    total,
)
from synth.store.locks import FileLock

__all__ = ["Attempt", "CallFile", "Checkpoints", "Settlement"]

_KEY_BYTES = 16

_MAPPED = 1 << 40
"""Bytes of the file that are mapped; SQLite as it is usually built takes 2 GB at most, and reads what lies behind."""
_OPEN_SECONDS = 60.0
"""Whoever opens the file waits so long for others."""

_CHECKPOINT_PAGES = 8_192
"""Pages written between two checkpoints: the log stays below 64 MB or so."""
_CHECKPOINT_SECONDS = 5.0
"""Seconds between two checkpoints while something is written: what a power cut may take."""


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
    """One connection to the file ``path``, made when missing.

    Raises:
        StoreError: it can't be opened or written, is something else, damaged, or of another format.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._locks = path.with_name(path.name + ".owners")
        self._slots: dict[tuple[str, str], int] = {}
        with sqlite_errors(path):
            self._connection = sqlite3.connect(
                path, isolation_level=None, check_same_thread=False, cached_statements=64, timeout=_OPEN_SECONDS
            )
            try:
                self._prepare()
                self.owner, self._lock = self._register()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        check_tables(self._connection, self.path)
        if self._write_ahead() != "wal":
            raise StoreError(
                "this file system has no shared memory, which the store of calls needs",
                where=str(self.path),
                mend="choose a store on a local disk, with --store",
            )
        # NORMAL: no sync per commit. What a killed process committed is in the kernel's hands and survives; a power cut
        # may take the last moments, never the file. The memory map spares a system call for a page not read lately.
        pragmas = ("synchronous = NORMAL", "secure_delete = OFF", "cache_size = -32768", "wal_autocheckpoint = 0")
        for pragma in (*pragmas, f"mmap_size = {_MAPPED}"):
            execute(f"PRAGMA {pragma}")
        with self.transaction():
            make_tables(self._connection)

    def _write_ahead(self) -> str:
        """Switch to a write-ahead log; the mode that the file has then. Two processes that do it at once with a fresh
        file would wait for each other, so SQLite tells one of them at once that it is busy, whatever its timeout."""
        deadline = time.monotonic() + _OPEN_SECONDS
        while True:
            try:
                return str(self._connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > deadline:
                    raise
            time.sleep(0.005)

    def _register(self) -> tuple[int, FileLock]:
        """Become an owner, and settle what dead owners left open. Both under the write lock: no sweep meets an owner
        between the making of its lock file and its row."""
        self._locks.mkdir(exist_ok=True)
        lock = FileLock(self._locks / os.urandom(8).hex())
        execute = self._connection.execute
        try:
            with self.transaction():
                self.sweep()
                if not lock.try_acquire():
                    raise AssertionError("a lock of a fresh name is free")
                owner = execute("INSERT INTO owners (lock) VALUES (?)", (lock.path.name,)).lastrowid
        except BaseException:
            lock.release()
            raise
        assert owner is not None
        execute("PRAGMA busy_timeout = 0")  # from now on a loop waits, not its thread
        return owner, lock

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is done inside is on disk afterwards, or nothing of it.

        Raises:
            sqlite3.OperationalError: ``is_busy`` when another process writes just now; nothing was done.
        """
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._slots.clear()  # rows that they name may be gone
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    # Inside a transaction

    def sweep(self) -> None:
        """What dead processes left open is unknown from now on."""
        owners: dict[str, int | None] = dict(self._connection.execute("SELECT lock, id FROM owners").fetchall())
        for name in os.listdir(self._locks):
            owners.setdefault(name, None)  # a kill came between lock file and row
        for name, owner in owners.items():
            lock = FileLock(self._locks / name)
            if not lock.try_acquire():
                continue  # it lives, or is ourselves
            try:
                if owner is not None:
                    self._give_up(owner)
                lock.path.unlink(missing_ok=True)
            finally:
                lock.release()

    def _give_up(self, owner: int) -> None:
        """What ``owner`` left open is unknown, and it is an owner no more."""
        execute = self._connection.execute
        left = execute(
            "SELECT account, count(*), sum(tokens_bound), sum(cost_bound) FROM intents "
            "WHERE owner = ? AND state = 'open' GROUP BY account",
            (owner,),
        ).fetchall()
        for slot, calls, tokens, cost in left:
            lost = {"unknown": calls, "tokens_unknown": tokens, "cost_unknown": cost}
            self._count(slot, {**lost, "open": -calls, "tokens_open": -tokens, "cost_open": -cost})
        execute("UPDATE intents SET state = 'unknown' WHERE owner = ? AND state = 'open'", (owner,))
        execute("DELETE FROM owners WHERE id = ?", (owner,))

    def _count(self, slot: int, sums: dict[str, int]) -> None:
        changes = ", ".join(f"{name} = {name} + ?" for name in sums)
        self._connection.execute(f"UPDATE accounts SET {changes} WHERE id = ?", (*sums.values(), slot))

    def _slot(self, account: str, role: str) -> int:
        """The row of ``accounts``, made when missing."""
        found = self._slots.get((account, role))
        if found is None:
            execute = self._connection.execute
            execute("INSERT OR IGNORE INTO accounts (account, role) VALUES (?, ?)", (account, role))
            row = execute("SELECT id FROM accounts WHERE account = ? AND role = ?", (account, role)).fetchone()
            found = self._slots[account, role] = int(row[0])
        return found

    def _last(self, table: str) -> int:
        return int(self._connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])

    def begin(self, attempts: Sequence[Attempt]) -> None:
        """Add open intents and reserve what they may need."""
        reserved: dict[int, dict[str, int]] = defaultdict(lambda: {"open": 0, "tokens_open": 0, "cost_open": 0})
        for number, attempt in enumerate(attempts, self._last("intents") + 1):
            attempt.id, attempt.slot = number, self._slot(attempt.account, attempt.role)
            sums = reserved[attempt.slot]
            sums["open"] += 1
            sums["tokens_open"] += attempt.tokens
            sums["cost_open"] += attempt.cost
        self._connection.executemany(
            "INSERT INTO intents (id, request_id, key, account, owner, state, tokens_bound, cost_bound) "
            f"VALUES (?, ?, ?, ?, {self.owner}, 'open', ?, ?)",
            [(each.id, each.request_id, each.key, each.slot, each.tokens, each.cost) for each in attempts],
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
        self._connection.executemany(
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
            self._connection.execute("INSERT OR REPLACE INTO stops VALUES (?, ?, ?)", (attempt.account, *attempt.caps))

    def _store(self, settlements: Sequence[Settlement]) -> dict[int, bytes | None]:
        if not settlements:
            return {}
        rows = list(enumerate(settlements, self._last("replies") + 1))
        write, execute = self._connection.executemany, self._connection.execute
        values = [(number, each.attempt.id, each.reason, each.body) for number, each in rows]
        write("INSERT INTO replies VALUES (?, ?, ?, ?)", values)
        served = [
            (each.attempt.key[-_KEY_BYTES:], number, each.attempt) for number, each in rows if each.reason is None
        ]
        keys = [(key, number) for key, number, _ in served]
        if write("INSERT OR IGNORE INTO keys VALUES (?, ?)", keys).rowcount == len(served):
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
        row = self._connection.execute(query, (key[-_KEY_BYTES:],)).fetchone()
        return None if row is None else decode(key, row[0])

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, role by role."""
        return read_accounts(self._connection)

    def booked(self, account: str) -> dict[str, tuple[int, int, int | None]]:
        """By ``cost`` and ``tokens``: what all roles of ``account`` have spent and reserved, and the cap under which
        a call used more than was reserved for it."""
        found = total(account, read_accounts(self._connection, account))
        query = "SELECT cost, tokens FROM stops WHERE account = ?"
        stops = self._connection.execute(query, (account,)).fetchone() or (None, None)
        return {
            "cost": (found.cost_spent, found.cost_open, stops[0]),
            "tokens": (found.tokens_spent, found.tokens_open, stops[1]),
        }

    def close(self, settlements: Sequence[Settlement] = ()) -> None:
        """Write ``settlements``, end as an owner (what is open becomes unknown), and close."""
        execute = self._connection.execute
        try:
            execute("PRAGMA busy_timeout = 60000")
            with self.transaction():
                self.settle(settlements)
                self._give_up(self.owner)
                self._lock.path.unlink(missing_ok=True)
            execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.close()
            self._lock.release()


class Checkpoints:
    """Moves what the write-ahead log of ``path`` holds into the file, in a thread of its one writer.

    A checkpoint syncs the disk: on the event loop it would stop every call for as long. Its first and long part goes on
    beside the writers. Since they append meanwhile, the log would never be used up and would grow without end; so the
    second, which moves the little that is left, keeps the writers of all processes out. The next commit then starts
    the log anew.
    """

    def __init__(self, path: Path, *, seconds: float = _CHECKPOINT_SECONDS) -> None:
        self._path = path
        self._seconds = seconds
        self._pages = 0
        self._begun = time.monotonic()
        self._thread: threading.Thread | None = None
        self._failure: sqlite3.Error | None = None
        self.holding = False
        """The second part is under way: our writer waits, so that it begins at once. Only the thread changes it."""

    def written(self, pages: int) -> None:
        """The writer has committed about ``pages`` pages: begin a checkpoint when it is time."""
        self._pages += pages
        now = time.monotonic()
        due = self._pages >= _CHECKPOINT_PAGES or (self._pages and now - self._begun >= self._seconds)
        if due and not self.running:
            self._pages, self._begun = 0, now
            self._thread = threading.Thread(target=self._run, name="synth-calls-checkpoint", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise what went wrong in the thread, once."""
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def join(self) -> None:
        """Wait until no checkpoint runs."""
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            with closing(sqlite3.connect(self._path, isolation_level=None, timeout=1)) as connection:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self.holding = True
                # If other processes leave it no gap within the timeout, the next one makes up for it.
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
        except sqlite3.Error as error:
            self._failure = error
        finally:
            self.holding = False
