"""What kind of reverse tasks are derived from a site."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["WebTasksConfig"]

_KINDS = ("done", "answered")


class WebTasksConfig(BaseModel):
    """Kinds, sizes and bounds of reverse tasks."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    fractions: dict[str, float] = {"train": 0.7, "validation": 0.15, "test": 0.15}
    """Share of the site's starts that belongs to each split; sums to 1. All tasks of one start are in one split."""
    kinds: dict[str, float] = {"done": 0.7, "answered": 0.3}
    """Weights of the kinds of tasks among the candidates. ``done``: what the site keeps is changed. ``answered``:
    something is looked up."""
    changes: dict[int, float] = {1: 0.6, 2: 0.4}
    """Weights of how many changes a task of the kind ``done`` wants."""
    steps: int = Field(default=5, ge=1, le=50)
    """Effective steps per wanted change after which a walk is over (OS-Genesis: 5 on the web)."""
    attempts: int = Field(default=3, ge=1, le=50)
    """Walks from which a candidate may come before it is given up."""

    @model_validator(mode="after")
    def _known(self) -> WebTasksConfig:
        if abs(sum(self.fractions.values()) - 1) > 1e-9 or min(self.fractions.values()) < 0:
            raise ValueError("fractions: shares are not negative and sum to 1")
        if set(self.kinds) - set(_KINDS) or min(self.kinds.values(), default=-1) < 0 or sum(self.kinds.values()) <= 0:
            raise ValueError(f"kinds: weights of {' and '.join(_KINDS)}, not negative, one of them greater than 0")
        sizes = self.changes
        if set(sizes) - {1, 2, 3, 4} or min(sizes.values(), default=-1) < 0 or sum(sizes.values()) <= 0:
            raise ValueError("changes: 1 to 4, with weights that are not negative, one of them greater than 0")
        return self
