"""Values for requests: SELECTs that list the calls worth asking for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.environments.app.from_tools.tables import Column, Table, literal, quoted, texts_of

__all__ = ["choices_of"]

_CHOICES = 12
"""How many sets of values are drawn for a new row."""


def choices_of(
    tables: Mapping[str, Table], table: Table, columns: Mapping[str, Column], optional: Sequence[str]
) -> str:
    """SELECT of sets of values: references to every row of the first table, and with them one of each other."""
    plain = {name: column for name, column in columns.items() if not column.refers}
    rows = []
    for at in range(_CHOICES):
        row = [str(at)]
        for place, (name, column) in enumerate(plain.items()):
            given = name not in optional or (at + optional.index(name)) % 3 == 1
            row.append(_sql(table, column, at, place) if given else "NULL")
        rows.append(f"({', '.join(row)})")
    picked = [f"v.column{place} AS {quoted(name)}" for place, name in enumerate(plain, 2)]
    source = f"(VALUES {', '.join(rows)}) v"
    referring = [(name, column) for name, column in columns.items() if column.refers]
    for place, (name, column) in enumerate(referring):
        other = tables[str(column.refers)]
        key = quoted(other.key)
        ranked = f"SELECT {key} AS k, row_number() OVER (ORDER BY {key}) - 1 AS n, count(*) OVER () AS m"
        ranked += f" FROM {quoted(other.name)}"
        source += f" JOIN ({ranked}) r{place}"
        source += "" if place == 0 else f" ON r{place}.n = (v.column1 * 5 + r0.n * {place + 2}) % r{place}.m"
        picked.append(f"r{place}.k AS {quoted(name)}")
    return f"SELECT {', '.join(picked)} FROM {source}"


def _sql(table: Table, column: Column, at: int, place: int) -> str:
    """The value of choice ``at``."""
    if column.type == "boolean":
        return "1"
    if column.type == "money":
        return str(1200 + 350 * ((at * 7 + place) % 23))
    if column.type == "integer":
        low = column.least if column.least is not None else 1
        most = min(column.most if column.most is not None else low + 19, low + 19)
        return str(low + (at * 3 + place) % (most - low + 1))
    if column.type in ("date", "datetime"):
        day = f"add_days(:today, {2 + (at * 5 + 3 * place) % 37})"
        return day if column.type == "date" else f"{day} || ' {9 + at % 8:02d}:30'"
    texts = texts_of(table, column)
    return literal(texts[(len(texts) - 1 - at + 3 * place) % len(texts)])
