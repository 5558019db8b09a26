"""What was thought about a failed run before it was tried again."""

from __future__ import annotations

from synth.schemas.details import Facts
from synth.schemas.row import NonEmpty, Row

__all__ = ["Reflected", "Reflection"]


class Reflection(Row):
    """A model's diagnosis of the run that ``retry_of`` names."""

    mistake: NonEmpty
    """What went wrong."""
    advice: NonEmpty
    """What to do otherwise."""
    notes: NonEmpty
    """How both stand at the end of the retry's system prompt."""
    by: NonEmpty
    """The model's name."""
    prompt: NonEmpty
    """The model's prompt: ``<stage>/<name>/v<N>@<sha256>``."""
    calls: tuple[NonEmpty, ...]
    """Keys of the calls."""


class Reflected(Facts):
    """What a second try was told of the first."""

    reflection: Reflection
