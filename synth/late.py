"""Modules that a call needs when it runs, and neither ``import synth`` nor ``--help`` does."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["late"]


class _Late:
    """Stands for a module, and imports it when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)


def late(name: str) -> Any:
    """The module ``name``, not imported yet: ``if TYPE_CHECKING`` has the import that says what is in it."""
    return _Late(name)
