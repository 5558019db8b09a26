"""The beginning of every episode: a filled database, made from a definition, a seed and a size, and serialized once."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from synth.environments.app.database import Database, TooMuchWork
from synth.environments.app.ddl import VIOLATIONS, VIOLATIONS_TABLE, statements
from synth.environments.app.definition import Boundary, Definition, Rule, Table
from synth.environments.app.functions import add_makers, code
from synth.errors import InputError
from synth.identity import canonical_json, derive_generator

__all__ = ["World", "build_world", "empty_database", "in_sql", "tables_of"]

_SQLITE = (3, 38)
"""Strict tables came with 3.37, ``->>`` and JSON in every build with 3.38."""
_NUMBERS = 2_000
"""The table ``numbers`` of ``data`` holds so many rows per unit of size, and as many again."""
_FLAWS = (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError, TooMuchWork)
_STEPS, _STEPS_OF_SIZE = 40_000_000, 2_000_000
"""Steps of SQLite in which the data are made, and more of them per unit of size; the applications that ship take
300,000 per unit."""


@dataclass(frozen=True)
class World:
    """A beginning. ``counters`` says how many keys of a table were handed out."""

    image: bytes
    digest: str
    """Hash of its content, volatile columns left out."""
    counters: Mapping[str, int]
    secret: str
    rows: int

    def key(self, table: str, pattern: str, number: int) -> str:
        """Key ``number`` that the application hands out for ``table``."""
        return code(pattern, f"{self.secret}/{table}", number)


def tables_of(definition: Definition) -> dict[str, Table]:
    """The tables of a definition and the one that the engine adds."""
    return {**definition.tables, VIOLATIONS: VIOLATIONS_TABLE}


def empty_database(definition: Definition, rules: Iterable[Rule], where: str) -> Database:
    """The tables and triggers, no rows.

    Raises:
        InputError: SQLite can't make a table, a constraint or a trigger.
    """
    if sqlite3.sqlite_version_info < _SQLITE:
        raise InputError(
            f"this Python comes with SQLite {sqlite3.sqlite_version}, applications need 3.38",
            where=where,
            mend="take a newer Python build",
        )
    database = Database()
    for sql in statements(tables_of(definition), tuple(rules)):
        try:
            database.run(sql, mode="engine")
        except _FLAWS as error:
            found = re.search(r'CREATE (TRIGGER|TABLE) "([^"]+)"', sql)
            what = found.group(2) if found else "a table"
            database.close()
            raise InputError(f"{what}: {in_sql(error)}", where=where, mend="mend the table or the rule") from None
    return database


def in_sql(error: BaseException) -> str:
    """What SQLite or a function of ours says, in one line."""
    text = " ".join(str(error).split())
    if isinstance(error, TooMuchWork):
        return f"it {text}: does it ever end?"
    if isinstance(error, sqlite3.OperationalError) and text == "user-defined function raised exception":
        return "a function was called with values that it can't take"
    if text == "not authorized" or text.startswith(("access to", "not authorized to use function")):
        return f"{text}: it does what statements of a definition may not do"
    return text


def build_world(definition: Definition, rules: Iterable[Rule], *, seed: int, size: int, where: str) -> World:
    """Fill the tables.

    Raises:
        InputError: a statement fails, a boundary finds too few rows, or an invariant does not hold.
    """
    database = empty_database(definition, rules, where)
    try:
        return _filled(database, definition, seed, size, where)
    finally:
        database.close()


def _filled(database: Database, definition: Definition, seed: int, size: int, where: str) -> World:
    secret = f"{definition.name}/{seed}"
    codes = {name: table.code for name, table in definition.tables.items() if table.code is not None}
    problems: list[str] = []
    highest = add_makers(database.connection, secret=secret, words=definition.words, codes=codes, problems=problems)
    now = definition.clock.start
    bound: dict[str, Any] = {"size": size, "now": now, "today": now[:10]}
    database.run("CREATE TEMP TABLE numbers (i INTEGER PRIMARY KEY)", mode="engine")
    database.run_many("INSERT INTO numbers VALUES (?)", [(i,) for i in range(_NUMBERS * (size + 1))])
    place = "data"
    database.new_budget(_STEPS + _STEPS_OF_SIZE * size)
    try:
        with database.transaction():
            for number, sql in enumerate(definition.data):
                place = f"data.{number}"
                database.run(sql, bound, mode="make")
            used: set[Any] = set()
            for number, boundary in enumerate(definition.boundaries):
                place = f"boundaries.{number}"
                _move(database, boundary, bound, used, seed, number, where)
            place = "data (a reference leads nowhere)"
        for invariant in definition.invariants:
            place = f"invariants.{invariant.name}"
            names, rows = database.run(invariant.none, bound, mode="read", limit=1)
            if rows:
                row = dict(zip(names, rows[0], strict=True))
                what = f"the data break the invariant {invariant.name!r}: {canonical_json(row)}"
                raise InputError(what, where=where, mend="mend `data`")
    except _FLAWS as error:
        what = problems[-1] if problems else in_sql(error)
        raise InputError(f"{place}: {what}", where=where, mend="mend the statement") from None
    database.run("DROP TABLE numbers", mode="engine")
    database.run("UPDATE _engine SET armed = 1", mode="engine")
    content, rows_in_all = _content(database, tables_of(definition))
    return World(
        image=database.serialize(),
        digest=content,
        counters={name: last + 1 for name, last in highest.items()},
        secret=secret,
        rows=rows_in_all,
    )


def _move(
    database: Database,
    boundary: Boundary,
    bound: Mapping[str, Any],
    used: set[Any],
    seed: int,
    number: int,
    where: str,
) -> None:
    _, picked = database.run(boundary.pick, bound, mode="make")
    keys = sorted({row[0] for row in picked} - used)
    wanted = len(boundary.values) * boundary.rows
    if len(keys) < wanted:
        raise InputError(
            f"boundaries.{number}: {wanted} rows are to be moved to the edge of {boundary.rule} and {len(keys)} can be",
            where=where,
            mend="let `pick` find more, or make more data",
        )
    # More in larger data, where there are more; never fewer than one for each value.
    moved = min(wanted * int(bound["size"]), len(keys))
    chosen = derive_generator(seed, "boundary", number).permutation(len(keys))[:moved]
    for at, index in enumerate(chosen):
        key = keys[int(index)]
        used.add(key)
        for sql in boundary.set:
            database.run(sql, {**bound, "key": key, "value": boundary.values[at % len(boundary.values)]}, mode="make")


def _content(database: Database, tables: Mapping[str, Table]) -> tuple[str, int]:
    """Hash of all rows, volatile columns left out, and how many there are."""
    whole = hashlib.sha256()
    count = 0
    for name in sorted(tables):
        kept = [column for column, spec in tables[name].columns.items() if not spec.volatile]
        columns = ", ".join(f'"{column}"' for column in kept)
        order = ", ".join(f'"{column}"' for column in tables[name].key)
        _, rows = database.run(f'SELECT {columns} FROM "{name}" ORDER BY {order}', mode="engine")
        whole.update(canonical_json([name, kept, rows]).encode())
        count += len(rows)
    return whole.hexdigest(), count
