"""What the store of model calls takes and gives, and how it lies in its file: values, replies as bytes, tables; and
what SQLite says, in one line."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from synth.errors import StoreError
from synth.store.files import store_errors

__all__ = [
    "CALLS_FILE",
    "COUNTERS",
    "FORMAT",
    "MAX_AMOUNT",
    "NANO",
    "SHARED_TABLES",
    "TABLES",
    "Account",
    "BatchTotals",
    "CapReached",
    "DamagedReply",
    "IntentState",
    "Outcome",
    "TokenCount",
    "check_tables",
    "decode",
    "encode",
    "from_nano",
    "is_busy",
    "make_tables",
    "nano_units",
    "other_format",
    "primary_code",
    "read_accounts",
    "sqlite_errors",
    "total",
]

NANO = 1_000_000_000
"""Money is counted in billionths of the currency's unit, as integers: sums are exact."""

MAX_AMOUNT = 10**15
"""Tokens or nano-units that one call may be booked at: a bound that keeps every sum inside 64 bits."""


def nano_units(amount: float | Decimal | str) -> int:
    """``amount`` of money in nano-units, rounded up. A float counts as the decimal number that it prints as.

    Raises:
        ValueError: negative, infinite or no number.
    """
    try:
        exact = Decimal(str(amount))
    except ArithmeticError as error:
        raise ValueError(f"{amount!r} is not an amount of money") from error
    if not exact.is_finite() or exact < 0:
        raise ValueError(f"{amount!r} is not an amount of money")
    return int((exact * NANO).to_integral_value(rounding=ROUND_CEILING))


def from_nano(nano: int) -> Decimal:
    """Money from nano-units, exact."""
    return Decimal(nano).scaleb(-9)


class TokenCount(NamedTuple):
    """What the server says that a call used."""

    prompt: int
    completion: int
    cached: int = 0
    """Of the prompt, how many the server had cached."""


class Outcome(StrEnum):
    """What became of a call that was sent."""

    DELIVERED = "delivered"
    """The reply came with its usage: booked at what it cost; at its upper bound when that is less."""
    UNKNOWN = "unknown"
    """It may have cost: torn, reset, timed out, or no usage came. Booked at its upper bound."""
    FREE = "free"
    """It cost nothing for certain: connection refused, 429, 503 before any token."""


class IntentState(StrEnum):
    """What is known of a call."""

    OPEN = "open"
    """Under way in a process that lives; counted at its upper bound."""
    DELIVERED = "delivered"
    UNKNOWN = "unknown"
    """Also: its process died before it was settled."""
    FREE = "free"


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """What an account has had in batches of a provider. Money in nano-units."""

    delivered: int
    """Calls."""
    cost: int
    """Of delivered calls exactly, and of unknown ones at most."""
    open: int
    """Calls under way."""
    cost_open: int
    """Reserved by them."""


@dataclass(frozen=True, slots=True)
class Account:
    """What an account has used, over all runs. Money in nano-units."""

    account: str
    role: str | None
    """None = all roles together."""
    delivered: int = 0
    """Calls by state. Their sum is how many were ever begun."""
    unknown: int = 0
    open: int = 0
    free: int = 0
    prompt_tokens: int = 0
    """Of delivered calls, as are ``completion_tokens``, ``cached_tokens`` and ``cost_exact``."""
    completion_tokens: int = 0
    cached_tokens: int = 0
    cost_exact: int = 0
    tokens_unknown: int = 0
    """Upper bound of the unknown calls, as is ``cost_unknown``."""
    cost_unknown: int = 0
    tokens_open: int = 0
    """Reserved by open calls, as is ``cost_open``."""
    cost_open: int = 0
    overruns: int = 0
    """Of ``unknown``: calls that used more than was reserved for them, by the server's count."""
    batches: BatchTotals | None = None
    """Of all these, what went in batches; None = nothing, or nobody asked."""

    @property
    def calls(self) -> int:
        """Attempts that were ever begun."""
        return self.delivered + self.unknown + self.open + self.free

    @property
    def tokens_spent(self) -> int:
        """Of delivered calls, and of unknown ones at most."""
        return self.prompt_tokens + self.completion_tokens + self.tokens_unknown

    @property
    def cost_spent(self) -> int:
        """Of delivered calls, and of unknown ones at most."""
        return self.cost_exact + self.cost_unknown

    @property
    def cost_bound(self) -> int:
        """What the account may have cost at most: spent, and reserved by open calls."""
        return self.cost_spent + self.cost_open


COUNTERS = tuple(field.name for field in fields(Account) if field.name not in ("account", "role", "batches"))


def total(name: str, roles: Iterable[Account]) -> Account:
    """The account ``name``, all its roles together."""
    mine = [role for role in roles if role.account == name]
    return Account(name, None, **{counter: sum(getattr(role, counter) for role in mine) for counter in COUNTERS})


class CapReached(Exception):
    """A call can't be begun within the cap, whatever becomes of the calls that are open."""

    def __init__(
        self, account: str, unit: Literal["cost", "tokens"], cap: int, spent: int, wanted: int, *, overrun: bool = False
    ) -> None:
        super().__init__(f"account {account}: {spent} {unit} spent of {cap}, and the next call may need {wanted}")
        self.account = account
        self.overrun = overrun
        """Under this cap a call used more than was reserved for it: what calls need is not known."""
        self.unit = unit
        """Which cap: ``cost`` in nano-units, or ``tokens``."""
        self.cap = cap
        self.spent = spent
        self.wanted = wanted


# A reply is stored as a code byte, a check sum of its key (so that no damage serves the reply of another call), and its
# body as zlib, which has a check sum of its own. A reply of 1 KB is half envelope: zlib alone leaves 0.57 of it, with a
# preset dictionary of the envelope 0.4 in the same time; higher levels take longer and gain 1 %.
_ZLIB_1 = b"\x01"

# Part of the format, never edited: a better dictionary gets a code byte of its own.
_DICTIONARY_1 = (
    b'{"id":"chatcmpl-","object":"chat.completion","created":17,"model":"","choices":[{"index":0,"message":'
    b'{"role":"assistant","content":null,"refusal":null,"annotations":null,"audio":null,"function_call":null,'
    b'"reasoning_content":"","tool_calls":[{"id":"call_","type":"function","function":{"name":"","arguments":"{\\"'
    b'}]},"logprobs":{"content":[{"token":"","logprob":-0.0,"bytes":null,"top_logprobs":[]}]},"finish_reason":'
    b'"stop","stop_reason":null,"token_ids":null}],"service_tier":null,"system_fingerprint":null,"usage":{'
    b'"prompt_tokens":,"total_tokens":,"completion_tokens":,"prompt_tokens_details":{"cached_tokens":0}},'
    b'"prompt_logprobs":null}\\"answer\\": \\"thought\\": \\"action\\": {\\"tool\\": \\"arguments\\": {\\"query\\": '
    b'\\"document\\": \\"url\\": I should look for it first. Let me search for the next, and then open what was '
    b'found. According to the document, {"call":"","content":null,"finish":"stop","fingerprint":null,"logprobs":'
    b'null,"model":"","reasoning":"The question asks which of these was the ","refusal":null,"token_ids":null,'
    b'"tool_calls":[],"usage":{"cached_tokens":0,"completion_tokens":1,"prompt_tokens":1}}"finish":"tool_calls",'
    b'"tool_calls":[{"arguments":"{\\"query\\": \\"","id":"call_","name":"search"}]'
)


class DamagedReply(Exception):
    """The bytes are not what ``encode`` made for this key: the disk, or another hand, changed them."""


def encode(key: bytes, body: bytes) -> bytes:
    """``body``, the reply to the call ``key``, as it is stored."""
    deflate = zlib.compressobj(1, zlib.DEFLATED, 15, 5, zlib.Z_DEFAULT_STRATEGY, _DICTIONARY_1)
    return b"".join((_ZLIB_1, zlib.crc32(key).to_bytes(4, "big"), deflate.compress(body), deflate.flush()))


def decode(key: bytes, stored: bytes) -> bytes:
    """The body that ``encode`` was given.

    Raises:
        DamagedReply: a check sum or the code byte is wrong, or it belongs to another call.
    """
    if stored[:1] != _ZLIB_1:
        raise DamagedReply(f"unknown code {stored[:1]!r}")
    if stored[1:5] != zlib.crc32(key).to_bytes(4, "big"):
        raise DamagedReply("it belongs to another call")
    inflate = zlib.decompressobj(15, zdict=_DICTIONARY_1)
    try:
        body = inflate.decompress(stored[5:])
    except zlib.error as error:
        raise DamagedReply(str(error)) from error
    if not inflate.eof:
        raise DamagedReply("it ends early")
    return body


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)

_KEPT = "then run the same command: stored calls are kept"
_DAMAGED = (
    "the file is damaged",
    "save what can be read (sqlite3 FILE .recover), or move it away: its calls would be paid for again",
)
_SENTENCES = {
    sqlite3.SQLITE_FULL: ("no space left on the device", f"free some space, {_KEPT}"),
    sqlite3.SQLITE_READONLY: ("it is read-only", "choose a store that can be written, with --store"),
    sqlite3.SQLITE_PERM: ("permission denied", "choose a store that you may write, with --store"),
    sqlite3.SQLITE_CANTOPEN: ("it can't be opened or made", "check the folder and its permissions"),
    sqlite3.SQLITE_IOERR: ("the file can't be written or read", f"check the disk and its free space, {_KEPT}"),
    **dict.fromkeys(_BUSY, ("another process keeps it locked", "look for a process that hangs, then run again")),
    sqlite3.SQLITE_NOTADB: (
        "this is not a store of calls, or it is damaged",
        "move the file away: its calls would be made and paid for again",
    ),
    # What we write keeps every constraint.
    **dict.fromkeys((sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH), _DAMAGED),
}


@contextmanager
def sqlite_errors(where: Path) -> Iterator[None]:
    """Turn what SQLite says about the file or the disk into a one-line ``StoreError``; bugs pass."""
    try:
        with store_errors(where):
            yield
    except (DamagedReply, UnicodeDecodeError) as error:  # Python can't read SQLite's message about a damaged name
        raise StoreError(f"{_DAMAGED[0]} ({error})", where=str(where), mend=_DAMAGED[1]) from error
    except sqlite3.Error as error:
        known = _SENTENCES.get(primary_code(error))
        if isinstance(error, sqlite3.OperationalError) and not primary_code(error):
            known = _DAMAGED  # Python's own: a text that is none
        if known is None:
            raise
        sentence, mend = known
        raise StoreError(f"{sentence} ({error})", where=str(where), mend=mend) from error


def primary_code(error: sqlite3.Error) -> int:
    """The result code without its extension."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_busy(error: Exception) -> bool:
    """Another process writes at the moment."""
    return isinstance(error, sqlite3.Error) and primary_code(error) in _BUSY


CALLS_FILE = "calls.sqlite"
"""Name of the store of calls in the folder of a store."""

FORMAT = 4
"""Bumped when the tables or their meaning change; a file of another format is refused, never half understood."""

_APPLICATION = 0x73796E74  # "synt": marks the file as ours

# Sums that leave 64 bits become floats in SQLite: the checks make that an error instead.
TABLES = (
    "CREATE TABLE accounts (id INTEGER PRIMARY KEY, account TEXT NOT NULL, role TEXT NOT NULL, "
    + ", ".join(
        f"{name} INTEGER NOT NULL DEFAULT 0 CHECK (typeof({name}) = 'integer' AND {name} >= 0)" for name in COUNTERS
    )
    + ", UNIQUE (account, role))",
    "CREATE TABLE owners (id INTEGER PRIMARY KEY, lock TEXT NOT NULL UNIQUE)",
    "CREATE TABLE intents (id INTEGER PRIMARY KEY, request_id TEXT NOT NULL, key BLOB NOT NULL, "
    "account INTEGER NOT NULL, owner INTEGER NOT NULL, state TEXT NOT NULL, tokens_bound INTEGER NOT NULL, "
    "cost_bound INTEGER NOT NULL, "
    "prompt_tokens INTEGER, completion_tokens INTEGER, cached_tokens INTEGER, cost INTEGER)",
    "CREATE INDEX intents_open ON intents (owner) WHERE state = 'open'",
    "CREATE TABLE replies (id INTEGER PRIMARY KEY, intent INTEGER NOT NULL, reason TEXT, body BLOB NOT NULL)",
    "CREATE TABLE keys (key BLOB PRIMARY KEY, reply INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE stops (account TEXT PRIMARY KEY, cost INTEGER, tokens INTEGER)",
)

# Made where they are missing, in files of this format that older versions made, too.
SHARED_TABLES = (
    "CREATE TABLE IF NOT EXISTS work (unit BLOB PRIMARY KEY, owner INTEGER NOT NULL, record BLOB)",
    "CREATE INDEX IF NOT EXISTS work_open ON work (owner) WHERE record IS NULL",
    "CREATE INDEX IF NOT EXISTS intents_keys ON intents (key) WHERE state = 'open'",
    "CREATE TABLE IF NOT EXISTS batches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, account TEXT NOT NULL, "
    "role TEXT NOT NULL, endpoint TEXT NOT NULL, terms TEXT NOT NULL, remote TEXT, owner INTEGER, "
    "calls INTEGER NOT NULL, open INTEGER NOT NULL, delivered INTEGER NOT NULL, cost INTEGER NOT NULL, "
    "cost_open INTEGER NOT NULL)",
)


def other_format(found: int, where: str) -> StoreError:
    """Calls that another version of synth wrote."""
    return StoreError(
        f"it has format {found}, and this version of synth reads format {FORMAT}",
        where=where,
        mend="choose another store with --store, or the version of synth that made it",
    )


def check_tables(connection: sqlite3.Connection, path: Path) -> None:
    """Whether the file holds our tables, or nothing yet.

    Raises:
        StoreError: it is something else, damaged, or of another format.
    """
    execute = connection.execute
    try:
        execute("BEGIN")  # all of one moment: another process may be making them
        try:
            application, form = (execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
            tables = {row[0] for row in execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        finally:
            if connection.in_transaction:
                execute("COMMIT")
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_ERROR:
            raise
        # Such simple statements fail this way only on a damaged header.
        raise StoreError(f"{_DAMAGED[0]} ({error})", where=str(path), mend=_DAMAGED[1]) from error
    if (tables or form or application) and application != _APPLICATION:
        raise StoreError("this is not a store of calls", where=str(path), mend="move the file away")
    if tables and form != FORMAT:
        raise other_format(form, str(path))
    if tables and not tables.issuperset(TABLES):
        raise StoreError(f"{_DAMAGED[0]} (its tables)", where=str(path), mend=_DAMAGED[1])


def make_tables(connection: sqlite3.Connection) -> None:
    """Inside a transaction: make the tables that are missing."""
    if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        marks = (f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {FORMAT}")
        for statement in (*TABLES, *marks):
            connection.execute(statement)
    for statement in SHARED_TABLES:
        connection.execute(statement)


class Executes(Protocol):
    """A connection."""

    def execute(self, statement: str, values: Any = ..., /) -> Any: ...


def read_accounts(connection: Executes, account: str | None = None) -> tuple[Account, ...]:
    """All accounts, or the one of that name, role by role."""
    rows = connection.execute(
        f"SELECT account, role, {', '.join(COUNTERS)} FROM accounts WHERE account = coalesce(?, account) "
        "ORDER BY account, role",
        (account,),
    )
    return tuple(Account(*row) for row in rows)
