"""Does a definition work? Every statement is prepared and every template compared with what it can put in, before an
agent meets them: SQLite would otherwise find a wrong name in the middle of an episode."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable
from typing import Any

from synth.environments.app.build import empty_database, in_sql, tables_of
from synth.environments.app.checking_requests import check_requests
from synth.environments.app.database import Database, Mode, TooMuchWork
from synth.environments.app.definition import Definition, Listing, Rule
from synth.environments.app.saying import names_in
from synth.environments.app.tools import CompiledTool, Rules
from synth.errors import InputError

__all__ = ["check_definition"]


def check_definition(definition: Definition, rules: Rules, tools: Iterable[CompiledTool], where: str) -> None:
    """
    Raises:
        InputError: the first statement that SQLite refuses, or name in a template that nothing gives a value.
    """
    database = empty_database(definition, rules.all, where)
    try:
        checker = _Checker(database, where)
        checker.triggers(definition)
        for invariant in definition.invariants:
            checker.select(f"invariants.{invariant.name}", invariant.none, {"now": None, "today": None})
        for name, table in definition.tables.items():
            checker.template(f"tables.{name}.label", table.label or "", set(table.columns))
        for tool in tools:
            checker.tool(tool)
        if definition.requests is not None:
            names = [rule.name for rule in definition.rules]
            names += [rule.name for variant in definition.variants.values() for rule in variant.rules]
            check_requests(definition, definition.requests, names, checker.select, checker.fail)
    finally:
        database.close()


class _Checker:
    def __init__(self, database: Database, where: str) -> None:
        self.database = database
        self.where = where

    def fail(self, place: str, problem: str) -> InputError:
        return InputError(f"{place}: {problem}", where=self.where, mend="mend that part")

    def run(self, place: str, sql: str, values: dict[str, Any], mode: Mode) -> tuple[str, ...]:
        self.database.new_budget()
        try:
            return self.database.run(sql, values, mode=mode)[0]
        except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, TooMuchWork) as error:
            problem = in_sql(error)
            unbound = re.search(r"supply a value for binding.*(:\w+)", problem)
            if unbound:
                problem = f"nothing before it gives {unbound.group(1)} a value"
            raise self.fail(place, problem) from None

    def select(self, place: str, sql: str, values: dict[str, Any]) -> tuple[str, ...]:
        """Names of its columns."""
        names = self.run(place, f"SELECT * FROM ({sql}) LIMIT 0", values, "read")
        for name in names:
            if not name.isidentifier():
                raise self.fail(place, f"the column {name!r} needs a name of its own: write `... AS name`")
        return names

    def template(self, place: str, template: str, known: set[str]) -> None:
        try:
            names = names_in(template)
        except ValueError as error:
            raise self.fail(place, str(error)) from None
        for name in sorted(names - known):
            raise self.fail(place, f"nothing gives {{{name}}} a value (there are: {', '.join(sorted(known))})")

    def triggers(self, definition: Definition) -> None:
        """SQLite looks at a trigger when it fires first."""
        for name, table in tables_of(definition).items():
            key = table.key[0]
            row = ", ".join("NULL" for _ in table.columns)
            for sql in (
                f'INSERT INTO "{name}" VALUES ({row})',
                f'DELETE FROM "{name}"',
                f'UPDATE "{name}" SET "{key}" = "{key}"',
            ):
                self.run(f"rules of the table {name}", f"EXPLAIN {sql}", {}, "engine")

    def tool(self, tool: CompiledTool) -> None:
        values: dict[str, Any] = {"now": None, "today": None, **dict.fromkeys(tool.arguments)}
        for number, step in enumerate(tool.steps):
            if isinstance(step, Rule):
                place = f"rule {step.name} before {tool.name}"
                self.run(place, f"SELECT ({step.require})", values, "read")
                self.template(place, str(step.refusal), set(values))
                continue
            # Rules stand between the steps of the file: those before it are not counted.
            own = number - sum(isinstance(before, Rule) for before in tool.steps[:number])
            place = f"tools.{tool.name}.steps.{own}"
            if step.refusal is not None:
                self.template(place, step.refusal, set(values))
            if step.find is not None:
                names = self.select(place, str(step.source), values)
                values |= dict.fromkeys(f"{step.find}_{name}" for name in names)
            elif step.let is not None:
                self.run(place, f"SELECT ({step.be})", values, "read")
                values[step.let] = None
            elif step.new is not None:
                values[step.new] = None
            elif step.require is not None:
                self.run(place, f"SELECT ({step.require})", values, "read")
            else:
                self.run(place, f"EXPLAIN {step.run}", values, "write")
        for number, listing in enumerate(tool.tool.lists):
            self._listing(f"tools.{tool.name}.lists.{number}", listing, values)
        counts = {"total", "count"} if len(tool.tool.lists) == 1 else set()
        self.template(f"tools.{tool.name}.says", tool.tool.says or "", set(values) | counts)

    def _listing(self, place: str, listing: Listing, values: dict[str, Any]) -> None:
        names = self.select(place, listing.source, values)
        if listing.paged:
            self.run(place, f"{listing.source} LIMIT 0", values, "read")
        self.template(f"{place}.row", listing.row, set(names) | {"n"})
        self.template(f"{place}.none", listing.none, set(values))
