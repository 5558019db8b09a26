"""Environments that are not ours: one of the user's own, and wherever recorded runs were made."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from synth.environments.contract import Environment, EnvironmentKeys, EnvironmentSpec
from synth.environments.guarded import guarded
from synth.errors import InputError
from synth.identity import versioned
from synth.own_code import load

__all__ = ["OWN_ENVIRONMENT", "RECORDED_ENVIRONMENT", "OwnPlace", "RecordedPlace"]


class OwnPlace(EnvironmentKeys):
    """An environment of yours, made by a function of yours."""

    kind: Literal["own"]
    made_by: str = Field(pattern=r"^[\w.]+:\w+$")
    """``module:function`` that makes the environment (:mod:`synth.environments.contract`)."""
    options: dict[str, Any] = {}
    """Keyword arguments of that function."""


class RecordedPlace(EnvironmentKeys):
    """Where recorded runs were made, of which nothing is known: it can't be opened here."""

    kind: Literal["recorded"]


@versioned(2)
def _own(*, made_by: str, options: dict[str, Any] | None = None, inputs: Any = None) -> Environment:
    return guarded(load(made_by, "environment.made_by")(**(options or {})))


@versioned(3)
def _recorded(*, inputs: Any = None) -> Environment:
    """
    Raises:
        InputError: always.
    """
    what = "runs were recorded elsewhere: there is no environment to open"
    raise InputError(what, where="environment", mend="say {kind: own, made_by: module:function}")


OWN_ENVIRONMENT = EnvironmentSpec("own", _own, libraries=(), prompt="agents/tools", rl_prompt="rl/tools", keys=OwnPlace)
RECORDED_ENVIRONMENT = EnvironmentSpec("recorded", _recorded, libraries=(), keys=RecordedPlace)
