"""What a step of a recipe asks for: a stage run, with its config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Run"]


@dataclass(frozen=True)
class Run:
    """A stage run, before it is known who reads what from whom."""

    label: str
    stage: str
    values: Mapping[str, Any]
    """Its config."""
    role: str | None = None
    """Whose tables it reads and writes; None = no role's."""
    reads: Mapping[str, str] | None = None
    """What it reads from whom, where a recipe says so itself."""
    own: bool = False
    """Whether the recipe lists it with its config."""
