"""Rules for the steps of a run that call tools, and those that revise labels by what was thought."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from synth.annotate.evidence.assessment import OFF_PATH, ON_PATH, Effect
from synth.annotate.labels.contract import OWN_FAULT, Label, LabelRule, StepContext
from synth.annotate.labels.walkless import Measured
from synth.schemas.steps import LabelReason

__all__ = [
    "ActsOnConclusion",
    "Astray",
    "BrokenTool",
    "ByEffect",
    "Commits",
    "Concludes",
    "Contradicts",
    "Corrected",
    "InvalidCall",
    "Neutral",
    "NotCarriedOut",
    "Progress",
    "Propagated",
    "Redundant",
    "RepeatedFailure",
    "Unmeasured",
    "Verified",
    "WrongTurn",
]


class ByEffect(LabelRule):
    """A rule that goes by what the call did, and by nothing else."""

    effects: ClassVar[Collection[Effect]]
    sign: ClassVar[Measured]
    label: ClassVar[LabelReason]

    def apply(self, step: StepContext) -> Label | None:
        found = step.effect is not None and step.effect in self.effects
        return Label(self.sign, self.label, step.why) if found else None


class NotCarriedOut(LabelRule):
    name = "not_carried_out"
    reason = "A call that was never made did nothing."

    def apply(self, step: StepContext) -> Label | None:
        said = "not carried out: the run was stopped here"
        return Label(None, LabelReason.UNMEASURED, said) if step.finding.cut_off else None


class RepeatedFailure(ByEffect):
    name = "repeated_failure"
    reason = "A failed action made again is the agent's fault, whatever broke the first time."
    effects = (Effect.REPEATED_FAILURE,)
    sign, label = -1, LabelReason.REPEATED_FAILURE


class InvalidCall(ByEffect):
    name = "invalid_call"
    reason = "The schema of the tool was in view."
    effects = (Effect.INVALID,)
    sign, label = -1, LabelReason.INVALID_CALL


class Astray(LabelRule):
    name = "astray"
    reason = "Going on from a page off the walk builds on the step that led there."

    def apply(self, step: StepContext) -> Label | None:
        if step.effect is not Effect.ASTRAY or step.open_error is None:
            return None
        return Label(-1, LabelReason.PROPAGATED, f"{step.why}, as step {step.open_error} led to")


class WrongTurn(ByEffect):
    name = "wrong_turn"
    reason = "Something better was visible, or this can't be right."
    effects = OFF_PATH
    sign, label = -1, LabelReason.WRONG_TURN


class Concludes(LabelRule):
    name = "concludes"
    reason = "A run that goes on with a false conclusion went wrong where it concluded, not where it acted."

    def apply(self, step: StepContext) -> Label | None:
        found = step.of.conclusions.get(step.number)
        if found is None or step.open_error is not None or step.effect is None:
            return None
        later = min(found.acts)
        acted = f"; acted on in step {later}" if later > step.number else ""
        return Label(-1, LabelReason.WRONG_TURN, found.why + acted, found.about)


class Unmeasured(ByEffect):
    name = "unmeasured"
    reason = "Without a walk or a plan there is nothing to measure a call by."
    effects = (Effect.UNMEASURED,)
    sign, label = None, LabelReason.UNMEASURED


class BrokenTool(ByEffect):
    name = "broken_tool"
    reason = "An external failure is nobody's fault."
    effects = (Effect.FAILED,)
    sign, label = 0, LabelReason.TOOL_FAILURE


class ActsOnConclusion(LabelRule):
    name = "acts_on_conclusion"
    reason = "A call that leads on for another reason than the right one builds on the error."

    def apply(self, step: StepContext) -> Label | None:
        wrong = step.open_error
        if wrong is None or step.effect not in ON_PATH or wrong not in step.of.conclusions:
            return None
        if step.number not in step.of.conclusions[wrong].acts:
            return None
        return Label(-1, LabelReason.PROPAGATED, f"goes by what step {wrong} concluded")


class Corrected(LabelRule):
    name = "corrected"
    reason = "Leaving an error behind is what a student should learn to do after one."

    def apply(self, step: StepContext) -> Label | None:
        if step.open_error is None or step.effect not in ON_PATH:
            return None
        return Label(1, LabelReason.CORRECTED, f"leaves what step {step.open_error} went for; {step.why}")


class Propagated(LabelRule):
    name = "propagated"
    reason = "What builds on an error harms until a step leaves it behind."

    def apply(self, step: StepContext) -> Label | None:
        if step.open_error is None or step.effect is None:
            return None
        said = f"{step.why}; still on what step {step.open_error} went for"
        return Label(-1, LabelReason.PROPAGATED, said)


class Verified(LabelRule):
    name = "verified"
    reason = "Looking again before the answer is given helps."

    def apply(self, step: StepContext) -> Label | None:
        if step.effect is None or not step.finding.verifies:
            return None
        return Label(1, LabelReason.VERIFIED, f"all was in view; looks again: {step.why}")


class Progress(ByEffect):
    name = "progress"
    reason = "It brings evidence, or a page that is still needed, into view."
    effects = (Effect.PROGRESS, Effect.REACHES)
    sign, label = 1, LabelReason.PROGRESS


class Redundant(ByEffect):
    name = "redundant"
    reason = "The same call with the same observation costs a turn."
    effects = (Effect.REPEATED,)
    sign, label = -1, LabelReason.REDUNDANT


class Neutral(LabelRule):
    name = "neutral"
    reason = "Looking around where nothing better was in sight is not an error."

    def apply(self, step: StepContext) -> Label | None:
        return None if step.effect is None else Label(0, LabelReason.NEUTRAL, step.why)


class Commits(LabelRule):
    name = "commits"
    reason = "Where a thought took what a later step goes wrong with, that turn went wrong, whatever its own call did."
    revises = True

    def apply(self, step: StepContext) -> Label | None:
        if step.labels[step.number].reason in OWN_FAULT:
            return None
        for one in step.of.commitments:
            if one.step == step.number and step.labels[one.acts].sign == -1:
                said = f"{one.why}; taken in thought here, acted on in step {one.acts}"
                return Label(-1, LabelReason.WRONG_TURN, said, one.about)
        return None


class Contradicts(LabelRule):
    name = "contradicts"
    reason = "Who states what the walk contradicts goes wrong there, whatever the call of that turn is good for."
    revises = True

    def apply(self, step: StepContext) -> Label | None:
        if step.labels[step.number].reason in OWN_FAULT:
            return None
        said = next((one for one in step.of.claims if one.step == step.number), None)
        return None if said is None else Label(-1, LabelReason.WRONG_TURN, said.why, said.about)
