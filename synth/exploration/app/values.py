"""The short texts of an application: what stands in its rows, and what its tools let one choose from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from synth.environments.app.definition import Argument
from synth.environments.app.environment import AppEnvironment
from synth.environments.app.state import AppBeginning
from synth.exploration.app.drafts import empty_task
from synth.tasks.draft import Draft
from synth.tasks.writing.requests import Values, values_of

__all__ = ["AppValues"]

_STATES = 8
"""States whose values are kept: neighbouring candidates share one."""


class AppValues:
    """Values by state of one application."""

    def __init__(self, environment: AppEnvironment) -> None:
        self.environment = environment
        self._of = lru_cache(_STATES)(self._found)

    def of(self, draft: Draft) -> Values:
        """Those of the state in which a task begins."""
        return self._of(int(str(AppBeginning.of(draft.details).app_seed)))

    def _found(self, app_seed: int) -> Values:
        return values_of([*self._cells(app_seed), *self._choices()])

    def _cells(self, app_seed: int) -> Iterator[object]:
        episode = self.environment.reset(empty_task(self.environment, app_seed))
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
