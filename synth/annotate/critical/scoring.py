"""The embedded ``prm`` for tasks with evidence: it carries an action out and looks at what that shows.

An action is judged by progress towards the gold evidence, by whether it was made before, by whether the tool takes
it, and, for an answer, by whether what was read supports it. The values are ranks of effects, laid out so that
what a good agent does lies above 0.6 and what harms below 0.5, with room between for what does neither; they are no
probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.contract import History, Step, Turn
from synth.agents.loop import replay
from synth.agents.plan_view import PlanView
from synth.annotate.critical.contract import Point, Score
from synth.annotate.evidence.assessment import (
    OFF_PATH,
    ON_PATH,
    Effect,
    StepAssessment,
    missing_for_answer,
    telling,
)
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView, stands_verbatim, states_answer
from synth.environments.contract import Episode
from synth.environments.observed import observe
from synth.identity import versioned

__all__ = ["EvidenceScorer"]

_VALUE = {
    Effect.PROGRESS: 0.8,
    Effect.REACHES: 0.75,
    Effect.ON_PATH: 0.65,
    Effect.CANDIDATE: 0.62,
    Effect.EXPLORES: 0.5,
    Effect.WRONG_RESULT: 0.3,
    Effect.PASSED_OVER: 0.25,
    Effect.ASTRAY: 0.25,
    Effect.CHANGED: 0.15,
    Effect.UNFIT: 0.2,
    Effect.REPEATED: 0.2,
    Effect.INVALID: 0.1,
    Effect.REPEATED_FAILURE: 0.05,
}
_STILL_WRONG = 0.35
"""Looking around on from a wrong turn."""
_NOTHING_NEW = 0.55
"""A search in the right words that shows nothing new."""


@versioned(30)
class EvidenceScorer:
    """A scorer (``synth.annotate.critical.contract.Scorer``). Between calls it keeps only how far it had read the run
    that was scored last: the next point of a run is read on from there.

    It abstains when nothing tells good from bad: the task has no walk, the history can't be restored, the tool broke,
    or no rule decides about the answer.
    """

    def __init__(self) -> None:
        self._last: _Standing | None = None

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        """One score per turn, each as if it were taken at the point."""
        if point.task.environment != point.environment.name:
            return _all(turns, f"the task is of {point.task.environment!r}, not of {point.environment.name!r}")
        try:
            episode = replay(point.environment, point.task, point.history, point.facts)
        except ValueError as error:
            return _all(turns, f"the history can't be restored: {error}")
        try:
            standing, self._last = self._last, None
            if standing is None or not standing.leads_to(point):
                standing = _Standing(point)
            standing.go_on(point)
            here = episode.snapshot()
            scores: list[Score] = []
            for turn in turns:
                episode.restore(here)
                scores.append(_score(point, standing.view, standing.wrong, episode, turn))
            self._last = standing
            return tuple(scores)
        finally:
            episode.close()


def _all(turns: Sequence[Turn], why: str) -> tuple[Score, ...]:
    return tuple(Score(value=None, reason=why) for _ in turns)


class _Standing:
    """What is in view at a point of a run, and whether a wrong turn was not left behind yet."""

    def __init__(self, point: Point) -> None:
        self._task, self._tools = point.task, point.prompt.tools
        self._history: History = ()
        self.view, self.wrong = EvidenceView(point.task, tools=point.prompt.tools), False

    def leads_to(self, point: Point) -> bool:
        """Whether ``point`` is here, or later in the same run."""
        same = self._task == point.task and self._tools == point.prompt.tools
        return same and self._history == point.history[: len(self._history)]

    def go_on(self, point: Point) -> None:
        """Read the steps up to ``point``."""
        for step in point.history[len(self._history) :]:
            for assessment in _assessments(self.view, step):
                kind = assessment.kind
                self.wrong = True if kind in OFF_PATH else False if kind in ON_PATH else self.wrong
            self.view.take(step)
        self._history = point.history


def _assessments(view: EvidenceView, step: Step) -> tuple[StepAssessment, ...]:
    return tuple(judge_call(view, call, result) for call, result in zip(step.turn.calls, step.results, strict=False))


def _score(point: Point, view: EvidenceView, wrong: bool, episode: Episode, turn: Turn) -> Score:
    if not turn.calls:
        return _answer(point, view, episode, turn)
    results = tuple(episode.step(call) for call in turn.calls)
    assessment = telling(_assessments(view, Step(turn=turn, results=results)))
    assert assessment is not None
    if assessment.kind in (Effect.FAILED, Effect.UNMEASURED):
        return Score(value=None, reason=f"abstains: {assessment.why}")
    hops = len(point.task.walk.hops) if view.plan is None else view.plan.needed
    if not hops and _VALUE[assessment.kind] >= 0.5:
        return Score(value=None, reason="abstains: the task has no walk to measure against")
    value = _VALUE[assessment.kind]
    if assessment.kind is Effect.PROGRESS:
        value += 0.15 * len(assessment.hops) / hops
    elif assessment.kind is Effect.EXPLORES and wrong:
        value = _STILL_WRONG
    elif assessment.kind is Effect.ON_PATH and not any(observe(result.content).about for result in results):
        value = _NOTHING_NEW
    return Score(value=round(value, 4), reason=f"{assessment.kind.value}: {assessment.why}")


def _answer(point: Point, view: EvidenceView, episode: Episode, turn: Turn) -> Score:
    hops = point.task.walk.hops
    if turn.answer is None:
        return Score(value=0.1, reason="gives up")
    verdict = episode.check(turn.answer)
    if verdict.correct is None:
        return Score(value=None, reason=f"abstains: {verdict.evidence}")
    if not verdict.correct:
        return Score(value=0.05, reason=f"wrong answer: {verdict.evidence}")
    if view.plan is not None:
        return _ends(view.plan, point, turn.answer)
    missing = missing_for_answer(view)
    if missing:
        unread = "; ".join(f"{hops[n].source.name} -> {hops[n].target.name}" for n in missing)
        return Score(value=0.4, reason=f"right, but unread: {unread}")
    if not hops and not _read(point, turn.answer):
        if not stands_verbatim(point.task):
            return Score(value=None, reason="abstains: right, and what was read need not state it word for word")
        return Score(value=0.4, reason="right, but it stands in nothing that was read")
    return Score(value=0.95, reason="right, and all that it rests on was read")


def _ends(plan: PlanView, point: Point, answer: str) -> Score:
    """A right end of a task with a plan: the state is as it should be, or the answer is right."""
    if plan.plan.outcome == "answered" and not _read(point, answer):
        return Score(value=0.4, reason="right, but it stands in nothing that was read")
    unread = "; ".join(plan.missing())
    if unread and plan.plan.outcome == "refused":
        return Score(value=0.55, reason=f"rightly changes nothing, but did not look: {unread}")
    if unread and plan.plan.attempts:
        return Score(value=0.55, reason=f"all is as it should be, but did not try first: {unread}")
    return Score(value=0.95, reason="all is as it was asked for")


def _read(point: Point, answer: str) -> bool:
    contents = (result.content for step in point.history for result in step.results)
    return states_answer(point.task, answer, contents, right=True)
