"""What the store of model calls takes and gives: plain values, no database."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import ROUND_CEILING, Decimal
from enum import StrEnum
from typing import Literal, NamedTuple

__all__ = [
    "NANO",
    "Account",
    "CapReached",
    "Intent",
    "IntentState",
    "Outcome",
    "ReplyStatus",
    "StoredReply",
    "TokenCount",
    "from_nano",
    "nano_units",
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
    def tokens_bound(self) -> int:
        """What the account may have used at most: spent, and reserved by open calls."""
        return self.tokens_spent + self.tokens_open

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
