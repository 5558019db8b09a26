"""The state of an application: what changed since its beginning, exactly, canonically and in words; how to restore it.

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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from synth.environments.answers import differing_lines
from synth.environments.app.database import Database
from synth.environments.app.ddl import VIOLATIONS
from synth.environments.app.definition import Definition, Table
from synth.environments.app.words import fill, money, one_line
from synth.identity import canonical_json, digest
from synth.schemas.details import Facts
from synth.schemas.judgments import Harm
from synth.schemas.plans import Change, Wanted
from synth.schemas.row import Row
from synth.schemas.tasks import Task

__all__ = [
    "AppBeginning",
    "Change",
    "Goal",
    "RowChange",
    "apart",
    "beyond",
    "canonical",
    "changes_in_words",
    "changes_of",
    "differing",
    "entries_in_words",
    "instructions",
    "put_back",
    "touched",
]

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


class Goal(Row):
    """What a task wants of the state."""

    state: str
    """Canonical hash of the state to reach; of a task that only asks, that of the beginning."""
    changes: tuple[Change, ...] = ()
    """The state as a difference from the beginning, for the words of a verdict."""
    answer: Literal["required", "free"] = "free"
    """``required``: what the agent says must be the gold answer, too."""


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


def apart(present: list[Change], goal: Goal, tables: Mapping[str, Table]) -> tuple[list[str], str]:
    """Rules that were violated, and in words how a state that is not the goal's differs from it."""
    extra, missing = differing(present, list(goal.changes))
    broken = [str(entry.values["rule"]) for entry in extra if entry.table_name == VIOLATIONS]
    wrong = differing_lines(entries_in_words(missing, tables), entries_in_words(extra, tables))
    return broken, wrong or "The state is of another beginning."


def beyond(present: list[Change], task: Task, tables: Mapping[str, Table]) -> Harm | None:
    """What the present state has that the task's goal does not: ``financial`` where it is in a column of money."""
    goal = Wanted.of(task.details).goal
    extra, _ = differing(present, [] if goal is None else list(Goal.model_validate(goal).changes))
    of_money = (tables[one.table_name].columns[name].type == "money" for one in extra for name in one.values)
    return ("financial" if any(of_money) else "functional") if extra else None


def _rows(entries: Counter[str]) -> Iterator[Change]:
    for text in sorted(entries.elements()):
        yield Change.model_validate_json(text)


# --- in words ---------------------------------------------------------------------------------------------------------


def instructions(definition: Definition, hidden: frozenset[str]) -> str:
    """What the agent reads: its part, the conventions, and the policy without the rules that are ``hidden``."""
    lines = [f"# {definition.title}", "", one_line(definition.about), ""]
    money_too = any(column.type == "money" for table in definition.tables.values() for column in table.columns.values())
    lines.append(
        f"It is {definition.clock.start}. Dates are written YYYY-MM-DD, times YYYY-MM-DD HH:MM."
        + (" Tools show money in dollars and take it in cents." if money_too else "")
    )
    if hidden:
        lines.append("The application may keep rules that are not written here.")
    if definition.policy:
        lines += ["", "## Policy"]
    for section in definition.policy:
        rules = [rule for rule in section.rules if rule.name not in hidden]
        if section.rules and not rules and not section.text:
            continue
        lines += ["", f"### {section.title}"]
        if section.text:
            lines.append(one_line(section.text))
        lines += [f"- {one_line(rule.text)}" for rule in rules]
    return "\n".join(lines)


def changes_in_words(changes: Sequence[RowChange], tables: Mapping[str, Table]) -> list[str]:
    """A line per row that differs from the beginning, volatile columns left out."""
    lines = []
    for change in changes:
        table = tables[change.table]
        if change.before is None:
            assert change.after is not None
            said = _said_columns(table, change.after)
            lines.append(f"new {_titled(change.table, table, change.after)}" + (f": {said}" if said else ""))
        elif change.after is None:
            lines.append(f"{_titled(change.table, table, change.before)} is gone")
        else:
            said = "; ".join(
                f"{_spoken(column)} {_said(table, column, change.before[column])} → "
                f"{_said(table, column, change.after[column])}"
                for column, spec in table.columns.items()
                if not spec.volatile and change.before[column] != change.after[column]
            )
            if said:
                lines.append(f"{_titled(change.table, table, change.before)}: {said}")
    return lines


def entries_in_words(entries: Sequence[Change], tables: Mapping[str, Table]) -> list[str]:
    """The same of canonical entries, in which a new row has no key."""
    lines = []
    for entry in entries:
        table = tables[entry.table_name]
        noun = table.noun if entry.table_name == VIOLATIONS else f"{table.noun} {' '.join(map(_plain, entry.key))}"
        if entry.kind == "added":
            lines.append(f"new {table.noun}: {_said_columns(table, entry.values)}")
        elif entry.kind == "removed":
            lines.append(f"{noun} is gone")
        else:
            said = (
                f"{_spoken(column)} {_said(table, column, before)} → {_said(table, column, after)}"
                for column, (before, after) in entry.values.items()
            )
            lines.append(f"{noun}: {'; '.join(said)}")
    return lines


def _titled(name: str, table: Table, values: Mapping[str, Any]) -> str:
    if table.label is not None:
        return f"{table.noun} {fill(table.label, values, row=True)}"
    return f"{table.noun} {' '.join(str(values[column]) for column in table.key)}"


def _said_columns(table: Table, values: Mapping[str, Any]) -> str:
    """Columns that say something; not the key, which stands in front."""
    return "; ".join(
        f"{_spoken(column)} {_said(table, column, values[column])}"
        for column, spec in table.columns.items()
        if column in values and not spec.key and not spec.volatile and values[column] is not None
    )


def _spoken(column: str) -> str:
    return column.removesuffix("_cents").removesuffix("_id").replace("_", " ")


def _said(table: Table, column: str, value: Any) -> str:
    kind = table.columns[column].type
    if value is None:
        return "none"
    if kind == "money":
        return money(int(value))
    if kind == "boolean":
        return "yes" if value else "no"
    return _plain(value)


def _plain(value: Any) -> str:
    return "(new)" if isinstance(value, dict) else one_line(str(value))
