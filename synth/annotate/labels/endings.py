"""Rules for the step that ends a run: an answer, a message that all is done, or giving up."""

from __future__ import annotations

from synth.annotate.evidence.view import stands_verbatim
from synth.annotate.labels.contract import Label, LabelRule, StepContext
from synth.schemas.steps import LabelReason

__all__ = [
    "ClaimsDone",
    "DoneAsAsked",
    "DoneUnseen",
    "DoneUntried",
    "EndsAstray",
    "GivesUp",
    "GivesUpAstray",
    "NotJudged",
    "RightAndRead",
    "RightBeyondWords",
    "RightNeverRead",
    "RightUnread",
    "WrongRead",
    "WrongUnread",
]


class EndRule(LabelRule):
    """A rule for last steps only."""

    def apply(self, step: StepContext) -> Label | None:
        return self.at_end(step) if step.finding.ends else None

    def at_end(self, step: StepContext) -> Label | None:
        """The label of the last step."""
        raise NotImplementedError


def _right(step: StepContext) -> bool:
    return step.of.run.verdict.correct is True


def _measured(step: StepContext) -> bool:
    """Whether evidence or a plan is known."""
    return bool(step.of.task.walk.hops) or step.of.plan is not None


def _done(step: StepContext) -> bool:
    """Right, by what was changed or left alone rather than by an answer."""
    plan = step.of.plan
    return _right(step) and plan is not None and plan.outcome != "answered"


class NotJudged(EndRule):
    name = "not_judged"
    reason = "No rule could judge the answer: that is not a failure."

    def at_end(self, step: StepContext) -> Label | None:
        verdict = step.of.run.verdict
        if verdict.correct is not None:
            return None
        return Label(None, LabelReason.UNMEASURED, f"not judged: {verdict.evidence}")


def _left(step: StepContext) -> str:
    return f"unread: {step.unread}" if step.unread else "all of the evidence had been read"


class GivesUpAstray(EndRule):
    name = "gives_up_astray"
    reason = "An end without an answer builds on the error that was never left behind."

    def at_end(self, step: StepContext) -> Label | None:
        if step.finding.answer is not None or step.open_error is None:
            return None
        said = f"gives up after what step {step.open_error} went for; {_left(step)}"
        return Label(-1, LabelReason.PROPAGATED, said)


class GivesUp(EndRule):
    name = "gives_up"
    reason = "Something was left to be read or done."

    def at_end(self, step: StepContext) -> Label | None:
        if step.finding.answer is not None:
            return None
        left = _left(step) if _measured(step) else "what it left unread is not known"
        return Label(-1, LabelReason.PREMATURE, f"gives up; {left}")


class DoneUnseen(EndRule):
    name = "done_unseen"
    reason = "A refusal is right by luck where the agent did not look at what forbids it."

    def at_end(self, step: StepContext) -> Label | None:
        plan = step.of.plan
        if not _done(step) or not step.finding.undone or plan is None or plan.outcome != "refused":
            return None
        return Label(0, LabelReason.NEUTRAL, f"rightly changes nothing, but did not look: {step.unread}")


class DoneUntried(EndRule):
    name = "done_untried"
    reason = "What nothing written forbids has to be tried before it is called impossible."

    def at_end(self, step: StepContext) -> Label | None:
        if not _done(step) or not step.finding.undone or step.of.plan is None or not step.of.plan.attempts:
            return None
        return Label(0, LabelReason.NEUTRAL, f"all is as it should be, but did not try first: {step.unread}")


class DoneAsAsked(EndRule):
    name = "done_as_asked"
    reason = "The state is what the task asked for."

    def at_end(self, step: StepContext) -> Label | None:
        return Label(1, LabelReason.SUPPORTED_ANSWER, "all is as it was asked for") if _done(step) else None


class RightAndRead(EndRule):
    name = "right_and_read"
    reason = "The answer is right and rests on what was read."

    def at_end(self, step: StepContext) -> Label | None:
        hops = step.of.task.walk.hops
        if not _right(step) or step.finding.missing or not (hops or step.finding.seen_answer):
            return None
        return Label(1, LabelReason.SUPPORTED_ANSWER, f"right, and {'every hop' if hops else 'it'} was read")


class RightUnread(EndRule):
    name = "right_unread"
    reason = "The answer stood somewhere, but conditions of the question were never looked at."

    def at_end(self, step: StepContext) -> Label | None:
        if not _right(step) or not step.finding.missing or not step.finding.seen_answer:
            return None
        return Label(-1, LabelReason.PREMATURE, f"right, but unread: {step.unread}")


class RightBeyondWords(EndRule):
    name = "right_beyond_words"
    reason = "No page need state such an answer word for word, so nothing tells whether it was read."

    def at_end(self, step: StepContext) -> Label | None:
        if not _right(step) or _measured(step) or stands_verbatim(step.of.task):
            return None
        said = "right; what was read need not state such an answer word for word"
        return Label(None, LabelReason.UNMEASURED, said)


class RightNeverRead(EndRule):
    name = "right_never_read"
    reason = "A right answer that was never read teaches to guess."

    def at_end(self, step: StepContext) -> Label | None:
        return Label(-1, LabelReason.UNSUPPORTED_ANSWER, "right, but it was never read") if _right(step) else None


class EndsAstray(EndRule):
    name = "ends_astray"
    reason = "A wrong answer builds on the error that was never left behind."

    def at_end(self, step: StepContext) -> Label | None:
        if step.open_error is None:
            return None
        return Label(-1, LabelReason.PROPAGATED, f"wrong, after what step {step.open_error} went for")


class WrongUnread(EndRule):
    name = "wrong_unread"
    reason = "The answer came before what it depends on was read or done."

    def at_end(self, step: StepContext) -> Label | None:
        finding = step.finding
        if not finding.missing and not finding.undone:
            return None
        said = f"wrong, and {'not done' if finding.undone else 'unread'}: {step.unread}"
        return Label(-1, LabelReason.PREMATURE, said)


class ClaimsDone(EndRule):
    name = "claims_done"
    reason = "The plan was carried out, and something beside it was changed: the end builds on that."

    def at_end(self, step: StepContext) -> Label | None:
        if step.of.plan is None:
            return None
        said = f"says that it is done, and it is not: {step.of.run.verdict.evidence}"[:300]
        return Label(-1, LabelReason.PROPAGATED, said)


class WrongRead(EndRule):
    name = "wrong_read"
    reason = "Everything was in view, and something else was answered."

    def at_end(self, step: StepContext) -> Label | None:
        told = "what was read gives" if step.of.task.walk.hops else "the answer is"
        return Label(-1, LabelReason.UNSUPPORTED_ANSWER, f"wrong: {told} {step.of.task.answer}")
