"""The reward of a response: nothing for a wrong answer; for a right one most of it, and the rest for showing the way.

LongTraceRL (arXiv 2605.31584), positive-only: ``0`` if the answer is wrong, else ``0.7 + 0.3 * rubric / best`` where
``rubric`` is the share of the gold entities that the response names and ``best`` the greatest share in its group (all
responses to the same prompt, the wrong ones included).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from synth.annotate.rewards.checklist import NOT_MET, turns_of
from synth.annotate.rewards.naming import named
from synth.annotate.rewards.own import own_values
from synth.annotate.rewards.response import read_response
from synth.annotate.rewards.stages import STAGE_WEIGHTS, chain_of, stages_of
from synth.annotate.rewards.truth import read_truth
from synth.annotate.rewards.turns import read_turns
from synth.environments.answers import check_task
from synth.errors import InputError
from synth.identity import versioned
from synth.schemas.rl import GroundTruth, Verifier
from synth.schemas.trajectories import Verdict

__all__ = [
    "OUTCOME_WEIGHT",
    "RUBRIC_WEIGHT",
    "RULES",
    "VERIFIERS",
    "Reward",
    "Rule",
    "checklist_rewards",
    "cited_rewards",
    "group_rewards",
    "reward",
    "stage_rewards",
]

Rule: TypeAlias = Literal["grounded", "cited", "stages", "checklist"]
RULES: tuple[Rule, ...] = get_args(Rule)
"""``grounded`` is LongTraceRL's; for ``cited`` and ``stages`` see :mod:`synth.annotate.rewards.stages`, for
``checklist`` :mod:`synth.annotate.rewards.criteria`."""

OUTCOME_WEIGHT = 0.7
RUBRIC_WEIGHT = 0.3
LONGEST_ANSWER = 1_000
"""Code points that a final answer may have, or four times as many as the gold answer where that is long."""

_STATE = (
    "The task is judged by the state that it leaves behind, which no text shows: "
    "step it through `synth serve-env` and ask /score."
)

VERIFIERS: Mapping[str, Verifier] = {
    one.function: one
    for one in (
        Verifier(),
        Verifier(function="synth.annotate.rewards:cited_rewards"),
        Verifier(
            function="synth.annotate.rewards:stage_rewards",
            outcome_weight=STAGE_WEIGHTS["answer"],
            rubric_weight=1 - STAGE_WEIGHTS["answer"],
        ),
        Verifier(function="synth.annotate.rewards:checklist_rewards", outcome_weight=0.5, rubric_weight=0.5),
    )
}
"""What rows say of the rewards that ship, by function."""


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
    parts: dict[str, float | None] = field(default_factory=dict)
    """Of ``cited`` the shares of hops, of ``stages`` each stage, of ``checklist`` each item: 1 met, 0 not, None = no
    text can tell."""
    turns: tuple[float, ...] = ()
    """Of ``checklist``: the weight that each turn of the response gained."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "named": list(self.named), "turns": list(self.turns)}


@dataclass(frozen=True)
class _Judged:
    verdict: Verdict
    answer: str | None
    named: tuple[str, ...]
    rubric: float
    parts: dict[str, float | None] = field(default_factory=dict)
    turns: tuple[float, ...] = ()
    value: float | None = None
    """Of rules that need no group."""


def reward(response: Any, truth: Any, *, observations: str | None = None, rule: Rule | str = "grounded") -> Reward:
    """The reward of one response on its own: the whole rubric is what it is measured against.

    Args:
        response: The text, or a list of chat messages.
        truth: A ``GroundTruth``, its JSON or a mapping with its fields.
        observations: See :func:`synth.annotate.rewards.response.read_response`.
        rule: What is rewarded; ``module:function`` is a reward of the user's (:mod:`synth.annotate.rewards.own`), which
            gives the value, while verdict and rubric are ours.

    Raises:
        InputError: one of them is of another form; the line says which and how.
    """
    read = read_truth(truth)
    made = _weighed(_judged(response, read, observations, "response", rule), read, 1.0, rule)
    return (
        replace(made, value=own_values(rule, [response], read, observations=observations)[0]) if ":" in rule else made
    )


def group_rewards(
    responses: Sequence[Any], truth: Any, *, observations: str | None = None, rule: Rule | str = "grounded"
) -> tuple[Reward, ...]:
    """The rewards of all responses to one prompt, in order.

    The best rubric of the group counts in full, so a right answer that shows most of the way gets 1 and the others
    their share of it. Where nobody names anything of the rubric, right answers get 0.7; where the task has no rubric,
    the outcome alone decides and they get 1. (So with ``grounded`` and ``cited``; ``stages`` and ``checklist`` weigh
    each response by itself, wrong ones too.)

    Raises:
        InputError: there are no responses, or one of them or the truth is of another form.
    """
    if isinstance(responses, str | bytes) or not isinstance(responses, Sequence):
        raise InputError(f"is a {type(responses).__name__}, not a list", where="responses")
    if not responses:
        raise InputError("the group is empty", where="responses", mend="hand over all responses to one prompt together")
    read = read_truth(truth)
    judged = [_judged(one, read, observations, f"responses[{place}]", rule) for place, one in enumerate(responses)]
    best = max(one.rubric for one in judged)
    weighed = tuple(_weighed(one, read, best, rule) for one in judged)
    if ":" not in rule:
        return weighed
    values = own_values(rule, responses, read, observations=observations)
    return tuple(replace(one, value=value) for one, value in zip(weighed, values, strict=True))


@versioned(1)
def cited_rewards(responses: Sequence[Any], truth: Any, **more: Any) -> tuple[Reward, ...]:
    """As :func:`group_rewards`: the chain of evidence, hop by hop, read and cited."""
    return group_rewards(responses, truth, **more, rule="cited")


@versioned(1)
def stage_rewards(responses: Sequence[Any], truth: Any, **more: Any) -> tuple[Reward, ...]:
    """As :func:`group_rewards`: plan, search, evidence and answer, each by itself."""
    return group_rewards(responses, truth, **more, rule="stages")


@versioned(1)
def checklist_rewards(responses: Sequence[Any], truth: Any, **more: Any) -> tuple[Reward, ...]:
    """As :func:`group_rewards`: the items of the task's checklist, by their weights."""
    return group_rewards(responses, truth, **more, rule="checklist")


def _judged(response: Any, truth: GroundTruth, observations: str | None, where: str, rule: str) -> _Judged:
    said = read_response(response, observations=observations, where=where)
    verdict = _verdict(truth, said.answer)
    found = named(said.text, [item.names for item in truth.rubric])
    share = len(found) / len(truth.rubric) if truth.rubric else 0.0
    names = tuple(item.entity for place, item in enumerate(truth.rubric) if place in found)
    judged = _Judged(verdict, said.answer, names, share)
    if rule == "grounded" or ":" in rule:
        return judged
    turns = read_turns(response, observations)
    if rule == "checklist":
        return _checked(judged, truth, turns_of(turns, truth, correct=verdict.correct), len(turns))
    chain, hops = chain_of(turns, truth), sum(len(item.facts) for item in truth.rubric)
    if rule == "cited":
        shares: dict[str, float | None] = {
            name: len(getattr(chain, name)) / hops if hops else None for name in ("read", "named", "cited", "connected")
        }
        return replace(judged, rubric=shares["connected"] or 0.0, parts=shares)
    if verdict.correct is None:
        return judged
    stages = stages_of(turns, truth, chain, correct=verdict.correct)
    value = sum(STAGE_WEIGHTS[name] * part for name, part in stages.items())
    return replace(judged, parts={**stages}, value=value)


def _checked(judged: _Judged, truth: GroundTruth, met: Sequence[int | None], turns: int) -> _Judged:
    """By the turn in which each item was met. Where one can't be told, neither can the whole."""
    gained = [0.0] * turns
    for item, turn in zip(truth.checklist, met, strict=True):
        if turn is not None and turn != NOT_MET:
            gained[turn] += item.weight
    parts = {
        f"{number}. {item.text}": None if turn is None else float(turn != NOT_MET)
        for number, (item, turn) in enumerate(zip(truth.checklist, met, strict=True), start=1)
    }
    known = bool(met) and None not in met
    return replace(judged, parts=parts, turns=tuple(gained), value=min(1.0, sum(gained)) if known else None)


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


def _weighed(judged: _Judged, truth: GroundTruth, best: float, rule: str) -> Reward:
    correct = judged.verdict.correct
    value: float | None
    if rule in ("stages", "checklist"):
        value = judged.value
    elif correct is None:
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
        parts=judged.parts,
        turns=judged.turns,
    )
