"""How a run came out of a failed one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from synth.schemas.details import Brief, Facts
from synth.schemas.row import NonEmpty, Row

__all__ = ["How", "Refined", "Refinement"]

How = Literal["regenerate", "hint", "hint_from_start", "segment"]
"""``regenerate``: cut before the first wrong step, the policy goes on. ``hint``: the same, told what went wrong.
``hint_from_start``: told so, it begins anew. ``segment``: cut behind a stretch of the failed run that was worth it."""


class Refinement(Row):
    """The run that ``retry_of`` names, up to ``step``, and what the policy did from there."""

    how: How
    step: int = Field(ge=0)
    """First turn that is new."""
    tries: int = Field(ge=1)
    """Tries until one came to the right answer: this one is the last of them."""
    hint: str | None = None
    """What the policy was told; it stands neither in the system prompt nor in a turn of this row."""
    hint_by: str | None = None
    """The model that wrote the hint; None = it follows from the label of the wrong step."""
    segment: tuple[int, int] | None = None
    """First step of the stretch that was worth it, and the step just past it."""
    before: tuple[int, int] | None = None
    """Continuations from before the stretch: those that succeeded, and all."""
    after: tuple[int, int] | None = None
    """Continuations from behind it."""
    calls: tuple[NonEmpty, ...] = ()
    """Keys of the calls that wrote the hint."""


class Refined(Facts):
    """That a run is a refined one."""

    refined: Brief[Refinement]
