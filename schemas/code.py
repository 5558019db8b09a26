"""Code that tasks are about: the files of a project, and what was broken in one of them."""

from __future__ import annotations

from typing import Annotated, ClassVar

from synth.schemas.details import Facts
from synth.schemas.row import Key, NonEmpty, Row

__all__ = ["CodeFile", "Mutated", "Mutation", "Place"]


class CodeFile(Row):
    """A file of the project, as its tests pass on it."""

    table: ClassVar[str | None] = "code_files"

    id: Annotated[NonEmpty, Key()]
    """Its path in the project, with ``/`` between the parts."""
    text: str
    """Its content."""
    is_test: bool
    """Whether it belongs to the tests: what an agent changes in it has no effect on a verdict."""
    licence: str | None = None
    """SPDX id of its licence, None when unknown."""


class Mutation(Row):
    """An edit that breaks working code (SWE-smith, arXiv 2504.21798): undone, the code works again."""

    path: NonEmpty
    """The file."""
    start: int
    """Where the edit begins in the file's text, in code points."""
    old: str
    """What stood there."""
    new: str
    """What stands there now."""
    operator: NonEmpty
    """Kind of edit."""
    scope: str
    """The function that it is in, ``Class.method``; empty at the top of a module."""

    def applied(self, text: str) -> str:
        """``text``, broken.

        Raises:
            ValueError: the text is not the one that the edit was made for.
        """
        end = self.start + len(self.old)
        if text[self.start : end] != self.old:
            raise ValueError(f"{self.path}: {self.old!r} does not stand at {self.start}")
        return text[: self.start] + self.new + text[end:]


class Place(Row):
    """Where a function or a class is defined."""

    path: NonEmpty
    scope: NonEmpty
    """``Class.method``."""
    line: int
    """From 1, in the project as it was."""
    is_class: bool = False

    @property
    def name(self) -> str:
        return self.scope.rpartition(".")[2]


class Mutated(Facts):
    """What a task of repair knows of its own solution."""

    mutation: Mutation
    failing: tuple[str, ...]
    """Tests that pass without the edit and fail with it."""
    passing: int
    """How many tests pass with and without it."""
    shown_by: str | None = None
    """The failing test from which ``way`` begins."""
    way: tuple[Place, ...] = ()
    """From that test to the function that was broken, by the names that each mentions; empty where none leads there."""
