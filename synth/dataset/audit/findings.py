"""What the deep audit reads, file by file, and what it finds: violations by rule, and how many rows each judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from synth.dataset.audit.facts import Entity, Facts, value_key
from synth.dataset.reader import Dataset
from synth.schemas.arrow import RowError, from_arrow, row_adapter, to_plain
from synth.schemas.row import Row

__all__ = ["Audit", "Findings", "Place", "RuleCount", "Violation", "facts_of", "raw", "rows"]

Place = tuple[str, int]
"""File and row, from 0."""


class Violation(Row):
    """A row that breaks a rule."""

    file: str
    """Path inside the dataset folder."""
    row: int
    """Row of the file, from 0."""
    id: str
    """Id of the row."""
    rule: str
    what: str
    see: str
    """The command that shows the row."""

    def __str__(self) -> str:
        return f"{self.file}, row {self.row}: {self.rule}: {self.what} ({self.see})"


class RuleCount(Row):
    """What became of one rule."""

    rule: str
    sentence: str
    """What holds where nothing is violated."""
    rows: int
    """Rows that it judged."""
    undecided: int
    """Rows that it could not judge from what the dataset holds."""
    violations: int
    why: str = ""
    """Why it could not judge some."""


class Audit(Row):
    """A finished audit. ``model_dump(mode="json")`` is what ``--json`` prints."""

    rules: tuple[RuleCount, ...]
    violations: tuple[Violation, ...]
    """In the order of finding; of a rule with very many, the first."""

    @property
    def total(self) -> int:
        """All violations, listed or not."""
        return sum(rule.violations for rule in self.rules)


class Findings:
    """Collects; after ``limit`` violations of one rule it only counts."""

    def __init__(self, sentences: Mapping[str, str], limit: int) -> None:
        self._sentences = sentences
        self._limit = limit
        self._violations: list[Violation] = []
        self._counts: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.undecided: Counter[str] = Counter()
        self.why: dict[str, str] = {}

    def add(self, place: Place, row_id: str, rule: str, what: str) -> None:
        """A violation. Raises KeyError for an undeclared rule."""
        self._sentences[rule]
        self._counts[rule] += 1
        if self._counts[rule] <= self._limit:
            see = f"synth show DIR --id {row_id}"
            what = " ".join(what.split())
            self._violations.append(Violation(file=place[0], row=place[1], id=row_id, rule=rule, what=what, see=see))

    def leave(self, rule: str, why: str, rows: int = 1) -> None:
        """Rows that the rule can't judge."""
        self.undecided[rule] += rows
        self.why[rule] = why

    def audit(self) -> Audit:
        """Rules that had nothing to judge are left out."""
        rules = tuple(
            RuleCount(
                rule=rule,
                sentence=sentence,
                rows=self.rows[rule],
                undecided=self.undecided[rule],
                violations=self._counts[rule],
                why=self.why.get(rule, ""),
            )
            for rule, sentence in self._sentences.items()
            if self.rows[rule] or self.undecided[rule] or self._counts[rule]
        )
        return Audit(rules=rules, violations=tuple(self._violations))


def rows(dataset: Dataset, config: str, row_type: type[Row]) -> Iterator[tuple[Place, Any]]:
    """Rows of all splits. What does not parse is left to the plain validation, which names it."""
    for label, first, batch in raw(dataset, config):
        try:
            for place, row in enumerate(from_arrow(batch, row_type)):
                yield (label, first + place), row
        except RowError:
            for place in range(batch.num_rows):
                try:
                    parsed = row_adapter(row_type).validate_python(to_plain(batch.slice(place, 1), row_type))
                except (RowError, ValidationError):
                    continue
                yield (label, first + place), parsed[0]


def raw(
    dataset: Dataset, config: str, columns: list[str] | None = None, size: int = 500
) -> Iterator[tuple[str, int, pa.RecordBatch]]:
    """(file, number of the first row, batch); a file that can't be read, or lacks a column, is left out."""
    for path in dataset.files(config):
        first = 0
        try:
            for batch in pq.ParquetFile(path).iter_batches(batch_size=size, columns=columns):
                if columns is not None and batch.schema.names != columns:
                    break
                yield f"{config}/{path.name}", first, batch
                first += batch.num_rows
        except (pa.ArrowException, OSError):
            continue


def facts_of(dataset: Dataset) -> Facts:
    """All entities and facts of the dataset."""
    facts = Facts()
    names = ["id", "name", "kind", "aliases", "document_id", "partition"]
    for _, _, batch in raw(dataset, "entities", names, 10_000):
        columns = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        facts.add_entities(
            Entity(id_, name, kind, tuple(aliases or ()), page, split)
            for id_, name, kind, aliases, page, split in columns
        )
    names = ["subject", "relation", "inverse", "object", "value", "value_kind"]
    for _, _, batch in raw(dataset, "facts", names, 10_000):
        columns = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        facts.add_facts(
            (subject, relation, target if target is not None else value_key(value or ""), kind, inverse)
            for subject, relation, inverse, target, value, kind in columns
        )
    facts.freeze()
    return facts
