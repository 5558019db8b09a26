"""One value of a dataset changed at a time, in every column, past all that would refuse to write such a row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from synth.exporters.columns import Column, columns
from synth.exporters.configs import CONFIGS, Config
from synth.exporters.files import DataFile, data_files

Steps = tuple[str | int, ...]
"""The way to a value in a row: names of fields and places in lists."""


@dataclass(frozen=True)
class Mutation:
    """One value of one row that becomes another."""

    config: str
    column: str
    file: DataFile
    row: int
    steps: Steps
    old: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.config}.{self.column} (row {self.row}): {self.old!r:.60} -> {self.new!r:.60}"


class Held:
    """The rows of a dataset's folder, read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables: dict[DataFile, tuple[pa.Schema, list[dict[str, Any]]]] = {}
        for file in data_files(folder)[0]:
            table = pq.read_table(file.path)
            self.tables[file] = (table.schema, table.to_pylist())

    def configs(self) -> list[Config]:
        there = {file.config for file in self.tables}
        return [config for config in CONFIGS if config.name in there]

    def mutations(self, config: Config) -> Iterator[Mutation]:
        """One of every column: of a value that is there, if any row has one."""
        files = [file for file in self.tables if file.config == config.name]
        for column in leaves(config):
            found = [
                (file, number, steps, value)
                for file in files
                for number, row in enumerate(self.tables[file][1])
                for steps, value in values(row, column.path.replace("[]", ".[]").split("."))
            ]
            if not found:
                continue
            there = [one for one in found if one[3] is not None]
            file, number, steps, old = (there or found)[len(there or found) // 2]
            others = [one[3] for one in there if one[3] != old and not isinstance(one[3], list)]
            new = changed(column, old, others)
            yield Mutation(config.name, column.path, file, number, steps, old, new)

    def write(self, mutation: Mutation, path: Path) -> None:
        """The file with that one value."""
        schema, rows = self.tables[mutation.file]
        row = json.loads(json.dumps(rows[mutation.row]))
        place = row
        for step in mutation.steps[:-1]:
            place = place[step]
        place[mutation.steps[-1]] = mutation.new
        changed_rows = [*rows[: mutation.row], row, *rows[mutation.row + 1 :]]
        size = next(config.rows_per_group for config in CONFIGS if config.name == mutation.config)
        table = pa.Table.from_pylist(changed_rows, schema=schema)
        pq.write_table(table, path, compression="zstd", write_page_index=True, row_group_size=size)


def leaves(config: Config) -> list[Column]:
    """The columns that hold values: not the structs around them."""
    every = columns(config.row_type)
    return [one for one in every if not one.type.endswith("struct")]


def values(value: Any, path: list[str]) -> Iterator[tuple[Steps, Any]]:
    """Every place of a row that ``path`` leads to, with what stands there."""
    if not path:
        if isinstance(value, list) and value:  # the values of a list are one column
            for place, item in enumerate(value):
                yield (place,), item
        else:
            yield (), value
        return
    if value is None:
        return
    name, *rest = path
    if name == "[]":
        for place, item in enumerate(value):
            for steps, found in values(item, rest):
                yield (place, *steps), found
    elif isinstance(value, dict):
        for steps, found in values(value.get(name), rest):
            yield (name, *steps), found


def changed(column: Column, old: Any, others: list[Any]) -> Any:
    """Another value of the same type, one that the column's type takes where that is known."""
    if column.type == "JSON":
        return json.dumps(
            changed_json(json.loads(old) if old else None),
            sort_keys=True,
            ensure_ascii=False,
            separators=(",", ":"),
        )
    if old in (None, []) and column.type.startswith("list"):
        return [others[0] if others else changed_kind(column.type)]
    if column.type.endswith("bool"):
        return not old
    if column.type.endswith("int64"):
        return 0 if old is None else old + 1
    if column.type.endswith("double"):
        return 0.5 if old is None else old * 0.9 if old else 0.25
    if old is None:
        return others[0] if others else column.values[0][0] if column.values else "x"
    if column.values:
        names = [value for value, _ in column.values]
        return names[(names.index(old) + 1) % len(names)]
    if len(set(others) | {old}) <= 8 and others:
        return others[0]  # a name out of few: one that the row could have
    place = len(old) // 2
    return f"{old[:place]}{'x' if old[place : place + 1] != 'x' else 'y'}{old[place + 1 :]}"


def changed_kind(kind: str) -> Any:
    return {"int64": 0, "double": 0.5, "bool": True}.get(kind.rpartition(" ")[2], "x")


def changed_json(value: Any) -> Any:
    """The same with one value in it changed: the last one."""
    if isinstance(value, dict) and value:
        last = sorted(value)[-1]
        return {**value, last: changed_json(value[last])}
    if isinstance(value, list) and value:
        return [*value[:-1], changed_json(value[-1])]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str) and value:
        return f"{value[:-1]}{'x' if value[-1] != 'x' else 'y'}"
    return {"x": 1}
