"""What can be asked of an application in a state: calls that a user might want, and references that fit one row."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from synth.environments.app.definition import Argument, Definition
from synth.environments.app.environment import AppEnvironment, AppEpisode
from synth.environments.app.requests import Ask, Question, Reference, Requests
from synth.environments.app.state import AppBeginning
from synth.errors import InputError
from synth.exploration.app.phrases import plain, usable
from synth.exploration.pipeline import blank_task
from synth.schemas.details import details_with
from synth.schemas.tasks import Task
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import Values as Texts
from synth.tasks.writing.requests import values_of

__all__ = ["AppRequests", "AppValues", "Form", "Values", "beginning_of"]

Values = dict[str, Any]
_MOST = 4_000
"""Rows of a SELECT of requests that are looked at."""
_STATES = 8
"""States whose texts are kept: neighbouring candidates share one."""


def beginning_of(environment: AppEnvironment, app_seed: int) -> Task:
    """A task that says nothing but in which state it is set."""
    return blank_task(
        f"reverse-{environment.definition.name}-{app_seed}", "app", details_with(AppBeginning(app_seed=app_seed))
    )


@dataclass(frozen=True)
class Form:
    """A way to refer to the rows of a table, or to what an argument of one ask is about."""

    reference: Reference
    column: str
    """Of the key, in the rows of the reference."""
    table: str | None
    """None where it is not a key of a table."""


class AppRequests:
    """The requests of one application."""

    def __init__(self, environment: AppEnvironment) -> None:
        """
        Raises:
            InputError: the application says nothing about what people ask of it.
        """
        found = environment.definition.requests
        if found is None:
            raise InputError(
                "it has no `requests`, and without them nobody knows what people ask of it, and in what words",
                where=environment.where,
                mend="add `requests:` with `asks:` (see the shipped applications), or take one that has it",
            )
        self.environment = environment
        self.definition: Definition = environment.definition
        self.requests: Requests = found
        self._columns: dict[str, int] = {}
        self._keys: dict[str, dict[str, str]] = {}

    def speakers(self, episode: AppEpisode) -> list[Values]:
        """Those who may write, each with ``speaker`` as a further column; one without columns where it is always the
        same person."""
        speaker = self.requests.speaker
        if speaker is None:
            return [{"speaker": None}]
        key = self.definition.tables[speaker.table].key[0]
        return [{**row, "speaker": row[key]} for row in self._rows(episode, speaker.source, {})]

    def rows(self, episode: AppEpisode, source: Ask | Question, speaker: Any) -> list[Values]:
        """What may be asked now, in a fixed order."""
        return self._rows(episode, source.source, {"speaker": speaker})

    def tool(self, name: str) -> str:
        """The tool of an ask."""
        return self.requests.asks[name].tool or name

    def arguments(self, name: str, row: Mapping[str, Any]) -> Values:
        """The call that an ask's row is."""
        given: Values = {}
        for argument, spec in self.definition.tools[self.tool(name)].arguments.items():
            value = row.get(argument)
            if value is None:
                continue
            if spec.type == "list" and isinstance(value, str):
                value = json.loads(value)
            given[argument] = bool(value) if spec.type == "boolean" else value
        return given

    def keys(self, name: str) -> dict[str, str]:
        """Arguments of an ask that are keys, each with its table."""
        if name not in self._keys:
            arguments = self.definition.tools[self.tool(name)].arguments
            tables = {argument: self.definition.table_of(argument, spec) for argument, spec in arguments.items()}
            self._keys[name] = {argument: table for argument, table in tables.items() if table is not None}
        return self._keys[name]

    def forms(self, source: Ask | Question | None, argument: str, spec: Argument | None) -> tuple[Form, ...]:
        """Ways to refer to what ``argument`` is about; empty where it is not a reference."""
        if source is not None and argument in source.refers:
            table = None if spec is None else self.definition.table_of(argument, spec)
            return (Form(source.refers[argument], argument, table), *self._of(table))
        return self._of(None if spec is None else self.definition.table_of(argument, spec))

    def _of(self, table: str | None) -> tuple[Form, ...]:
        if table is None:
            return ()
        key = self.definition.tables[table].key[0]
        return tuple(Form(reference, key, table) for reference in self.requests.references.get(table, ()))

    def referred(self, episode: AppEpisode, form: Form, key: Any, row: Mapping[str, Any]) -> tuple[Values | None, int]:
        """The row that is referred to, and how many rows agree with it in what is said."""
        found = self._rows(episode, form.reference.source, row)
        mine = next((one for one in found if one[form.column] == key), None)
        if mine is None:
            return None, 0
        told = [mine[column] for column in form.reference.by]
        return mine, sum([one[column] for column in form.reference.by] == told for one in found)

    def weighed(self, episode: AppEpisode, rule: str, row: Mapping[str, Any]) -> tuple[bool, tuple[str, ...]] | None:
        """Whether a rule holds for an ask's row now, as it is weighed, and the words for that; None where nothing says
        how it is weighed."""
        every = self.requests.weighs.get(rule, ())
        weighing = next((one for one in every if one.needs <= row.keys()), None)
        found = self._rows(episode, weighing.source, row) if weighing is not None else []
        if weighing is None or not found:
            return None
        values, holds = {**row, **found[0]}, bool(found[0]["holds"])
        words = weighing.met if holds else weighing.broken
        return holds, tuple(plain(one, values, episode.now[:10]) for one in words if usable(one, values))

    def holes(self, name: str, row: Mapping[str, Any]) -> Iterator[tuple[str, Argument, Any]]:
        """Arguments that an ask's row gives, with what they are."""
        arguments = self.definition.tools[self.tool(name)].arguments
        for argument, value in self.arguments(name, row).items():
            yield argument, arguments[argument], value

    def _rows(self, episode: AppEpisode, sql: str, values: Mapping[str, Any]) -> list[Values]:
        """Rows of a SELECT, sorted by all their columns: in an order that no plan of SQLite's decides."""
        plain = {name: value for name, value in values.items() if value is None or isinstance(value, str | int)}
        if sql not in self._columns:
            first = episode.look(f"SELECT * FROM ({sql}) LIMIT 1", plain)
            if not first:
                return []
            self._columns[sql] = len(first[0])
        order = ", ".join(map(str, range(1, self._columns[sql] + 1)))
        return episode.look(f"SELECT * FROM ({sql}) ORDER BY {order} LIMIT {_MOST}", plain)


class AppValues:
    """The short texts of one application by state: those in its rows, and those that its tools choose from."""

    def __init__(self, environment: AppEnvironment) -> None:
        self.environment = environment
        self._of = lru_cache(_STATES)(self._found)

    def of(self, draft: Draft) -> Texts:
        """Those of the state in which a task begins."""
        return self._of(int(str(AppBeginning.of(draft.details).app_seed)))

    def _found(self, app_seed: int) -> Texts:
        return values_of([*self._cells(app_seed), *self._choices()])

    def _cells(self, app_seed: int) -> Iterator[object]:
        episode = self.environment.reset(beginning_of(self.environment, app_seed))
        try:
            for name, table in self.environment.definition.tables.items():
                for column, spec in table.columns.items():
                    if spec.type == "text":
                        rows = episode.look(f'SELECT DISTINCT "{column}" AS text FROM "{name}"', {})
                        yield from (row["text"] for row in rows)
        finally:
            episode.close()

    def _choices(self) -> Iterator[object]:
        definition = self.environment.definition
        for table in definition.tables.values():
            for column in table.columns.values():
                yield from column.among
        for tool in definition.tools.values():
            for argument in tool.arguments.values():
                yield from _choices_of(argument)


def _choices_of(argument: Argument) -> Iterator[str]:
    yield from argument.among
    for inner in (*argument.fields.values(), *([argument.of] if argument.of is not None else [])):
        yield from _choices_of(inner)
