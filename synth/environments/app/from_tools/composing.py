"""An application composed from a list of tools: entities become tables, verbs become effects, ids become references
(ASTRA, arXiv 2601.21558, by rule: no model, and no code of the tools' own is seen or run).

What a tool really does is known from its name, its parameters and what it shows, and from nothing else: a tool of which
these do not tell it is left out and said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from synth.environments.app.from_tools.entities import Understood, understand
from synth.environments.app.from_tools.reading import GivenTool, snake
from synth.environments.app.from_tools.requesting import requests_of
from synth.environments.app.from_tools.ruling import rules_of
from synth.environments.app.from_tools.tables import Link, Table, data_of, tables_of
from synth.environments.app.from_tools.vocabulary import spaced
from synth.environments.app.from_tools.writing import Made, Writer
from synth.errors import InputError
from synth.text.inflection import article, capital

__all__ = ["Composed", "compose"]


@dataclass(frozen=True)
class Composed:
    """An application, and what of the list is not in it."""

    text: str
    """The application's file."""
    tools: tuple[str, ...]
    """Tools that were made, by the names that they have in the list."""
    left_out: tuple[str, ...]
    """What could not be made, a line each."""


def compose(tools: Sequence[GivenTool], name: str, where: str) -> Composed:
    """An application with as many of ``tools`` as their names and parameters say enough of.

    Raises:
        InputError: nothing can be made of any of them.
    """
    understood = understand(tools)
    tables = tables_of(understood)
    links = _links(understood, tables)
    made, left_out = _made(understood, Writer(understood, tables, links, tables))
    # Once more, with no more than what is there: what deletes a row clears what refers to it.
    links = [link for link in links if any(one.link == link for one in made.values())]
    kept = _reached(tables, made)
    writer = Writer(understood, tables, links, kept)
    made, left_out = _made(understood, writer)
    if not any(one.spec.get("writes") for one in made.values()):
        raise InputError(
            f"none of its {len(tools)} tools could be made into one that changes something",
            where=where,
            mend="name tools by what they do (create_issue, update_issue), or write the application by hand",
        )
    data, lists = data_of(kept, links)
    rules = rules_of(kept, made)
    application: dict[str, Any] = {
        "name": name,
        "title": capital(spaced(name)),
        "licence": "CC0-1.0",
        "about": (
            "You work with these tools for the people who write to you. Do what they ask and no more. Look up what you "
            "need and never guess an id. If a rule forbids a request, say so."
        ),
        "clock": {"start": "2031-09-03 10:00", "tick_minutes": 1},
        "tables": {table.name: _table(table, kept) for table in kept.values()}
        | {link.name: _pairs(link) for link in links},
        "words": lists,
        "data": data,
        "policy": [{"title": "Rules", "rules": rules}] if rules else [],
        "tools": {key: one.spec for key, one in made.items()},
        "requests": requests_of(kept, made, rules),
    }
    if not application["requests"]["asks"]:
        raise InputError("no request fits its tools", where=where, mend="write the application by hand")
    text = yaml.safe_dump(application, sort_keys=False, allow_unicode=True, width=200)
    names = tuple(one.operation.tool.name for one in made.values())
    return Composed(text, names, tuple(f"{what}: {why}" for what, why in left_out.items()))


def _made(understood: Understood, writer: Writer) -> tuple[dict[str, Made], dict[str, str]]:
    """Tools by name, and what could not be made."""
    made: dict[str, Made] = {}
    left_out = dict(understood.left_out)
    for noun, entity in understood.entities.items():
        for operation in entity.operations:
            result = writer.tool(operation, writer.tables[noun])
            if isinstance(result, str):
                left_out[operation.tool.name] = result
            else:
                made[operation.name] = result
                for why in dict.fromkeys(result.left_out.values()):
                    which = ", ".join(what for what, said in result.left_out.items() if said == why)
                    left_out[f"{operation.tool.name}, without {which}"] = why
    return made, left_out


def _links(understood: Understood, tables: Mapping[str, Table]) -> list[Link]:
    """Pairs that tools put together or part: ``add_label_to_issue`` with the ids of both, where labels stand alone."""
    found: list[Link] = []
    for noun, entity in understood.entities.items():
        for one in entity.of("create", "delete"):
            other = understood.entities.get(one.owner)
            if other is None or other is entity or not entity.of("create", "read", "list"):
                continue
            takes = [understood.entity_of(snake(p.name), entity) for p in one.tool.parameters if p.required]
            if takes.count(entity) == 1 and takes.count(other) == 1:
                link = Link(tables[one.owner], tables[noun])
                if link not in found:
                    found.append(link)
    return found


def _reached(tables: Mapping[str, Table], made: Mapping[str, Made]) -> dict[str, Table]:
    """Tables that some tool needs, and those that they refer to."""
    found: dict[str, Table] = {}
    left = [one.table for one in made.values()]
    left += [end for one in made.values() if one.link for end in (one.link.first, one.link.second)]
    while left:
        table = left.pop(0)
        if table.entity.noun in found:
            continue
        found[table.entity.noun] = table
        left += [tables[column.refers] for column in table.columns.values() if column.refers]
    return {noun: table for noun, table in tables.items() if noun in found}


def _table(table: Table, tables: Mapping[str, Table]) -> dict[str, Any]:
    key: dict[str, Any] = {"type": "text", "key": True}
    made: dict[str, Any] = {"noun": table.noun}
    if table.label:
        made["label"] = f"{table.noun} {{{table.label}}}"
    if table.entity.handed_out:
        key["generated"] = True
        made["code"] = "####" if table.entity.whole_numbers else f"{table.noun[0].upper()}####"
    columns: dict[str, Any] = {table.key: key}
    for name, column in table.columns.items():
        spec: dict[str, Any] = {"type": column.stored, "optional": True}
        if column.refers is not None:
            spec["references"] = tables[column.refers].name
        if column.among:
            spec["in"] = list(column.among)
        columns[name] = spec
    made["columns"] = columns
    return made


def _pairs(link: Link) -> dict[str, Any]:
    return {
        "noun": f"{link.second.noun} of {article(link.first.noun)} {link.first.noun}",
        "columns": {
            end.key: {"type": "text", "key": True, "references": end.name} for end in (link.first, link.second)
        },
    }
