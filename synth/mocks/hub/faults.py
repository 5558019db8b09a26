"""What goes wrong, and at which request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from threading import Lock

__all__ = ["Fault", "FaultKind", "FaultPlan"]


class FaultKind(StrEnum):
    """What happens to a request."""

    RATE_LIMITED = "rate_limited"
    """429 with a ``Retry-After``."""
    UNAVAILABLE = "unavailable"
    """503."""
    HANG = "hang"
    """Nothing is done, and nothing ever comes."""
    RESET = "reset"
    """The connection is closed before a byte of the answer; nothing is done."""
    LOST_REPLY = "lost_reply"
    """It is done, and the answer is lost."""
    STRANGER = "stranger"
    """Somebody else commits another file just before."""
    TWIN = "twin"
    """Somebody else makes the very same commit just before."""


@dataclass(frozen=True)
class Fault:
    """``kind`` at requests number ``first`` to ``first + times - 1`` (from 0) of ``route``."""

    route: str
    kind: FaultKind
    first: int = 0
    times: int = 1
    retry_after: int = 0
    """Seconds that a 429 asks to wait."""


class FaultPlan:
    """Counts requests by route and says what goes wrong with each."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults = tuple(faults)
        self._counts: dict[str, int] = {}
        self._lock = Lock()

    def next(self, route: str) -> Fault | None:
        with self._lock:
            number = self._counts.get(route, 0)
            self._counts[route] = number + 1
        for fault in self._faults:
            if fault.route == route and fault.first <= number < fault.first + fault.times:
                return fault
        return None
