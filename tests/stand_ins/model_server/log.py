"""What a server got and what it answered: one record per request, in the order of arrival."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from stand_ins.model_server.faults import FaultKind

__all__ = ["DELIVERED", "OPEN", "Record", "RequestLog", "read_log"]

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
    bytes_in: int
    arrived: float
    """Seconds since the server's start."""
    attempt: int | None = None
    """How many attempts at the same call were let in before; None = it was not let in."""
    outcome: str = OPEN
    """``open``; ``delivered``; a fault of transport; ``over_limit`` (429 of the concurrency limit); ``refused`` (4xx: a
    wrong request); ``failed`` (500: the player raised); ``aborted`` (the client went away before its answer)."""
    status: int | None = None
    fault: FaultKind | None = None
    """What was made to go wrong: of transport, or, where the answer came whole, of content."""
    usage: tuple[int, int] | None = None
    """(prompt, completion) tokens that it cost, whether the client could read so or not; None = nothing."""
    bytes_out: int = 0
    """Of the body, as far as it was sent."""
    answered: float | None = None
    """Seconds since the server's start."""


class RequestLog:
    """Safe for any thread. With a ``path``, a line per arrival and one per answer is appended to that file at once."""

    def __init__(self, path: Path | str | None = None) -> None:
        self._records: list[Record] = []
        self._lock = threading.Lock()
        self._file: IO[bytes] | None = open(path, "ab", buffering=0) if path is not None else None  # noqa: SIM115

    def arrive(self, request_id: str | None, call: str, sample: str | None, bytes_in: int, now: float) -> int:
        """Note a request; gives its number."""
        with self._lock:
            record = Record(len(self._records), request_id, call, sample, bytes_in, now)
            self._records.append(record)
            self._write(asdict(record))
            return record.number

    def answer(self, number: int, **changes: Any) -> None:
        """Note what became of request ``number``: fields of :class:`Record`."""
        with self._lock:
            self._records[number] = replace(self._records[number], **changes)
            self._write({"number": number, **changes})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line).encode() + b"\n")

    def records(self) -> tuple[Record, ...]:
        """All records so far, in the order of arrival."""
        with self._lock:
            return tuple(self._records)

    def find(self, request_id: str) -> tuple[Record, ...]:
        """The records of one request id: more than one when a client used it twice."""
        return tuple(record for record in self.records() if record.request_id == request_id)

    def outcomes(self) -> Counter[str]:
        """Outcome -> number of requests."""
        return Counter(record.outcome for record in self.records())

    def faults(self) -> Counter[FaultKind]:
        """Kind -> how often it happened."""
        return Counter(record.fault for record in self.records() if record.fault is not None)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_log(path: Path | str) -> tuple[Record, ...]:
    """The records in a log file, as :meth:`RequestLog.records` gives them. A last line that is being written is left
    out."""
    found: dict[int, dict[str, Any]] = {}
    for line in _lines(Path(path).read_bytes()):
        found.setdefault(line["number"], {}).update(line)
    return tuple(_record(found[number]) for number in sorted(found))


def _lines(data: bytes) -> Iterable[dict[str, Any]]:
    whole, _, _ = data.rpartition(b"\n")
    return (json.loads(line) for line in whole.split(b"\n") if line)


def _record(values: dict[str, Any]) -> Record:
    usage, fault = values.get("usage"), values.get("fault")
    return Record(
        **values | {"usage": tuple(usage) if usage else None, "fault": FaultKind(fault) if fault is not None else None}
    )
