"""Pairs at the pivot of a refined run (R3L, arXiv 2601.03715): the first wrong turn of the failed run against
the turn that stands in its place on the way to the right answer. What both share is the prompt, and what followed is on
neither side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.annotate.preferences.sides import (
    PairPosition,
    Pairs,
    alike,
    describe,
    make_pair,
    not_grounded,
    refusal,
)
from synth.schemas.preferences import PairKind
from synth.schemas.provenance import Provenance
from synth.schemas.refined import Refined
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.steps import StepRow
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.schemas.turns import bare_actions

__all__ = ["refined_pairs"]


def refined_pairs(
    runs: Sequence[TrajectoryRow], steps: Mapping[str, Sequence[StepRow]], *, provenance: Provenance, stage: str
) -> Pairs:
    """One pair for each refined run among ``runs``, the policy's runs of one task, whose pivot is a wrong turn.

    Args:
        steps: Labelled steps by trajectory: a turn that is wrong by its label is never chosen.
    """
    by_id = {run.id: run for run in runs}
    return sum(
        (
            _pair(by_id[run.retry_of], run, steps, provenance, stage)
            for run in runs
            if run.retry_of in by_id and Refined.stand_in(run.details)
        ),
        Pairs(),
    )


def _pair(
    failed: TrajectoryRow,
    good: TrajectoryRow,
    steps: Mapping[str, Sequence[StepRow]],
    provenance: Provenance,
    stage: str,
) -> Pairs:
    made = Refined.of(good.details).refined
    labels = {step.step: step for step in steps[failed.id]}
    wrong = labels.get(made.step)
    if made.how == "segment" or wrong is None or not wrong.first_error:
        return Pairs()
    position, other = PairPosition.at(failed, made.step), PairPosition.at(good, made.step)
    chosen, rejected = bare_actions(other.recorded), bare_actions(position.recorded)
    better = next(step for step in steps[good.id] if step.step == made.step)
    why: Rejection | None = None
    if alike(failed, chosen, rejected):
        why = refusal(good, stage, Reason.NO_PAIR, "both sides act or think alike", step=made.step)
    elif better.label == -1:
        why = refusal(good, stage, Reason.NO_PAIR, f"wrong by its label, too: {better.label_detail}", step=made.step)
    why = why or not_grounded(position, chosen, stage=stage)
    if why is not None:
        return Pairs(rejected=(why,))
    ends = [end.run.stop_reason is StopReason.GAVE_UP and made.step + 1 == end.run.turns for end in (other, position)]
    told = "told what went wrong" if made.hint is not None else "begun again there"
    pair = make_pair(
        position,
        kind=PairKind.REFINED,
        family="decision",
        chosen=chosen,
        rejected=rejected,
        difference=f"{describe(chosen, gave_up=ends[0])} instead of {describe(rejected, gave_up=ends[1])}",
        why=f"The recorded turn is the first wrong one: {wrong.label_detail}. The policy, {told}, came to the right "
        f"answer in try {made.tries}.",
        provenance=provenance,
        other=good,
        gave_up=(ends[0], ends[1]),
        first_deviation=True,
    )
    return Pairs((pair,))
