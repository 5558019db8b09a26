"""What a server got and what it answered: one record per request, in the order of arrival."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any

from synth.mocks.model.faults import FaultKind

__all__ = ["DELIVERED", "OPEN", "Record", "RequestLog"]

OPEN = "open"
"""Outcome of a request that is not answered yet."""
DELIVERED = "delivered"
"""Outcome of a request whose whole body, an answer of the model, was handed to the connection."""


@dataclass(frozen=True)
class Record:
    """One request."""

    number: int
    """Place in the order of arrival."""
    request_id: str | None
    """The header ``X-Request-Id``."""
    call: str
    """What was asked: 16 hex digits over body and sample."""
    sample: str | None
    """The header ``X-Synth-Sample``."""
    attempt: int | None = None
    """How many attempts at the same call were let in before; None = it was not let in."""
    outcome: str = OPEN
    """``open``; ``delivered``; a fault of transport; ``refused`` (4xx: a
    wrong request); ``failed`` (500: the player raised); ``aborted`` (the client went away before its answer)."""
    status: int | None = None
    fault: FaultKind | None = None
    """What was made to go wrong: of transport, or, where the answer came whole, of content."""
    usage: tuple[int, int] | None = None
    """(prompt, completion) tokens that it cost, whether the client could read so or not; None = nothing."""


class RequestLog:
    """Safe for any thread."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._lock = threading.Lock()

    def arrive(self, request_id: str | None, call: str, sample: str | None) -> int:
        """Note a request; gives its number."""
        with self._lock:
            record = Record(len(self._records), request_id, call, sample)
            self._records.append(record)
            return record.number

    def answer(self, number: int, **changes: Any) -> None:
        """Note what became of request ``number``: fields of :class:`Record`."""
        with self._lock:
            self._records[number] = replace(self._records[number], **changes)

    def records(self) -> tuple[Record, ...]:
        """All records so far, in the order of arrival."""
        with self._lock:
            return tuple(self._records)
