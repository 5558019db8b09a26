"""The words of an application that no tool says: what the agent is told, and what changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from synth.environments.app.ddl import VIOLATIONS
from synth.environments.app.definition import Definition, Table
from synth.environments.app.state import Change, RowChange

__all__ = ["changes_in_words", "entries_in_words", "fill", "instructions", "money", "names_in", "one_line"]

_HOLE = re.compile(r"\{([a-z][a-z0-9_]*)(?::([^{}]+))?\}")
_PART = re.compile(r"\[\[(.*?)\]\]", re.S)
_NUMBER = ("money", "yes")


def names_in(template: str) -> set[str]:
    """Names that a template puts in.

    Raises:
        ValueError: a brace that is no name, or an ending that there is not.
    """
    rest = _HOLE.sub("", template)
    if "{" in rest or "}" in rest:
        raise ValueError(f"a brace is no {{name}} in {template!r}")
    for _, ending in _HOLE.findall(template):
        if ending and ending not in _NUMBER and ending.count("/") != 1:
            raise ValueError(f"there is no ending {ending!r}: money, yes or noun/nouns")
    return {name for name, _ in _HOLE.findall(template)}


def fill(template: str, values: Mapping[str, Any], *, row: bool = False) -> str:
    """The words. In a ``row`` a value of several lines is written on one."""

    def put(match: re.Match[str]) -> str:
        return _written(values[match.group(1)], match.group(2), row)

    def part(match: re.Match[str]) -> str:
        inside = match.group(1)
        empty = any(values[name] in (None, "") for name, _ in _HOLE.findall(inside))
        return "" if empty else _HOLE.sub(put, inside)

    # The parts first, and each hole once: a value that looks like a hole stays what it is.
    pieces: list[str] = []
    at = 0
    for match in _PART.finditer(template):
        pieces += (_HOLE.sub(put, template[at : match.start()]), part(match))
        at = match.end()
    pieces.append(_HOLE.sub(put, template[at:]))
    return "".join(pieces)


def money(cents: int) -> str:
    """``-1234567`` is ``-$12,345.67``."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def _written(value: Any, ending: str | None, row: bool) -> str:
    if value is None:
        return "none"
    if ending == "money":
        return money(int(value))
    if ending == "yes":
        return "yes" if value else "no"
    if ending:
        singular, plural = ending.split("/")
        return f"{value:,} {singular if value == 1 else plural}"
    return one_line(str(value)) if row else str(value)


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
            said = _columns(table, change.after)
            lines.append(f"new {_named(change.table, table, change.after)}" + (f": {said}" if said else ""))
        elif change.after is None:
            lines.append(f"{_named(change.table, table, change.before)} is gone")
        else:
            said = "; ".join(
                f"{_spoken(column)} {_value(table, column, change.before[column])} → "
                f"{_value(table, column, change.after[column])}"
                for column, spec in table.columns.items()
                if not spec.volatile and change.before[column] != change.after[column]
            )
            if said:
                lines.append(f"{_named(change.table, table, change.before)}: {said}")
    return lines


def entries_in_words(entries: Sequence[Change], tables: Mapping[str, Table]) -> list[str]:
    """The same of canonical entries, in which a new row has no key."""
    lines = []
    for entry in entries:
        table = tables[entry.table_name]
        noun = table.noun if entry.table_name == VIOLATIONS else f"{table.noun} {' '.join(map(_plain, entry.key))}"
        if entry.kind == "added":
            lines.append(f"new {table.noun}: {_columns(table, entry.values)}")
        elif entry.kind == "removed":
            lines.append(f"{noun} is gone")
        else:
            said = (
                f"{_spoken(column)} {_value(table, column, before)} → {_value(table, column, after)}"
                for column, (before, after) in entry.values.items()
            )
            lines.append(f"{noun}: {'; '.join(said)}")
    return lines


def _named(name: str, table: Table, values: Mapping[str, Any]) -> str:
    if table.label is not None:
        return f"{table.noun} {fill(table.label, values, row=True)}"
    return f"{table.noun} {' '.join(str(values[column]) for column in table.key)}"


def _columns(table: Table, values: Mapping[str, Any]) -> str:
    """Columns that say something; not the key, which stands in front."""
    return "; ".join(
        f"{_spoken(column)} {_value(table, column, values[column])}"
        for column, spec in table.columns.items()
        if column in values and not spec.key and not spec.volatile and values[column] is not None
    )


def _spoken(column: str) -> str:
    return column.removesuffix("_cents").removesuffix("_id").replace("_", " ")


def _value(table: Table, column: str, value: Any) -> str:
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
