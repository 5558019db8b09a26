"""Keys of a recipe that say what counts as a duplicate, level by level."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from synth.filtering.dedup import Rules, TaskRules
from synth.schemas.described import Described

__all__ = ["Dedup", "DocumentRules", "PairRules", "RunRules", "encoder_options"]


class DocumentRules(Rules):
    """Which documents are duplicates. Copies of a page (mirrors, versions, boilerplate) make a question's answer stand
    in two places, where one of them alone is its evidence."""

    structural: bool = False
    """Documents have no structure apart from their words."""
    words: int = Field(default=5, ge=1, le=20)
    """Words of an n-gram: 5, with a similarity of 0.8, as in Lee et al. (arXiv 2107.06499)."""


class RunRules(Rules):
    """Which runs of a role are duplicates. Two samples that do the same teach once what they teach."""

    near: float | None = Field(default=None, gt=0, le=1)
    """Share of n-grams of words from which two runs are near duplicates; empty = not looked at: runs on one task share
    most of their words by nature. Runs of different tasks may be near duplicates, and then more tasks can move marks
    of old runs."""


class PairRules(Rules):
    """Which preference pairs are duplicates. A pair that comes twice weighs twice."""

    structural: bool = False
    """Pairs of the same calls in other words. Their words differ, and words are what is preferred too."""
    near: float | None = Field(default=None, gt=0, le=1)
    """Share of n-grams of words from which two pairs are near duplicates; empty = not looked at: pairs of one run share
    their prefix by nature. Pairs of different tasks may be near duplicates, and then more tasks can replace old
    pairs."""


class Dedup(Described):
    """Duplicates, level by level. ``null`` at a level: none are looked for there."""

    tasks: TaskRules | None = TaskRules()
    """Of tasks: one that is like an accepted one is rejected, and another taken in its place."""
    documents: DocumentRules | None = DocumentRules()
    """Of documents that are read (sources of kind docs and records), before anything is made of them: one of each
    cluster stays, the others are rejected, and links to them lead to it. Not of pages that questions of kind given may
    name, nor of a generated world, whose look-alike pages are meant."""
    trajectories: RunRules | None = RunRules()
    """Of runs of a role: all stay, since success rates count them, and all but one of a cluster say in ``duplicate_of``
    which one stands for them; exports leave those out."""
    pairs: PairRules | None = PairRules()
    """Of preference pairs: one of each cluster stays, the others are rejected."""


def encoder_options(rules: Rules) -> dict[str, Any]:
    """Options of the encoder that ``rules`` name."""
    return {} if rules.model is None else {"model": rules.model, "revision": rules.revision}
