"""What a label rule is given, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from synth.agents.contract import History
from synth.agents.plan_view import plan_of
from synth.agents.trajectory import tools_of
from synth.annotate.evidence.assessment import Effect
from synth.annotate.labels.claims import Claim, false_claims
from synth.annotate.labels.conclusions import Conclusion, false_conclusions
from synth.annotate.labels.findings import Finding, findings_of
from synth.annotate.labels.thoughts import Commitment, commitments
from synth.annotate.labels.walkless import Measured
from synth.environments.contract import ToolSchema
from synth.schemas.plans import Plan
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["OWN_FAULT", "Label", "LabelRule", "RunContext", "StepContext", "is_own_fault"]

OWN_FAULT = frozenset(
    (
        LabelReason.INVALID_CALL,
        LabelReason.REPEATED_FAILURE,
        LabelReason.WRONG_TURN,
        LabelReason.UNSUPPORTED_ANSWER,
        LabelReason.PREMATURE,
    )
)
"""Wrong by the step's own doing, not by what came before."""


@dataclass(frozen=True)
class Label:
    """What a step did for its task."""

    sign: Measured
    reason: LabelReason
    detail: str
    """One line."""
    about: str = ""
    """Of a wrong step, the document that it is wrong about, where that is another one than the call's."""


def is_own_fault(label: Label) -> bool:
    """Whether a step is wrong by its own doing: as a rule says, or a judge that calls it harmful."""
    return label.reason in OWN_FAULT or (label.reason is LabelReason.JUDGED and label.sign == -1)


class RunContext:
    """A run with what its thoughts and calls show. ``run.answer`` is the final answer alone."""

    def __init__(self, run: TrajectoryRow, task: Task, history: History) -> None:
        self.run, self.task, self.history = run, task, history

    @cached_property
    def tools(self) -> tuple[ToolSchema, ...]:
        return tools_of(self.run)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What each step did, by what was in view before it."""
        right = self.run.verdict.correct is True
        return findings_of(self.task, self.history, tools=self.tools, answer=self.run.answer, right=right)

    @property
    def plan(self) -> Plan | None:
        """The plan of a reverse task."""
        return plan_of(self.task)

    @property
    def wrong_answer(self) -> str | None:
        """What the run answered, where that is wrong; None where it is right, unjudged, or there is none."""
        return self.run.answer if self.run.verdict.correct is False else None

    @cached_property
    def conclusions(self) -> Mapping[int, Conclusion]:
        """By step."""
        return {one.step: one for one in false_conclusions(self.task, self.history, self.wrong_answer)}

    @cached_property
    def commitments(self) -> tuple[Commitment, ...]:
        """In the order of steps."""
        return commitments(self.task, self.history, self.wrong_answer)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """In the order of steps."""
        return false_claims(self.task, self.history, self.wrong_answer)


@dataclass(frozen=True)
class StepContext:
    """One step of a run."""

    of: RunContext
    number: int
    open_error: int | None
    """The earlier step whose error is not left behind yet."""
    labels: tuple[Label, ...] = field(default=())
    """For rules that revise: the labels of all steps so far."""

    @property
    def finding(self) -> Finding:
        return self.of.findings[self.number]

    @property
    def effect(self) -> Effect | None:
        """What the call that says most did; None for a step that ends the run or was not carried out."""
        return None if self.finding.assessment is None else self.finding.assessment.kind

    @property
    def why(self) -> str:
        """The same in words."""
        return "" if self.finding.assessment is None else self.finding.assessment.why

    @property
    def unread(self) -> str:
        """Of the last step, the hops that were not in view and what of the plan is not done."""
        hops = (self.of.task.walk.hops[number] for number in self.finding.missing)
        return "; ".join([*(f"{hop.source.name} -> {hop.target.name}" for hop in hops), *self.finding.undone])


class LabelRule:
    """One reason for a label: :func:`synth.annotate.labels.label` is given a list of them."""

    name: ClassVar[str]
    reason: ClassVar[str]
    """Why a step that it applies to deserves its label, in one sentence."""
    revises: ClassVar[bool] = False
    """Whether it looks at the labels of the whole run, once every step has one, and replaces some."""

    def apply(self, step: StepContext) -> Label | None:
        """The label; None where the rule says nothing. Of several rules, the first that says something decides."""
        raise NotImplementedError
