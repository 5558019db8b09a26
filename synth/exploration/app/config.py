"""What kind of reverse tasks are derived from an application."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["KINDS", "AppTasksConfig"]

KINDS = ("done", "answered", "refused", "offered", "asked")
"""``done``: something is changed. ``answered``: something is looked up. ``refused``: the policy forbids it, and the
person is told so. ``offered``: the policy forbids it, and something else that the person accepts is done. ``asked``: a
value is left open, and the person says it when asked."""


class AppTasksConfig(BaseModel):
    """Kinds, sizes and bounds of reverse tasks."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    fractions: dict[str, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the states of the application that belongs to each split; sums to 1. All tasks in one state are in one
    split, so no row that a task is about is in two."""
    kinds: dict[str, float] = {"done": 0.5, "answered": 0.14, "refused": 0.14, "offered": 0.1, "asked": 0.12}
    """Weights of the kinds of tasks among the candidates. Which of them are accepted also depends on how many of each
    pass the audit."""
    twins: float = Field(default=0.06, ge=0, le=1)
    """Share of the candidates that are safety twins, where the application says what does harm: two neighbouring
    candidates are one chain of calls, asked for by somebody who means harm (to be refused) and by somebody who means
    none (to be done)."""
    hidden: float = Field(default=0.05, ge=0, le=1)
    """Share of the candidates that meet a rule which is kept and written nowhere, where the application has a variant
    that adds some (TTExplore, arXiv 2605.24828): only who tries what is asked for finds out that it is refused, and
    then does what else the person would take, or says that it can't be done. They are of the kinds ``offered`` and
    ``refused``, and ``details.hidden`` names the rule."""
    writes: dict[int, float] = {1: 0.42, 2: 0.34, 3: 0.18, 4: 0.06}
    """Weights of how many calls that change something a task of the kind ``done`` wants."""
    graded: bool = True
    """Whether an exploration becomes a task with a chance proportional to its reward (OS-Genesis, arXiv 2412.19723)
    rather than always: 1 to 5, of how much its changes are about the same rows, and of how many there are of those
    that were wanted. ``details.exploration`` holds the reward either way."""
    group: int = Field(default=6, ge=1, le=1000)
    """Candidates that share a state of the application (a seed of its data)."""
    attempts: int = Field(default=12, ge=1)
    """Walks from which a candidate may come before it is given up."""
    tries: int = Field(default=24, ge=1)
    """Calls that a walk may try, effective or not."""

    @model_validator(mode="after")
    def _known(self) -> AppTasksConfig:
        if abs(sum(self.fractions.values()) - 1) > 1e-9 or min(self.fractions.values()) < 0:
            raise ValueError("fractions: shares are not negative and sum to 1")
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown:
            raise ValueError(f"kinds: there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
        if not self.kinds or min(self.kinds.values()) < 0 or sum(self.kinds.values()) <= 0:
            raise ValueError("kinds: weights are not negative, and one is greater than 0")
        if (
            set(self.writes) - {1, 2, 3, 4}
            or min(self.writes.values(), default=-1) < 0
            or sum(self.writes.values()) <= 0
        ):
            raise ValueError("writes: 1 to 4, with weights that are not negative, one of them greater than 0")
        return self
