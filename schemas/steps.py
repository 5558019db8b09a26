"""Steps of trajectories with their labels, the continuations that were tried from them, and the pairs made of both.

A *step* is one agent turn: the consecutive actions before the next observation. Its key is (trajectory_id, step).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonList, Key, NonEmpty, Ref, Row, Split
from synth.schemas.trajectories import Role, StopReason, Verdict

__all__ = [
    "Behaviour",
    "ContinuationRow",
    "Criticality",
    "FailureClass",
    "LabelReason",
    "PairKind",
    "PreferenceRow",
    "Repair",
    "Side",
    "StepRow",
    "Strength",
    "selected_by_default",
    "swap",
]

Side = Literal["original", "alternative"]


class Behaviour(StrEnum):
    """What a turn does well (arXiv 2510.06534)."""

    VERIFICATION = "verification"
    """Looks once more before it relies on something."""
    AUTHORITY = "authority"
    """Weighs which page is the right one to trust for a fact."""
    ADAPTIVE_SEARCH = "adaptive_search"
    """Changes a query because of what the last one gave."""
    RECOVERY = "recovery"
    """Leaves a wrong path that it had taken."""


class LabelReason(StrEnum):
    """Why a step has its label."""

    PROGRESS = "progress"
    """New evidence of the task came into view, or a right answer was given."""
    SUPPORTED_ANSWER = "supported_answer"
    """The answer is right and was read."""
    VERIFIED = "verified"
    """Nothing new, but something was checked that the answer rests on."""
    CORRECTED = "corrected"
    """Leaves an error behind: propagation ends here."""
    NEUTRAL = "neutral"
    """Neither helps nor harms."""
    UNMEASURED = "unmeasured"
    """Not measured, so there is no label: no evidence is known, no verdict was reached, or it was not carried out."""
    TOOL_FAILURE = "tool_failure"
    """The tool broke; no fault of the agent's (AgentProcessBench 2603.14465: 0)."""
    INVALID_CALL = "invalid_call"
    """A call that no tool accepts."""
    REPEATED_FAILURE = "repeated_failure"
    """A failed action made again (AgentProcessBench: -1)."""
    REDUNDANT = "redundant"
    """Asks what was asked, or brings nothing that had not been read."""
    WRONG_TURN = "wrong_turn"
    """Accepts or follows something that the task's evidence contradicts."""
    UNSUPPORTED_ANSWER = "unsupported_answer"
    """Answers what nothing that was read supports."""
    PREMATURE = "premature"
    """Answers, or gives up, with conditions of the question unread."""
    PROPAGATED = "propagated"
    """Builds on an earlier error that was not corrected yet."""


class FailureClass(StrEnum):
    """Why a run failed: five classes, fourteen sub-classes (after DeepVerifier 2601.15808, in our own words)."""

    FINDING_NO_QUERY = "finding.no_query"
    """Never asked for something that the question needs."""
    FINDING_BAD_QUERY = "finding.bad_query"
    """Asked for it in words that do not lead there."""
    FINDING_WRONG_PAGE = "finding.wrong_page"
    """Went for another page than the one that states it."""
    READING_MISSED = "reading.missed"
    """Was shown the fact and did not take it up."""
    READING_WRONG_FACT = "reading.wrong_fact"
    """Took another fact for the one that was asked for."""
    READING_PARTIAL = "reading.partial"
    """Left a page before the part that states the fact."""
    REASONING_WRONG_ENTITY = "reasoning.wrong_entity"
    """Went on with something that does not fit the question."""
    REASONING_SKIPPED_CONDITION = "reasoning.skipped_condition"
    """Left a condition of the question unchecked."""
    REASONING_UNSUPPORTED = "reasoning.unsupported"
    """Concluded what nothing that was read supports."""
    ACTING_INVALID_CALL = "acting.invalid_call"
    """Made calls that no tool accepts."""
    ACTING_WRONG_CHANGE = "acting.wrong_change"
    """Changed something that was not asked for, or otherwise than it was."""
    ACTING_LOOP = "acting.loop"
    """Did the same again and again."""
    ENDING_EARLY = "ending.early"
    """Ended with evidence still unread."""
    ENDING_LATE = "ending.late"
    """Had no turn left to end with."""


class Criticality(Row):
    """How much hangs on one step, measured on continuations from the same state.

    Each side counts its first ``n`` judged rows of ``continuations``, by sample: the original side of this step, and
    that of one alternative. A continuation that no rule can judge is neither success nor failure and is left out.
    """

    alternative: int
    """Number of the alternative that the recorded action was compared with, as in ``continuations``."""
    difference: float
    """Success rate of the alternative minus that of the recorded action."""
    low: float
    """Lower end of the confidence interval of the difference."""
    high: float
    """Upper end of it."""
    confidence: float
    """Of the interval and of the verification, between 0 and 1."""
    alternative_successes: int
    """Continuations of the alternative that succeeded."""
    alternative_n: int
    """Continuations of the alternative."""
    original_successes: int
    """Continuations of the recorded action that succeeded. The recorded run itself is none of them."""
    original_n: int
    """Continuations of the recorded action."""
    verified: bool
    """In a failed run that the alternative is better (the difference is positive), in a successful run that it is worse
    (negative). By a search from the first deviation: all continuations of the better side succeeded and none of the
    worse. By an audit: established with an error that is controlled over the whole trajectory."""
    policy_draws: int | None = None
    """Turns of its own that the policy was asked for at this state; None = none."""
    alternative_draws: int | None = None
    """Those of them that do what the alternative does."""
    original_draws: int | None = None
    """Those of them that do what was recorded."""


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


class StepRow(Row):
    """One agent turn of a trajectory, labelled."""

    table: ClassVar[str | None] = "steps"
    unique_together = (("trajectory_id", "step"),)

    id: Annotated[NonEmpty, Key()]
    """``<trajectory_id>/<step>``."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The trajectory that it is part of."""
    task_id: NonEmpty
    """The task of that trajectory."""
    step: int
    """Place among the trajectory's turns, from 0."""
    content_start: int
    """Index in ``content`` of the turn's first action."""
    content_end: int
    """Index just past its last action."""
    role: Role
    """Who acted."""
    action_kind: NonEmpty
    """Name of the tool (several joined by ``+``), ``answer`` or ``give_up``."""
    label: Literal[-1, 0, 1] | None
    """+1 helps, 0 neutral, -1 harms (AgentProcessBench 2603.14465), errors propagated until corrected. None: not
    measured (``label_reason`` is ``unmeasured``)."""
    label_reason: LabelReason
    """Why."""
    label_detail: str
    """What exactly, in one line."""
    first_error: bool | None
    """The first step whose own doing is wrong (VPPO); at most one per trajectory. None: it may be, and was not
    measured, or is wrong and an unmeasured step comes before it."""
    failure: FailureClass | None
    """On the first known error of a failed trajectory: why the run failed. None there: no evidence tells."""
    behaviours: tuple[Behaviour, ...]
    """What the turn does well."""
    information_gain: float | None
    """Share of the task's evidence that came into view with this step, 0 to 1. None: no evidence is known."""
    progress: float | None
    """Share of it that is in view after this step, 0 to 1. None: no evidence is known."""
    gold_match: int | None
    """Hop of the gold walk that this step's call is matched to (bipartite, MatchTIR); -1 when it is matched to none.
    None: the task has no walk."""
    score: float | None
    """Score of the recorded action by the ``prm``, 0 to 1; None when it abstained or did not look."""
    criticality: Criticality | None
    """What branching from this step showed; None when nothing was tried."""
    first_error_branching: bool | None
    """By continuations alone: the policy still succeeds from before this step and no more from after it.
    None: untried."""
    pivot: bool | None
    """Outcomes of continuations from here vary most in this trajectory (PivotRL 2603.21383). None: too few were tried
    here to tell."""
    train: bool
    """Whether the turn may be a target. A wrong turn that was later corrected is context, not target."""
    train_reason: NonEmpty
    """Why (not)."""
    split: Split
    """That of the task."""
    provenance: Provenance
    """What made the row."""


class ContinuationRow(Row):
    """One continuation from a step. It refers to its prefix and does not copy it."""

    table: ClassVar[str | None] = "continuations"
    unique_together = (("trajectory_id", "step", "side", "alternative", "sample"),)

    id: Annotated[NonEmpty, Key()]
    """Hash of what it is."""
    trajectory_id: Annotated[NonEmpty, Ref("trajectories", ("task_id", "split"))]
    """The trajectory that it branches from."""
    task_id: NonEmpty
    """The task of that trajectory."""
    step: int
    """The step that is replaced (``alternative``) or taken again as recorded (``original``). -1, on the original side
    only: the question alone, from which the policy itself takes the first turn."""
    side: Side
    """Which action was put there."""
    alternative: int
    """Number of the alternative, from 0; -1 on the original side."""
    sample: int
    """Number of the continuation among those of its (step, side, alternative), from 0. It draws from its own names."""
    action_kind: NonEmpty
    """Kind of the action that was put there; ``none`` where the policy came to no first turn."""
    content: tuple[ContentItem, ...]
    """The action that was put there, and all that followed."""
    success: bool
    """Whether the continuation ended with the right answer."""
    verdict: Verdict
    """How that was decided."""
    answer: str | None
    """The final answer."""
    stop_reason: StopReason
    """Why it ended."""
    turns: int
    """Turns of the continuation, the one that was put there included."""
    proposal: ModelTurn | None = None
    """Where the action that was put there comes from, on the alternative side, when a model proposed it. That of an
    original is in ``details["model_turns"]`` of the trajectory, under the step's number."""
    model_turns: tuple[ModelTurn, ...] = ()
    """Where the policy's own turns come from, in their order, of a model's run: those behind the action that was put
    there; where nothing was put there (step -1), all of them."""
    split: Split
    """That of the task."""
    provenance: Provenance
    """What made the row."""


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
    """Number of the proposal, from 0; those before it did not pass."""
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
    """Whether nothing went wrong before the rejected turn. None: a pair of whole runs, or not measured."""
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
    return kind is not PairKind.PERTURBATION and (strength is None or strength.verified)


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
