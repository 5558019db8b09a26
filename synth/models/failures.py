"""What a failed attempt means: the one place that reads status codes, headers and the words of an error body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

from synth.models.contract import FailureKind
from synth.models.lenient import whole

__all__ = ["Scope", "Trouble", "one_line", "retry_after", "trouble_of"]


class Scope(StrEnum):
    """Whom a failure concerns."""

    CALL = "call"
    """This call only: a retry would fail in the same way."""
    ATTEMPT = "attempt"
    """This attempt: the call is made again."""
    ENDPOINT = "endpoint"
    """Everybody who asks this endpoint for this model: wrong key, used-up quota."""
    UNKNOWN_MODEL = "unknown_model"
    """404: everybody when nothing was ever delivered, else this call."""


@dataclass(frozen=True)
class Trouble:
    """One attempt that brought no reply."""

    kind: FailureKind
    detail: str
    scope: Scope = Scope.ATTEMPT
    wait: float | None = None
    """Seconds for which the server wants no call from us."""
    costs: bool = False
    """The server may have made the reply, and may charge for it."""
    overload: bool = False
    """The server has more to do than it can: fewer calls at once."""
    mend: str | None = None
    """What to do about it, when it concerns everybody."""


# Words are compared with the error's own `code` and `type` first, then as whole phrases of its message: a rate limit
# is known by its status alone, so that no text is taken for one.
_CONTEXT_CODES = frozenset({"context_length_exceeded", "string_above_max_length", "exceed_context_size_error"})
_CONTEXT_PHRASES = (
    "maximum context length",
    "context length",
    "context window",
    "context size",
    "maximum model length",
    "max_model_len",
    "maximum allowed number of input tokens",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "too many tokens",
    "reduce the length of the messages",
)
_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "quota_exceeded", "payment_required"})
_QUOTA_PHRASES = (
    "exceeded your current quota",
    "insufficient_quota",
    "insufficient credits",
    "insufficient balance",
    "credit balance is too low",
    "billing hard limit",
    "daily limit",
    "daily quota",
    "per day",
    "requests-per-day",
    "(rpd)",
    "(tpd)",
    "monthly limit",
    "monthly quota",
)
_MOST_READ = 65_536
"""Bytes of an error body that is read; a longer one is only shown."""
_SHOWN = 300
_KEY = "check the key that api_key_env names, and what it may be used for"
_QUOTA = "raise the quota or wait until it is renewed, then run the same command again: what is finished is kept"
_ADDRESS = "check the address (up to and with /v1) and the model's name"


def trouble_of(status: int, headers: Mapping[str, str], body: bytes, *, longest_wait: float) -> Trouble:
    """What a response of another status than 200 means.

    ``longest_wait`` is the longest Retry-After, in seconds, that is waited for; beyond it the quota counts as used up.
    """
    message, codes = _error(body)
    said = f"HTTP {status}: {message}" if message else f"HTTP {status}"
    low = message.lower()
    wait = retry_after(headers)
    if status in (401, 403):
        return Trouble(FailureKind.REQUEST, said, Scope.ENDPOINT, mend=_KEY)
    if status == 402 or (status == 429 and _is_quota(low, codes)):
        return Trouble(FailureKind.RATE_LIMITED, said, Scope.ENDPOINT, mend=_QUOTA)
    if status in (429, 503):
        if wait is not None and wait > longest_wait:
            detail = f"{said} (it asks to wait {wait:,.0f} s)"
            return Trouble(FailureKind.RATE_LIMITED, detail, Scope.ENDPOINT, mend=_QUOTA)
        kind = FailureKind.RATE_LIMITED if status == 429 else FailureKind.SERVER
        return Trouble(kind, said, wait=wait, overload=True)
    if status in (400, 413, 422) and (codes & _CONTEXT_CODES or any(phrase in low for phrase in _CONTEXT_PHRASES)):
        return Trouble(FailureKind.CONTEXT, said, Scope.CALL)
    if status == 408:
        return Trouble(FailureKind.TIMEOUT, said, wait=wait, overload=True, costs=True)
    if status in (404, 405) or 300 <= status < 400:
        return Trouble(FailureKind.REQUEST, said, Scope.UNKNOWN_MODEL, mend=_ADDRESS)
    if status >= 500:
        return Trouble(FailureKind.SERVER, said, wait=wait, costs=True)
    if status in (409, 425):
        return Trouble(FailureKind.SERVER, said, wait=wait)
    if 200 <= status < 300:
        return Trouble(FailureKind.MALFORMED, said, costs=True)
    return Trouble(FailureKind.REQUEST, said, Scope.CALL)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait: ``Retry-After`` as a number of seconds or as an HTTP date; None when there is none to read."""
    value = next((value for name, value in headers.items() if name.lower() == "retry-after"), None)
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            when = parsedate_to_datetime(value)
            if when.tzinfo is None:
                when = when.replace(tzinfo=UTC)
            seconds = (when - datetime.now(UTC)).total_seconds()
        except (ValueError, OverflowError, TypeError, IndexError):  # the parser's own slips included
            return None
    return max(0.0, seconds) if seconds == seconds else None  # a NaN says nothing


def _is_quota(low: str, codes: set[str]) -> bool:
    return bool(codes & _QUOTA_CODES) or any(phrase in low for phrase in _QUOTA_PHRASES)


def _error(body: bytes) -> tuple[str, set[str]]:
    """(message, codes and types) of an error body, whatever its form."""
    try:
        if len(body) > _MOST_READ:
            raise ValueError("too large for an error")
        data: Any = json.loads(body)
        error = data.get("error", data) if isinstance(data, dict) else data
        if not isinstance(error, dict):
            return one_line(str(error)), set()
        codes = {value for name in ("code", "type") if isinstance(value := error.get(name), str)}
        return one_line(str(error.get("message") or error.get("detail") or error)), codes
    except (ValueError, RecursionError):
        return one_line(body[:_SHOWN].decode("utf-8", "replace")), set()


def one_line(text: str) -> str:
    """The beginning of what a server said, as one line that any file can hold."""
    return whole(" ".join(text.split())[:_SHOWN])
