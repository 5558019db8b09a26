"""Keys of a recipe that say what counts as a duplicate, level by level."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from synth.dedup import Rules, TaskRules

__all__ = ["Dedup", "encoder_options"]


class Dedup(BaseModel):
    """Duplicates, level by level. ``null`` at a level: none are looked for there."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    tasks: TaskRules | None = TaskRules()
    """Of tasks: one that is like an accepted one is rejected, and another taken in its place."""


def encoder_options(rules: Rules) -> dict[str, Any]:
    """Options of the encoder that ``rules`` name."""
    return {} if rules.model is None else {"model": rules.model, "revision": rules.revision}
