"""Rules that tie preference pairs to trajectories, steps and continuations."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from synth.annotate.preferences.select import Eligible, Selection, eligible, selected_ids
from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.recorded import Recorded, bare, essence, setting
from synth.dataset.rules.row_checks import Place, TrajectoryCheck
from synth.dataset.rules.step_checks import ContinuationCheck, StepCheck, link_problems, measured, owner_problems
from synth.schemas.adp import Action, ContentItem
from synth.schemas.steps import PairKind, PreferenceRow, Side, Strength
from synth.schemas.turns import action_kind, turn_ranges

__all__ = ["PairCheck"]

_OF_STEPS = (PairKind.VERIFIED_STEP, PairKind.VERIFIED_STEP_SUCCESS)


class PairCheck:
    """Sees the pairs last: the other tables are in memory by then."""

    def __init__(
        self,
        found: Problems,
        trajectories: TrajectoryCheck,
        steps: StepCheck,
        continuations: ContinuationCheck,
        selection: Selection | None = None,
    ) -> None:
        """
        Args:
            selection: By which the pairs were selected, where the report says; None = the default.
        """
        self.found = found
        self.selection = selection or Selection()
        self.eligible: list[Eligible] = []
        self.selected: dict[str, tuple[bool, Place]] = {}
        self.places: dict[str, tuple[str, int]] = {}
        """Trajectory and step of each pair."""
        self.trajectories = trajectories
        self.steps = steps
        self.continuations = continuations
        self.ids: set[str] = set()
        self.positions: dict[tuple[str, PairKind], list[tuple[str, int, Place]]] = defaultdict(list)

    def see(self, file: DataFile, row: int, pair: PreferenceRow) -> None:
        place = (file.label, row)
        for what in self._problems(pair):
            self.found.add(*place, what)
        self.selected[pair.id] = (pair.selected, place)
        self.places[pair.id] = (pair.trajectory_id, pair.step)
        if eligible(pair, self.selection):
            self.eligible.append(Eligible.of(pair))
        if pair.kind in _OF_STEPS:
            self.positions[pair.trajectory_id, pair.kind].append((pair.position, pair.step, place))

    def _problems(self, row: PreferenceRow) -> Iterator[str]:
        self.ids.add(row.id)
        run = self.trajectories.recorded.get(row.trajectory_id)
        yield from owner_problems(row, run)
        yield from _sides(row)
        yield from _strength(row)
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
            yield from self._runs(row, run)
        elif row.kind is PairKind.PERTURBATION:
            if not run.goes_on_with(row.step, row.chosen):
                yield f"chosen: is not what the trajectory did from step {row.step} on"
        elif row.kind is PairKind.REPAIR:
            if run.success:
                yield f"kind: {row.kind}, but the trajectory succeeded"
            if bare(row.rejected) != run.bare[row.step]:
                yield f"rejected: is not what the trajectory did at step {row.step}"
        else:
            yield from self._step(row, run)

    def _step(self, row: PreferenceRow, run: Recorded) -> Iterator[str]:
        """A pair of actions: one is the recorded one, the other the alternative that was tried."""
        succeeds = row.kind is PairKind.VERIFIED_STEP_SUCCESS
        if run.success != succeeds:
            yield f"kind: {row.kind}, but the trajectory {'succeeded' if run.success else 'did not succeed'}"
        kept, other = ("chosen", "rejected") if succeeds else ("rejected", "chosen")
        if bare(getattr(row, kept)) != run.bare[row.step]:
            yield f"{kept}: is not what the trajectory did at step {row.step}"
        if essence(getattr(row, other)) == run.essences[row.step]:
            yield f"{other}: is what the trajectory did at step {row.step}"
        if row.strength is None:
            return
        tried = self.continuations.tallies.get((row.trajectory_id, row.step), {})
        tally = tried.get(("alternative", row.strength.alternative))
        if tally is not None and tally.bare != bare(getattr(row, other)):
            yield f"{other}: is not alternative {row.strength.alternative} of the continuations"
        counts = _counts(row.strength, kept)
        if self.continuations.tallies:
            yield from self.continuations.against(
                "strength", row.trajectory_id, row.step, row.strength.alternative, counts
            )
        if row.trajectory_id in self.steps.places:
            of = self.steps.criticality.get((row.trajectory_id, row.step))
            if of is None or not of[0].verified:
                yield f"strength: step {row.step} is not verified in the table of steps"
            elif of[0].alternative == row.strength.alternative and row.strength != Strength.of(
                of[0], "original" if succeeds else "alternative"
            ):
                yield "strength: is not the criticality of the step"

    def _runs(self, row: PreferenceRow, run: Recorded) -> Iterator[str]:
        """A pair of runs: the one that the prefix comes from, and another one of the same task that ended otherwise."""
        own, other = ("chosen", "rejected") if run.success else ("rejected", "chosen")
        if not run.ends_with(row.step, getattr(row, own)):
            yield f"{own}: is not the rest of {row.trajectory_id}"
        if row.other_trajectory_id is None:
            yield "other_trajectory_id: null in a pair of runs"
            return
        second = self.trajectories.recorded.get(row.other_trajectory_id)
        if second is None or second.task_id != row.task_id:
            return
        if second.success == run.success:
            yield f"other_trajectory_id: {row.other_trajectory_id} ended as {row.trajectory_id} did"
        elif row.step >= len(second.ranges) or not second.ends_with(row.step, getattr(row, other)):
            yield f"{other}: is not the rest of {row.other_trajectory_id}"

    def selection_holds(self, agreed: Container[str] | None = None) -> None:
        """
        Args:
            agreed: Pairs with which the judge agrees, where the selection requires that it does; None = it does not.
        """
        wanted = selected_ids(self.eligible, self.selection)
        for name, (selected, place) in self.selected.items():
            if selected != (name in wanted and (agreed is None or name in agreed)):
                self.found.add(*place, f"selected: {selected}, which is not what the selection says")

    def finish(self) -> None:
        if self.selection.judge == "ignore":
            self.selection_holds()
        verified: dict[str, int] = {}
        for (name, step), (of, _) in self.steps.criticality.items():
            if of.verified:
                verified[name] = min(step, verified.get(name, step))
        for (name, _), places in self.positions.items():
            first = min(step for _, step, _ in places)
            first = min(first, verified.get(name, first))
            for position, step, place in places:
                if (position == "earliest") != (step == first):
                    self.found.add(*place, f"position: {position}, but the first verified step of {name} is {first}")


def _sides(row: PreferenceRow) -> Iterator[str]:
    """What can be said of the two sides by themselves, and as ways to go on from the prompt."""
    whole = row.kind is PairKind.TRAJECTORY
    for name in ("position", "nature"):
        if (getattr(row, name) == "whole") != whole and row.kind is not PairKind.PERTURBATION:
            yield f"{name}: {getattr(row, name)} in a pair of kind {row.kind}"
    if (row.position == "whole") != (row.nature == "whole"):
        yield f"position, nature: {row.position} and {row.nature}"
    firsts: list[tuple[ContentItem, ...]] = []
    for name in ("chosen", "rejected"):
        side: tuple[ContentItem, ...] = getattr(row, name)
        turns = turn_ranges(side)
        if not turns or turns[0][0] != 0:
            yield f"{name}: does not begin with an action"
            continue
        firsts.append(side[: turns[0][1]])
        if row.kind in _OF_STEPS and not all(isinstance(item, Action) for item in side):
            yield f"{name}: is more than one action, in a pair of kind {row.kind}"
        for line in link_problems(row.prompt + side):
            yield f"{name}: after the prompt: {line}"
    if len(firsts) == 2:
        yield from _difference(row, *firsts)


def _difference(
    row: PreferenceRow, chosen: tuple[ContentItem, ...], rejected: tuple[ContentItem, ...]
) -> Iterator[str]:
    if (row.kind is PairKind.REPAIR) != (row.repair is not None):
        yield f"repair: {'null' if row.repair is None else 'given'} in a pair of kind {row.kind}"
    elif row.repair is not None and bare(row.repair.own[: len(row.chosen)]) != bare(row.chosen):
        yield "repair.own: does not begin with the chosen side"
    if row.chosen == row.rejected:
        yield "rejected: is the same as chosen"
    elif row.kind in (*_OF_STEPS, PairKind.REPAIR) and essence(chosen) == essence(rejected):
        yield "rejected: does the same as chosen"
    elif row.kind is PairKind.PERTURBATION and bare(chosen) == bare(rejected):
        yield f"step: the sides do not part at step {row.step}"
    same = action_kind(chosen) == action_kind(rejected)
    # Of two messages one may give up: their content does not tell.
    if row.same_kind != same and not (same and action_kind(chosen) == "answer"):
        yield f"same_kind: {row.same_kind}, but the sides do {action_kind(chosen)} and {action_kind(rejected)}"


def _strength(row: PreferenceRow) -> Iterator[str]:
    if row.strength is None:
        if row.kind in _OF_STEPS:
            yield f"strength: null in a pair of kind {row.kind}"
        return
    yield from measured("strength", row.strength, ("chosen", "rejected"))
    if row.kind not in _OF_STEPS:
        return
    if not row.strength.verified:
        yield f"strength.verified: false in a pair of kind {row.kind}"
    if row.strength.difference <= 0:
        yield f"strength.difference: {row.strength.difference:g} does not speak for the chosen side"
    if row.strength.alternative < 0:
        yield f"strength.alternative: {row.strength.alternative}"


def _counts(of: Strength, recorded: str) -> dict[Side, tuple[int, int]]:
    """Successes and continuations by side, when ``recorded`` is the side of the recorded action."""
    chosen, rejected = (of.chosen_successes, of.chosen_n), (of.rejected_successes, of.rejected_n)
    if recorded == "chosen":
        return {"original": chosen, "alternative": rejected}
    return {"original": rejected, "alternative": chosen}
