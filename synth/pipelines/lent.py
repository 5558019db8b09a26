"""Objects of the caller's, lent to the build that it waits for: a recipe names them by the functions here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

from synth.errors import InputError
from synth.identity import versioned

__all__ = ["ENVIRONMENT", "EXPERT", "POLICY", "SCORER", "lending"]

ENVIRONMENT = "synth.pipelines.lent:environment"
POLICY = "synth.pipelines.lent:policy"
EXPERT = "synth.pipelines.lent:expert"
SCORER = "synth.pipelines.lent:scorer"
_LENT: ContextVar[Mapping[str, Any]] = ContextVar("lent", default=MappingProxyType({}))


@contextmanager
def lending(**objects: Any) -> Iterator[None]:
    """Lend ``objects`` to the builds in the block."""
    before = _LENT.set(objects)
    try:
        yield
    finally:
        _LENT.reset(before)


def _lent(name: str) -> Any:
    """
    Raises:
        InputError: it is used outside the call that lent it.
    """
    found = _LENT.get().get(name)
    if found is None:
        raise InputError(f"the {name} was an object of the caller's", where="recipe", mend="name a function of yours")
    return found


@versioned(1)
def environment(**about: Any) -> Any:
    return _lent("environment")


@versioned(1)
def policy(*, task: Any, **about: Any) -> Any:
    return _lent("policy")(task)


@versioned(1)
def expert(**about: Any) -> Any:
    return _lent("expert")


@versioned(1)
def scorer(**about: Any) -> Any:
    return _lent("scorer")
