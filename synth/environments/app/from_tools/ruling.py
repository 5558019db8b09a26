"""Rules of an application that was composed from tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.environments.app.from_tools.tables import Table, literal, quoted
from synth.environments.app.from_tools.vocabulary import FINAL, plural_of, spaced, words
from synth.environments.app.from_tools.writing import Made
from synth.text.inflection import article, capital

__all__ = ["rules_of"]


def rules_of(tables: Mapping[str, Table], made: Mapping[str, Made]) -> list[dict[str, Any]]:
    """Rules that follow from what there is: final states are final, names are taken once, and what holds other
    things is not deleted. Each only where a tool shows what it turns on."""
    found: list[dict[str, Any]] = []
    for table in tables.values():
        own = {name: one for name, one in made.items() if one.table is table}
        found += [rule for rule in (_final(table, own), _taken(table, own)) if rule]
        found += _in_use(tables, table, own, made)
    return found


def _final(table: Table, own: Mapping[str, Made]) -> dict[str, Any] | None:
    final = [state for state in table.states if state in FINAL]
    changing = [n for n, one in own.items() if one.kind == "update" and table.status not in one.columns]
    reads = any(one.kind == "read" and set(one.scope) <= set(table.entity.scope) for one in own.values())
    if not final or not changing or not reads or len(final) == len(table.states):
        return None
    said = " or ".join(final)
    return {
        "name": f"{table.entity.noun}_is_final"[:48],
        "text": f"{capital(article(table.noun))} {table.noun} that is {said} is not changed any more.",
        "before": changing,
        "require": f":r_{table.status} IS NULL OR :r_{table.status} NOT IN ({', '.join(map(literal, final))})",
        "else": f"The {table.noun} is {{r_{table.status}}}: it is not changed any more.",
    }


def _taken(table: Table, own: Mapping[str, Made]) -> dict[str, Any] | None:
    name = table.label if table.entity.handed_out else table.key
    making = [
        n for n, o in own.items() if o.kind == "create" and name in o.spec["arguments"] and not o.operation.upserts
    ]
    shown = any(one.kind == "list" and not set(one.required) - {one.query} for one in own.values())
    if name is None or not making or not shown or name.split("_")[-1] not in words("unique"):
        return None
    return {
        "name": f"{table.entity.noun}_{name}_is_new"[:48],
        "text": f"No two {plural_of(table.noun)} have the same {spaced(name)}.",
        "before": making,
        "require": f"NOT EXISTS (SELECT 1 FROM {quoted(table.name)} x WHERE x.{quoted(name)} = :{name})",
        "else": f"There is {article(table.noun)} {table.noun} with the {spaced(name)} {{{name}}} already.",
    }


def _in_use(
    tables: Mapping[str, Table], table: Table, own: Mapping[str, Made], made: Mapping[str, Made]
) -> list[dict[str, Any]]:
    deleting = [name for name, one in own.items() if one.kind == "delete"]
    found = []
    for child in tables.values():
        for name, column in child.columns.items():
            listed = [
                one
                for one in made.values()
                if one.table is child and one.kind == "list" and name in one.columns and not set(one.required) - {name}
            ]
            if column.refers != table.entity.noun or child is table or not deleting or not listed:
                continue
            key, a = own[deleting[0]].key, capital(article(table.noun))
            there = f"SELECT 1 FROM {quoted(child.name)} x WHERE x.{quoted(name)} = :{key}"
            found.append(
                {
                    "name": f"{table.entity.noun}_has_no_{child.name}"[:48],
                    "text": f"{a} {table.noun} is only deleted when it has no {plural_of(child.noun)}.",
                    "before": [one for one in deleting if own[one].key == key],
                    "require": f"NOT EXISTS ({there})",
                    "else": f"The {table.noun} still has {plural_of(child.noun)}.",
                }
            )
    return found
