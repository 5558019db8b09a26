"""The reward of a response: nothing for a wrong answer; for a right one most of it, and the rest for showing the way.

LongTraceRL (arXiv 2605.31584), positive-only: ``0`` if the answer is wrong, else ``0.7 + 0.3 * rubric / best`` where
``rubric`` is the share of the gold entities that the response names and ``best`` the greatest share in its group (all
responses to the same prompt, the wrong ones included).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from synth.annotate.rewards.naming import named
from synth.annotate.rewards.response import read_response
from synth.annotate.rewards.truth import read_truth
from synth.environments.answers import check_task
from synth.errors import InputError
from synth.schemas.rl import GroundTruth
from synth.schemas.trajectories import Verdict

__all__ = ["OUTCOME_WEIGHT", "RUBRIC_WEIGHT", "Reward", "group_rewards", "reward"]

OUTCOME_WEIGHT = 0.7
RUBRIC_WEIGHT = 0.3
LONGEST_ANSWER = 1_000
"""Code points that a final answer may have, or four times as many as the gold answer where that is long."""

_STATE = (
    "The task is judged by the state that it leaves behind, which no text shows: "
    "step it through `synth serve-env` and ask /score."
)


@dataclass(frozen=True)
class Reward:
    """A reward and what it was made of."""

    value: float | None
    """In [0, 1]; None when no rule can judge the answer, or the task is judged by its state: neither a success nor a
    failure, so no reward either."""
    correct: bool | None
    """The verdict on the final answer; None = abstained."""
    rubric: float
    """Share of the rubric that the response names, in [0, 1]; 0 where there is no rubric."""
    best: float
    """The share that it was measured against."""
    named: tuple[str, ...]
    """Ids of the rubric's items that the response names, in the order of the rubric."""
    answer: str | None
    """What was taken for the final answer."""
    rule: str
    """The rule that decided about the answer."""
    evidence: str
    """What that rule compared."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "named": list(self.named)}


@dataclass(frozen=True)
class _Judged:
    verdict: Verdict
    answer: str | None
    named: tuple[str, ...]
    rubric: float


def reward(response: Any, truth: Any, *, observations: str | None = None) -> Reward:
    """The reward of one response on its own: the whole rubric is what it is measured against.

    Args:
        response: The text, or a list of chat messages.
        truth: A ``GroundTruth``, its JSON or a mapping with its fields.
        observations: See :func:`synth.annotate.rewards.response.read_response`.

    Raises:
        InputError: one of them is of another form; the line says which and how.
    """
    read = read_truth(truth)
    return _weighed(_judged(response, read, observations, "response"), read, 1.0)


def group_rewards(responses: Sequence[Any], truth: Any, *, observations: str | None = None) -> tuple[Reward, ...]:
    """The rewards of all responses to one prompt, in order.

    The best rubric of the group counts in full, so a right answer that shows most of the way gets 1 and the others
    their share of it. Where nobody names anything of the rubric, right answers get 0.7; where the task has no rubric,
    the outcome alone decides and they get 1.

    Raises:
        InputError: there are no responses, or one of them or the truth is of another form.
    """
    if isinstance(responses, str | bytes) or not isinstance(responses, Sequence):
        raise InputError(f"is a {type(responses).__name__}, not a list", where="responses")
    if not responses:
        raise InputError("the group is empty", where="responses", mend="hand over all responses to one prompt together")
    read = read_truth(truth)
    judged = [_judged(one, read, observations, f"responses[{place}]") for place, one in enumerate(responses)]
    best = max(one.rubric for one in judged)
    return tuple(_weighed(one, read, best) for one in judged)


def _judged(response: Any, truth: GroundTruth, observations: str | None, where: str) -> _Judged:
    said = read_response(response, observations=observations, where=where)
    verdict = _verdict(truth, said.answer)
    found = named(said.text, [item.names for item in truth.rubric])
    share = len(found) / len(truth.rubric) if truth.rubric else 0.0
    names = tuple(item.entity for place, item in enumerate(truth.rubric) if place in found)
    return _Judged(verdict, said.answer, names, share)


def _verdict(truth: GroundTruth, answer: str | None) -> Verdict:
    """A text many times as long as the right answer is none; to look for parts in it would take long."""
    if truth.judged_by == "state":  # a text proves nothing, whatever it claims
        return Verdict(correct=None, rule="state", evidence=_STATE)
    longest = max(len(truth.answer), sum(len(part.answer) + 2 for part in truth.answer_parts))
    most = max(LONGEST_ANSWER, 4 * longest)
    if answer is not None and len(answer) > most:
        said = f"The answer has {len(answer):,} characters; at most {most:,} are read."
        return Verdict(correct=False, rule="too_long", evidence=said)
    return check_task(truth, answer)


def _weighed(judged: _Judged, truth: GroundTruth, best: float) -> Reward:
    correct = judged.verdict.correct
    value: float | None
    if correct is None:
        value = None
    elif not correct:
        value = 0.0
    elif not truth.rubric:
        value = 1.0
    else:
        value = min(1.0, OUTCOME_WEIGHT + RUBRIC_WEIGHT * (judged.rubric / best if best > 0 else 0.0))
    return Reward(
        value=value,
        correct=correct,
        rubric=judged.rubric,
        best=best,
        named=judged.named,
        answer=judged.answer,
        rule=judged.verdict.rule,
        evidence=judged.verdict.evidence,
    )
