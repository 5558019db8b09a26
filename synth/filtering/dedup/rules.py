"""Which rows count as duplicates: thresholds, in a recipe's words."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from synth.retrieval.vectors import JoinKind
from synth.schemas.described import Described

__all__ = ["DEDUP_VERSION", "Rules", "TaskRules"]

DEDUP_VERSION = 5
"""Bumped with every change that can change which rows are duplicates: in the fingerprint of all that follows."""


class Rules(Described):
    """Which rows of a table are duplicates of each other."""

    exact: bool = True
    """Rows of the same text; case, punctuation and blanks apart, numbers not."""
    structural: bool = True
    """Rows of the same structure: tasks of one walk or plan, runs of the same calls and answer."""
    near: float | None = Field(default=0.8, gt=0, le=1)
    """Share of n-grams of words (Jaccard similarity) from which two texts are near duplicates; empty = not looked
    at."""
    words: int = Field(default=3, ge=1, le=20)
    """Words of an n-gram."""
    semantic: float | None = Field(default=None, gt=0, le=1)
    """Cosine of two texts' vectors from which they are duplicates; empty = no text is encoded."""
    encoder: str = "hashed"
    """Encodes texts: ``hashed`` sees words and spelling and needs nothing, ``sentence-transformers`` is any such model
    (extra ``embed``)."""
    model: str | None = None
    """Of ``sentence-transformers``: the model's name on the Hub, or its folder."""
    revision: str | None = None
    """Of ``sentence-transformers``: commit of the model on the Hub."""
    index: JoinKind = "cells"
    """How near vectors are found: ``exact`` compares every two; ``cells`` does so up to 20,000 rows, and beyond looks
    into the nearest cells of a partition, as many as it takes to find 99 % of the pairs of 2,000 rows, and says how
    many were found; ``faiss-flat``, ``faiss-ivf`` and ``faiss-hnsw`` (extra ``embed``; ``gpu``: on GPUs) leave that to
    FAISS."""

    @model_validator(mode="after")
    def _named(self) -> Self:
        if (self.encoder == "sentence-transformers") != (self.model is not None):
            raise ValueError("dedup: model names the model of the encoder sentence-transformers, and only of that")
        return self

    def at(self, *, near: float | None = None, semantic: float | None = None) -> Self:
        """The same with higher thresholds.

        Raises:
            ValueError: one is lower than it was, or of a kind that was not looked at: such pairs were never found.
        """
        wanted = {name: value for name, value in (("near", near), ("semantic", semantic)) if value is not None}
        for name, value in wanted.items():
            least = getattr(self, name)
            if least is None or not least <= value <= 1:
                raise ValueError(
                    f"{name} {value}: pairs were looked for " + (f"from {least} on" if least else "not at all")
                )
        return self.model_copy(update=wanted)


class TaskRules(Rules):
    """Which tasks are duplicates of tasks that were accepted before them."""

    same_answer: bool = True
    """Only tasks of the same answer are near or semantic duplicates. Questions of one form about two things are much
    alike and ask different things."""
    cluster: float | None = Field(default=0.6, gt=0, le=1)
    """Share of n-grams from which two tasks belong together, so that they may not be in different splits: the later one
    is rejected then. At most ``near``; empty = as ``near``."""
    index: JoinKind = "exact"
    """Tasks are compared one by one as they are accepted: always exactly."""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.index != "exact":
            raise ValueError("dedup.tasks.index: tasks are compared one by one, always exactly")
        if self.cluster is not None and self.near is not None and self.cluster > self.near:
            raise ValueError("dedup.tasks.cluster: at most near")
        return self
