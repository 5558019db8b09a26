"""How the agents that carry out plans work, and how weak the policy among them is."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["DoerPolicyConfig", "DoerTeacherConfig"]


class DoerTeacherConfig(BaseModel):
    """How the teacher works."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    detour: float = Field(default=0.15, ge=0, le=1)
    """Chance, where a list shows several that could be meant, to look at another one first; it then goes back with a
    reason."""
    verify: float = Field(default=0.25, ge=0, le=1)
    """Share of runs that look once more after the last change."""
    parallel: float = Field(default=0.3, ge=0, le=1)
    """Chance to make look-ups that do not depend on each other at once."""
    patience: int = Field(default=30, ge=1)
    """Turns after which it gives up."""


class DoerPolicyConfig(BaseModel):
    """How weak the policy is. Rates are for ``skill`` 0.5 and scale with ``2 * (1 - skill)``: at 1 it makes none."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    skill: float = Field(default=0.5, ge=0, le=1)
    """Scales every rate below by ``2 * (1 - skill)``."""
    wrong_row: float = Field(default=0.14, ge=0, le=1)
    """Per call with an id: takes another row of the list that showed it."""
    stale_id: float = Field(default=0.06, ge=0, le=1)
    """Per call with an id: takes the one that it used for something else before."""
    made_up_id: float = Field(default=0.06, ge=0, le=1)
    """Per look-up: leaves it out and makes up the id that it would have shown."""
    wrong_value: float = Field(default=0.14, ge=0, le=1)
    """Per change: another amount, date or option than the one that was asked for."""
    forgotten: float = Field(default=0.12, ge=0, le=1)
    """Before the last of several changes: stops there."""
    twice: float = Field(default=0.05, ge=0, le=1)
    """After a change: makes it again."""
    gives_in: float = Field(default=0.45, ge=0, le=1)
    """Where the policy forbids what is asked for: tries it all the same, and then whatever else is near."""
    over_refuses: float = Field(default=0.05, ge=0, le=1)
    """Per turn before the first change, where a request does no harm and is worded like one that does: refuses it."""
    untried: float = Field(default=0.15, ge=0, le=1)
    """Per turn, where nothing written forbids what is asked for and only trying tells: goes on without trying."""
    assumes: float = Field(default=0.5, ge=0, le=1)
    """Where the user left something open: assumes a value in place of asking."""
    misread: float = Field(default=0.25, ge=0, le=1)
    """Where something is to be looked up: answers with another value of the kind that it saw."""
    early_stop: float = Field(default=0.03, ge=0, le=1)
    """Per turn: says that it is done."""
    gives_up: float = Field(default=0.25, ge=0, le=1)
    """After a failure of a tool: gives up."""
    again: float = Field(default=0.15, ge=0, le=1)
    """After a call that was refused: makes the same one again."""
    notices: float = Field(default=0.3, ge=0, le=1)
    """Per turn after it looked at a wrong row: sees it and goes back. Scales with ``2 * skill``."""
    patience: int = Field(default=24, ge=1)
    """Turns after which it says that it is done."""
