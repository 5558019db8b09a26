"""Explores any environment from outside: arguments are values that observations have shown, or hints.

Nothing here knows an environment: schemas say of what type a value must be, and values that were used least come first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from synth.environments.contract import ID_ARGUMENTS, Environment, Episode
from synth.environments.rendering import find_links
from synth.exploration.argument_schemas import spelled_out
from synth.exploration.walks import Coverage, Explored, pick
from synth.identity import canonical_json

__all__ = ["SeenProposer"]

_TOKEN = re.compile(r"[\w][\w./#-]*[\w]")
_OPTIONAL = 0.3
"""Share of the arguments that may be left out which it gives."""


class SeenProposer:
    """Arguments from values that this walk has seen."""

    def __init__(self, environment: Environment, hints: Iterable[str] = ()) -> None:
        self._schemas = {tool.name: spelled_out(tool.parameters) for tool in environment.tools()}
        self._pool = _Pool(hints)

    def tool(self, episode: Episode, generator: np.random.Generator) -> str | None:
        return None

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        schema = self._schemas[tool]
        required = set(schema.get("required", ()))
        found: dict[str, Any] = {}
        for name, spec in sorted(schema.get("properties", {}).items()):
            if name not in required:
                share = _OPTIONAL / (1 + 0.1 * coverage.arguments[tool, name])
                if float(generator.random()) >= share:
                    continue
            options = list(_options(name, spec, self._pool, generator))
            if options:
                used = (coverage.values[tool, name, canonical_json(value)] for value in options)
                found[name] = options[pick([1 / (1 + 3 * count) for count in used], generator)]
            elif name in required:
                return None
        return found

    def writes(self, tool: str) -> bool | None:
        """Seen from outside, any tool may."""
        return None

    def saw(self, step: Explored) -> None:
        self._pool.add(step.result.content)


class _Pool:
    """Values that arguments may take: what observations showed, and hints."""

    def __init__(self, hints: Iterable[str]) -> None:
        self.ids: dict[str, None] = {}
        self.words: dict[str, None] = dict.fromkeys(hint for hint in hints if hint.strip())
        self.numbers: dict[int, None] = {}

    def add(self, content: str) -> None:
        for item in find_links(content):
            self.ids.setdefault(item.target)
            self.words.setdefault(item.anchor)
        for token in _TOKEN.findall(content):
            if token.isdigit():
                self.numbers.setdefault(int(token))
            else:
                self.words.setdefault(token)


def _options(name: str, schema: Mapping[str, Any], pool: _Pool, generator: np.random.Generator) -> Iterator[Any]:
    kind = schema.get("type")
    if "enum" in schema:
        yield from schema["enum"]
    elif kind == "boolean":
        yield from (False, True)
    elif kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10**9)
        yield from sorted({value for value in (low, low + 1, *pool.numbers) if low <= value <= high})
    elif kind == "string":
        longest = schema.get("maxLength", 400)
        values = pool.ids if name in ID_ARGUMENTS else pool.ids | pool.words | {str(n): None for n in pool.numbers}
        yield from (value for value in values if len(value) <= longest)
    elif kind == "array":
        yield from ([value] for value in _options(name, schema.get("items", {}), pool, generator))
    elif kind == "object":
        whole: dict[str, Any] = {}
        for inner, spec in schema.get("properties", {}).items():
            found = list(_options(inner, spec, pool, generator)) if inner in schema.get("required", ()) else []
            if found:
                whole[inner] = found[int(generator.integers(len(found)))]
        if set(schema.get("required", ())) <= set(whole):
            yield whole
