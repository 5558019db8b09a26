"""Trajectories: the ADP columns and our typed columns beside them."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from synth.schemas.adp import ContentItem
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, JsonObject, NonEmpty, Row, Split

__all__ = ["InjectedError", "Role", "StopReason", "TrajectoryRow", "Verdict"]

Role = Literal["teacher", "policy", "expert"]


class StopReason(StrEnum):
    """Why a rollout ended."""

    ANSWERED = "answered"
    """The agent gave its final answer."""
    GAVE_UP = "gave_up"
    """The agent said that it can not answer."""
    MAX_TURNS = "max_turns"
    """The limit of turns was reached; the last action may have no observation."""
    INVALID_CALLS = "invalid_calls"
    """Too many calls in a row that no tool accepts."""


class Verdict(Row):
    """Whether the answer (or the end state) is right. ``correct`` None = abstained: neither a pass nor a 0."""

    correct: bool | None
    rule: NonEmpty
    """Name of the rule that decided: ``exact``, ``alias``, ``number``, ``date``, ``no_answer``, ..."""
    evidence: str = ""
    """What the rule compared, in words."""


class TrajectoryRow(Row):
    """One rollout. ``schema_version`` to ``details`` are the ADP trajectory; the rest are sibling columns."""

    table: ClassVar[str | None] = "trajectories"

    schema_version: NonEmpty
    id: NonEmpty
    content: tuple[ContentItem, ...]
    available_custom_tools: tuple[str, ...] | None = None
    available_code_languages: tuple[str, ...] | None = None
    details: JsonObject = {}

    task_id: NonEmpty
    rollout: int
    """Number of the sample among the rollouts of this task by this role, from 0."""
    role: Role
    model: str | None
    """None for a scripted agent."""
    privileged: bool
    """True when the agent could look at the gold walk to choose among options that it saw."""
    success: bool
    verdict: Verdict
    answer: str | None
    stop_reason: StopReason
    turns: int
    tool_calls: int
    split: Split
    licence: str | None
    system_prompt: str
    tool_schemas: JsonList
    """Tools as JSON Schema functions, in the order that the agent saw."""
    environment: NonEmpty
    environment_version: NonEmpty
    provenance: Provenance


class InjectedError(Row):
    """What a scripted agent did wrong on purpose. Sealed: no stage may read this table (Honesty rules)."""

    table: ClassVar[str | None] = "injected_errors"

    trajectory_id: NonEmpty
    turn: int
    mode: NonEmpty
    detail: str
