"""Runs of helpers: ``details["environment"]["delegated"]`` of a trajectory, one object per sub-question, and rows."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar

from pydantic import Field, ValidationError, field_validator

from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Key, NonEmpty, Ref, Row, Split
from synth.schemas.summaries import ShownSummary
from synth.schemas.trajectories import StopReason, Verdict

__all__ = ["Delegation", "HelperRunRow", "delegations_of"]


class Delegation(Row):
    """A sub-question, and the whole run of the helper that got it."""

    call_id: NonEmpty
    """The parent's call."""
    question: NonEmpty
    answer: str | None
    gold: str | None = None
    """Right answer to the sub-question, where it is one of the parts that the walk proves; else None."""
    hops: tuple[int, ...] = ()
    """Hops of the walk that this part goes; none where it is no part."""
    verdict: Verdict | None = None
    """Of the answer by that one; None in runs that were recorded before there were such verdicts."""
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

    @property
    def proves(self) -> tuple[int, ...]:
        """Hops of the walk that the answer goes, if it is right."""
        return self.hops if self.verdict is not None and self.verdict.correct else ()

    @field_validator("content", mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value


def delegations_of(recorded: JsonObject) -> dict[str, Delegation]:
    """The helpers' runs in what a trajectory records of its environment, by the call that asked for them. What is of
    another form is passed over."""
    found: dict[str, Delegation] = {}
    listed = recorded.get("delegated")
    for one in listed if isinstance(listed, list | tuple) else ():
        try:
            made = Delegation.model_validate(one)
        except ValidationError:
            continue
        found[made.call_id] = made
    return found


class HelperRunRow(Row):
    """A helper's run as a row of its own: what it was asked, what it found, and what that cost."""

    table: ClassVar[str | None] = "helper_runs"

    id: Annotated[NonEmpty, Key()]
    """``<trajectory_id>/<call_id>``."""
    task_id: NonEmpty
    """The task of the whole run."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The run that asked."""
    call_id: NonEmpty
    """Its call."""
    question: NonEmpty
    """The sub-question."""
    answer: str | None
    """What the helper answers."""
    gold: str | None
    """Right answer to the sub-question; null where it is none of the parts that the walk proves."""
    verdict: Verdict
    """Of the answer by that one."""
    stop_reason: StopReason
    """Why the helper stopped."""
    turns: int
    """Turns of the helper."""
    tool_calls: int
    """Calls of tools."""
    completion_tokens: int
    """Tokens that a model wrote; 0 of scripts."""
    pages: tuple[NonEmpty, ...]
    """Pages that it opened, as links."""
    content: tuple[ContentItem, ...]
    """The sub-question, and all that the helper did and saw, as in a trajectory."""
    split: Split
    """That of the task."""
    provenance: Provenance
    """What made the row."""
