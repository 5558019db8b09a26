"""Units: what became of one input row or candidate, as journal records and as columns of a shard.

A shard of a row or candidate stage holds, beside its tables, the table ``_units`` with one row per unit: how many rows
of each table are its own, and why it was rejected. So any prefix of a shard can be read without the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pyarrow as pa

from synth.engine.usage import CallUse
from synth.schemas.arrow import from_arrow
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.stages.contract import Outcome, Stage
from synth.store.shards import Manifest, ShardWriter

__all__ = [
    "REJECTED",
    "UNITS",
    "Counts",
    "PartRecord",
    "RowRecord",
    "content_hash",
    "count_units",
    "exact",
    "key_hash",
    "main_table",
    "read_units",
    "units_schema",
    "write_units",
]

REJECTED = "_rejected"
UNITS = "_units"


@dataclass(frozen=True)
class RowRecord:
    """One finished unit."""

    key: str | None
    """Key of the row; for a candidate, the hash of what it asks (None when it was rejected)."""
    content: str
    """Hash of the input row's content; empty for candidates."""
    tables: Mapping[str, tuple[Row, ...]]
    rejected: tuple[Rejection, ...]
    numbers: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, stage: type[Stage[Any]], outcome: Outcome, key: str | None, content: str, numbers: Mapping[str, float]
    ) -> RowRecord:
        main = main_table(stage)
        unknown = sorted(set(outcome.side) - set(stage.writes))
        if unknown or main in outcome.side:
            raise ValueError(
                f"{stage.name}: side rows for {', '.join(unknown) or main}, expected {', '.join(stage.writes)}"
            )
        tables = {main: outcome.kept, **outcome.side}
        return cls(key, content, {name: tables.get(name, ()) for name in stage.writes}, outcome.rejected, dict(numbers))

    def encode(self) -> bytes:
        """One journal record: a line of JSON that says what follows, then one line per row."""
        lines = [row.model_dump_json() for rows in self.tables.values() for row in rows]
        lines += [rejection.model_dump_json() for rejection in self.rejected]
        head = {
            "key": self.key,
            "content": self.content,
            "rows": {name: len(rows) for name, rows in self.tables.items()},
            "rejected": len(self.rejected),
            "numbers": dict(self.numbers),
        }
        return "\n".join([json.dumps(head, ensure_ascii=False, allow_nan=False), *lines]).encode()

    @classmethod
    def decode(cls, stage: type[Stage[Any]], record: bytes) -> RowRecord:
        """Inverse of ``encode``. Raises ValueError when the record is not of this stage."""
        first, *lines = record.split(b"\n")
        head = json.loads(first)
        if tuple(head["rows"]) != tuple(stage.writes):
            raise ValueError(f"a record with tables {list(head['rows'])}, expected {list(stage.writes)}")
        left = iter(lines)
        tables = {
            name: tuple(stage.writes[name].model_validate_json(next(left)) for _ in range(count))
            for name, count in head["rows"].items()
        }
        rejected = tuple(Rejection.model_validate_json(next(left)) for _ in range(head["rejected"]))
        return cls(head["key"], head["content"], tables, rejected, head["numbers"])

    @staticmethod
    def name_of(record: bytes) -> tuple[str, str]:
        """Key and content hash of an encoded unit, without decoding its rows."""
        head = json.loads(record.split(b"\n", 1)[0])
        return head["key"], head["content"]


_PART = b"PART\n"


@dataclass(frozen=True)
class PartRecord:
    """A finished part of a row that is not finished yet (``synth.stages.context.Checkpoint``)."""

    row: tuple[str, str]
    """Key and content hash of the row."""
    key: str
    text: str
    calls: Mapping[str, CallUse] = field(default_factory=dict)
    """Model calls of the row since its last part, by key."""

    def encode(self) -> bytes:
        """One journal record, told from a unit's by its first line."""
        calls = [{key: use.plain() for key, use in self.calls.items()}] if self.calls else []
        return _PART + json.dumps([*self.row, self.key, self.text, *calls], ensure_ascii=False).encode()

    @staticmethod
    def is_part(record: bytes) -> bool:
        return record.startswith(_PART)

    @staticmethod
    def by_row(records: Sequence[bytes]) -> dict[tuple[str, str], dict[str, str]]:
        """Parts of every row, by the row's name and the part's key; the last of equal keys counts."""
        found: dict[tuple[str, str], dict[str, str]] = {}
        for record in records:
            if PartRecord.is_part(record):
                row, content, key, text, *_ = json.loads(record[len(_PART) :])
                found.setdefault((row, content), {})[key] = text
        return found

    @staticmethod
    def calls_by_row(records: Sequence[bytes]) -> dict[tuple[str, str], dict[str, CallUse]]:
        """Model calls that led to the parts of every row, by the row's name and the call's key."""
        found: dict[tuple[str, str], dict[str, CallUse]] = {}
        for record in records:
            if PartRecord.is_part(record):
                row, content, _, _, *calls = json.loads(record[len(_PART) :])
                for key, plain in (calls[0] if calls else {}).items():
                    found.setdefault((row, content), {})[key] = CallUse.of_plain(plain)
        return found


def main_table(stage: type[Stage[Any]]) -> str:
    """The table that ``Outcome.kept`` goes to."""
    return next(iter(stage.writes))


def content_hash(row: Row) -> str:
    return hashlib.blake2b(row.model_dump_json().encode(), digest_size=16).hexdigest()


def key_hash(key: str) -> str:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def units_schema(stage: type[Stage[Any]]) -> pa.Schema:
    fields = [pa.field("key", pa.string()), pa.field("content", pa.string()), pa.field("reason", pa.string())]
    fields += [pa.field("numbers", pa.string()), pa.field("rejected", pa.int32())]
    return pa.schema(fields + [pa.field(f"rows:{name}", pa.int32()) for name in stage.writes])


@dataclass(frozen=True)
class Counts:
    """What a stretch of units came to. Adds up."""

    rows_in: int = 0
    kept: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    """Units by the reason of their first rejection."""
    rows: Mapping[str, int] = field(default_factory=dict)
    numbers: Mapping[str, Fraction] = field(default_factory=dict)
    """What the stage noted, summed exactly: so the sum can't depend on how the units are cut into shards."""

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.rows_in + other.rows_in,
            self.kept + other.kept,
            _sum(self.rejected, other.rejected),
            _sum(self.rows, other.rows),
            _sum(self.numbers, other.numbers),
        )

    @property
    def conserved(self) -> bool:
        return self.rows_in == self.kept + sum(self.rejected.values())

    def facts(self) -> dict[str, Any]:
        """As JSON; ``of_facts`` reads it."""
        plain = {key: dict(value) if isinstance(value, Mapping) else value for key, value in vars(self).items()}
        return {**plain, "numbers": {key: str(number) for key, number in self.numbers.items()}}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> Counts:
        numbers = {key: Fraction(number) for key, number in facts["numbers"].items()}
        return cls(facts["rows_in"], facts["kept"], facts["rejected"], facts["rows"], numbers)


def _sum(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    total = dict(left)
    for key, value in right.items():
        total[key] = total.get(key, 0) + value
    return {key: total[key] for key in sorted(total)}


def exact(numbers: Mapping[str, float]) -> dict[str, Fraction]:
    """Floats as the exact numbers that they are. Raises ValueError when one is not finite."""
    return {key: Fraction(number) for key, number in numbers.items()}


def write_units(writer: ShardWriter, stage: type[Stage[Any]], units: Sequence[RowRecord]) -> Counts:
    """Write the tables of a shard from its units, and count them."""
    for name, row_type in stage.writes.items():
        writer.table(name, row_type, (row for unit in units for row in unit.tables[name]))
    writer.table(REJECTED, Rejection, (rejection for unit in units for rejection in unit.rejected))
    main = main_table(stage)
    columns: dict[str, list[Any]] = {
        "key": [unit.key for unit in units],
        "content": [unit.content for unit in units],
        # Rejections beside kept rows are about samples: the unit itself was kept.
        "reason": [
            str(unit.rejected[0].reason.value) if unit.rejected and not unit.tables[main] else None for unit in units
        ],
        "numbers": [json.dumps(unit.numbers, sort_keys=True) if unit.numbers else None for unit in units],
        "rejected": [len(unit.rejected) for unit in units],
    }
    for name in stage.writes:
        columns[f"rows:{name}"] = [len(unit.tables[name]) for unit in units]
    table = pa.table(columns, schema=units_schema(stage))
    writer.arrow(UNITS, table)
    return count_units(stage, table)


def count_units(stage: type[Stage[Any]], units: pa.Table) -> Counts:
    """Counts over the rows of a ``_units`` table."""
    rejected: dict[str, int] = {}
    for reason in units["reason"].to_pylist():
        if reason is not None:
            rejected[reason] = rejected.get(reason, 0) + 1
    numbers: dict[str, Fraction] = {}
    for text in units["numbers"].to_pylist():
        if text is not None:
            numbers = _sum(numbers, exact(json.loads(text)))
    main = units[f"rows:{main_table(stage)}"].to_pylist()
    rows = {name: sum(units[f"rows:{name}"].to_pylist()) for name in stage.writes}
    return Counts(
        rows_in=len(units),
        kept=sum(1 for count in main if count),
        rejected={reason: rejected[reason] for reason in sorted(rejected)},
        rows=rows,
        numbers=numbers,
    )


def read_units(stage: type[Stage[Any]], manifest: Manifest) -> Iterator[RowRecord]:
    """The units of a committed shard, decoded."""
    columns = manifest.open(UNITS).to_pydict()
    tables = {name: manifest.open(name) for name in stage.writes}
    rejected = manifest.open(REJECTED)
    at = dict.fromkeys(stage.writes, 0)
    rejections_at = 0
    for place, key in enumerate(columns["key"]):
        own: dict[str, tuple[Row, ...]] = {}
        for name, table in tables.items():
            count = columns[f"rows:{name}"][place]
            own[name] = tuple(from_arrow(table.slice(at[name], count), stage.writes[name]))
            at[name] += count
        count = columns["rejected"][place]
        reasons = tuple(from_arrow(rejected.slice(rejections_at, count), Rejection))
        rejections_at += count
        yield RowRecord(key, columns["content"][place], own, reasons, json.loads(columns["numbers"][place] or "{}"))
