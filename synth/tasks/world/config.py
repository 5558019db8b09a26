"""What kind of questions are asked about the fictional world."""

from __future__ import annotations

from pydantic import Field, model_validator

from synth.schemas.described import Described
from synth.tasks.contract import CheckConfig

__all__ = ["WorldTasksConfig"]


class WorldTasksConfig(Described):
    """Shapes, sizes and thresholds of world tasks."""

    fractions: dict[str, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the candidates that is drawn for each split, in order; sums to 1. Gold entities then belong to it."""
    shapes: dict[str, float] = {
        "composition": 0.4,
        "conjunction": 0.5,
        "comparison": 0.12,
        "superlative": 0.13,
        "temporal": 0.12,
        "computation": 0.07,
        "intersection": 0.08,
        "count": 0.05,
        "parallel": 0.06,
    }
    """Weights of the shapes of questions among the candidates. What is accepted also depends on how many of each pass
    the checks: these weights make about half of the tasks compositions and conjunctions. A shape that is left out or
    has weight 0 is not asked. People don't ask riddles like ``cycle`` ("Someone died in X. Another person was born
    ..."), so it has to be named here."""
    obfuscation: dict[int, float] = {0: 0.6, 1: 0.15, 2: 0.15, 3: 0.1}
    """Weights of the levels of obfuscation of compositions and conjunctions (OpenSeeker, arXiv 2603.15594): 0 = all
    that a question starts from is named, 1 = dates and numbers are blurred ("in the 1870s"), 2 = one named entity is
    described instead, 3 = nothing is named but one anchor. A chain has no value to blur: what would be a composition at
    level 1 is a conjunction."""
    described: float = Field(default=0.6, ge=0, le=1)
    """Share of the sets and candidates (superlative, count, temporal, comparison, computation) that are reached by one
    hop more: "the films of the director who ..." for "the films of X"."""
    members: tuple[int, int] = (2, 8)
    """Least and greatest size of a set whose members must all be found. Superlatives and temporal questions take at
    least 3."""
    hops: dict[int, float] = {2: 0.5, 3: 0.35, 4: 0.15}
    """Weights of the lengths of chains (1 to 8 hops)."""
    constraints: dict[int, float] = {2: 0.65, 3: 0.35}
    """Weights of the numbers of constraints of conjunctions (2 to 4)."""
    tail_share: float = Field(default=0.0, ge=0, le=1)
    """Share of the conjunctions whose answer is only a bridge: one more hop leads on from it."""
    value_answers: float = Field(default=0.4, ge=0, le=1)
    """Share of the chains that end at a value (a date, a year, a number, ...)."""
    value_constraints: bool = True
    """Whether a conjunction may name a value ("was founded in 1874")."""
    value_sets: bool = False
    """Whether a set may be all that share a value ("the functions that were added in version 2.6")."""
    registers: tuple[str, ...] = ()
    """Registers in which questions are put (``plain``, ``polite``, ...); none = all that there are."""
    hub_gold: bool = True
    """Whether hubs (countries, languages, awards) may be bridges or answers. They are exempt from the split rule."""
    blocked_relations: tuple[str, ...] = ()
    """Relations that no question uses. Inverse readings go by the name of their primary relation."""
    attempts: int = Field(default=24, ge=1, le=256)
    """How many walks a candidate may try. Three constraints of which each is needed are rare in a small world."""
    largest_set: int = Field(default=4096, ge=2)
    """A conjunction is dropped when even its narrowest constraint fits more nodes than this."""
    environment: str = "search"
    """Where the tasks are to be solved."""
    checks: CheckConfig = CheckConfig()
    """Thresholds of the checks."""

    @model_validator(mode="after")
    def _consistent(self) -> WorldTasksConfig:
        if abs(sum(self.fractions.values()) - 1) > 1e-9 or min(self.fractions.values()) < 0:
            raise ValueError("fractions: shares must not be negative and must sum to 1")
        unknown = set(self.fractions) - {"train", "validation", "test"}
        if unknown:
            raise ValueError(f"fractions: no split is called {sorted(unknown)[0]!r}")
        if not self.shapes or min(self.shapes.values()) < 0 or sum(self.shapes.values()) <= 0:
            raise ValueError("shapes: weights must not be negative, and one must be more than 0")
        if not self.obfuscation or min(self.obfuscation.values()) < 0 or sum(self.obfuscation.values()) <= 0:
            raise ValueError("obfuscation: weights must not be negative, and one must be more than 0")
        if min(self.obfuscation) < 0 or max(self.obfuscation) > 3:
            raise ValueError("obfuscation: levels are 0, 1, 2 and 3")
        if not 2 <= self.members[0] <= self.members[1]:
            raise ValueError("members: the least size is at least 2, the greatest no less than it")
        for name, weights, low, high in (("hops", self.hops, 1, 8), ("constraints", self.constraints, 2, 4)):
            if not weights or min(weights.values()) < 0 or sum(weights.values()) <= 0:
                raise ValueError(f"{name}: weights must not be negative, and one must be more than 0")
            if min(weights) < low or max(weights) > high:
                raise ValueError(f"{name}: between {low} and {high}")
        return self
