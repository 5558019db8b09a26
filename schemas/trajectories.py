"""Trajectories: the ADP columns and our typed columns beside them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator

from synth.schemas.adp import ContentItem
from synth.schemas.details import Facts
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, JsonObject, Key, NonEmpty, Ref, Row, Split

__all__ = ["RECORDED", "CallErrors", "Recorded", "Role", "StopReason", "TrajectoryRow", "Verdict", "judged_elsewhere"]

RECORDED = "recorded"
"""Stands for the environment of a run that was recorded elsewhere and can't be opened here."""
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
    UNSTATED = "unstated"
    """The record of somebody else's run ends with an action, and does not say why."""
    REJECTED = "rejected"
    """A model came to no turn that could be carried out (refused, was cut off, ...), so nothing is known of how it
    would have ended. Only continuations in ``continuations`` end so; a rollout that does is in ``rejected``."""


class Verdict(Row):
    """Whether the answer (or the end state) is right. ``correct`` None = abstained: neither a pass nor a 0."""

    correct: bool | None
    """Whether the answer is right; None when no rule could tell."""
    rule: NonEmpty
    """Name of the rule that decided: ``exact``, ``alias``, ``number``, ``date``, ``no_answer``, ..."""
    evidence: str = ""
    """What the rule compared, in words."""


def judged_elsewhere(verdict: Verdict, task_environment: str, environment: str | None) -> bool:
    """Whether a verdict is not our rules': it came with a recorded run, or an environment of the user's gave it.

    Args:
        environment: Of a run, its own; None = of a continuation, which is made where an environment was opened.
    """
    return task_environment == RECORDED and (verdict.rule == RECORDED or environment != RECORDED)


class TrajectoryRow(Row):
    """One rollout. ``schema_version`` to ``details`` are the ADP trajectory; the rest are sibling columns."""

    table: ClassVar[str | None] = "trajectories"
    unique_together = (("task_id", "role", "model", "rollout"),)

    schema_version: NonEmpty
    """Version of the Agent Data Protocol."""
    id: Annotated[NonEmpty, Key()]
    """Hash of what the row is."""
    content: tuple[ContentItem, ...]
    """Actions and observations in order, told apart by ``class_``: the ADP trajectory."""
    available_custom_tools: tuple[str, ...] | None = None
    """Names of the tools that the agent had."""
    available_code_languages: tuple[str, ...] | None = None
    """Languages of the code actions, when there are any."""
    details: JsonObject = {}
    """Further facts, as JSON."""

    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    rollout: int
    """Number of the sample among the rollouts of this task by this role, from 0; second tries come after all first
    ones."""
    retry_of: str | None = None
    """Id of the failed run that this one tries again: with a reflection on it in the system prompt
    (:class:`synth.schemas.reflections.Reflected`; the failed run may have been rejected itself), or from where it went
    wrong (:class:`synth.schemas.refined.Refined`). Of a branch in a tree, the run that it parts from, whatever its end
    (:class:`synth.schemas.trees.Grown`); of a run that was made of a finished one, that one
    (:class:`synth.schemas.reworked.Reworked`). A second try is no independent sample: success rates leave it out.
    None for a first try."""
    duplicate_of: Annotated[str | None, Ref("trajectories", ("role",))] = None
    """Id of the run of the same role that this one is like, and that stands for both. It stays, since it is a sample
    that success rates count; exports leave it out. None where it stands for itself, or nobody looked."""
    role: Role
    """Who acted: ``teacher``, ``policy`` or ``expert``."""
    model: str | None
    """None for a scripted agent."""
    privileged: bool
    """True when the agent could look at the gold walk to choose among options that it saw."""
    success: bool
    """True exactly when the verdict says correct."""
    verdict: Verdict
    """How the answer was judged."""
    answer: str | None
    """The final answer, None when there was none."""
    stop_reason: StopReason
    """Why the rollout ended."""
    turns: int
    """Turns of the agent, the final answer included."""
    tool_calls: int
    """Tool calls, those that failed included."""
    split: Split
    """The split of its task."""
    licence: str | None
    """SPDX id of what the observations quote, None when unknown or mixed."""
    system_prompt: str
    """What the agent was told before the question."""
    tool_schemas: JsonList
    """Tools as JSON Schema functions, in the order that the agent saw."""
    environment: NonEmpty
    """Name of the environment."""
    environment_version: NonEmpty
    """Bumped when an observation or a verdict can change."""
    provenance: Provenance
    """What made the row."""


class CallErrors(Facts):
    """Which observations were errors. ADP has no place for it."""

    tool_errors: dict[str, str] = {}
    """Kind of the error by call id."""


def _object(value: object) -> object:
    return value if isinstance(value, dict) else {}


class Recorded(Facts):
    """In what a run was made."""

    environment: Annotated[JsonObject, BeforeValidator(_object)] = {}
    """What the environment records of it, which a replay is given. Text, as others' trajectories may have here, says
    nothing."""
