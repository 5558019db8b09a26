"""Keys, references and splits, as the row types of ``schemas`` annotate them (``Key``, ``Ref``): checked column by
column, so that a new column is checked the day it is annotated.

Memory holds the keys of tables that others refer to, with what is inherited from them, and the references to tables
that come later.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, get_args, get_origin

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from synth.dataset.configs import CONFIGS, Config
from synth.dataset.files import DataFile, Problems
from synth.schemas.row import Key, Ref, Row, row_types_of

__all__ = ["Annotations", "ReferenceCheck", "absent_of_mixes", "annotated"]

_NOUNS = {"trajectories": "trajectory", "continuations": "branch", "preferences": "pair", "entities": "entity"}
_NOUNS |= {"rl": "row", "contexts": "context", "difficulty": "row"}
_Place = tuple[str, int]


@dataclass(frozen=True)
class Annotations:
    """Of one row type; paths are names of fields, through structs and lists."""

    keys: tuple[tuple[str, ...], ...]
    """Columns whose values together no two rows share."""
    references: tuple[tuple[tuple[str, ...], Ref], ...]


@cache
def annotated(row_type: type[Row]) -> Annotations:
    """The annotations of a row type, nested ones included."""
    own = [
        (name,) for name, info in row_type.model_fields.items() if any(isinstance(one, Key) for one in info.metadata)
    ]
    return Annotations((*own, *row_type.unique_together), tuple(_references(row_type)))


def _references(row_type: type[Row]) -> Iterator[tuple[tuple[str, ...], Ref]]:
    for name, info in row_type.model_fields.items():
        marks = [*info.metadata, *_marks(info.annotation)]
        yield from (((name,), mark) for mark in marks if isinstance(mark, Ref))
        nested = row_types_of(info.annotation)
        if len(nested) == 1:  # a union is that of content items, which name no rows
            yield from (((name, *path), mark) for path, mark in _references(nested[0]))


def _marks(annotation: Any) -> Iterator[Any]:
    """What is annotated on the items of a list or an arm of a union."""
    for arm in get_args(annotation):
        if get_origin(arm) is Annotated:
            yield from get_args(arm)[1:]
        yield from _marks(arm)


def values_at(batch: pa.RecordBatch, path: tuple[str, ...]) -> tuple[np.ndarray[Any, Any], list[Any]]:
    """(row, value) of every value of a column that is not null, lists laid flat."""
    name, *rest = path
    column, rows = batch.column(name), np.arange(batch.num_rows)
    while rest or pa.types.is_list(column.type):
        if pa.types.is_list(column.type):
            rows = rows[pc.list_parent_indices(column).to_numpy()]
            column = pc.list_flatten(column)
        else:
            column = pc.struct_field(column, rest.pop(0))
    there = pc.is_valid(column)
    return rows[np.asarray(there)], column.filter(there).to_pylist()


@dataclass
class _Open:
    """References to a table that was not read yet: value and what is inherited with it -> first place."""

    path: tuple[str, ...]
    ref: Ref
    places: dict[tuple[Any, ...], _Place] = field(default_factory=dict)


class ReferenceCheck:
    """Sees every batch of every table, in the order in which ``validate`` reads them."""

    def __init__(self, found: Problems, *, absent: Collection[str] = ()) -> None:
        """``absent``: tables that this kind of dataset never has, so that no reference to them can be followed."""
        self.found = found
        self.absent = frozenset(absent)
        self._seen: dict[tuple[str, tuple[str, ...]], set[tuple[Any, ...]]] = defaultdict(set)
        self._known: dict[str, dict[Any, tuple[Any, ...]]] = defaultdict(dict)
        """Table -> key -> values of ``_inherited``."""
        self._open: dict[tuple[str, tuple[str, ...]], _Open] = {}
        self._done: set[str] = set()
        self._inherited: dict[str, dict[str, None]] = defaultdict(dict)
        for config in CONFIGS:
            for _, ref in annotated(config.row_type).references:
                self._inherited[ref.table] |= dict.fromkeys(ref.inherits)

    def see(self, config: Config, file: DataFile, first: int, batch: pa.RecordBatch) -> None:
        about = annotated(config.row_type)
        for key in about.keys:
            self._unique(config, key, file, first, batch)
        if config.sole_split is None:
            for row, split in enumerate(batch.column("split").to_pylist()):
                if split != file.split and split is not None:
                    self.found.add(file.label, first + row, f"split: {split}, but the file is of {file.split}")
        if config.name in self._inherited:
            ids = batch.column("id").to_pylist()
            rows = zip(*(batch.column(name).to_pylist() for name in self._inherited[config.name]), strict=True)
            known = self._known[config.name]
            for id_, inherited in zip(ids, rows if self._inherited[config.name] else ((),) * len(ids), strict=True):
                known.setdefault(id_, inherited)
        for path, ref in about.references:
            if ref.table not in self.absent:
                self._follow(config, path, ref, file, first, batch)

    def finish(self, config: Config) -> None:
        """A table has no more rows: what referred to it is looked up."""
        self._done.add(config.name)
        for name, path in [one for one, held in self._open.items() if held.ref.table == config.name]:
            held = self._open.pop((name, path))
            for (value, *inherited), place in held.places.items():
                for what in self._wrong(held.path, held.ref, value, inherited):
                    self.found.add(*place, what)

    def _unique(self, config: Config, key: tuple[str, ...], file: DataFile, first: int, batch: pa.RecordBatch) -> None:
        seen = self._seen[config.name, key]
        columns = (batch.column(name).to_pylist() for name in key)
        for row, values in enumerate(zip(*columns, strict=True)):
            if values in seen:
                named = (f"{name} {value}" for name, value in zip(key, values, strict=True) if value is not None)
                what = f"is {values[0]}" if len(key) == 1 else f"has {', '.join(named)}"
                self.found.add(file.label, first + row, f"{key[-1]}: another {_noun(config.name)} {what} too")
            seen.add(values)

    def _follow(
        self, config: Config, path: tuple[str, ...], ref: Ref, file: DataFile, first: int, batch: pa.RecordBatch
    ) -> None:
        rows, values = values_at(batch, path)
        shared = [batch.column(name).to_pylist() for name in ref.inherits]
        held = self._open.setdefault((config.name, path), _Open(path, ref)) if ref.table not in self._done else None
        for row, value in zip(rows.tolist(), values, strict=True):
            inherited = [column[row] for column in shared]
            if held is not None:
                held.places.setdefault((value, *inherited), (file.label, first + row))
                continue
            for what in self._wrong(path, ref, value, inherited):
                self.found.add(file.label, first + row, what)

    def _wrong(self, path: tuple[str, ...], ref: Ref, value: Any, inherited: list[Any]) -> Iterator[str]:
        known = self._known[ref.table].get(value)
        noun = _noun(ref.table)
        if known is None:
            yield f"{'.'.join(path)}: there is no {noun} {value}"
            return
        of = dict(zip(self._inherited[ref.table], known, strict=True))
        for name, own in zip(ref.inherits, inherited, strict=True):
            if own is not None and of[name] != own:
                its = "its" if path == (f"{noun}_id",) else ".".join(path)
                yield f"{name}: {own}, but {its} {noun} is of {of[name]}"


def _noun(table: str) -> str:
    return _NOUNS.get(table, table.removesuffix("s").replace("_", " "))


def absent_of_mixes() -> tuple[str, ...]:
    """Tables that belong to a whole collection stay where they are when datasets are mixed."""
    return tuple(config.name for config in CONFIGS if config.sole_split is not None)
