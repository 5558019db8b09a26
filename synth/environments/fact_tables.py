"""Facts as tables that an agent may query (after SciResearcher, arXiv 2605.01489, whose agents compute over tables).

A kind of thing is a table, a thing a row, a relation a column; tables of one page go by ``t1``, ``t2``, ... SQLite
answers: one SELECT, over a copy in memory, with functions that give equal answers to equal questions.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

from synth.environments.contract import Resources, ToolCall, ToolResult, ToolSchema, text_argument
from synth.environments.pages import render
from synth.environments.shown import Rows
from synth.graph.graph import Graph
from synth.identity import versioned
from synth.lexicon.names import written_value
from synth.schemas.documents import Document, ValueKind
from synth.sources.docs.outline import Outline
from synth.sources.docs.tables import tables
from synth.text.numbers import parse_quantity

__all__ = ["QUERY_TOOL", "FactTables", "fact_tables", "queried"]

QUERY_TOOL = ToolSchema.of(
    "query",
    "Answer one SELECT of SQLite over the tables of the collection, or over those of a document. The table `tables` "
    "lists the tables, their columns, and which of these hold lists ('a; b').",
    {
        "sql": text_argument("SELECT name, area FROM lake ORDER BY area DESC", 1000),
        "document": text_argument("A document whose own tables are meant; they are called t1, t2, ..."),
    },
    optional=("document",),
)
_MOST = 60
"""Rows that one answer shows."""
_WORK = 20_000_000
"""Steps of SQLite's machine that one query may take."""
_FUNCTIONS = frozenset(
    "count sum total avg min max abs round lower upper length substr instr like coalesce ifnull nullif replace trim "
    "group_concat".split()
)
_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ))
_OF_A_COLUMN = re.compile(r'(?:sum|total|avg|min|max)\(\s*"?(.+?)"?\s*\)', re.IGNORECASE)
_NUMBER = re.compile(r"([-−]?\d[\d,]*(?:\.\d+)?)(?![\d.])")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_Cell = str | int | float | None


@dataclass
class _Table:
    """``columns`` hold numbers where all cells are measures of one kind and unit, else text."""

    name: str
    columns: dict[str, list[_Cell]]
    kinds: dict[str, tuple[ValueKind, str]] = field(default_factory=dict)
    """Column of numbers or dates -> its kind of value, and the unit."""
    lists: tuple[str, ...] = ()
    """Columns whose cells hold several values, joined by "; "."""

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def queried(call: ToolCall, facts: FactTables, document: Document | None) -> ToolResult:
    """The answer to a call of the tool; ``document`` is the one that it names."""
    try:
        shown = (facts if document is None else _page_tables(document)).query(str(call.arguments["sql"]))
    except ValueError as error:
        return call.answered(str(error), "bad_arguments")
    return call.answered(render(shown))


class FactTables:
    """Tables behind SQLite; made with the first query, shared by threads."""

    def __init__(self, made: Iterable[_Table]) -> None:
        self._made = made
        self._lock = threading.Lock()

    def query(self, sql: str) -> Rows:
        """What one SELECT gives.

        Raises:
            ValueError: it is none, or SQLite refuses it; one line for the agent.
        """
        text = " ".join(sql.split())
        database, kinds = self._open
        with self._lock:
            steps = iter(range(_WORK // 10_000))
            database.set_progress_handler(lambda: next(steps, None) is None, 10_000)
            try:
                cursor = database.execute(text)
                if cursor.description is None:
                    raise ValueError("Only a SELECT is answered.")
                names = tuple(column[0] for column in cursor.description)
                found = cursor.fetchmany(_MOST)
                more = sum(1 for _ in cursor)
            except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
                raise ValueError(f"SQLite says: {' '.join(str(error).split())}.") from None
        told = [kinds.get(_column(name)) for name in names]
        rows = (tuple(_written(cell, kind) for cell, kind in zip(row, told, strict=True)) for row in found)
        return Rows(text, tuple(map(_flat, names)), tuple(rows), len(found) + more)

    @cached_property
    def _open(self) -> tuple[sqlite3.Connection, Mapping[str, tuple[ValueKind, str]]]:
        """The database, and what columns of numbers and dates hold; None of those that tables hold differently."""
        database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        every: dict[str, set[tuple[ValueKind, str]]] = defaultdict(set)
        made = sorted(self._made, key=lambda table: (-table.rows, table.name))
        lists: dict[str, list[_Cell]] = {
            "name": [table.name for table in made],
            "columns": [", ".join(table.columns) for table in made],
            "lists": [", ".join(table.lists) or None for table in made],
            "rows": [table.rows for table in made],
        }
        for table in ([_Table("tables", lists)] if made else []) + made:
            columns = ", ".join(_quoted(name) for name in table.columns)
            database.execute(f"CREATE TABLE {_quoted(table.name)} ({columns})")
            slots = ", ".join("?" * len(table.columns))
            filled = zip(*table.columns.values(), strict=True)
            database.executemany(f"INSERT INTO {_quoted(table.name)} VALUES ({slots})", filled)
            for name in table.columns:
                every[name].add(table.kinds.get(name, ("text", "")))
        database.set_authorizer(_allowed)
        return database, {name: next(iter(kinds)) for name, kinds in every.items() if len(kinds) == 1}


def _allowed(action: int, _: str | None, name: str | None, *rest: object) -> int:
    fine = action in _READS or (action == sqlite3.SQLITE_FUNCTION and (name or "").lower() in _FUNCTIONS)
    return sqlite3.SQLITE_OK if fine else sqlite3.SQLITE_DENY


def _column(name: str) -> str:
    """The column whose kind of value a column of a result has."""
    inside = _OF_A_COLUMN.fullmatch(name)
    return inside[1] if inside is not None else name


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _flat(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _written(cell: _Cell, kind: tuple[ValueKind, str] | None) -> str:
    """A cell as pages write it."""
    if cell is None or isinstance(cell, str):
        dated = kind is not None and kind[0] == "date" and _DAY.fullmatch(cell or "")
        return written_value(str(cell), "date") if dated else _flat(cell or "")
    number = int(cell) if float(cell).is_integer() else round(float(cell), 6)
    if kind is not None and kind[0] == "year":
        return str(number)
    unit = "" if kind is None else kind[1]
    return written_value(f"{number} {unit}", "quantity") if unit else written_value(str(number), "number")


# --- where tables come from -------------------------------------------------------------------------------------------


@versioned(6, needs=("entities", "graph"), libraries=("numpy",))
def fact_tables(*, inputs: Resources) -> FactTables:
    """A table for each kind of thing in the graph of a build."""
    return FactTables(_kinds(Graph.from_arrays(inputs.arrays("graph")), inputs))


def _kinds(graph: Graph, inputs: Resources) -> Iterable[_Table]:
    names = inputs.table("entities").arrow.column("name").to_pylist()
    cells: dict[str, dict[int, dict[str, list[tuple[str, str]]]]] = defaultdict(dict)
    for node in range(graph.n_entities):
        cells[graph.kind(node)][node] = defaultdict(list)
    for subject, relation, found in zip(
        graph.fact_subject.tolist(), graph.fact_relation.tolist(), graph.fact_object.tolist(), strict=True
    ):
        value = graph.value(found) if graph.is_value(found) else ("entity", names[found])
        cells[graph.kind(subject)][subject][graph.relations[relation]].append(value)
    for kind, rows in cells.items():
        table = _Table(kind if kind != "tables" else "tables_", {"name": [names[node] for node in rows]})
        for relation in sorted({relation for row in rows.values() for relation in row}):
            # SQLite tells columns apart by letters alone.
            name = relation if relation.lower() not in map(str.lower, table.columns) else f"{relation} (fact)"
            _fill(table, name, [row.get(relation, []) for row in rows.values()])
        yield table


def _fill(table: _Table, name: str, cells: Sequence[Sequence[tuple[str, str]]]) -> None:
    """A column of (kind, value) lists: of numbers where each cell has one and all are of one kind and unit."""
    kinds = {kind for cell in cells for kind, _ in cell}
    kind = cast(ValueKind, next(iter(kinds), "text"))
    several = any(len(cell) > 1 for cell in cells)
    if several:
        table.lists += (name,)
    elif len(kinds) == 1 and kind == "date":
        table.columns[name], table.kinds[name] = [cell[0][1] if cell else None for cell in cells], ("date", "")
        return
    elif len(kinds) == 1 and kind in ("number", "quantity", "year"):
        numbers, units = _measured([cell[0][1] if cell else "" for cell in cells])
        if len(units) == 1:
            table.columns[name], table.kinds[name] = numbers, (kind, units.pop())
            return
    table.columns[name] = ["; ".join(_told(*one) for one in cell) or None for cell in cells]


def _measured(cells: Sequence[str]) -> tuple[list[_Cell], set[str]]:
    """Numbers, None where a cell is empty, and their units; no unit at all where a cell is none."""
    read = [_NUMBER.match(cell) if parse_quantity(cell) is not None else None for cell in cells]
    numbers: list[_Cell] = [None if one is None else float(one[1].replace(",", "").replace("−", "-")) for one in read]
    if any(one is None for one, cell in zip(read, cells, strict=True) if cell):
        return numbers, set()
    return numbers, {one.string[one.end() :].strip() for one in read if one is not None}


def _told(kind: str, value: str) -> str:
    return value if kind == "entity" else written_value(value, cast(ValueKind, kind))


def _page_tables(document: Document) -> FactTables:
    return FactTables(
        _of_page(f"t{number}", table.heading, [[cell.text for cell in row] for row in table.rows])
        for number, table in enumerate(tables(Outline(document.text), document.anchors), 1)
    )


def _of_page(name: str, heading: Sequence[str], rows: Sequence[Sequence[str]]) -> _Table:
    table = _Table(name, {})
    for place, label in enumerate(heading):
        known = [one.lower() for one in table.columns]
        called = label if label.lower() not in known else f"{label} {place + 1}"
        cells = [row[place].strip() for row in rows]
        numbers, units = _measured(cells)
        if len(units) == 1:
            unit = units.pop()
            table.columns[called], table.kinds[called] = numbers, ("quantity" if unit else "number", unit)
        else:
            table.columns[called] = [cell or None for cell in cells]
    return table
