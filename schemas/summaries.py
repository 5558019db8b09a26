"""Observations that an agent read as summaries."""

from __future__ import annotations

from synth.schemas.details import Brief, Facts
from synth.schemas.rejections import Reason
from synth.schemas.row import NonEmpty, Row

__all__ = ["Shown", "ShownSummary"]


class ShownSummary(Row):
    """What an agent read in the place of a long observation, which the trajectory's content holds in full."""

    call_id: NonEmpty
    """The call whose observation it is."""
    text: str | None
    """What the agent was shown; None = the observation itself, as no summary came."""
    by: NonEmpty
    """Who wrote it: ``extractive``, or the model's name."""
    prompt: str | None = None
    """The model's prompt: ``<stage>/<name>/v<N>@<sha256>``."""
    calls: tuple[NonEmpty, ...] = ()
    """Keys of the model's calls."""
    reason: Reason | None = None
    """Why no summary came."""
    detail: str = ""
    """More about it, in words."""


class Shown(Facts):
    """What of a trajectory the agent read as summaries."""

    shown: tuple[Brief[ShownSummary], ...] = ()
    """One per observation."""
