"""What people ask of an application that was composed from tools, and in what words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.environments.app.from_tools.choosing import choices_of
from synth.environments.app.from_tools.tables import Column, Table, literal, quoted
from synth.environments.app.from_tools.vocabulary import CREATES, is_id, spaced, words
from synth.environments.app.from_tools.writing import Made
from synth.text.inflection import article

__all__ = ["requests_of"]

_OPTIONAL = 2
"""Values that need not be given and are now and then."""
_MOVES = frozenset({"move", "assign", "reassign", "transfer"})


def requests_of(
    tables: Mapping[str, Table], made: Mapping[str, Made], rules: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The ``requests`` of an application."""
    return _Requests(tables, made, rules).all()


class _Requests:
    def __init__(
        self, tables: Mapping[str, Table], made: Mapping[str, Made], rules: Sequence[Mapping[str, Any]]
    ) -> None:
        self.tables = tables
        self.made = made
        self.rules = rules
        self.references = {table.name: found for table in tables.values() if (found := self._references(table))}

    def all(self) -> dict[str, Any]:
        asks: dict[str, Any] = {}
        for name, one in self.made.items():
            for suffix, ask in self._asks(one):
                key = f"{name}_{suffix}"[:48] if suffix else name
                refused = self._refused(name, one)
                asks[key] = {"tool": name, **ask, **({"refused_by": refused} if refused else {})}
        questions = {f"{name}_{column}"[:48]: found for name, column, found in self._questions()}
        return {"references": self.references, "asks": asks, "questions": questions}

    # -- references --------------------------------------------------------------------------------------------------

    def _references(self, table: Table) -> list[dict[str, Any]]:
        """By name, where a list that can be called shows names beside keys."""
        if table.label is None or not table.entity.handed_out:
            return []
        name, key = table.label, table.key
        shortest = sorted(
            (one for one in self.made.values() if one.table is table and one.kind == "list"),
            key=lambda one: (len(set(one.required) - {one.query}), one.query is None),
        )
        for one in shortest:
            needed = [argument for argument in one.required if argument != one.query]
            if len(needed) > 1 or any(argument not in one.columns for argument in needed):
                continue
            look: dict[str, str] = {argument: argument for argument in needed}
            look |= {one.query: name} if one.query else {}
            columns = ", ".join(map(quoted, [key, name, *needed]))
            said = f"the {table.noun} {{{name}:quote}}"
            if needed:
                said += f" of {self._plain(one.columns[needed[0]])}"
            missing = "".join(f" AND {quoted(argument)} IS NOT NULL" for argument in needed)
            return [
                {
                    "from": f"SELECT {columns} FROM {quoted(table.name)} WHERE {quoted(name)} IS NOT NULL{missing}",
                    "by": [name, *needed],
                    "words": [said],
                    "again": [f"that {table.noun}"],
                    "look": [{"tool": one.operation.name, **({"with": look} if look else {})}],
                }
            ]
        return []

    def _plain(self, column: Column) -> str:
        """A value of a column, its key where it is a reference."""
        if column.refers is None:
            return f"the {spaced(column.name)} {self._value(column.name, column)}"
        other = self.tables[column.refers]
        quote = "" if other.entity.handed_out else ":quote"
        return f"{other.noun} {{{column.name}{quote}}}"

    def _of(self, one: Made) -> str:
        """Where the row is that a tool is about: said where looking it up does not show it."""
        told = {name for form in self.references.get(one.table.name, ()) for name in form["by"]}
        found = [
            name
            for name in one.scope
            if one.table.name not in self.references or name not in (*told, *one.table.entity.scope)
        ]
        return "".join(f" of {self._plain(one.columns[name])}" for name in found)

    def _row(self, argument: str, table: Table, form: str = "") -> str:
        """The row that an argument means, in words."""
        if table.name in self.references:
            return f"{{{argument}{form}}}"
        if table.entity.handed_out:
            return f"{table.noun} {{{argument}}}"
        return f"the {table.noun} {{{argument}:quote}}"

    # -- asks --------------------------------------------------------------------------------------------------------

    def _asks(self, one: Made) -> Iterator[tuple[str, dict[str, Any]]]:
        if one.kind == "create":
            yield "", self._create(one)
        elif one.kind == "update":
            yield from self._updates(one)
        elif one.kind == "state":
            yield "", self._state(one)
        elif one.kind == "delete":
            more, of = one.scope, self._of(one)
            row, start = self._row(str(one.key), one.table) + of, self._row(str(one.key), one.table, ":start") + of
            there = " AND ".join(f"{quoted(argument)} IS NOT NULL" for argument in more) or "TRUE"
            picked = ", ".join([self._key(one), *map(quoted, more)])
            yield (
                "",
                {
                    "from": f"SELECT {picked} FROM {quoted(one.table.name)} WHERE {there}",
                    "do": [f"delete {row}", f"remove {row}"],
                    "say": [f"{start} is no longer needed and should be deleted."],
                    "ends": True,
                },
            )
        elif one.kind in ("join", "part") and one.link is not None:
            yield "", self._pair(one)

    def _key(self, one: Made) -> str:
        return f"{quoted(one.table.key)} AS {quoted(str(one.key))}"

    def _create(self, one: Made) -> dict[str, Any]:
        table = one.table
        given = [name for name in one.required if name in one.columns]
        optional = [name for name in one.columns if name not in given and self._sayable(one.columns[name])]
        label = table.label if table.label in one.columns else one.key
        if label in optional:
            given.insert(0, label)
            optional.remove(label)
        optional = [name for name in optional if not one.columns[name].refers][:_OPTIONAL]
        verb = one.operation.verb if one.operation.verb in CREATES else "create"
        verb = "write" if verb in words("makings") else verb
        columns = {**one.columns, **({one.key: Column(one.key, "text")} if one.key else {})}
        given.sort(key=lambda name: columns[name].refers is None)
        inner = [*([one.key] if one.key else []), *given, *optional]
        owner = next((name for name in given if columns[name].refers), None)
        above = self.tables[str(columns[owner].refers)] if owner else None
        same = [name for name in inner if above and name in above.entity.scope and name in above.columns]
        source = choices_of(self.tables, table, {name: columns[name] for name in inner if name not in same}, optional)
        if above is not None and same:
            picked = "".join(f", p.{quoted(name)}" for name in same)
            same_row = f"p.{quoted(above.key)} = q.{quoted(str(owner))}"
            source = f"SELECT q.*{picked} FROM ({source}) q JOIN {quoted(above.name)} p ON {same_row}"
            if above.name in self.references:
                inner = [name for name in inner if name not in same]
        named = [name for name in (label,) if name]
        head = f"{{verb}} {article(table.noun)} {table.noun}"
        tail, tells = self._attributes(
            [name for name in inner if name not in named], columns, set(optional), "to" if verb == "send" else "for"
        )
        called = ""
        if named:
            called = f" {'titled' if label in ('title', 'subject', 'headline') else 'named'} {{{label}:quote}}"
        ask: dict[str, Any] = {
            "from": source,
            "do": [head.format(verb=verb) + called + tail],
            "say": [f"We need a new {table.noun}{called}{tail}."],
        }
        if verb != "create":
            ask["do"].append(head.format(verb="create") + called + tail)
        if tells:
            ask["tells"] = tells
        return ask

    def _sayable(self, column: Column) -> bool:
        return column.type != "boolean" and not is_id(column.name)

    def _attributes(
        self, names: Sequence[str], columns: Mapping[str, Column], optional: set[str], joined: str = "for"
    ) -> tuple[str, list[str]]:
        """ " for ..., with the ... and the ..."""
        text, began, owner = "", False, False
        tells: list[str] = []
        for name in names:
            column = columns[name]
            if column.refers and not owner and name not in optional:
                text += f" {joined} {self._row(name, self.tables[column.refers])}"
                owner = True
                continue
            later = [other for other in names[names.index(name) + 1 :] if other not in optional]
            joint = " with" if not began or name in optional else "," if later else " and"
            if column.type == "boolean":
                part = f"{joint} {spaced(name)} switched on"
                tells.append(name)
            elif column.refers:
                part = (
                    f"{joint} {self._row(name, self.tables[column.refers])} as the {spaced(name.removesuffix('_id'))}"
                )
            else:
                part = f"{joint} the {spaced(name)} {self._value(name, column)}"
            began = began or name not in optional
            text += f"[[{',' if began else ''}{part}]]" if name in optional else part
        return text, tells

    def _value(self, name: str, column: Column) -> str:
        form = {"money": ":money", "date": ":day", "text": ":quote", "note": ":quote"}.get(column.type, "")
        return f"{{{name}{form}}}"

    def _updates(self, one: Made) -> Iterator[tuple[str, dict[str, Any]]]:
        table, key = one.table, str(one.key)
        needed = [name for name in one.required if name not in (key, *one.scope)]
        changing = [needed[0]] if needed else [name for name in one.columns if name not in one.scope][:5]
        for name in changing:
            column = one.columns[name]
            rest = [other for other in needed if other != name]
            columns = {key: Column(key, "text", refers=table.entity.noun), name: column}
            columns |= {other: one.columns[other] for other in rest}
            source = self._about(one, columns)
            source += f" WHERE t.{quoted(name)} IS NOT q.{quoted(name)}"
            row, start = self._row(key, table) + self._of(one), self._row(key, table, ":start") + self._of(one)
            said = spaced(name.removesuffix("_id") if column.refers else name)
            value = self._row(name, self.tables[column.refers]) if column.refers else self._value(name, column)
            tail, tells = self._attributes(rest, columns, set())
            ask: dict[str, Any] = {"from": source}
            if column.type == "boolean":
                ask |= {"do": [f"mark {row} as {said.removeprefix('is ')}"], "tells": [name, *tells]}
            elif one.operation.verb in _MOVES and len(needed) == 1:
                ask["do"] = [f"{one.operation.verb} {row} to {value}"]
            else:
                ask["do"] = [
                    f"change the {said} of {row} to {value}{tail}",
                    f"set the {said} of {row} to {value}{tail}",
                ]
                ask["say"] = [f"The {said} of {row} should be {value}{tail}."]
                if not rest:
                    ask["left"] = [
                        {
                            "argument": name,
                            "do": [f"change the {said} of {row}"],
                            "topic": f"the new {said}",
                            "keywords": [said.split()[-1], "what", "which", "new"],
                            "says": [f"{value}.", f"Make it {value}."],
                        }
                    ]
                if column.type == "note":
                    ask["say"] = [f"The {said} of {row} should read: {value}{tail}"]
                else:
                    ask["say"].append(f"{start} needs another {said}: {value}{tail}.")
                if tells:
                    ask["tells"] = tells
            yield (name if len(changing) > 1 else ""), ask

    def _about(self, one: Made, columns: Mapping[str, Column]) -> str:
        """SELECT of changes of a row: choices, with where the row is."""
        table = one.table
        more = "".join(f", t.{quoted(name)}" for name in one.scope)
        same = f"t.{quoted(table.key)} = q.{quoted(str(one.key))}"
        choices = choices_of(self.tables, table, columns, [])
        return f"SELECT q.*{more} FROM ({choices}) q JOIN {quoted(table.name)} t ON {same}"

    def _state(self, one: Made) -> dict[str, Any]:
        table, key = one.table, str(one.key)
        needed = [name for name in one.required if name not in (key, *one.scope)]
        columns = {key: Column(key, "text", refers=table.entity.noun)} | {name: one.columns[name] for name in needed}
        source = self._about(one, columns)
        source += f" WHERE t.{quoted(str(table.status))} IS NOT {literal(one.state)}"
        row, start = self._row(key, table) + self._of(one), self._row(key, table, ":start") + self._of(one)
        tail, tells = self._attributes(needed, columns, set())
        ask: dict[str, Any] = {
            "from": source,
            "do": [f"{one.operation.verb} {row}{tail}"],
            "say": [f"{start} should be {one.state}{tail}."],
        }
        return ask | ({"tells": tells} if tells else {})

    def _pair(self, one: Made) -> dict[str, Any]:
        assert one.link is not None
        first, second = one.link.first, one.link.second
        names = {table.name: name for name, table in one.ends.items()}
        a, b = names[first.name], names[second.name]
        picked = f"a.{quoted(first.key)} AS {quoted(a)}, b.{quoted(second.key)} AS {quoted(b)}"
        same = " AND ".join(
            f"l.{quoted(end.key)} = {at}.{quoted(end.key)}" for at, end in (("a", first), ("b", second))
        )
        there = f"(SELECT 1 FROM {quoted(one.link.name)} l WHERE {same})"
        some = "" if one.kind == "part" else "NOT "
        to, verb = ("to", "add") if one.kind == "join" else ("from", "remove")
        what, whom = self._row(b, second), self._row(a, first)
        return {
            "from": f"SELECT {picked} FROM {quoted(first.name)} a, {quoted(second.name)} b WHERE {some}EXISTS {there}",
            "do": [f"{verb} {what} {to} {whom}"],
            "say": [f"{self._row(b, second, ':start')} should be {verb.removesuffix('e')}ed {to} {whom}."],
        }

    # -- rules and questions -----------------------------------------------------------------------------------------

    def _refused(self, name: str, one: Made) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for rule in self.rules:
            if name in rule["before"] and (look := self._look(str(rule["name"]), one)) is not None:
                found[str(rule["name"])] = [look]
        return found

    def _look(self, rule: str, one: Made) -> dict[str, Any] | None:
        """The reading call that shows how things stand."""
        table = one.table
        own = [other for other in self.made.values() if other.table is table]
        if rule.endswith("_is_final"):
            read = next(r for r in own if r.kind == "read" and set(r.scope) <= set(table.entity.scope))
            if not set(read.scope) <= set(one.scope):
                return None
            return {"tool": read.operation.name, "with": {read.key: one.key} | {name: name for name in read.scope}}
        if rule.endswith("_is_new"):
            name = table.label if table.entity.handed_out else one.key
            lists = [other for other in own if other.kind == "list" and not set(other.required) - {other.query}]
            best = min(lists, key=lambda other: (other.query is None, len(other.columns)))
            return {"tool": best.operation.name, **({"with": {best.query: name}} if best.query else {})}
        for other in self.made.values():
            if other.kind != "list" or not rule.endswith(f"_has_no_{other.table.name}"):
                continue
            for name, column in other.columns.items():
                if column.refers == table.entity.noun and not set(other.required) - {name}:
                    return {"tool": other.operation.name, "with": {name: one.key}}
        return None

    def _questions(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        for name, one in self.made.items():
            table = one.table
            if one.kind != "read":
                continue
            more = one.scope
            for column, spec in table.columns.items():
                if column in (table.label, *more) or spec.refers or spec.type in ("boolean", "datetime"):
                    continue
                said = spaced(column)
                row = self._row(str(one.key), table)
                row += self._of(one)
                there = " AND ".join(f"{quoted(each)} IS NOT NULL" for each in (column, *more))
                picked = ", ".join([self._key(one), *map(quoted, more), quoted(column)])
                yield (
                    name,
                    column,
                    {
                        "from": f"SELECT {picked} FROM {quoted(table.name)} WHERE {there}",
                        "words": [f"What is the {said} of {row}?", f"Which {said} does {row} have?"]
                        if spec.type != "note"
                        else [f"What does the {said} of {row} say?"],
                        "answer": f"{{{column}{':money' if spec.type == 'money' else ''}}}",
                        "kind": {"integer": "number", "money": "number", "date": "date"}.get(spec.type, "text"),
                        "shown": [column],
                        "look": [{"tool": name, "with": {argument: argument for argument in one.required}}],
                        **self._refers(one, table),
                    },
                )

    def _refers(self, one: Made, table: Table) -> dict[str, Any]:
        """How the row is referred to, where the name of the argument alone does not tell the table."""
        found = self.references.get(table.name)
        if not found:
            return {}
        again = json.loads(json.dumps(found[0]))
        key, name = quoted(table.key), quoted(str(one.key))
        if table.key != one.key:
            again["from"] = again["from"].replace(f"SELECT {key}", f"SELECT {key} AS {name}", 1)
        return {"refers": {str(one.key): again}}
