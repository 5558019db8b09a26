"""Where functions of a project are defined and what they mention: the way from a test to the code that it fails in.

Names are matched as a reader with a search for ``def name(`` matches them: by the name alone. So a way found here is
one that can be gone by reading and searching.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from synth.schemas.code import Place

__all__ = ["Definition", "Definitions", "definitions_of", "mentioned"]


@dataclass(frozen=True)
class Definition:
    """A function, a method or a class."""

    place: Place
    mentions: tuple[str, ...]
    """Names in its body that may be functions of the project, in order; of a class, those of ``__init__``."""


def mentioned(node: ast.AST) -> tuple[str, ...]:
    """Names that ``node`` calls, hands on or reads off an object, in order of the text."""
    found: list[tuple[int, int, str]] = []
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
            found.append((part.end_lineno or 0, part.end_col_offset or 0, part.attr))
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            found.append((part.lineno, part.end_col_offset or 0, part.id))
    return tuple(dict.fromkeys(name for _, _, name in sorted(found)))


def definitions_of(path: str, text: str) -> list[Definition]:
    """All definitions in a file; none where it is no Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    return list(_defined(path, tree, ()))


def _defined(path: str, node: ast.AST, scope: tuple[str, ...]) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = (*scope, child.name)
            yield Definition(Place(path=path, scope=".".join(inner), line=child.lineno), mentioned(child))
            yield from _defined(path, child, inner)
        elif isinstance(child, ast.ClassDef):
            inner = (*scope, child.name)
            made = [part for part in child.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
            place = Place(path=path, scope=".".join(inner), line=child.lineno, is_class=True)
            yield Definition(place, tuple(name for part in made for name in mentioned(part)))
            yield from _defined(path, child, inner)
        else:
            yield from _defined(path, child, scope)


class Definitions:
    """All definitions of a project."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """
        Args:
            texts: Path -> text of its files, tests among them.
        """
        self._all = [one for path, text in texts.items() if path.endswith(".py") for one in definitions_of(path, text)]
        self._by_name: dict[str, list[Definition]] = {}
        for one in self._all:
            self._by_name.setdefault(one.place.name, []).append(one)

    def way(self, test: str, path: str, scope: str) -> tuple[Place, ...]:
        """The shortest way from ``test`` (``path::Class::name``) to the function ``scope`` of ``path``.

        Returns:
            The places on it, without the test and with the function (of ``__init__``: with its class); empty where
            names do not lead there.
        """
        begun_in, *parts = test.partition("[")[0].split("::")
        begun = (begun_in, ".".join(parts))
        queue: deque[tuple[Definition, tuple[Place, ...]]] = deque(
            (one, ()) for one in self._all if (one.place.path, one.place.scope) == begun
        )
        seen = {one.place for one, _ in queue}
        while queue:
            here, way = queue.popleft()
            for one in (found for name in here.mentions for found in self._by_name.get(name, ())):
                if one.place in seen:
                    continue
                seen.add(one.place)
                further = (*way, one.place)
                if one.place.path == path and scope in (one.place.scope, f"{one.place.scope}.__init__"):
                    return further
                queue.append((one, further))
        return ()
