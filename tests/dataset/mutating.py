"""One value of a dataset changed at a time, in every column, past all that would refuse to write such a row."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.configs import CONFIGS, Column, Config, columns, config_named
from synth.dataset.files import DataFile, Problem, Problems
from synth.dataset.reader import load
from synth.dataset.rules.coverage import coverage
from synth.dataset.rules.reading import Portion, layout, parsed, portions
from synth.dataset.rules.validate import check_rows

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


class _EnoughError(Exception):
    """What is asked is known."""


class Held:
    """The rows of a dataset's folder, read and parsed once: what is changed is changed in memory, and all that
    ``validate`` asks of rows is asked again."""

    def __init__(self, folder: Path) -> None:
        dataset = load(folder)
        self.report, self.mix = (dataset.report, None) if dataset.mix is None else (None, dataset.mix)
        found = Problems(100)
        files = layout(folder, found)
        read = {config.name: tuple(portions(files, config, found)) for config in CONFIGS}
        self.portions = {name: parts for name, parts in read.items() if parts}
        self.tables: dict[DataFile, list[dict[str, Any]]] = {file: [] for file in files}
        for part in chain.from_iterable(self.portions.values()):
            self.tables[part.file] += part.batch.to_pylist()

    def configs(self) -> list[Config]:
        return [config for config in CONFIGS if config.name in self.portions]

    def places(self, config: Config, column: Column) -> list[tuple[DataFile, int, Steps, Any]]:
        """Where values of a column stand: those that are there, if any row has one."""
        found = [
            (file, number, steps, value)
            for file in self.tables
            if file.config == config.name
            for number, row in enumerate(self.tables[file])
            for steps, value in values(row, column.path.replace("[]", ".[]").split("."))
        ]
        return [one for one in found if one[3] is not None] or found

    def mutations(self, config: Config, column: Column, tries: int = 1) -> list[Mutation]:
        """Up to ``tries`` of a column, far from each other, and as many again that hold its rarest values."""
        found = self.places(config, column)
        chosen = [found[(2 * n + 1) * len(found) // (2 * tries)] for n in range(min(tries, len(found)))]
        common = Counter(str(place[3]) for place in found)
        chosen += sorted(found, key=lambda place: common[str(place[3])])[: tries if tries > 1 else 0]
        return [self._mutation(config, column, place, found) for place in chosen]

    def batches(self, config: Config, without: Collection[str], size: int = 12) -> Iterator[list[Mutation]]:
        """One mutation of every other column that rows have, together with others in rows of other tasks."""
        open_: list[tuple[set[Any], list[Mutation]]] = []
        for column in (column for column in leaves(config) if column.path not in without):
            found = self.places(config, column)
            middle = len(found) // 2
            for one_open in open_:
                used, batch = one_open
                near = (one for one in [*found[middle:], *found[:middle]] if self._task(one) not in used)
                place = next(near, None)
                if place is not None:
                    break
            else:
                if not found:
                    continue
                place, used, batch = found[middle], set(), []
                open_.append((used, batch))
            used.add(self._task(place))
            batch.append(self._mutation(config, column, place, found))
            if len(batch) == size:
                open_.remove((used, batch))
                yield batch
        yield from (batch for _, batch in open_)

    def _task(self, place: tuple[DataFile, int, Steps, Any]) -> Any:
        """What rows must not share to be changed together: their task, where a table has rows of several."""
        file, row = place[0], self.tables[place[0]][place[1]]
        tasks = {one.get("task_id") for one in self.tables[file]}
        return row.get("task_id") if len(tasks) >= 4 else (file, place[1])

    def _mutation(
        self, config: Config, column: Column, place: tuple[DataFile, int, Steps, Any], found: list[Any]
    ) -> Mutation:
        file, number, steps, old = place
        others = [one[3] for one in found if one[3] not in (None, old) and not isinstance(one[3], list)]
        return Mutation(config.name, column.path, file, number, steps, old, changed(column, old, others))

    def problems(self, mutations: list[Mutation], *, first: bool = False) -> list[Problem]:
        """What ``validate`` finds in a dataset with these mutations, its hashes stated anew; with ``first``, no table
        is read after one in which it found something."""
        found = Problems(10_000)
        new = {
            name: tuple(self._changed(part, mutations, found) for part in parts)
            for name, parts in self.portions.items()
        }
        return self._found(new, found, first)

    def edited(self, name: str, change: Callable[[pa.Table], pa.Table]) -> list[Problem]:
        """The same with ``change`` of all rows of a file at once."""
        (file,) = (file for file in self.tables if file.label == name)
        config = config_named(file.config)
        whole = pa.Table.from_batches([part.batch for part in self.portions[file.config] if part.file == file])
        batch = change(whole).combine_chunks().to_batches()[0]
        found = Problems(10_000)
        rows = tuple(parsed(batch, config.row_type, file, 0, found))
        kept = tuple(part for part in self.portions[file.config] if part.file != file)
        return self._found({**self.portions, file.config: (Portion(file, 0, batch, rows), *kept)}, found)

    def _found(self, portions: Mapping[str, Sequence[Portion]], found: Problems, first: bool = False) -> list[Problem]:
        def table(config: Config) -> Sequence[Portion]:
            if first and found.listed():
                raise _EnoughError
            return portions.get(config.name, ())

        with suppress(_EnoughError):
            check_rows(table, portions, self.report, self.mix, found)
        return found.listed()

    def unseen(self, mutations: list[Mutation]) -> list[Mutation]:
        """Some in which ``validate`` sees nothing, many looked at at once; not all of them: one beside another that
        it sees may be left out."""
        while problems := self.problems(mutations) if mutations else []:
            found = {(problem.file, problem.row) for problem in problems}
            silent = [one for one in mutations if (one.file.label, one.row) not in found]
            if len(silent) == len(mutations):
                halves = (mutations[::2], mutations[1::2]) if len(mutations) > 1 else ()
                return [one for half in halves for one in self.unseen(half)]
            mutations = silent
        return mutations

    def _changed(self, part: Portion, mutations: list[Mutation], found: Problems) -> Portion:
        rows, batch = dict(part.rows), part.batch
        for mutation in mutations:
            at = mutation.row - part.first
            if mutation.file == part.file and 0 <= at < batch.num_rows:
                one = pa.RecordBatch.from_pylist([self._row(mutation)], schema=batch.schema)
                batch = pa.concat_batches([batch.slice(0, at), one, batch.slice(at + 1)])
                rows.pop(mutation.row, None)
                rows |= parsed(one, config_named(mutation.config).row_type, part.file, mutation.row, found)
        return part if batch is part.batch else Portion(part.file, part.first, batch, sorted(rows.items()))

    def _row(self, mutation: Mutation) -> dict[str, Any]:
        row = place = json.loads(json.dumps(self.tables[mutation.file][mutation.row]))
        for step in mutation.steps[:-1]:
            place = place[step]
        place[mutation.steps[-1]] = mutation.new
        return row  # type: ignore[no-any-return]

    def missed(self, without: Mapping[str, Collection[str]]) -> Iterator[Mutation]:
        """One value of every other column: those in which ``validate`` sees nothing. First many at once, each told by
        the problem of its own row; then, one by one, those that no problem of their row tells."""
        for config in self.configs():
            for batch in self.batches(config, without.get(config.name, ())):
                found = {(problem.file, problem.row) for problem in self.problems(batch)}
                for mutation in batch:
                    if (mutation.file.label, mutation.row) not in found and not self.problems([mutation], first=True):
                        yield mutation


@cache
def carried() -> dict[str, tuple[str, ...]]:
    """Table -> columns that nothing proves."""
    found: dict[str, tuple[str, ...]] = {}
    for table, column, behind in coverage():
        found[table] = (*found.get(table, ()), *(() if behind else (column,)))
    return {table: names for table, names in found.items() if names}


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
            changed_json(json.loads(old) if old else None), sort_keys=True, ensure_ascii=False, separators=(",", ":")
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
