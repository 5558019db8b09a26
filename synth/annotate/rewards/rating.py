"""How good a whole run is, 1 to 5, and sampling by it (OS-Genesis, arXiv 2412.19723).

The paper's reward model rates coherence and completion, and trajectories are drawn with a chance proportional to the
reward, in place of a hard filter. Here both are rated apart and the reward is their mean. A model rates them where the
recipe names a judge; :class:`EvidenceRater` is the embedded stand-in for tasks whose evidence is known.
"""

from __future__ import annotations

from typing import Protocol

from synth.agents.contract import Step
from synth.agents.plan_view import PlanView
from synth.agents.trajectory import history_of, tools_of
from synth.annotate.evidence.assessment import OFF_PATH, Effect, missing_for_answer, telling
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView
from synth.identity import versioned
from synth.schemas.rejections import Reason
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow
from synth.tasks.graded import reward_of

__all__ = ["EvidenceRater", "Rater", "Rating"]

WASTED = OFF_PATH | {Effect.INVALID, Effect.REPEATED, Effect.REPEATED_FAILURE}
"""What speaks against coherence."""


class Rating(Row):
    """A rating of a run, or why there is none."""

    coherence: float | None = None
    """1 to 5; None = abstained."""
    completion: float | None = None
    """1 to 5; None = abstained."""
    cites: tuple[int, ...] = ()
    """Steps that it rests on."""
    reason: str
    abstained: Reason | None = None
    calls: tuple[str, ...] = ()
    voices: tuple[int, int] | None = None
    """Of several judges: how many gave a rating, how many were asked."""

    @property
    def reward(self) -> float | None:
        """1 to 5: the mean of both; None = abstained."""
        if self.coherence is None or self.completion is None:
            return None
        return reward_of(self.coherence, self.completion)


class Rater(Protocol):
    """Rates runs."""

    def rate(self, task: Task, run: TrajectoryRow) -> Rating:
        """How good ``run`` is, a trajectory on ``task``."""


@versioned(31)
class EvidenceRater:
    """Rates by the task's evidence, without a model. Not what a reader would say of the run, but what can be counted:

        coherence   1 + 4 x share of the turns that were not wasted (a call that no tool takes, the same again, leaving
                    the gold walk; an answer with evidence unread)
        completion  1 + 4 x (0.6 if the answer is right, else 0, + 0.4 x share of the evidence that came into view)

    Of a task with a plan, the evidence is the plan: what is to be looked at, asked, tried and changed. It abstains
    where the task has neither walk nor plan, or no rule could judge the answer.
    """

    def rate(self, task: Task, run: TrajectoryRow) -> Rating:
        """
        Raises:
            ValueError: the run is of another task, or not of the form that rollouts have.
        """
        if run.task_id != task.id:
            raise ValueError(f"{run.id} is a trajectory on {run.task_id}, not on {task.id}")
        view, wasted = EvidenceView(task, tools=tools_of(run)), []
        if not task.walk.hops and view.plan is None:
            return Rating(reason="the task has no walk to measure against", abstained=Reason.UNSURE)
        if run.verdict.correct is None:
            return Rating(reason=f"no rule decides: {run.verdict.evidence}", abstained=Reason.UNSURE)
        _, history = history_of(run)
        for number, step in enumerate(history):
            if _wasted(view, step):
                wasted.append(number)
            view.take(step)
        coherence = 1 + 4 * (1 - len(wasted) / len(history)) if history else 1.0
        right = run.verdict.correct
        seen = view.progress if view.plan is None else _carried_out(view.plan, right)
        completion = 1 + 4 * (0.6 * right + 0.4 * seen)
        what = "evidence seen" if view.plan is None else "plan carried out"
        said = f"{len(wasted)} of {len(history)} turns wasted; {seen:.0%} of the {what}; "
        if view.plan is None or view.plan.plan.outcome == "answered":
            said += "the answer is right" if right else "no right answer"
        else:
            said += "the end is right" if right else "another end"
        return Rating(coherence=round(coherence, 4), completion=round(completion, 4), cites=tuple(wasted), reason=said)


def _carried_out(plan: PlanView, right: bool) -> float:
    """Share of the plan that was carried out. Where there is nothing to do but say no, that is done or it is not."""
    return len(plan.had) / plan.needed if plan.needed else float(right)


def _wasted(view: EvidenceView, step: Step) -> bool:
    if not step.turn.calls:
        if view.plan is not None:
            return step.turn.answer is not None and bool(view.plan.missing())
        return step.turn.answer is not None and bool(missing_for_answer(view))
    assessment = telling(
        [judge_call(view, call, result) for call, result in zip(step.turn.calls, step.results, strict=False)]
    )
    return assessment is not None and assessment.kind in WASTED
