"""The state of an application: what changed since its beginning, exactly and canonically; and how to put one back.

A database of 10^5 rows is never copied, dumped or hashed as a whole for a step: triggers note what a row was before the
first write to it, so a snapshot, a hash and a difference cost what was changed, not what there is. Tables have no row
number, so their content is all of the state, and putting the changed rows back is exact.

The **exact** state (snapshots) holds every column. The **canonical** state (hashes, differences, goals) leaves volatile
columns out and names rows that are new by what they say and what hangs on them instead of by the keys that the
application handed out: two bookings made in either order are the same state. Names come from colour refinement over
references among the new rows (as Weisfeiler and Leman do it), which tells all forests apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from synth.environments.app.database import Database
from synth.environments.app.definition import Table
from synth.identity import canonical_json, digest
from synth.schemas.details import Facts
from synth.schemas.row import JsonObject, NonEmpty, Row

__all__ = ["AppBeginning", "Change", "RowChange", "canonical", "changes_of", "differing", "put_back", "touched"]

Values = dict[str, Any]
Place = tuple[str, tuple[Any, ...]]
"""Table and key."""
_REFINEMENTS = 64


class AppBeginning(Facts):
    """Where a task in an application begins."""

    app: str | None = None
    """Name of the application."""
    app_seed: int | None = None
    """Seed of its data; None: the environment's own."""
    app_size: int | None = None
    """Size of its data."""
    app_variant: str | None = None
    """The variant whose rules are kept; None: the environment's own."""


@dataclass(frozen=True)
class RowChange:
    """A row that is not what it was at the beginning: all its columns. ``before`` or ``after`` is None where there was
    or is no such row."""

    table: str
    key: tuple[Any, ...]
    before: Values | None
    after: Values | None


class Change(Row):
    """One entry of a canonical difference."""

    table_name: NonEmpty
    kind: Literal["added", "changed", "removed"]
    key: tuple[Any, ...]
    """Of a row that there was at the beginning, its key; of a new one, the key with ``{"new": name}`` in place of what
    the application handed out."""
    values: JsonObject
    """``added``: its columns. ``removed``: its columns as they were. ``changed``: ``[before, after]`` by column."""


def touched(database: Database, tables: Mapping[str, Table]) -> list[RowChange]:
    """Rows that differ from the beginning, by table and key."""
    _, noted = database.run("SELECT tab, key, row FROM _before ORDER BY tab, key", mode="engine")
    found = []
    for name, key_text, before_text in noted:
        key = tuple(json.loads(key_text))
        before = None if before_text is None else json.loads(before_text)
        where = " AND ".join(f'"{column}" = ?' for column in tables[name].key)
        columns = ", ".join(f'"{column}"' for column in tables[name].columns)
        _, rows = database.run(f'SELECT {columns} FROM "{name}" WHERE {where}', key, mode="engine")
        after = dict(zip(tables[name].columns, rows[0], strict=True)) if rows else None
        if after != before:
            found.append(RowChange(name, key, before, after))
    return found


def put_back(database: Database, tables: Mapping[str, Table], wanted: list[RowChange]) -> None:
    """Make the state the one that differs from the beginning by ``wanted``.

    All rows that differ now are taken out before any is put in, with triggers asleep; references are looked at when all
    is done (they are deferred). Every row was in the application like that before, together with all the others.
    """
    mine = {(change.table, change.key): change for change in touched(database, tables)}
    theirs = {(change.table, change.key): change for change in wanted}
    with database.transaction():
        database.run("UPDATE _engine SET armed = 0", mode="engine")
        for (name, key), change in mine.items():
            if change.after is not None:
                _delete(database, name, tables[name], key)
        for place, change in theirs.items():
            if change.before is not None and place not in mine:
                _delete(database, *_named(place, tables))
        for (name, _), change in theirs.items():
            if change.after is not None:
                _insert(database, name, tables[name], change.after)
        for place, change in mine.items():
            if change.before is not None and place not in theirs:
                _insert(database, place[0], tables[place[0]], change.before)
        database.run("DELETE FROM _before", mode="engine")
        database.run_many(
            "INSERT INTO _before VALUES (?, ?, ?)",
            [
                (
                    change.table,
                    canonical_json(list(change.key)),
                    None if change.before is None else canonical_json(change.before),
                )
                for change in wanted
            ],
        )
        database.run("UPDATE _engine SET armed = 1", mode="engine")


def _named(place: Place, tables: Mapping[str, Table]) -> tuple[str, Table, tuple[Any, ...]]:
    return place[0], tables[place[0]], place[1]


def _delete(database: Database, name: str, table: Table, key: tuple[Any, ...]) -> None:
    where = " AND ".join(f'"{column}" = ?' for column in table.key)
    database.run(f'DELETE FROM "{name}" WHERE {where}', key, mode="engine")


def _insert(database: Database, name: str, table: Table, values: Values) -> None:
    columns = ", ".join(f'"{column}"' for column in table.columns)
    marks = ", ".join("?" for _ in table.columns)
    given = [values[column] for column in table.columns]
    database.run(f'INSERT INTO "{name}" ({columns}) VALUES ({marks})', given, mode="engine")


def canonical(changes: list[RowChange], tables: Mapping[str, Table]) -> list[Change]:
    """The difference from the beginning, free of volatile columns and of keys that were handed out; sorted."""
    names = _new_names(changes, tables)
    entries = [entry for change in changes if (entry := _entry(change, tables, names)) is not None]
    return sorted(entries, key=_sorting)


def _sorting(entry: Change) -> str:
    return canonical_json(entry.model_dump(mode="json"))


def _entry(change: RowChange, tables: Mapping[str, Table], names: Mapping[Place, str]) -> Change | None:
    table = tables[change.table]

    def plain(values: Values, *, generated: bool) -> Values:
        return {
            column: _value(table, column, values[column], names)
            for column, spec in table.columns.items()
            if not spec.volatile and (generated or not spec.generated)
        }

    if change.before is None and change.after is not None:
        name = names[change.table, change.key]
        key = tuple(
            {"new": name} if table.columns[column].generated else _value(table, column, change.after[column], names)
            for column in table.key
        )
        return Change(table_name=change.table, kind="added", key=key, values=plain(change.after, generated=False))
    assert change.before is not None
    if change.after is None:
        return Change(
            table_name=change.table, kind="removed", key=change.key, values=plain(change.before, generated=True)
        )
    before, after = plain(change.before, generated=True), plain(change.after, generated=True)
    values = {column: [before[column], after[column]] for column in before if before[column] != after[column]}
    return Change(table_name=change.table, kind="changed", key=change.key, values=values) if values else None


def _value(table: Table, column: str, value: Any, names: Mapping[Place, str]) -> Any:
    target = table.columns[column].references
    name = names.get((target, (value,))) if target is not None and value is not None else None
    return value if name is None else {"new": name}


def _new_names(changes: list[RowChange], tables: Mapping[str, Table]) -> dict[Place, str]:
    """A name for every new row, by what it says, what it refers to and what refers to it."""
    new = {(c.table, c.key): c.after for c in changes if c.before is None and c.after is not None}
    if not new:
        return {}
    links: list[tuple[str, Place, Place]] = []
    fixed: dict[Place, list[str]] = {}
    colours: dict[Place, str] = {}
    for change in changes:
        if change.after is None:
            continue
        place = (change.table, change.key)
        own: Values = {}
        for column, spec in tables[change.table].columns.items():
            value = change.after[column]
            target = (str(spec.references), (value,))
            if spec.references is not None and target in new:
                if place in new:
                    links.append((column, place, target))
                else:
                    fixed.setdefault(target, []).append(canonical_json([change.table, list(change.key), column]))
            elif not spec.volatile and not spec.generated:
                own[column] = value
        if place in new:
            colours[place] = digest(change.table, own)
    for place, kept in fixed.items():
        colours[place] = digest(colours[place], sorted(kept))
    for _ in range(_REFINEMENTS):
        seen: dict[Place, list[list[str]]] = {place: [] for place in new}
        for column, source, target in links:
            seen[source].append(["to", column, colours[target]])
            seen[target].append(["from", source[0], column, colours[source]])
        finer = {place: digest(colours[place], sorted(seen[place])) for place in new}
        if len(set(finer.values())) == len(set(colours.values())):
            break
        colours = finer
    return {place: colour[:16] for place, colour in colours.items()}


def changes_of(entries: list[Change]) -> Counter[str]:
    """A multiset to compare by."""
    return Counter(_sorting(entry) for entry in entries)


def differing(left: list[Change], right: list[Change]) -> tuple[list[Change], list[Change]]:
    """Entries only in ``left``, entries only in ``right``; both empty exactly when the states are the same."""
    mine, theirs = changes_of(left), changes_of(right)
    return list(_rows(mine - theirs)), list(_rows(theirs - mine))


def _rows(entries: Counter[str]) -> Iterator[Change]:
    for text in sorted(entries.elements()):
        yield Change.model_validate_json(text)
