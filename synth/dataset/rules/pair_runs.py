"""Rules of preference pairs that hold them against the runs that they were made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from synth.dataset.rules.recorded import Recorded, bare, essence, owner_problems, setting
from synth.dataset.rules.rules import Known, rule
from synth.dataset.rules.runs import Continuations, Runs, Steps
from synth.schemas.preferences import PairKind, PreferenceRow, Strength
from synth.schemas.steps import Side

__all__ = ["PAIR_RUN_RULES"]


@rule("preferences", "step licence system_prompt tool_schemas from_success kind other_trajectory_id")
def pair_of_run(row: PreferenceRow, known: Known) -> Iterator[str]:
    """The prompt is how the run began, and one side or both are what was recorded, or tried and counted."""
    run = known.of(Runs).recorded.get(row.trajectory_id)
    yield from owner_problems(row, run)
    if run is None or not 0 <= row.step < len(run.ranges):
        return
    if row.licence != run.licence:
        yield f"licence: {row.licence}, but that of the trajectory is {run.licence}"
    if setting(row.system_prompt, row.tool_schemas) != run.setting:
        yield "system_prompt, tool_schemas: are not those of the trajectory"
    if not run.starts_with(row.prompt, row.step):
        yield f"prompt: is not what the trajectory holds before step {row.step}"
    if row.from_success != run.success:
        yield f"from_success: {row.from_success}, but the trajectory {'did' if run.success else 'did not'} succeed"
    if row.kind is PairKind.TRAJECTORY:
        yield from _of_runs(row, run, known)
    elif row.kind is PairKind.PERTURBATION:
        if not run.goes_on_with(row.step, row.chosen):
            yield f"chosen: is not what the trajectory did from step {row.step} on"
    elif row.kind in (PairKind.REFINED, PairKind.SIBLING):
        yield from _of_two_runs(row, run, known)
    elif row.kind is PairKind.REPAIR:
        if run.success:
            yield f"kind: {row.kind}, but the trajectory succeeded"
        if bare(row.rejected) != run.bare[row.step]:
            yield f"rejected: is not what the trajectory did at step {row.step}"
    else:
        yield from _of_step(row, run, known)


def _of_step(row: PreferenceRow, run: Recorded, known: Known) -> Iterator[str]:
    """A pair of actions: one is the recorded one, the other the alternative that was tried."""
    succeeds, of = row.kind is PairKind.VERIFIED_STEP_SUCCESS, row.strength
    if run.success != succeeds:
        yield f"kind: {row.kind}, but the trajectory {'succeeded' if run.success else 'did not succeed'}"
    kept, other = ("chosen", "rejected") if succeeds else ("rejected", "chosen")
    if bare(getattr(row, kept)) != run.bare[row.step]:
        yield f"{kept}: is not what the trajectory did at step {row.step}"
    if essence(getattr(row, other)) == run.essences[row.step]:
        yield f"{other}: is what the trajectory did at step {row.step}"
    if of is None:
        return
    tried, steps = known.of(Continuations), known.of(Steps)
    tally = tried.tallies.get((row.trajectory_id, row.step), {}).get(("alternative", of.alternative))
    if tally is not None and tally.bare != bare(getattr(row, other)):
        yield f"{other}: is not alternative {of.alternative} of the continuations"
    chosen, rejected = (of.chosen_successes, of.chosen_n), (of.rejected_successes, of.rejected_n)
    counts: Mapping[Side, tuple[int, int]] = {
        "original": chosen if kept == "chosen" else rejected,
        "alternative": rejected if kept == "chosen" else chosen,
    }
    if tried.tallies:
        yield from tried.against("strength", row.trajectory_id, row.step, of.alternative, counts)
    if row.trajectory_id in steps.places:
        held = steps.criticality.get((row.trajectory_id, row.step))
        if held is None or not held[0].verified:
            yield f"strength: step {row.step} is not verified in the table of steps"
        elif held[0].alternative == of.alternative and of != Strength.of(
            held[0], "original" if succeeds else "alternative"
        ):
            yield "strength: is not the criticality of the step"


def _of_two_runs(row: PreferenceRow, run: Recorded, known: Known) -> Iterator[str]:
    """A pair of turns at which two runs part: a failed one and the one that it was refined to, or two of a tree."""
    refined = row.kind is PairKind.REFINED
    if run.success and refined:
        yield f"kind: {row.kind}, but the trajectory succeeded"
    if bare(row.rejected) != run.bare[row.step]:
        yield f"rejected: is not what the trajectory did at step {row.step}"
    good = known.of(Runs).recorded.get(row.other_trajectory_id or "")
    if good is None or good.task_id != row.task_id or (refined and not good.success):
        yield f"other_trajectory_id: {row.other_trajectory_id} is no {'good ' if refined else ''}run of the task"
    elif row.step >= len(good.ranges) or bare(row.chosen) != good.bare[row.step]:
        yield f"chosen: is not what {row.other_trajectory_id} did at step {row.step}"
    elif not good.starts_with(row.prompt, row.step):
        yield f"prompt: is not how {row.other_trajectory_id} begins"


def _of_runs(row: PreferenceRow, run: Recorded, known: Known) -> Iterator[str]:
    """A pair of runs: the one that the prefix comes from, and another one of the same task that ended otherwise."""
    own, other = ("chosen", "rejected") if run.success else ("rejected", "chosen")
    if not run.ends_with(row.step, getattr(row, own)):
        yield f"{own}: is not the rest of {row.trajectory_id}"
    if row.other_trajectory_id is None:
        yield "other_trajectory_id: null in a pair of runs"
        return
    second = known.of(Runs).recorded.get(row.other_trajectory_id)
    if second is None or second.task_id != row.task_id:
        return
    if second.success == run.success:
        yield f"other_trajectory_id: {row.other_trajectory_id} ended as {row.trajectory_id} did"
    elif row.step >= len(second.ranges) or not second.ends_with(row.step, getattr(row, other)):
        yield f"{other}: is not the rest of {row.other_trajectory_id}"


PAIR_RUN_RULES = (pair_of_run,)
