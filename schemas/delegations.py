"""Runs of helpers: ``details["environment"]["delegated"]`` of a trajectory, one object per sub-question."""

from __future__ import annotations

import json
from typing import Any

from pydantic import Field, field_validator

from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, NonEmpty, Row
from synth.schemas.summaries import ShownSummary
from synth.schemas.trajectories import StopReason

__all__ = ["Delegation"]


class Delegation(Row):
    """A sub-question, and the whole run of the helper that got it."""

    call_id: NonEmpty
    """The parent's call."""
    question: NonEmpty
    answer: str | None
    stop_reason: StopReason
    content: tuple[ContentItem, ...]
    """Actions and observations of the helper, as in a trajectory, without the question; in ``details`` as JSON text."""
    tool_errors: dict[str, str] = {}
    """Which observations were errors, by the helper's call ids."""
    pages: tuple[NonEmpty, ...] = ()
    """Pages that it opened, as links."""
    turns: int = Field(ge=0)
    completion_tokens: int = Field(default=0, ge=0)
    """Counted to the parent's limit."""
    model_turns: tuple[ModelTurn, ...] = ()
    """Where its turns come from, of a model's run."""
    shown: tuple[ShownSummary, ...] = ()
    """Summaries that it read in the place of observations."""
    environment: JsonObject = {}
    """What its environment records (``Episode.facts``)."""
    rejected: Reason | None = None
    """Why it was cut short, where a model came to no turn."""
    detail: str = ""

    @field_validator("content", mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value
