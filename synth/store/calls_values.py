"""What the store of model calls takes and gives: plain values, replies as bytes on disk, errors in one line."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple

from synth.errors import StoreError
from synth.store.files import store_errors

__all__ = [
    "DAMAGED",
    "NANO",
    "Account",
    "CapReached",
    "DamagedReply",
    "Intent",
    "IntentState",
    "Outcome",
    "ReplyStatus",
    "StoredReply",
    "TokenCount",
    "decode",
    "encode",
    "from_nano",
    "is_busy",
    "nano_units",
    "primary_code",
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
        raise ValueError(f"{amount!r} is no amount of money") from error
    if not exact.is_finite() or exact < 0:
        raise ValueError(f"{amount!r} is no amount of money")
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


class ReplyStatus(StrEnum):
    """What a stored reply is good for."""

    SERVED = "served"
    """Answers every later call of the same key."""
    RECORDED = "recorded"
    """Kept to be read (refusal, truncation, malformed), never served: the next run asks again."""


@dataclass(frozen=True, slots=True)
class StoredReply:
    """A reply in the store."""

    key: str
    """Key of its call, hex."""
    status: ReplyStatus
    body: bytes
    """What ``settle`` was given, byte for byte."""
    reason: str | None = None
    """Why it is not served; None when it is."""


@dataclass(frozen=True, slots=True)
class Intent:
    """One attempt at a call, as the store knows it."""

    request_id: str
    key: str
    """Key of its call, hex."""
    account: str
    role: str
    state: IntentState
    tokens_bound: int
    """Prompt and completion tokens at most, as reserved before it was sent."""
    cost_bound: int
    """Nano-units at most."""
    tokens: TokenCount | None
    """None unless delivered."""
    cost: int | None
    """Nano-units; None unless delivered."""


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


def total(name: str, roles: Iterable[Account]) -> Account:
    """The account ``name``, all its roles together."""
    mine = [role for role in roles if role.account == name]
    counters = [field.name for field in fields(Account) if field.name not in ("account", "role")]
    return Account(name, None, **{counter: sum(getattr(role, counter) for role in mine) for counter in counters})


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


# Replies are kept as zlib with a preset dictionary. A reply of 1 KB is half envelope: field names and brackets. zlib
# alone leaves 0.57 of it, with a preset dictionary of the envelope 0.4 in the same time; higher levels take longer and
# gain 1 %. The first byte says how the rest is coded, so that other codes can stand beside this one; then follow a
# check sum of the key, so that no damage serves the reply of another call, and the deflated body, which ends with a
# check sum of its own.
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
DAMAGED = (
    "the file is damaged",
    "save what can be read (sqlite3 FILE .recover), or move it away: its calls would be paid for again",
)
_SENTENCES = {
    sqlite3.SQLITE_FULL: ("no space left on the device", f"free some space, {_KEPT}"),
    sqlite3.SQLITE_READONLY: ("it is read-only", "choose a store that can be written, with --store"),
    sqlite3.SQLITE_PERM: ("permission denied", "choose a store that you may write, with --store"),
    sqlite3.SQLITE_CANTOPEN: ("it can't be opened or made", "check the folder and its permissions"),
    sqlite3.SQLITE_IOERR: ("the file can't be written or read", f"check the disk and its free space, {_KEPT}"),
    sqlite3.SQLITE_BUSY: ("another process keeps it locked", "look for a process that hangs, then run again"),
    sqlite3.SQLITE_LOCKED: ("another process keeps it locked", "look for a process that hangs, then run again"),
    sqlite3.SQLITE_NOTADB: (
        "this is no store of calls, or it is damaged",
        "move the file away: its calls would be made and paid for again",
    ),
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: DAMAGED,  # what we write keeps them
    sqlite3.SQLITE_MISMATCH: DAMAGED,
}


@contextmanager
def sqlite_errors(where: Path) -> Iterator[None]:
    """Turn what SQLite says about the file or the disk into a one-line ``StoreError``; bugs pass."""
    try:
        with store_errors(where):
            yield
    except (DamagedReply, UnicodeDecodeError) as error:  # Python can't read SQLite's message about a damaged name
        raise StoreError(f"{DAMAGED[0]} ({error})", where=str(where), mend=DAMAGED[1]) from error
    except sqlite3.Error as error:
        known = _SENTENCES.get(primary_code(error))
        if isinstance(error, sqlite3.OperationalError) and not primary_code(error):
            known = DAMAGED  # Python's own: a text that is none
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
