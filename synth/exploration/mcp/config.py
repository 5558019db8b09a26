"""What kind of reverse tasks are derived from a server."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, model_validator

from synth.schemas.row import Split

__all__ = ["McpTasksConfig"]


class McpTasksConfig(BaseModel):
    """Kinds, sizes and bounds of reverse tasks on a server."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    fractions: dict[Split, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the names of things that each split owns as gold; sums to 1. A task whose things belong to two splits is
    rejected."""
    answered: float = Field(default=0.3, ge=0, le=1)
    """Share of the candidates that look something up and change nothing; the others change something."""
    writes: dict[int, float] = {1: 0.45, 2: 0.35, 3: 0.2}
    """Weights of how many calls that change something a candidate begins with."""
    calls: int = Field(default=12, ge=1, le=200)
    """Calls that an exploration may try, effective or not."""

    @model_validator(mode="after")
    def _sums(self) -> McpTasksConfig:
        if abs(sum(self.fractions.values()) - 1) > 1e-9 or min(self.fractions.values()) < 0:
            raise ValueError("fractions: shares are not negative and sum to 1")
        if not self.writes or min(self.writes) < 1 or max(self.writes) > 8 or min(self.writes.values()) < 0:
            raise ValueError("writes: 1 to 8, with weights that are not negative")
        if sum(self.writes.values()) <= 0:
            raise ValueError("writes: one weight is greater than 0")
        return self
