"""Parameters of the fictional world."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["GENERATOR_VERSION", "WorldConfig"]

GENERATOR_VERSION = 1
"""Bumped with every change that alters a world or a page of the same config."""


class WorldConfig(BaseModel):
    """What to generate. Everything here changes the result."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    entities: int = Field(default=2_000, ge=300, le=4_000_000)
    """Number of entities, and of pages."""
    seed: int = Field(default=0, ge=0)
    """Seed of all random choices."""
    lookalikes: float = Field(default=0.12, ge=0.0, le=0.5)
    """Share of entities that are named after another one on purpose, with one syllable changed."""
    cross: float = Field(default=0.15, ge=0.0, le=1.0)
    """Share of facts whose object is drawn from the whole world instead of the subject's home region."""
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
