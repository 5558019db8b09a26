"""Where recorded runs were made: an environment of the user's own, or one that can't be opened here."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

from pydantic import Field

from synth.environments.contract import Environment, EnvironmentKeys, EnvironmentSpec
from synth.environments.guarded import guarded
from synth.errors import InputError
from synth.identity import versioned

__all__ = ["RECORDED_ENVIRONMENT", "RecordedPlace"]


class RecordedPlace(EnvironmentKeys):
    """Where recorded runs were made."""

    kind: Literal["recorded"]
    made_by: str | None = Field(default=None, pattern=r"^[\w.]+:\w+$")
    """``module:function`` that makes the environment (:mod:`synth.environments.contract`). Then good runs are spoilt on
    purpose, and with ``roles.policy`` critical steps are verified. Empty = it can't be opened here."""
    options: dict[str, Any] = {}
    """Keyword arguments of that function."""


@versioned(1)
def _open(*, made_by: str | None = None, options: dict[str, Any] | None = None, inputs: Any = None) -> Environment:
    """
    Raises:
        InputError: the recipe has no ``made_by``.
    """
    if made_by is None:
        what, mend = "runs were recorded elsewhere: there is no environment to open", "say environment.made_by"
        raise InputError(what, where="environment", mend=mend)
    module, _, attribute = made_by.partition(":")
    return guarded(getattr(import_module(module), attribute)(**(options or {})))


RECORDED_ENVIRONMENT = EnvironmentSpec("recorded", _open, libraries=(), keys=RecordedPlace)
