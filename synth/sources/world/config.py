"""Parameters of the fictional world."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from synth.schemas.described import Described

__all__ = ["GENERATOR_VERSION", "DistractorMix", "WorldConfig"]

GENERATOR_VERSION = 2
"""Bumped with every change that alters a world or a page of the same config."""


class DistractorMix(Described):
    """Written distractors (RAGShaper, arXiv 2601.08699): pages per 100 entities, by kind. They stand among the pages
    that agents search; each says something that is not so, and holds words by which a reader can tell. As many pages
    under the same kinds of titles say what is so, on no better ground."""

    lookalike: float = Field(default=1.0, ge=0.0, le=50.0)
    """Another thing of the same name."""
    stale: float = Field(default=1.0, ge=0.0, le=50.0)
    """A copy of the entry from an old edition, with the value of then."""
    partial: float = Field(default=0.5, ge=0.0, le=50.0)
    """A damaged copy of the entry: the value can't be read."""
    contradiction: float = Field(default=1.5, ge=0.0, le=50.0)
    """Letters, notes and talk that give another value in passing."""
    wrong_chain: float = Field(default=1.0, ge=0.0, le=50.0)
    """A step to the wrong page, and a true step on from there."""
    inference: float = Field(default=1.0, ge=0.0, le=50.0)
    """True premises and a conclusion that does not follow."""

    def times(self, factor: float) -> DistractorMix:
        """``factor`` times as many of every kind. Those that were there stay, byte for byte."""
        return DistractorMix(**{name: factor * getattr(self, name) for name in type(self).model_fields})


class WorldConfig(Described):
    """What to generate. Everything here changes the result."""

    entities: int = Field(default=2_000, ge=300, le=4_000_000)
    """Number of entities, and of pages."""
    seed: int = Field(default=0, ge=0)
    """Seed of all random choices."""
    lookalikes: float = Field(default=0.12, ge=0.0, le=0.5)
    """Share of entities that are named after another one on purpose, with one syllable changed."""
    cross: float = Field(default=0.15, ge=0.0, le=1.0)
    """Share of facts whose object is drawn from the whole world instead of the subject's home region."""
    distractors: DistractorMix = DistractorMix()
    """Pages that were written to lead astray, per 100 entities and kind; they change no entity and no fact."""
    train: float = Field(default=0.8, ge=0.0, le=1.0)
    """Share of home regions whose entities belong to the split ``train``."""
    validation: float = Field(default=0.1, ge=0.0, le=1.0)
    """Share of home regions for ``validation``."""
    test: float = Field(default=0.1, ge=0.0, le=1.0)
    """Share of home regions for ``test``; the three sum to 1."""

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if abs(self.train + self.validation + self.test - 1.0) > 1e-9:
            raise ValueError("train, validation and test must sum to 1")
        return self
