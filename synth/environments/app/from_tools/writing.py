"""Tools of an application by verb and parameters, and the rules that go with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synth.environments.app.from_tools.entities import Operation, Understood
from synth.environments.app.from_tools.reading import Parameter, snake
from synth.environments.app.from_tools.tables import Column, Link, Table, column_of, literal, quoted
from synth.environments.app.from_tools.vocabulary import plural_of, spaced, words
from synth.text.inflection import article, capital

__all__ = ["Made", "Writer"]

_SHOWN = 6
"""Columns in a line of a list, beside the key."""
_ABOUT = 300


@dataclass
class Made:
    """A tool of the application."""

    operation: Operation
    table: Table
    kind: str
    """``list``, ``read``, ``create``, ``update``, ``delete``, ``state``, ``join`` or ``part``."""
    spec: dict[str, Any]
    columns: dict[str, Column] = field(default_factory=dict)
    """Arguments that fill or choose by columns of the table."""
    key: str | None = None
    """The argument that is the key of the row that it is about."""
    query: str | None = None
    """The argument that names are searched by."""
    ends: dict[str, Table] = field(default_factory=dict)
    """Of ``join`` and ``part``: argument -> table."""
    link: Link | None = None
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def required(self) -> list[str]:
        return [name for name, spec in self.spec["arguments"].items() if not spec.get("optional")]

    @property
    def scope(self) -> list[str]:
        """Arguments that say where the row is, beside its key."""
        if self.kind in ("read", "delete"):
            return [name for name in self.columns if not self.spec["arguments"][name].get("optional")]
        return (
            [name for name in self.columns if name in self.table.entity.scope]
            if self.kind in ("update", "state")
            else []
        )

    @property
    def state(self) -> str:
        """Where a tool of the kind ``state`` leads."""
        reached = str(words("verbs")["state"].get(self.operation.verb, "done"))
        return reached


class Writer:
    """Makes the tools of one application."""

    def __init__(
        self, understood: Understood, tables: Mapping[str, Table], links: Sequence[Link], kept: Mapping[str, Table]
    ) -> None:
        """
        Args:
            kept: Those of ``tables`` that there will be.
        """
        self.understood = understood
        self.tables = tables
        self.links = links
        self.kept = kept

    def tool(self, operation: Operation, table: Table) -> Made | str:
        """The tool, or why it can't be made."""
        about = " ".join(operation.tool.about.split())[:_ABOUT] or f"{capital(operation.verb)} {table.noun}."
        made = Made(operation, table, operation.kind, {"about": about, "arguments": {}})
        problem = self._arguments(made)
        if problem is not None:
            return problem
        if made.kind in ("create", "delete") and self._join(made):
            return made
        if made.kind == "read" and made.key is None:
            made.kind = "list"
        if made.kind == "list" and made.key is not None and not made.operation.several and len(made.required) == 1:
            made.kind = "read"
        if made.kind in ("update", "delete", "state") and made.key is None:
            return f"it takes no id that tells which {table.noun} is meant"
        writers = {"list": self._list, "read": self._read, "create": self._create, "update": self._update}
        writers |= {"delete": self._delete, "state": self._state}
        return writers[made.kind](made) or made

    # -- arguments ---------------------------------------------------------------------------------------------------

    def _arguments(self, made: Made) -> str | None:
        table, reading = made.table, made.kind in ("list", "read")
        for parameter in made.operation.tool.parameters:
            name = snake(parameter.name)
            if reading and name in words("queries"):
                made.query = name
                made.spec["arguments"][name] = {
                    "about": _about(parameter, "Words to look for."),
                    "optional": not parameter.required,
                }
                continue
            if name in table.entity.key_names and (
                made.kind != "create" or (name == table.key and not table.entity.handed_out)
            ):
                made.key = name if made.key is None or parameter.required else made.key
                spec: dict[str, Any] = {"about": _about(parameter, f"The {table.noun}."), "refers": table.name}
                if made.kind == "create":
                    # A new name is no reference, whatever else has the argument's name.
                    spec = {"type": "note", "about": spec["about"], "most": 120}
                made.spec["arguments"][name] = spec | ({} if parameter.required else {"optional": True})
                continue
            column = table.columns.get(name) or column_of(parameter, table.entity, self.understood)
            service = name in words("service") and name not in table.columns
            if column is None or service or (name not in table.columns and not self._end(made, column)):
                if parameter.required and not service:
                    return f"it must be given {parameter.name}, and {_why(parameter)}"
                if not service:
                    made.left_out[parameter.name] = _why(parameter)
                continue
            made.columns[name] = column
            made.spec["arguments"][name] = self._argument(parameter, column)
        # What is looked up first shows the rest: where an issue is stands beside its number.
        arguments = made.spec["arguments"]
        made.spec["arguments"] = dict(sorted(arguments.items(), key=lambda one: "refers" not in one[1]))
        return None

    def _end(self, made: Made, column: Column) -> bool:
        return column.refers is not None and made.kind in ("create", "delete")

    def _argument(self, parameter: Parameter, column: Column) -> dict[str, Any]:
        spec: dict[str, Any] = {"type": column.type, "about": _about(parameter, f"The {spaced(column.name)}.")}
        if column.refers is not None:
            spec["refers"] = self.tables[column.refers].name
        if column.among:
            spec["in"] = list(column.among)
        for bound in ("least", "most"):
            if getattr(column, bound) is not None:
                spec[bound] = getattr(column, bound)
        if not parameter.required:
            spec["optional"] = True
        return spec

    # -- kinds -------------------------------------------------------------------------------------------------------

    def _list(self, made: Made) -> str | None:
        table = made.table
        conditions = []
        for name in made.columns:
            optional = made.spec["arguments"][name].get("optional")
            same = f"{quoted(name)} = :{name}"
            conditions.append(f"(:{name} IS NULL OR {same})" if optional else same)
        if made.key is not None:
            conditions.append(f"(:{made.key} IS NULL OR {quoted(table.key)} = :{made.key})")
        if made.query is not None:
            texts = [quoted(name) for name, one in table.columns.items() if one.type in ("text", "note")]
            searched = " || ' ' || ".join(f"coalesce({one}, '')" for one in [quoted(table.key), *texts])
            conditions.append(f"(:{made.query} IS NULL OR contains({searched}, :{made.query}))")
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        made.spec["says"] = f"{{total:{table.noun}/{plural_of(table.noun)}}}:"
        made.spec["lists"] = [
            {
                "from": f"SELECT * FROM {quoted(table.name)}{where} ORDER BY {quoted(table.key)}",
                "row": f"{{{table.key}}}: " + "; ".join(self._told(table, listed=True))
                if table.columns
                else f"{{{table.key}}}",
                "none": f"There is no such {table.noun}.",
                "page": 20,
            }
        ]
        return None

    def _told(self, table: Table, *, listed: bool, prefix: str = "") -> list[str]:
        """Its columns as parts of a line, the one that names a row first."""
        scope = table.entity.scope
        order = sorted(table.columns, key=lambda n: (n != table.label, n not in scope, table.columns[n].type == "note"))
        parts = []
        for name in order[:_SHOWN] if listed else order:
            column = table.columns[name]
            form = {"money": ":money", "boolean": ":yes"}.get(column.type, "")
            hole = f"{{{prefix}{name}{form}}}"
            parts.append(
                hole if name == table.label else f"{spaced(name)} {hole}" if listed else f"{spaced(name)}: {hole}"
            )
        return parts

    def _find(self, made: Made) -> dict[str, Any]:
        table = made.table
        source = f"SELECT * FROM {quoted(table.name)} WHERE {quoted(table.key)} = :{made.key}"
        source += "".join(f" AND {quoted(name)} = :{name}" for name in made.scope)
        return {"find": "r", "from": source, "else": f"There is no {table.noun} {{{made.key}}}."}

    def _without_optional(self, made: Made, why: str) -> None:
        for name in [name for name in made.columns if made.spec["arguments"][name].get("optional")]:
            del made.spec["arguments"][name], made.columns[name]
            made.left_out[name] = why

    def _read(self, made: Made) -> str | None:
        table = made.table
        self._without_optional(made, f"one {table.noun} is found without it")
        made.spec["steps"] = [self._find(made)]
        told = [
            f"{spaced(table.key) if table.entity.handed_out else table.noun}: {{r_{table.key}}}",
            *self._told(table, listed=False, prefix="r_"),
        ]
        made.spec["says"] = "\n".join(told)
        return None

    def _exist(self, made: Made, ends: Mapping[str, str]) -> list[dict[str, Any]]:
        """Steps that refuse ids of which there is no row. ``ends``: argument -> noun."""
        steps = []
        for name, noun in ends.items():
            other = self.tables[noun]
            same = "".join(f" AND {quoted(at)} = :{at}" for at in self.inherited(made, name))
            found = f"EXISTS (SELECT 1 FROM {quoted(other.name)} WHERE {quoted(other.key)} = :{name}{same})"
            optional = made.spec["arguments"][name].get("optional")
            steps.append(
                {
                    "require": f":{name} IS NULL OR {found}" if optional else found,
                    "else": f"There is no {other.noun} {{{name}}}.",
                    "error": "not_found",
                }
            )
        return steps

    def inherited(self, made: Made, reference: str) -> list[str]:
        """Arguments that say where the row is to which ``reference`` refers, and not where the new one is."""
        if made.kind != "create" or reference not in made.columns:
            return []
        other = self.tables[str(made.columns[reference].refers)]
        return [name for name in made.columns if name in other.entity.scope and name in other.columns]

    def _referred(self, made: Made) -> dict[str, str]:
        return {name: column.refers for name, column in made.columns.items() if column.refers is not None}

    def _create(self, made: Made) -> str | None:
        table = made.table
        if not made.spec["arguments"]:
            return f"nothing that it takes says what the new {table.noun} is"
        names, values = [table.key], [f":{made.key}" if made.key else ":new_key"]
        names += list(made.columns)
        values += [f":{name}" for name in made.columns]
        if table.status and table.status not in made.columns:
            names.append(table.status)
            values.append(literal(table.states[0]))
        elif table.status:
            values[names.index(table.status)] = f"coalesce(:{table.status}, {literal(table.states[0])})"
        steps = self._exist(made, self._referred(made))
        if made.key is None:
            if table.entity.handed_out:
                steps.append({"new": "new_key", "of": table.name})
            else:
                return f"it does not take the {spaced(table.key)} of the new {table.noun}"
        run = f"INSERT INTO {quoted(table.name)} ({', '.join(map(quoted, names))}) VALUES ({', '.join(values)})"
        if made.key is not None and made.operation.upserts and made.columns:
            sets = ", ".join(f"{quoted(name)} = coalesce(:{name}, {quoted(name)})" for name in made.columns)
            run += f" ON CONFLICT ({quoted(table.key)}) DO UPDATE SET {sets}"
        elif made.key is not None:
            there = f"EXISTS (SELECT 1 FROM {quoted(table.name)} WHERE {quoted(table.key)} = :{made.key})"
            steps.append(
                {
                    "require": f"NOT {there}",
                    "else": f"There is {article(table.noun)} {table.noun} {{{made.key}}} already.",
                }
            )
        steps.append({"run": run})
        made.spec |= {"writes": True, "steps": steps}
        made.spec["says"] = (
            f"The {table.noun} {{{made.key}}} is there now."
            if made.key
            else f"There is a new {table.noun}: {{new_key}}."
        )
        return None

    def _update(self, made: Made) -> str | None:
        table = made.table
        if not set(made.columns) - set(made.scope):
            return f"nothing that it takes says what changes about the {table.noun}"
        sets, optional = [], []
        for name in [name for name in made.columns if name not in made.scope]:
            if made.spec["arguments"][name].get("optional"):
                sets.append(f"{quoted(name)} = coalesce(:{name}, {quoted(name)})")
                optional.append(name)
            else:
                sets.append(f"{quoted(name)} = :{name}")
        steps = [self._find(made), *self._exist(made, self._referred(made))]
        if len(optional) == len(sets):
            given = " OR ".join(f":{name} IS NOT NULL" for name in optional)
            steps.append({"require": given, "else": "Say what is to be changed.", "error": "bad_arguments"})
        steps.append(
            {"run": f"UPDATE {quoted(table.name)} SET {', '.join(sets)} WHERE {quoted(table.key)} = :{made.key}"}
        )
        made.spec |= {"writes": True, "steps": steps, "says": f"{capital(table.noun)} {{{made.key}}} was changed."}
        return None

    def _state(self, made: Made) -> str | None:
        table = made.table
        status = str(table.status)
        sets = [f"{quoted(status)} = {literal(made.state)}"]
        sets += [
            f"{quoted(name)} = coalesce(:{name}, {quoted(name)})"
            for name in made.columns
            if name not in (status, *made.scope)
        ]
        steps = [self._find(made), *self._exist(made, self._referred(made))]
        steps.append(
            {
                "require": f":r_{status} IS NOT {literal(made.state)}",
                "else": f"{capital(table.noun)} {{{made.key}}} is {made.state} already.",
            }
        )
        steps.append(
            {"run": f"UPDATE {quoted(table.name)} SET {', '.join(sets)} WHERE {quoted(table.key)} = :{made.key}"}
        )
        made.spec |= {"writes": True, "steps": steps}
        made.spec["says"] = f"{capital(table.noun)} {{{made.key}}} is {made.state} now."
        return None

    def _delete(self, made: Made) -> str | None:
        table = made.table
        steps: list[dict[str, Any]] = [self._find(made)]
        for other in self.kept.values():
            for name, column in other.columns.items():
                if column.refers == table.entity.noun:
                    run = f"UPDATE {quoted(other.name)} SET {quoted(name)} = NULL WHERE {quoted(name)} = :{made.key}"
                    steps.append({"run": run})
        for link in self.links:
            if table in (link.first, link.second):
                steps.append({"run": f"DELETE FROM {quoted(link.name)} WHERE {quoted(table.key)} = :{made.key}"})
        steps.append({"run": f"DELETE FROM {quoted(table.name)} WHERE {quoted(table.key)} = :{made.key}"})
        self._without_optional(made, f"the {table.noun} that goes is found without it")
        made.spec |= {"writes": True, "steps": steps, "says": f"{capital(table.noun)} {{{made.key}}} is gone."}
        return None

    def _join(self, made: Made) -> bool:
        """Put two rows together, or part them, where the tool takes the ids of both."""
        owner = self.tables.get(made.operation.owner)
        link = next((one for one in self.links if one.second is made.table and one.first is owner), None)
        if link is None or owner is None:
            return False
        taken = {name: self.understood.entity_of(name, made.table.entity) for name in made.spec["arguments"]}
        ends = {name: self.tables[one.noun] for name, one in taken.items() if one in (owner.entity, made.table.entity)}
        if len(ends) != 2 or made.required != list(ends):
            return False
        made.link, made.ends, made.key = link, ends, None
        by_table = {table.name: name for name, table in ends.items()}
        first, second = by_table[link.first.name], by_table[link.second.name]
        for name, table in ends.items():
            made.spec["arguments"][name] |= {"type": "text", "refers": table.name}
        pair = f"{quoted(owner.key)} = :{first} AND {quoted(made.table.key)} = :{second}"
        there = f"EXISTS (SELECT 1 FROM {quoted(link.name)} WHERE {pair})"
        steps = self._exist(made, {name: table.entity.noun for name, table in ends.items()})
        says = f"{capital(made.table.noun)} {{{second}}}"
        if made.kind == "create":
            made.kind = "join"
            steps.append({"require": f"NOT {there}", "else": f"{says} has already been added."})
            steps.append({"run": f"INSERT INTO {quoted(link.name)} VALUES (:{first}, :{second})"})
            made.spec["says"] = f"{says} was added to {owner.noun} {{{first}}}."
        else:
            made.kind = "part"
            steps.append({"require": there, "else": f"{says} is not there."})
            steps.append({"run": f"DELETE FROM {quoted(link.name)} WHERE {pair}"})
            made.spec["says"] = f"{says} was taken off {owner.noun} {{{first}}}."
        made.spec |= {"writes": True, "steps": steps}
        made.columns = {}
        return True


def _about(parameter: Parameter, usual: str) -> str:
    return " ".join(str(parameter.schema.get("description") or "").split())[:_ABOUT] or usual


def _why(parameter: Parameter) -> str:
    """Why no column holds what a parameter takes."""
    if parameter.kind in ("array", "object"):
        return f"a column holds no {'list' if parameter.kind == 'array' else 'object'}"
    return "no tool writes or shows it"
