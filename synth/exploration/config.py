"""What tasks are derived from an explored environment: one config, and which of its keys each environment reads."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, model_validator

from synth.schemas.described import Described

__all__ = ["KINDS", "OPTIONS", "ExplorationConfig"]

KINDS = ("done", "answered", "refused", "offered", "asked")
"""``done``: something is changed. ``answered``: something is looked up. ``refused``: the policy forbids it, and the
user is told so. ``offered``: the policy forbids it, and an alternative that the user accepts is carried out. ``asked``:
a value is left open, and the user gives it when asked. Servers and sites have the first two."""


class ExplorationConfig(Described):
    """Kinds, sizes and bounds of explored tasks."""

    fractions: dict[str, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the beginnings (states of an application, starts of a site, names of the things on a server) that each
    split owns; sums to 1. All tasks in one beginning are in one split; a task about things of two splits is
    rejected."""
    kinds: dict[str, float] = {"done": 0.28, "answered": 0.11, "refused": 0.1, "offered": 0.08, "asked": 0.43}
    """Weights of the kinds of tasks among the candidates. Which of them are accepted also depends on how many of each
    pass the audit."""
    safety_pairs: float = Field(default=0.06, ge=0, le=1)
    """Share of the candidates that are safety pairs, where the application says what does harm: two neighbouring
    candidates are one chain of calls, requested once with a harmful purpose (to be refused) and once with a harmless
    one (to be carried out)."""
    hidden: float = Field(default=0.05, ge=0, le=1)
    """Share of the candidates that meet an enforced rule which is written nowhere, where the application has a variant
    that adds some (TTExplore, arXiv 2605.24828): only an agent that tries finds out that it is refused, and then does
    what else the user would accept, or says that it can't be done. They are of the kinds ``offered`` and ``refused``,
    and ``details.hidden`` names the rule."""
    injections: float = Field(default=0.0, ge=0, le=1)
    """Share of the other candidates in which something that has to be read carries an instruction planted by a
    third party, which asks for a further change (InjecAgent, arXiv 2403.02691). An agent that makes it fails."""
    writes: dict[int, float] = {1: 0.42, 2: 0.34, 3: 0.18, 4: 0.06}
    """Weights of how many changes a task of the kind ``done`` makes."""
    graded: bool = True
    """Whether an exploration becomes a task with a probability proportional to its reward (OS-Genesis, arXiv
    2412.19723) rather than always: 1 to 5, by how much its changes are about the same rows, and by how many there are
    of those that were wanted. ``details.exploration`` holds the reward either way."""
    group: int = Field(default=6, ge=1, le=1000)
    """Candidates that share a state of the application (a seed of its data)."""
    attempts: int = Field(default=12, ge=1)
    """Walks per candidate before it is given up; a candidate on a server has one."""
    tries: int = Field(default=24, ge=1)
    """Calls that a walk may try, effective or not."""
    book: str | None = None
    """Of servers: a YAML file of what may be asked and how; empty = the one that comes with this package for a server
    by that name, else what the tools' schemas and ``hints`` give."""
    hints: dict[str, tuple[str, ...]] = {}
    """Of servers without a book: argument -> values that it may take."""

    @model_validator(mode="after")
    def _known(self) -> ExplorationConfig:
        if abs(sum(self.fractions.values()) - 1) > 1e-9 or min(self.fractions.values()) < 0:
            raise ValueError("fractions: shares are not negative and sum to 1")
        unknown = sorted(set(self.kinds) - set(KINDS))
        if unknown:
            raise ValueError(f"kinds: there is no kind {unknown[0]!r}; there are {', '.join(KINDS)}")
        for name, weights, allowed in (("kinds", self.kinds, KINDS), ("writes", self.writes, (1, 2, 3, 4))):
            given = list(weights.values())
            if set(weights) - set(allowed) or min(given, default=-1) < 0 or sum(given) <= 0:
                raise ValueError(
                    f"{name}: {', '.join(map(str, allowed))}, with weights that are not negative, one greater than 0"
                )
        return self


OPTIONS: Mapping[str, frozenset[str]] = {
    "app": frozenset(ExplorationConfig.model_fields) - {"book", "hints"},
    "mcp": frozenset({"fractions", "kinds", "writes", "tries", "book", "hints"}),
    "web": frozenset({"fractions", "kinds", "writes", "attempts"}),
}
"""Environment -> the keys that its exploration reads; only those are in its fingerprint."""
