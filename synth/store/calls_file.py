"""The SQLite file behind the store of calls: one synchronous connection, one transaction at a time.

Rows are only ever added at the ends of tables, so a write touches few pages however large the file is. Reads go through
a memory map, so that a page that was not read lately costs no system call.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from synth.errors import StoreError
from synth.store.calls_tables import (
    COUNTERS,
    OPEN_CODE,
    Answers,
    check_tables,
    make_tables,
    read_accounts,
)
from synth.store.calls_values import (
    Account,
    Intent,
    IntentState,
    ReplyStatus,
    StoredReply,
    TokenCount,
    decode,
    is_busy,
    sqlite_errors,
)
from synth.store.locks import FileLock

__all__ = ["CallFile", "Checkpoints", "IntentRow", "ReplyRow", "Settlement"]

_STATES = (IntentState.OPEN, IntentState.DELIVERED, IntentState.UNKNOWN, IntentState.FREE)
_STATE_CODES = {state: code for code, state in enumerate(_STATES)}
assert _STATE_CODES[IntentState.OPEN] == OPEN_CODE

_PAGE_ROWS = 1_000

_MAPPED = 1 << 40
"""Bytes of the file that are mapped; SQLite as it is usually built takes 2 GB at most, and reads what lies behind."""

_OPEN_SECONDS = 60.0
"""Whoever opens the file waits so long for others."""

_EVERY_PAGES = 8_192
"""Pages written between two checkpoints: the log stays below 64 MB or so."""

_EVERY_SECONDS = 5.0
"""Seconds between two checkpoints while something is written: what a power cut may take."""


class IntentRow(NamedTuple):
    """An open intent of this process."""

    id: int
    request_id: str
    key: bytes
    slot: int
    """Row of ``accounts``."""
    tokens: int
    cost: int
    caps: tuple[int | None, int | None] = (None, None)
    """On cost and tokens, when it was begun."""


class ReplyRow(NamedTuple):
    """A reply to be stored."""

    body: bytes
    """Encoded."""
    reason: str | None
    """None = to be served."""


class Settlement(NamedTuple):
    """How an intent ends."""

    intent: IntentRow
    state: IntentState
    tokens: TokenCount | None
    cost: int | None
    reply: ReplyRow | None


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
                self._answers = Answers(self._connection, path.with_name(path.name + ".keys"))
                self._prepare()
                self.owner, self._lock = self._register()
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self) -> None:
        execute = self._connection.execute
        check_tables(self._connection, self.path)
        mode = self._write_ahead()
        if mode != "wal":
            raise StoreError(
                "this file system has no shared memory, which the store of calls needs",
                where=str(self.path),
                mend="choose a store on a local disk, with --store",
            )
        # NORMAL: no sync per commit. What a killed process committed is in the kernel's hands and survives; a power cut
        # may take the last moments, never the file.
        for pragma in (
            "synchronous = NORMAL",
            "secure_delete = OFF",
            "cache_size = -32768",
            "wal_autocheckpoint = 0",
            f"mmap_size = {_MAPPED}",
        ):
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
        try:
            with self.transaction():
                self.sweep()
                if not lock.try_acquire():
                    raise AssertionError("a lock of a fresh name is free")
                execute = self._connection.execute
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
            self._answers.forget()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def sweep(self) -> None:
        """Inside a transaction: what dead processes left open is unknown from now on."""
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
        """Inside a transaction: what ``owner`` left open is unknown, and it is an owner no more."""
        execute = self._connection.execute
        left = execute(
            "SELECT account, count(*), sum(tokens_bound), sum(cost_bound) FROM intents "
            f"WHERE owner = ? AND state = {OPEN_CODE} GROUP BY account",
            (owner,),
        ).fetchall()
        for slot, calls, tokens, cost in left:
            execute(
                "UPDATE accounts SET open = open - ?1, tokens_open = tokens_open - ?2, cost_open = cost_open - ?3, "
                "unknown = unknown + ?1, tokens_unknown = tokens_unknown + ?2, cost_unknown = cost_unknown + ?3 "
                "WHERE id = ?4",
                (calls, tokens, cost, slot),
            )
        execute(
            f"UPDATE intents SET state = {_STATE_CODES[IntentState.UNKNOWN]} WHERE owner = ? AND state = {OPEN_CODE}",
            (owner,),
        )
        execute("DELETE FROM owners WHERE id = ?", (owner,))

    def slot(self, account: str, role: str) -> int:
        """Inside a transaction: the row of ``accounts``, made when missing."""
        found = self._slots.get((account, role))
        if found is None:
            execute = self._connection.execute
            execute("INSERT OR IGNORE INTO accounts (account, role) VALUES (?, ?)", (account, role))
            row = execute("SELECT id FROM accounts WHERE account = ? AND role = ?", (account, role)).fetchone()
            found = self._slots[account, role] = int(row[0])
        return found

    def next_intent(self) -> int:
        """Inside a transaction: the id that the next intent gets."""
        return int(self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM intents").fetchone()[0])

    def begin(self, intents: Iterable[IntentRow]) -> None:
        """Inside a transaction: add open intents and reserve what they may need."""
        reserved: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
        rows = []
        for intent in intents:
            sums = reserved[intent.slot]
            sums[0] += 1
            sums[1] += intent.tokens
            sums[2] += intent.cost
            rows.append((intent.id, intent.request_id, intent.key, intent.slot, self.owner, intent.tokens, intent.cost))
        self._connection.executemany(
            "INSERT INTO intents (id, request_id, key, account, owner, state, tokens_bound, cost_bound) "
            f"VALUES (?, ?, ?, ?, ?, {OPEN_CODE}, ?, ?)",
            rows,
        )
        for slot, sums in reserved.items():
            self._connection.execute(
                "UPDATE accounts SET open = open + ?, tokens_open = tokens_open + ?, cost_open = cost_open + ? "
                "WHERE id = ?",
                (*sums, slot),
            )

    def _stop(self, intent: IntentRow) -> None:
        """Inside a transaction: remember the caps under which ``intent`` was begun as ones that can't be kept."""
        if intent.caps != (None, None):
            self._connection.execute(
                "INSERT OR REPLACE INTO stops (account, cost, tokens) SELECT account, ?, ? FROM accounts WHERE id = ?",
                (*intent.caps, intent.slot),
            )

    def stopped(self, account: str) -> tuple[int | None, int | None]:
        """Caps on cost and tokens under which a call of ``account`` used more than was reserved for it."""
        query = "SELECT cost, tokens FROM stops WHERE account = ?"
        row = self._connection.execute(query, (account,)).fetchone()
        return (None, None) if row is None else (row[0], row[1])

    def settle(self, settlements: Iterable[Settlement]) -> list[IntentRow]:
        """Inside a transaction: book what became of open intents, and store their replies. None is booked at more than
        was reserved for it: one that says so is unknown, and the caps that it was begun under can't be kept.

        Returns:
            Intents whose reply was to be served, and another is already served under their key.
        """
        booked: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        ends: list[tuple[int | None, ...]] = []
        replies = []
        served: dict[int, IntentRow] = {}
        reply = int(self._connection.execute("SELECT coalesce(max(id), 0) FROM replies").fetchone()[0])
        for settlement in settlements:
            intent, state, tokens, cost = settlement.intent, settlement.state, settlement.tokens, settlement.cost
            sums = booked[intent.slot]
            used = sum(tokens[:2]) if tokens is not None else 0
            if used > intent.tokens or (cost or 0) > intent.cost:
                state, tokens, cost = IntentState.UNKNOWN, None, None
                sums["overruns"] += 1
                self._stop(intent)
            sums["open"] -= 1
            sums["tokens_open"] -= intent.tokens
            sums["cost_open"] -= intent.cost
            sums[state.value] += 1
            if tokens is not None and cost is not None:
                sums["prompt_tokens"] += tokens.prompt
                sums["completion_tokens"] += tokens.completion
                sums["cached_tokens"] += tokens.cached
                sums["cost_exact"] += cost
                ends.append((_STATE_CODES[state], *tokens, cost, intent.id))
            else:
                if state is IntentState.UNKNOWN:
                    sums["tokens_unknown"] += intent.tokens
                    sums["cost_unknown"] += intent.cost
                ends.append((_STATE_CODES[state], None, None, None, None, intent.id))
            if settlement.reply is not None:
                reply += 1
                replies.append((reply, intent.id, settlement.reply.reason, settlement.reply.body))
                if settlement.reply.reason is None:
                    served[reply] = intent
        connection = self._connection
        connection.executemany(
            "UPDATE intents SET state = ?, prompt_tokens = ?, completion_tokens = ?, cached_tokens = ?, cost = ? "
            "WHERE id = ?",
            ends,
        )
        for slot, sums in booked.items():
            connection.execute(
                f"UPDATE accounts SET {', '.join(f'{name} = {name} + ?' for name in COUNTERS)} WHERE id = ?",
                (*(sums[name] for name in COUNTERS), slot),
            )
        if not replies:
            return []
        connection.executemany("INSERT INTO replies (id, intent, reason, body) VALUES (?, ?, ?, ?)", replies)
        lost = self._answers.add((intent.key, reply) for reply, intent in served.items()) if served else ()
        return [served[reply] for reply in lost]

    def get(self, key: bytes) -> StoredReply | None:
        """The reply that is served under ``key``."""
        stored = self._answers.get(key)
        return StoredReply(key.hex(), ReplyStatus.SERVED, stored) if stored is not None else None

    def accounts(self) -> tuple[Account, ...]:
        """All accounts, role by role."""
        return read_accounts(self._connection)

    def booked(self, account: str) -> tuple[int, int, int, int]:
        """Cost spent and reserved, tokens spent and reserved of ``account`` over all roles."""
        row = self._connection.execute(
            "SELECT coalesce(sum(cost_exact + cost_unknown), 0), coalesce(sum(cost_open), 0), "
            "coalesce(sum(prompt_tokens + completion_tokens + tokens_unknown), 0), coalesce(sum(tokens_open), 0) "
            "FROM accounts WHERE account = ?",
            (account,),
        ).fetchone()
        return int(row[0]), int(row[1]), int(row[2]), int(row[3])

    def intents(self, account: str | None) -> Iterator[Intent]:
        """Every attempt, or those of one account, in the order in which they were begun."""
        rows = self._pages(
            "SELECT intents.id, request_id, key, accounts.account, role, state, tokens_bound, cost_bound, "
            "intents.prompt_tokens, intents.completion_tokens, intents.cached_tokens, cost FROM intents "
            "JOIN accounts ON accounts.id = intents.account "
            "WHERE intents.id > ?1 AND (?2 IS NULL OR accounts.account = ?2) ORDER BY intents.id LIMIT ?3",
            account,
        )
        for _, request_id, key, name, role, state, tokens_bound, cost_bound, prompt, completion, cached, cost in rows:
            tokens = None if prompt is None else TokenCount(prompt, completion, cached)
            yield Intent(request_id, key.hex(), name, role, _STATES[state], tokens_bound, cost_bound, tokens, cost)

    def replies(self) -> Iterator[tuple[str, StoredReply]]:
        """Request id and reply, in the order in which they came. A reply whose key was already served is recorded."""
        rows = self._pages(
            "SELECT replies.id, request_id, intents.key, reason, body, keys.reply FROM replies "
            "JOIN intents ON intents.id = replies.intent LEFT JOIN keys ON keys.reply = replies.id "
            "WHERE replies.id > ?1 AND ?2 IS NULL ORDER BY replies.id LIMIT ?3",
            None,
        )
        for _, request_id, key, reason, body, answers in rows:
            status = ReplyStatus.SERVED if answers else ReplyStatus.RECORDED
            said = None if answers else reason or "another reply to the same call came first"
            yield request_id, StoredReply(key.hex(), status, decode(key, body), said)

    def _pages(self, query: str, account: str | None) -> Iterator[tuple[Any, ...]]:
        """Rows of ``query`` page by page: a statement that stays open would hold its connection to an old state."""
        last = 0
        while rows := self._connection.execute(query, (last, account, _PAGE_ROWS)).fetchall():
            yield from rows
            last = rows[-1][0]

    def close(self, settlements: Iterable[Settlement] = ()) -> None:
        """Write ``settlements``, end as an owner (what is open becomes unknown), and close."""
        execute = self._connection.execute
        try:
            execute("PRAGMA busy_timeout = 60000")
            with self.transaction():
                self.settle(settlements)
                self._give_up(self.owner)
                self._lock.path.unlink(missing_ok=True)
            others_write = execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if not others_write:
                self._answers.write_copy()
        finally:
            self._connection.close()
            self._lock.release()


class Checkpoints:
    """Checkpoints of the file ``path``, begun by its one writer: what the write-ahead log holds is moved into the file
    in a thread, while calls go on.

    A checkpoint syncs the disk: on the event loop it would stop every call for as long. It has two parts. The first and
    long one goes on beside the writers. Since they append meanwhile, the log would never be used up and would grow
    without end; so the second, which moves the little that is left, keeps the writers of all processes out. The next
    commit then starts the log anew.
    """

    def __init__(self, path: Path, *, seconds: float = _EVERY_SECONDS) -> None:
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
        due = self._pages >= _EVERY_PAGES or (self._pages and now - self._begun >= self._seconds)
        if due and not self.running:
            self._pages = 0
            self._begun = now
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
            connection = sqlite3.connect(self._path, isolation_level=None, timeout=1)
            try:
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                self.holding = True
                # If other processes leave it no gap within the timeout, the next one makes up for it.
                connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()
            finally:
                self.holding = False
                connection.close()
        except sqlite3.Error as error:
            self._failure = error
