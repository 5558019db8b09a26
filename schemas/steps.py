"""Steps of trajectories with their labels, and the continuations that were tried from them.

A *step* is one agent turn: the consecutive actions before the next observation. Its key is (trajectory_id, step).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from synth.schemas.adp import ContentItem
from synth.schemas.model_turns import ModelTurn
from synth.schemas.provenance import Provenance
from synth.schemas.row import Key, NonEmpty, Ref, Row, Split
from synth.schemas.trajectories import Role, StopReason, Verdict

__all__ = [
    "Behaviour",
    "ContinuationRow",
    "Criticality",
    "FailureClass",
    "LabelReason",
    "Side",
    "StepRow",
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
    JUDGED = "judged"
    """The ``judge`` said so, by steps that its words name."""


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
    judged_right: bool | None = None
    """Whether it is true what the turn says of what it was shown (``judge``, ReSeek), or of whether it may act
    (``check``, MOSAIC). None: it says nothing, or nothing tells."""
    score: float | None
    """Score of the recorded action by the ``prm``, 0 to 1; None when it abstained or did not look."""
    criticality: Criticality | None
    """What branching from this step showed; None when nothing was tried."""
    first_error_branching: bool | None
    """By continuations alone: the policy still succeeds from before this step and no more from after it.
    None: untried."""
    advantage: float | None
    """Success rate of the policy's continuations behind the step minus that of those before it, -1 to 1 (PAV,
    2410.08146): all original ones of ``continuations`` at this step and at the one before; behind the last step,
    the run's own verdict. None: one of the two was not measured."""
    group_advantage: float | None = None
    """Discounted verdict of the run minus the mean over all turns that runs of this role on the task took from the same
    state, -1 to 1 (GiGPO, arXiv 2505.10978; gamma is 0.95). None: no other run was in that state, the run has no
    verdict, or it is a second try."""
    answer_probability: float | None = None
    """How probable the policy holds the right answer once it has seen what this turn brought, 0 to 1: the geometric
    mean over the answer's tokens (IGPO, arXiv 2510.14967). None: not measured, or the turn calls no tool."""
    answer_gain: float | None = None
    """What this turn adds to it, -1 to 1: the difference from the turn before, of the first turn from the question
    alone. None: one of the two was not measured."""
    outcome_potential: float | None = None
    """By how much the policy leans, once it has seen what this turn brought, to what its own runs on the task reliably
    end with, 0 to 1 (SIOP, arXiv 2605.04984): their answers in modes, each weighted by the share of runs that ended in
    it after a tool had shown it. None: not measured, the runs agree, or the turn calls no tool."""
    outcome_gain: float | None = None
    """What this turn adds to it, -1 to 1. None: one of the two was not measured."""
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
