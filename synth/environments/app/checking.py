"""Does a definition work? Every statement is prepared and every template compared with what it can put in, before an
agent meets them: SQLite would otherwise find a wrong name in the middle of an episode."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from synth.environments.app.build import empty_database, in_sql, tables_of
from synth.environments.app.database import Database, Mode, TooMuchWork
from synth.environments.app.definition import Argument, Definition, Listing, Rule
from synth.environments.app.requests import (
    Ask,
    Confirm,
    Look,
    Question,
    Reference,
    Requests,
    Weighing,
    holes_in,
)
from synth.environments.app.tools import CompiledTool, Rules
from synth.environments.app.words import names_in
from synth.errors import InputError

__all__ = ["check_definition"]

Select = Callable[[str, str, dict[str, Any]], tuple[str, ...]]
"""Place, SQL and what is bound -> names of its columns."""
Fail = Callable[[str, str], Exception]
"""Place and problem -> what to raise."""


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
            _check_requests(definition, definition.requests, names, checker.select, checker.fail)
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


def _check_requests(
    definition: Definition, requests: Requests, rules: Iterable[str], select: Select, fail: Fail
) -> None:
    """
    Raises:
        InputError: (made by ``fail``) the first statement that SQLite refuses, or name that does not exist.
    """
    checker = _RequestChecker(definition, requests, frozenset(rules), select, fail)
    checker.speaker()
    for table, references in requests.references.items():
        checker.references(table, references)
    for name, ask in requests.asks.items():
        checker.ask(name, ask)
    for name, question in requests.questions.items():
        checker.question(name, question)
    for rule, weighings in requests.weighs.items():
        checker.weighings(rule, weighings)


class _RequestChecker:
    def __init__(
        self, definition: Definition, requests: Requests, rules: frozenset[str], select: Select, fail: Fail
    ) -> None:
        self.definition = definition
        self.requests = requests
        self.rules = rules
        self.select = select
        self.fail = fail
        self.bound: dict[str, Any] = {"now": None, "today": None, "speaker": None}
        self.arguments: dict[str, Argument] = {}
        for tool in definition.tools.values():
            for name, spec in tool.arguments.items():
                self.arguments.setdefault(name, spec)

    def among(self, place: str, names: Iterable[str], known: Iterable[str], what: str) -> None:
        listed = list(known)
        for name in names:
            if name not in listed:
                raise self.fail(place, f"there is no {what} {name!r} (there are: {', '.join(sorted(listed))})")

    def words(self, place: str, templates: Iterable[str], known: Iterable[str]) -> None:
        for number, template in enumerate(templates):
            try:
                names = holes_in(template)
            except ValueError as error:
                raise self.fail(f"{place}.{number}", str(error)) from None
            self.among(f"{place}.{number}", sorted(names), known, "column")

    def looks(self, place: str, looks: Sequence[Look], columns: Iterable[str]) -> None:
        for number, look in enumerate(looks):
            at = f"{place}.{number}"
            self.among(
                at, [look.tool], (n for n, tool in self.definition.tools.items() if not tool.writes), "reading tool"
            )
            self.among(
                f"{at}.with", look.arguments, self.definition.tools[look.tool].arguments, f"argument of {look.tool}"
            )
            self.among(f"{at}.with", look.arguments.values(), columns, "column")

    def speaker(self) -> None:
        speaker = self.requests.speaker
        if speaker is None:
            return
        place = "requests.speaker"
        self.among(place, [speaker.table], self.definition.tables, "table")
        columns = self.select(f"{place}.from", speaker.source, self.bound)
        self.among(f"{place}.from", [self.definition.tables[speaker.table].key[0]], columns, "column")
        self.words(f"{place}.words", speaker.words, columns)
        if speaker.table not in self.requests.references:
            raise self.fail(place, f"nothing says how {speaker.table} are found: add references.{speaker.table}")

    def references(self, table: str, references: Sequence[Reference]) -> None:
        place = f"requests.references.{table}"
        self.among("requests.references", [table], self.definition.tables, "table")
        if len(self.definition.tables[table].key) != 1:
            raise self.fail(place, "only a table with a key of one column can be referred to; see `refers` of an ask")
        for number, reference in enumerate(references):
            self.reference(f"{place}.{number}", reference, self.definition.tables[table].key[0], {})

    def reference(self, place: str, reference: Reference, key: str, row: Mapping[str, Any]) -> None:
        columns = self.select(f"{place}.from", reference.source, {**self.bound, **row})
        self.among(f"{place}.from", [key], columns, "column")
        self.among(f"{place}.by", reference.by, columns, "column")
        self.among(f"{place}.shown", reference.shown or (), columns, "column")
        self.words(f"{place}.words", (*reference.words, *reference.again), columns)
        self.looks(f"{place}.look", reference.look, columns)

    def ask(self, name: str, ask: Ask) -> None:
        place = f"requests.asks.{name}"
        tool = ask.tool or name
        self.among(place, [tool], (n for n, spec in self.definition.tools.items() if spec.writes), "tool that writes")
        arguments = self.definition.tools[tool].arguments
        columns = self.select(f"{place}.from", ask.source, self.bound)
        self.among(
            f"{place}.from",
            (n for n, spec in arguments.items() if not spec.optional),
            columns,
            "column for the argument",
        )
        if not ask.do and not ask.say:
            raise self.fail(place, "there are no words for it: give `do` or `say`")
        self.words(f"{place}.do", ask.do, columns)
        self.words(f"{place}.say", ask.say, columns)
        self.words(f"{place}.because", ask.because, columns)
        for at, names in (("tells", ask.tells), ("free", ask.free), ("refers", tuple(ask.refers))):
            self.among(f"{place}.{at}", names, arguments, f"argument of {tool}")
        self.among(f"{place}.explains", filter(None, [ask.explains]), ask.free, "free argument")
        for argument, reference in ask.refers.items():
            self.reference(f"{place}.refers.{argument}", reference, argument, dict.fromkeys(columns))
        self.among(f"{place}.refused_by", ask.refused_by, self.rules, "rule")
        for rule, looks in ask.refused_by.items():
            self.looks(f"{place}.refused_by.{rule}", looks, columns)
            for number, look in enumerate(looks):
                self.words(f"{place}.refused_by.{rule}.{number}.shows", look.shows, columns)
        self.among(f"{place}.offers", ask.offers, ask.refused_by, "rule that decides on it")
        for rule, words in ask.offers.items():
            self.words(f"{place}.offers.{rule}", words, columns)
        if ask.confirm is not None:
            self.confirm(f"{place}.confirm", ask.confirm, arguments, columns)
        self.among(f"{place}.instead", ask.instead, self.requests.asks, "ask")
        for other, same in ask.instead.items():
            self.among(f"{place}.instead.{other}", same, columns, "column")
            theirs = self.select(f"requests.asks.{other}.from", self.requests.asks[other].source, self.bound)
            self.among(f"{place}.instead.{other}", same, theirs, f"column of {other}")
        for number, left in enumerate(ask.left):
            at = f"{place}.left.{number}"
            self.among(at, [left.argument], arguments, f"argument of {tool}")
            if not left.do and not left.say:
                raise self.fail(at, "there are no words for it: give `do` or `say`")
            self.words(f"{at}.words", (*left.do, *left.say, *left.says), columns)

    def confirm(self, place: str, confirm: Confirm, arguments: Mapping[str, Argument], columns: Iterable[str]) -> None:
        tools = self.definition.tools
        self.among(place, [confirm.tool], (n for n, tool in tools.items() if not tool.writes), "reading tool")
        self.among(f"{place}.tool", tools[confirm.tool].arguments, arguments, "argument of the ask's tool")
        self.words(f"{place}.words", confirm.words, (*columns, "amount", "line"))
        self.among(f"{place}.decides", confirm.decides, self.rules, "rule")

    def weighings(self, rule: str, weighings: Sequence[Weighing]) -> None:
        place = f"requests.weighs.{rule}"
        asks = {name: ask for name, ask in self.requests.asks.items() if rule in ask.refused_by}
        self.among("requests.weighs", [rule], (r for ask in asks.values() for r in ask.refused_by), "deciding rule")
        rows = {name: self.select(f"requests.asks.{name}.from", ask.source, self.bound) for name, ask in asks.items()}
        for number, one in enumerate(weighings):
            fits = [columns for columns in rows.values() if one.needs <= set(columns)]
            if not fits:
                raise self.fail(f"{place}.{number}.from", f"no ask that {rule} decides on has {sorted(one.needs)}")
            own = self.select(
                f"{place}.{number}.from", one.source, {**self.bound, "due": None, **dict.fromkeys(one.needs)}
            )
            self.among(f"{place}.{number}.from", ["holds"], own, "column")
            for columns in fits:
                self.words(f"{place}.{number}.met", (*one.met, *one.broken), {*own, *columns})

    def question(self, name: str, question: Question) -> None:
        place = f"requests.questions.{name}"
        columns = self.select(f"{place}.from", question.source, self.bound)
        self.words(f"{place}.words", question.words, columns)
        self.words(f"{place}.answer", (question.answer,), columns)
        self.words(f"{place}.aliases", question.aliases, columns)
        self.among(f"{place}.shown", question.shown, columns, "column")
        for argument, reference in question.refers.items():
            self.reference(f"{place}.refers.{argument}", reference, argument, dict.fromkeys(columns))
        self.looks(f"{place}.look", question.look, columns)
