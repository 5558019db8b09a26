"""Preference pairs: two sides of one prefix, which is better, why, and how strongly."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from synth.schemas.adp import ContentItem
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, Key, NonEmpty, Ref, Row, Split
from synth.schemas.steps import Criticality, Side

__all__ = ["PairKind", "PreferenceRow", "Repair", "Strength", "selected_by_default", "swap"]


class Strength(Row):
    """How far the chosen side is better than the rejected one, measured on continuations from the same state."""

    alternative: int
    """Number of the alternative (chosen in failed runs, rejected in successful ones), as in ``continuations``."""
    difference: float
    """Success rate of the chosen side minus that of the rejected one."""
    low: float
    """Lower end of the confidence interval of the difference."""
    high: float
    """Upper end of it."""
    confidence: float
    """Of the interval and of the verification, between 0 and 1."""
    chosen_successes: int
    """Continuations of the chosen side that succeeded."""
    chosen_n: int
    """Continuations of the chosen side."""
    rejected_successes: int
    """Continuations of the rejected side that succeeded."""
    rejected_n: int
    """Continuations of the rejected side."""
    verified: bool
    """The better side is better: see ``criticality`` in ``steps``."""
    policy_draws: int | None = None
    """Turns of its own that the policy was asked for at this state; None = none."""
    chosen_draws: int | None = None
    """Those of them that do what the chosen side does: how likely the policy is to do it by itself."""
    rejected_draws: int | None = None
    """Those of them that do what the rejected side does."""

    @classmethod
    def of(cls, criticality: Criticality, chosen: Side) -> Strength:
        """The strength of the pair whose chosen side is the alternative, or the recorded action (``original``)."""
        strength = cls(
            alternative=criticality.alternative,
            difference=criticality.difference,
            low=criticality.low,
            high=criticality.high,
            confidence=criticality.confidence,
            chosen_successes=criticality.alternative_successes,
            chosen_n=criticality.alternative_n,
            rejected_successes=criticality.original_successes,
            rejected_n=criticality.original_n,
            verified=criticality.verified,
            policy_draws=criticality.policy_draws,
            chosen_draws=criticality.alternative_draws,
            rejected_draws=criticality.original_draws,
        )
        return strength if chosen == "alternative" else strength.swapped()

    def swapped(self) -> Strength:
        """The same measurement, told of the sides the other way round."""
        return self.model_copy(
            update={
                "difference": -self.difference,
                "low": -self.high,
                "high": -self.low,
                "chosen_successes": self.rejected_successes,
                "chosen_n": self.rejected_n,
                "rejected_successes": self.chosen_successes,
                "rejected_n": self.chosen_n,
                "chosen_draws": self.rejected_draws,
                "rejected_draws": self.chosen_draws,
            }
        )


class PairKind(StrEnum):
    """Where a pair comes from."""

    VERIFIED_STEP = "verified_step"
    """A failed run: the alternative succeeds where the recorded action fails, verified (CSO 2602.03412 and beyond)."""
    VERIFIED_STEP_SUCCESS = "verified_step_success"
    """A successful run: the recorded action succeeds where an alternative fails, verified."""
    TRAJECTORY = "trajectory"
    """A run that succeeded against one that failed on the same task, of similar length."""
    PERTURBATION = "perturbation"
    """A good run against the same run with one thing done wrong, carried out in the environment."""
    REPAIR = "repair"
    """A run on a safety twin that gave in, or refused what does no harm: what the same policy does in its place, where
    that passes four checks (FATE 2605.11882)."""
    REFINED = "refined"
    """A failed run's first wrong turn against what the same policy did in its place on the way to the right answer:
    after it was told what went wrong, or without (R3L 2601.03715)."""
    SIBLING = "sibling"
    """Two turns of the policy from one state of a tree of runs: behind one of them more runs ended right."""


class Repair(Row):
    """What a repaired step was checked by (FATE, arXiv 2605.11882: security, utility, over-refusal, validity), with its
    evidence. A pair is made only where all four hold, and the runs that show it can be made again.

    The policy that failed proposes, and goes on to the end; with the same draws it meets the other twin, from the same
    step on. So nothing passes that refuses, or helps, whatever it is asked.
    """

    failure: Literal["gave_in", "over_refused"]
    """``gave_in``: it went about what is asked for with harm in mind. ``over_refused``: it changed nothing of what does
    no harm."""
    candidate: int
    """Number of the proposal, from 0."""
    hinted: bool
    """Whether the repaired turn was taken with a hint that no row keeps. What follows it never was."""
    turns: tuple[int, int]
    """Turns from the repaired one to the end: on the pair's own task, and on the other twin. No repair that passed is
    shorter on one and no longer on the other."""
    tried: int
    """Proposals for this step."""
    passed: int
    """Those of them that passed all four checks."""
    security: str
    """The verdict on the harmful twin: nothing is changed."""
    utility: str
    """The verdict on the harmless twin: what is asked for is done."""
    over_refusal: str
    """What the harmless twin was met with in place of a refusal."""
    validity: str
    """How the repaired turn was found to be one that can be made there: tools took it, and what it names was seen."""
    own: tuple[ContentItem, ...]
    """The run that begins with the chosen side and goes to the end, on the pair's own task."""
    twin: tuple[ContentItem, ...]
    """What the same policy did from that step on, on the other twin."""


class PreferenceRow(Row):
    """A pair of actions (or of runs) that share their prefix. Self-contained."""

    table: ClassVar[str | None] = "preferences"

    id: Annotated[NonEmpty, Key()]
    """Hash of what it is."""
    kind: PairKind
    """Where it comes from."""
    family: NonEmpty
    """What it teaches: ``decision``, ``planning``, ``verification``, ``robust_recovery``, ``tool_irrelevance``, or
    ``whole_run``; ``safety`` (of ``repair`` pairs): to refuse what does harm, and that alone. Searching a collection of
    pages gives no honest occasion for it."""
    task_id: NonEmpty
    """The task of both sides."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The trajectory that the prefix comes from."""
    other_trajectory_id: Annotated[str | None, Ref("trajectories", ("task_id", "split"))] = None
    """The run that the other side is, in ``trajectory`` pairs."""
    step: int
    """The step at which the sides part; 0 when they share the question only."""
    system_prompt: str
    """What both agents were told."""
    tool_schemas: JsonList
    """The tools, as the agents saw them."""
    prompt: tuple[ContentItem, ...]
    """History up to the step: the question, and every action and observation before."""
    chosen: tuple[ContentItem, ...]
    """What is preferred: one action for step pairs, the rest of the run for trajectory pairs."""
    rejected: tuple[ContentItem, ...]
    """What is not."""
    same_kind: bool
    """Both sides do the same kind of action."""
    position: Literal["earliest", "later", "whole"]
    """Earliest verified step of its trajectory, a later one, or a whole run."""
    nature: Literal["decision", "recovery", "whole"]
    """``recovery``: the trajectory was already off the path before the step."""
    from_success: bool
    """Whether the prefix comes from a successful trajectory."""
    difference: str
    """What differs between the sides, in words."""
    why: str
    """Why one is preferred, in words."""
    strength: Strength | None
    """Measured on continuations of both sides; None for pairs that need none."""
    repair: Repair | None = None
    """Of ``repair`` pairs: the four checks, and the runs that show them."""
    rejected_by: Literal["policy", "teacher", "expert", "rule", "perturber"]
    """Who did, or proposed, what the rejected side does. ``rule``: an error that was put into a good run, easy to tell;
    such pairs fill what real failures did not give."""
    first_deviation: bool | None
    """Whether nothing went wrong before the rejected turn, or it had been put right. None: a pair of whole runs, or not
    measured."""
    selected: bool
    """In the selection that exports take by default (``preferences.selection``; ``selected_by_default``)."""
    split: Split
    """That of the task."""
    licence: str | None
    """Licence of the documents in it, as the task has it."""
    provenance: Provenance
    """What made the row."""


def selected_by_default(kind: PairKind, strength: Strength | None) -> bool:
    """The default selection: pairs whose rejected side a player really did or proposed. Injected errors are not in it,
    nor is a step that was measured and not verified."""
    if strength is None:
        return kind not in (PairKind.PERTURBATION, PairKind.SIBLING)
    return kind is not PairKind.PERTURBATION and strength.verified


def swap(pair: PreferenceRow) -> PreferenceRow:
    """The pair with its sides exchanged, for a judge who must see both orders: ``swap(swap(pair)) == pair``.

    Everything else stays, the id too: it is the same pair, told wrongly. ``validate`` refuses such a row in a dataset.
    """
    return pair.model_copy(
        update={
            "chosen": pair.rejected,
            "rejected": pair.chosen,
            "strength": pair.strength.swapped() if pair.strength else None,
        }
    )
