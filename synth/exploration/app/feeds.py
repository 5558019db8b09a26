"""Which tool of an application shows what another one takes, by its definition alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.environments.app.definition import Definition, Tool

__all__ = ["declared_feeds"]


def declared_feeds(definition: Definition) -> Iterator[tuple[str, str, str]]:
    """(source, target, argument): ``source`` shows a column that is the key of a table, ``target`` takes that key."""
    shown = {name: _shown(definition, tool) for name, tool in definition.tools.items()}
    for target, tool in definition.tools.items():
        for argument, spec in tool.arguments.items():
            table = definition.table_of(argument, spec)
            if table is None:
                continue
            for source in definition.tools:
                if source != target and table in shown[source]:
                    yield source, target, argument


def _shown(definition: Definition, tool: Tool) -> set[str]:
    """Tables whose keys stand in what a tool says, other than those that it was given."""
    keys = {table.key[0]: name for name, table in definition.tables.items() if len(table.key) == 1}
    said: list[str] = [listing.row for listing in tool.lists]
    if tool.says is not None:
        said.append(tool.says)
    holes = {name for text in said for name in re.findall(r"\{([a-z][a-z0-9_]*)", text)}
    shown = {keys[name] for name in holes if name in keys and name not in tool.arguments}
    for step in tool.steps:
        # A new key under its own name, and columns of a row that was found.
        if step.new is not None and step.new in holes and step.of is not None:
            shown.add(step.of)
    for name in holes:
        prefix, _, column = name.partition("_")
        if any(step.find == prefix for step in tool.steps):
            referred = {
                spec.references
                for table in definition.tables.values()
                for at, spec in table.columns.items()
                if at == column and spec.references is not None
            }
            shown |= {table for table in referred if table is not None}
    return shown
