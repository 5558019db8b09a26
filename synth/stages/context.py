"""What a stage is given: the tables that it reads, and the metrics and checkpoint of the row that it is working on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

__all__ = ["Checkpoint", "Inputs", "RowContext", "RowMetrics", "Table"]


@dataclass
class RowContext:
    """What belongs to one row while it is worked on, or to one shard of a stage that does not work row by row.

    The engine makes it; a stage reaches it by ``Context.metrics`` and ``Context.checkpoint``. It lives in context
    variables, so rows in flight at once never see each other's.
    """

    parts: dict[str, str] = field(default_factory=dict)
    """What is known of the row already, by key."""
    keep: Callable[[str, str], None] | None = None
    """Where further parts go; None = nowhere."""
    metrics: dict[str, float] = field(default_factory=dict)
    calls: dict[str, Any] = field(default_factory=dict)
    """What its model calls used, by the call's key; the engine's."""

    @contextmanager
    def entered(self) -> Iterator[None]:
        """It is at hand until the block is left."""
        token = _current_row.set(self)
        try:
            yield
        finally:
            _current_row.reset(token)

    @staticmethod
    def current() -> RowContext | None:
        """That of the caller; None outside any row."""
        return _current_row.get()


_current_row: ContextVar[RowContext | None] = ContextVar("row at hand", default=None)


class RowMetrics(MutableMapping[str, float]):
    """Numbers for the stage report about the row at hand (a dict of its own outside any row)."""

    def __init__(self) -> None:
        self._outside: dict[str, float] = {}

    @property
    def _mine(self) -> dict[str, float]:
        row = _current_row.get()
        return self._outside if row is None else row.metrics

    def add(self, name: str, number: float = 1.0) -> None:
        self._mine[name] = self._mine.get(name, 0.0) + number

    def __getitem__(self, name: str) -> float:
        return self._mine[name]

    def __setitem__(self, name: str, number: float) -> None:
        self._mine[name] = number

    def __delitem__(self, name: str) -> None:
        del self._mine[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mine)

    def __len__(self) -> int:
        return len(self._mine)


class Checkpoint:
    """Finished parts of the row that a stage is working on, kept in its journal.

    A row that costs hundreds of rollouts is interrupted somewhere in the middle: what it noted before is given back
    when it is processed again. Parts may speed up a result, never change it.
    """

    def __init__(self) -> None:
        self._outside = RowContext()

    @property
    def _mine(self) -> RowContext:
        return _current_row.get() or self._outside

    @property
    def parts(self) -> Mapping[str, str]:
        """Key -> text of every part that is finished."""
        return self._mine.parts

    def put(self, key: str, text: str) -> None:
        """Keep one finished part. When this returns, the death of the process loses it no more."""
        mine = self._mine
        mine.parts[key] = text
        if mine.keep is not None:
            mine.keep(key, text)


class Table(Protocol):
    """A finished table, memory-mapped: rows in order, random access by row number."""

    @property
    def arrow(self) -> pa.Table:
        """All rows as one (chunked) Arrow table with the row type's explicit schema."""

    def __len__(self) -> int: ...

    def row(self, number: int) -> Any:
        """Row ``number`` as its row type. Raises IndexError."""

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Any]: ...


class Inputs(Protocol):
    """What a stage reads: finished tables and arrays of earlier stages, by name. Sealed tables are not among them."""

    def __contains__(self, name: str) -> bool:
        """Whether it is given what it reads as ``name``: asked of what is optional."""

    def table(self, name: str) -> Table: ...

    def gathered(self, name: str) -> Sequence[Table]:
        """All tables of that name, in the order of the stages that wrote them."""

    def arrays(self, name: str) -> Mapping[str, np.ndarray[Any, Any]]:
        """Named arrays that stage ``name`` wrote, memory-mapped read-only."""
