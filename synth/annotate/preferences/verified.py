"""Pairs of verified steps (CSO, arXiv 2602.03412): an alternative that was measured against the recorded action.

Failed run: the alternative is preferred, the recorded action is not. Successful run: the other way round, so that a
student does not learn to leave good paths; but no step that is labelled wrong, as one can be and do no harm. Both sides
were continued by the policy from the same restored state.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from synth.agents.grounding.said import says
from synth.annotate.preferences.sides import (
    PairPosition,
    Pairs,
    alike,
    describe,
    make_pair,
    not_grounded,
    not_reasoned,
)
from synth.schemas.adp import ApiAction, ContentItem
from synth.schemas.preferences import PairKind, PreferenceRow, Strength
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Rejection
from synth.schemas.searched import SearchedRow, Unpaired
from synth.schemas.steps import ContinuationRow, Criticality, LabelReason, StepRow
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.schemas.turns import bare_actions, turn_ranges

__all__ = ["off_path", "verified_pairs"]


def verified_pairs(
    trajectory: TrajectoryRow,
    steps: Sequence[StepRow],
    continuations: Iterable[ContinuationRow],
    *,
    provenance: Provenance,
    stage: str = "verified_pairs",
    own_words: bool | None = None,
    searched: SearchedRow | None = None,
) -> Pairs:
    """One pair per verified step of a run.

    Args:
        steps: All steps of the trajectory; those whose criticality is verified become pairs.
        continuations: They hold the alternative's action. Those of other trajectories are passed over.
        own_words: Whether a model proposed the alternatives; None = as for the run itself.
        searched: What the search of the run came to: why a failed run has no pair.

    Raises:
        ValueError: a verified step has no continuation of its alternative.
    """
    kind = PairKind.VERIFIED_STEP_SUCCESS if trajectory.success else PairKind.VERIFIED_STEP
    own = sorted((row for row in steps if row.trajectory_id == trajectory.id), key=lambda row: row.step)
    verified = [row for row in own if _better(row, kind)]
    tried: dict[tuple[int, int], ContinuationRow] = {}
    for branch in sorted(continuations, key=lambda row: (row.step, row.alternative, row.sample)):
        if branch.trajectory_id == trajectory.id and branch.side == "alternative":
            tried.setdefault((branch.step, branch.alternative), branch)
    rows: list[PreferenceRow] = []
    rejected: list[Rejection] = []
    equal = lucky = 0
    for row in verified:
        assert row.criticality is not None
        branch_of = tried.get((row.step, row.criticality.alternative))
        if branch_of is not None and _skips(own, row, branch_of, kind):
            lucky += 1
            continue
        if branch_of is None:
            raise ValueError(f"{row.id} is verified, but no branch holds its alternative {row.criticality.alternative}")
        recovery = off_path(own, row.step)
        position = PairPosition.at(trajectory, row.step, earliest=row is verified[0], recovery=recovery)
        first = None if row.first_error is None else not recovery
        made = _pair(position, row.criticality, branch_of, kind, provenance, stage, own_words, first)
        if made is None:
            equal += 1
        elif isinstance(made, Rejection):
            rejected.append(made)
        else:
            rows.append(made)
    if rows or trajectory.success:
        return Pairs(tuple(rows), tuple(rejected))
    why = "a verified step whose sides act or think alike" if equal else _why_none(searched)
    if lucky and not equal:
        why = "a verified step that answers before all that it hangs on was in view"
    if rejected:
        why = rejected[0].detail
    return Pairs((), tuple(rejected), (Unpaired(trajectory_id=trajectory.id, why=why),))


def _why_none(searched: SearchedRow | None) -> str:
    """Why the search of a failed run verified no step."""
    if searched is None or not (searched.counts or searched.refused):
        return "not searched"
    if searched.refused is not None and not searched.steps:
        return f"can't be continued from: {searched.refused}"
    tried = int(str(searched.counts.get("candidates", 0)))
    if tried:
        return f"none of {tried} alternatives was verified by continuations"
    asked = int(str(searched.counts.get("expert_calls", 0)))
    return "no alternative scored better" if asked else "no step scored low"


def off_path(steps: Iterable[StepRow], step: int) -> bool:
    """Whether the run was already off the path before ``step``: an error is earlier (by its label, by branching, or
    because something better was verified there), and no step between has corrected it."""
    before = sorted((row for row in steps if row.step < step), key=lambda row: row.step)
    off = False
    for row in before:
        if row.first_error or row.first_error_branching or _better(row, PairKind.VERIFIED_STEP):
            off = True
        elif row.label_reason is LabelReason.CORRECTED:
            off = False
    return off


_TRIES = ("hit_snippet", "hit_try")
"""What is said by who opens one of several results to see."""


def _skips(steps: Sequence[StepRow], row: StepRow, branch: ContinuationRow, kind: PairKind) -> bool:
    """Whether the preferred side answers before all that the question hangs on was in view: right by luck."""
    before = next((one.progress for one in steps if one.step == row.step - 1), 0.0)
    first = turn_ranges(branch.content)[0]
    turn = branch.content[first[0] : first[1]]
    answers = all(not isinstance(one, ApiAction) for one in turn) if kind is PairKind.VERIFIED_STEP else False
    return (
        before is not None
        and before < 1
        and (answers or (kind is not PairKind.VERIFIED_STEP and row.action_kind == "answer"))
    )


def _as_good(chosen: Sequence[ContentItem], rejected: Sequence[ContentItem]) -> bool:
    """Whether both sides open one of several results of a kind to see what it says: that one of them turned out to be
    the right one is nothing that was in view."""
    opened = []
    for side in (chosen, rejected):
        calls = [one for one in bare_actions(side) if isinstance(one, ApiAction)]
        thought = next((one.reasoning_content for one in calls if one.reasoning_content), "")
        document = str(calls[0].kwargs.get("document", "")) if len(calls) == 1 else ""
        if not document or says(_TRIES, thought) is None:
            return False
        opened.append(document.rpartition("/")[0])
    return opened[0] == opened[1]


def _better(row: StepRow, kind: PairKind) -> bool:
    """Verified, and in the direction that the kind asks for."""
    found = row.criticality
    if found is None or not found.verified or row.label_reason is LabelReason.INVALID_CALL:
        return False  # a call that was refused is a slip of form, and no decision
    return found.difference > 0 if kind is PairKind.VERIFIED_STEP else found.difference < 0 and row.label != -1


def _pair(
    position: PairPosition,
    criticality: Criticality,
    branch: ContinuationRow,
    kind: PairKind,
    provenance: Provenance,
    stage: str,
    own_words: bool | None,
    first_deviation: bool | None,
) -> PreferenceRow | Rejection | None:
    trajectory = position.run
    first = turn_ranges(branch.content)[0]
    recorded, other = position.recorded, branch.content[first[0] : first[1]]
    ends = (
        position.end == len(trajectory.content) and trajectory.stop_reason is StopReason.GAVE_UP,
        first[1] == len(branch.content) and branch.stop_reason is StopReason.GAVE_UP,
    )
    failed = kind is PairKind.VERIFIED_STEP
    chosen, rejected = (other, recorded) if failed else (recorded, other)
    gave_up = (ends[1], ends[0]) if failed else ends
    strength = Strength.of(criticality, "alternative" if failed else "original")
    if alike(trajectory, chosen, rejected) or _as_good(chosen, rejected):
        return None
    bad = not_grounded(position, bare_actions(chosen), stage=stage, own_words=own_words if failed else None)
    bad = bad or not_reasoned(position, bare_actions(chosen), stage=stage)
    if bad is not None:
        return bad
    return make_pair(
        position,
        kind=kind,
        family="robust_recovery" if position.nature == "recovery" else "decision",
        chosen=bare_actions(chosen),
        rejected=bare_actions(rejected),
        difference=f"{_say(chosen, gave_up[0])} instead of {_say(rejected, gave_up[1])}",
        why=_why(strength, failed),
        provenance=provenance,
        strength=strength,
        gave_up=gave_up,
        first_deviation=first_deviation,
    )


def _say(actions: Sequence[ContentItem], gave_up: bool) -> str:
    return describe(actions, gave_up=gave_up)


def _why(strength: Strength, failed: bool) -> str:
    names = ("the alternative", "the recorded action") if failed else ("the recorded action", "the alternative")
    return (
        f"From the same state {strength.chosen_successes} of {strength.chosen_n} continuations of {names[0]} ended "
        f"with the right answer, and {strength.rejected_successes} of {strength.rejected_n} of {names[1]} "
        f"(difference {strength.difference:+.2f}, {strength.confidence:.0%} interval {strength.low:+.2f} to "
        f"{strength.high:+.2f})."
    )
