"""Tables of an application by the parameters of its tools, and the data that fill them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from synth.environments.app.from_tools.entities import Entity, Understood
from synth.environments.app.from_tools.reading import Parameter, snake
from synth.environments.app.from_tools.vocabulary import ROWS, pool, spaced, words

__all__ = ["Column", "Link", "Table", "data_of", "literal", "quoted", "tables_of", "texts_of", "used_texts"]

_MOST_COLUMNS = 12
"""Columns of a table up to which it gets those that are only shown."""
_MOST_OF_ALL = 24
"""Columns of a table: what SQLite can put into the record of a change has a bound."""
_RANGE = re.compile(r"(?:from|between) (-?\d{1,6}) (?:to|and) (-?\d{1,6})")
_PAIRS = (("enabled", "disabled"), ("active", "inactive"), ("locked", "unlocked"), ("published", "unpublished"))
_CLOCKS = ("09:00", "10:30", "13:00", "15:15", "17:45")


@dataclass(frozen=True)
class Column:
    """A column and the arguments that fill it."""

    name: str
    type: str
    """A type of arguments, :data:`synth.environments.app.definition.ArgumentType`."""
    among: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    refers: str | None = None
    """Noun of the entity whose key it holds."""

    @property
    def stored(self) -> str:
        return "text" if self.type == "note" else self.type


@dataclass
class Table:
    """An entity with its columns."""

    entity: Entity
    columns: dict[str, Column]
    """Without the key."""
    label: str | None = None
    """The column by which people name a row."""
    status: str | None = None
    states: tuple[str, ...] = ()
    told_by: dict[str, str] = field(default_factory=dict)
    """Columns that only a tool which leads to a state fills, with that state."""
    """Values of the status that tools lead to or that there are; the first is that of a new row."""

    @property
    def name(self) -> str:
        return self.entity.table

    @property
    def key(self) -> str:
        return self.entity.key

    @property
    def noun(self) -> str:
        return spaced(self.entity.noun)


@dataclass(frozen=True)
class Link:
    """A table of pairs: which rows of two tables belong together."""

    first: Table
    second: Table
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.first.entity.noun}_{self.second.name}"[:48]


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return f'"{name}"'


def literal(value: str | int) -> str:
    """A value as SQL writes it."""
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def column_of(parameter: Parameter, home: Entity, understood: Understood) -> Column | None:
    """The column that a parameter of a tool about ``home`` fills; None: what it takes fits none."""
    name = snake(parameter.name)
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,40}", name) or name in ("now", "today"):
        return None
    other = understood.entity_of(name, home)
    if other is not None and parameter.kind in ("string", "integer", "number"):
        return Column(name, "text", refers=other.noun)
    kind, tail = parameter.kind, name.split("_")[-1]
    if kind == "boolean":
        return Column(name, "boolean")
    if kind in ("integer", "number"):
        if tail in words("money"):
            return Column(name, "money", least=1)
        return Column(name, "integer", least=_bound(parameter, 0), most=_bound(parameter, 1))
    if kind != "string":
        return None
    if parameter.choices:
        return Column(name, "text", among=tuple(dict.fromkeys(parameter.choices)))
    form = str(parameter.schema.get("format") or "")
    if form == "date" or name in words("days") or tail in ("date", "day"):
        return Column(name, "date")
    if form == "date-time" or name in words("times"):
        return Column(name, "datetime")
    return Column(name, "note" if name in words("notes") or tail in words("notes") else "text")


def _bound(parameter: Parameter, side: int) -> int:
    given = parameter.schema.get(("minimum", "maximum")[side])
    if isinstance(given, int):
        return given
    found = _RANGE.search(str(parameter.schema.get("description") or ""))
    return int(found[side + 1]) if found else (0, 1_000_000)[side]


def tables_of(understood: Understood) -> dict[str, Table]:
    """Tables by noun: the columns that tools write, choose by or show."""
    tables = {noun: _table(entity, understood) for noun, entity in understood.entities.items()}
    return tables


def _table(entity: Entity, understood: Understood) -> Table:
    columns: dict[str, Column] = {}
    shown = {snake(name) for one in entity.operations for name in one.tool.shows}
    asking = {*words("service"), *words("queries")}
    for kinds in (("create",), ("update", "state"), ("read", "list")):
        for operation in entity.of(*kinds):
            for parameter in operation.tool.parameters:
                name = snake(parameter.name)
                unusual = name in words("service") or (kinds[0] != "create" and name in asking)
                if name in entity.key_names or name in columns or unusual or len(columns) >= _MOST_OF_ALL:
                    continue
                found = column_of(parameter, entity, understood)
                wanted = kinds[0] != "read" or parameter.required or name in shown
                if found is not None and (wanted or found.among or found.refers):
                    columns[name] = found
    for operation in entity.operations:
        for field_name, schema in operation.tool.shows.items():
            name = snake(field_name)
            told = {*words("service"), *entity.key_names, *columns, entity.key, "id", "object", "success", "message"}
            if name in told or len(columns) >= _MOST_COLUMNS or operation.kind not in ("read", "list", "create"):
                continue
            found = column_of(Parameter(field_name, schema, False), entity, understood)
            if found is not None and (found.refers or schema.get("type")):
                columns[name] = found
    columns.pop(entity.key, None)
    table = Table(entity, columns)
    table.label = _label(table)
    if table.label is None and entity.handed_out and not entity.implied and not columns:
        columns["name"] = Column("name", "text")
        table.label = "name"
    _find_states(table)
    usual = {snake(p.name) for one in entity.of("create", "update") for p in one.tool.parameters}
    for operation in entity.of("state"):
        for parameter in operation.tool.parameters:
            name = snake(parameter.name)
            if name in columns and name not in usual and name != table.status and parameter.name != table.label:
                table.told_by[name] = words("verbs")["state"].get(operation.verb, "done")
    return table


def _label(table: Table) -> str | None:
    plain = [name for name, column in table.columns.items() if column.type == "text" and not column.refers]
    plain = [name for name in plain if not table.columns[name].among]
    for wanted in words("names"):
        for name in (f"{table.entity.noun}_{wanted}", wanted):
            if name in plain:
                return str(name)
    return None


def _find_states(table: Table) -> None:
    reached = [words("verbs")["state"].get(one.verb, "done") for one in table.entity.of("state")]
    named = next((name for name in ("status", "state") if name in table.columns), None)
    if not reached and named is None:
        return
    table.status = named or "status"
    listed = list(table.columns[named].among) if named else []
    if listed and all(state in listed for state in reached):
        table.states = tuple(listed)
        return
    usual = next((first for pair in _PAIRS for first in pair if set(pair) & set(reached)), None)
    start = usual if usual and usual not in reached[:1] else next((p[1] for p in _PAIRS if p[0] in reached), "open")
    table.states = tuple(dict.fromkeys([start, *listed, *reached]))
    table.columns[table.status] = Column(table.status, "text", among=table.states)


def texts_of(table: Table, column: Column) -> tuple[str, ...]:
    """Texts that fit a column."""
    if column.among:
        return column.among
    if column.type == "note":
        return tuple(words("pools")["sentences"]["is"])
    head = table.entity.noun
    found = pool(column.name) or (pool(head) if column.name in (table.label, table.key) else None)
    return found or tuple(words("pools")["things"]["is"])


def used_texts(table: Table, column: Column) -> tuple[str, ...]:
    """Those that rows begin with, each once: some are left for rows that people ask for."""
    every = texts_of(table, column)
    return every[: max(2, min(ROWS, len(every) * 2 // 3))]


def _rows(table: Table) -> int:
    if not table.entity.handed_out:
        return len(used_texts(table, Column(table.key, "text")))
    return ROWS


def data_of(tables: Mapping[str, Table], links: Sequence[Link]) -> tuple[list[str], dict[str, list[str]]]:
    """Statements that fill the tables, those that others refer to first, and the lists that they draw from."""
    lists: dict[str, list[str]] = {"clocks": list(_CLOCKS)}
    statements = [_fill(tables, table, lists) for table in _ordered(tables)]
    for link in links:
        one, other = link.first, link.second
        statements.append(
            f"INSERT INTO {quoted(link.name)} SELECT a.{quoted(one.key)}, b.{quoted(other.key)} "
            f"FROM {quoted(one.name)} a, {quoted(other.name)} b "
            f"WHERE roll({literal(link.name)}, a.{quoted(one.key)} || '/' || b.{quoted(other.key)}, 5) = 0"
        )
    return statements, lists


def _ordered(tables: Mapping[str, Table]) -> Iterator[Table]:
    left = dict(tables)
    while left:
        ready = [
            table
            for table in left.values()
            if not any(
                column.refers in left and column.refers != table.entity.noun for column in table.columns.values()
            )
        ]
        for table in ready or [next(iter(left.values()))]:
            yield table
            del left[table.entity.noun]


def _fill(tables: Mapping[str, Table], table: Table, lists: dict[str, list[str]]) -> str:
    count = _rows(table)
    names: list[str] = [table.key, *table.columns]
    values = [f"code({literal(table.name)}, i)" if table.entity.handed_out else _each(table, Column(table.key, "text"))]
    seen = list(_ordered(tables))
    for name, column in table.columns.items():
        if name == table.label:
            values.append(_each(table, column))
        elif column.refers is not None:
            other = tables[column.refers]
            late = seen.index(other) >= seen.index(table)
            values.append("NULL" if late else _other(other, f"{table.name}.{name}"))
        else:
            drawn = _drawn(table, column, lists)
            if name in table.told_by and table.status:
                lists.setdefault(f"{table.name}_{table.status}"[:48], list(table.states))
                state = _drawn(table, table.columns[table.status], lists)
                drawn = f"CASE WHEN {state} = {literal(table.told_by[name])} THEN {drawn} END"
            values.append(drawn)
    listed = ", ".join(map(quoted, names))
    return (
        f"INSERT INTO {quoted(table.name)} ({listed}) SELECT {', '.join(values)} FROM numbers WHERE i < {count} * :size"
    )


def _each(table: Table, column: Column) -> str:
    """Another text for each row."""
    used = used_texts(table, column)
    options = " ".join(f"WHEN {at} THEN {literal(text)}" for at, text in enumerate(used))
    place = f"(i + roll({literal(table.name)}, 0, {len(used)})) % {len(used)}"
    return f"CASE {place} {options} END || CASE WHEN i < {len(used)} THEN '' ELSE ' ' || (i / {len(used)} + 1) END"


def _other(other: Table, salt: str) -> str:
    if other.entity.handed_out:
        return f"code({literal(other.name)}, roll({literal(salt)}, i, {_rows(other)} * :size))"
    key = quoted(other.key)
    ranked = f"SELECT {key} AS k, row_number() OVER (ORDER BY {key}) - 1 AS n FROM {quoted(other.name)}"
    return f"(SELECT k FROM ({ranked}) WHERE n = roll({literal(salt)}, i, {_rows(other)}))"


def _drawn(table: Table, column: Column, lists: dict[str, list[str]]) -> str:
    salt = f"{table.name}.{column.name}"
    if column.type in ("text", "note"):
        name = f"{table.name}_{column.name}"[:48]
        states = column.name == table.status
        lists[name] = list(table.states if states else texts_of(table, column))
        return f"word({literal(name)}, i)"
    if column.type == "boolean":
        return f"roll({literal(salt)}, i, 3) = 0"
    if column.type == "money":
        return f"500 + 250 * roll({literal(salt)}, i, 40)"
    if column.type == "integer":
        low = column.least if column.least is not None else 1
        most = min(column.most if column.most is not None else low + 19, low + 19)
        return f"{low} + roll({literal(salt)}, i, {max(1, most - low + 1)})"
    day = f"add_days(:today, roll({literal(salt)}, i, 40) - 10)"
    return day if column.type == "date" else f"{day} || ' ' || word('clocks:{salt}', i)"
