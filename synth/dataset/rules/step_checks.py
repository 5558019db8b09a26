"""Rules that tie steps and continuations to their trajectories and to each other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.recorded import Recorded, bare, essence
from synth.dataset.rules.row_checks import Place, TaskCheck, TrajectoryCheck, ending_problems
from synth.dataset.rules.source_checks import branch_source_problems
from synth.schemas.adp import ADP_VERSION, ApiAction, CodeAction, ContentItem, Trajectory, error_lines
from synth.schemas.steps import ContinuationRow, Criticality, LabelReason, PreferenceRow, Side, StepRow, Strength
from synth.schemas.trajectories import StopReason
from synth.schemas.turns import action_kind, turn_ranges

__all__ = ["ContinuationCheck", "StepCheck", "Tally", "link_problems", "measured", "owner_problems"]

_LABELS: Mapping[LabelReason, int | None] = {
    LabelReason.SUPPORTED_ANSWER: 1,
    LabelReason.UNMEASURED: None,
    LabelReason.NEUTRAL: 0,
    LabelReason.TOOL_FAILURE: 0,
    LabelReason.INVALID_CALL: -1,
    LabelReason.REPEATED_FAILURE: -1,
    LabelReason.WRONG_TURN: -1,
    LabelReason.UNSUPPORTED_ANSWER: -1,
    LabelReason.PREMATURE: -1,
    LabelReason.PROPAGATED: -1,
}
"""Reasons that leave no choice of the label."""


def owner_problems(row: StepRow | ContinuationRow | PreferenceRow, run: Recorded | None) -> Iterator[str]:
    """Whether the step that a derived row names is one of its trajectory."""
    if run is None:
        return
    first = -1 if isinstance(row, ContinuationRow) and row.side == "original" else 0
    if not first <= row.step < len(run.ranges):
        yield f"step: {row.step}, but the trajectory has {len(run.ranges)} turns"


def measured(path: str, of: Criticality | Strength, sides: tuple[str, str]) -> Iterator[str]:
    """Whether counts, difference and interval fit each other; ``sides`` name the better-if-positive one first."""
    rates: list[float] = []
    for side in sides:
        good, n = getattr(of, f"{side}_successes"), getattr(of, f"{side}_n")
        if not 0 <= good <= n:
            yield f"{path}: {good} of {n} continuations of the {side} side succeeded"
        elif n == 0:
            yield f"{path}: no continuation of the {side} side"
        else:
            rates.append(good / n)
    if len(rates) == 2 and abs(rates[0] - rates[1] - of.difference) > 1e-6:
        yield f"{path}.difference: {of.difference:g}, but the counts give {rates[0] - rates[1]:g}"
    if not of.low - 1e-9 <= of.difference <= of.high + 1e-9:
        yield f"{path}: the difference {of.difference:g} is not within {of.low:g} to {of.high:g}"
    if not 0 < of.confidence < 1:
        yield f"{path}.confidence: {of.confidence:g} is not between 0 and 1"


def link_problems(content: tuple[ContentItem, ...]) -> list[str]:
    """What the Agent Data Protocol says against a content."""
    try:
        Trajectory(schema_version=ADP_VERSION, id="x", content=content)
    except ValidationError as error:
        return error_lines(error)
    return []


class StepCheck:
    def __init__(self, found: Problems, tasks: TaskCheck, trajectories: TrajectoryCheck) -> None:
        self.found = found
        self.tasks = tasks
        self.trajectories = trajectories
        self.places: dict[str, dict[int, Place]] = defaultdict(dict)
        self.first_errors: set[str] = set()
        self.unmeasured: dict[str, int] = {}
        """Trajectory -> its first step without a label."""
        self.open_errors: dict[tuple[str, int], Place] = {}
        self.matched: set[tuple[str, int]] = set()
        self.criticality: dict[tuple[str, int], tuple[Criticality, Place]] = {}
        self.scores: dict[tuple[str, int], float | None] = {}

    def see(self, file: DataFile, row: int, step: StepRow) -> None:
        self.scores[step.trajectory_id, step.step] = step.score
        place = (file.label, row)
        for what in self._problems(place, step):
            self.found.add(*place, what)

    def _problems(self, place: Place, row: StepRow) -> Iterator[str]:
        run = self.trajectories.recorded.get(row.trajectory_id)
        yield from owner_problems(row, run)
        if row.id != f"{row.trajectory_id}/{row.step}":
            yield f"id: {row.id} is not that of step {row.step} of {row.trajectory_id}"
        self.places[row.trajectory_id][row.step] = place
        if row.first_error:
            if row.trajectory_id in self.first_errors:
                yield f"first_error: {row.trajectory_id} has another one"
            self.first_errors.add(row.trajectory_id)
            if row.label != -1:
                yield f"first_error: the label is {row.label}"
        if row.label is None:
            self.unmeasured[row.trajectory_id] = min(row.step, self.unmeasured.get(row.trajectory_id, row.step))
        elif row.first_error is None and row.label != -1:
            yield f"first_error: null, though the label is {row.label}"
        elif row.first_error is None:
            self.open_errors[row.trajectory_id, row.step] = place
        if run is not None and 0 <= row.step < len(run.ranges):
            yield from self._turn(row, run)
        if row.gold_match is not None and row.gold_match >= 0:
            if (row.trajectory_id, row.gold_match) in self.matched:
                yield f"gold_match: another step of {row.trajectory_id} is matched to hop {row.gold_match} too"
            self.matched.add((row.trajectory_id, row.gold_match))
        if row.failure is not None and (row.first_error is False or row.label != -1):
            yield f"failure: {row.failure} on a step that is not the first error"
        unknown = row.label is None and row.label_reason is not LabelReason.UNMEASURED
        if unknown or row.label != _LABELS.get(row.label_reason, row.label):
            yield f"label: {row.label}, though the reason is {row.label_reason}"
        for name in ("information_gain", "progress", "score"):
            value = getattr(row, name)
            if value is not None and not 0 <= value <= 1:
                yield f"{name}: {value:g} is not from 0 to 1"
        if row.criticality is not None:
            self.criticality[row.trajectory_id, row.step] = (row.criticality, place)
            yield from _critical(row.criticality, run)

    def _turn(self, row: StepRow, run: Recorded) -> Iterator[str]:
        start, end = run.ranges[row.step]
        if (row.content_start, row.content_end) != (start, end):
            yield f"content_start, content_end: {row.content_start}, {row.content_end}, but the turn is {start}, {end}"
        if row.action_kind != run.kinds[row.step]:
            yield f"action_kind: {row.action_kind}, but the turn is {run.kinds[row.step]}"
        if row.role != run.role:
            yield f"role: {row.role}, but the trajectory is of {run.role}"
        if row.failure is not None and run.success:
            yield f"failure: {row.failure}, but the run succeeded"
        hops = self.tasks.hops.get(row.task_id)
        if hops is None:
            return
        if (row.gold_match is None) != (hops == 0) or not -1 <= (row.gold_match or 0) < max(hops, 1):
            yield f"gold_match: {row.gold_match}, but the walk has {hops} hops"
        for name in ("information_gain", "progress"):
            if hops and getattr(row, name) is None:
                yield f"{name}: null, but the walk has {hops} hops"

    def finish(self) -> None:
        for (name, step), place in self.open_errors.items():
            if self.unmeasured.get(name, step) >= step:
                self.found.add(*place, "first_error: null, though every step before it was measured")
        for name, places in self.places.items():
            run = self.trajectories.recorded.get(name)
            missing = sorted(set(range(len(run.ranges))) - set(places)) if run else []
            if missing:
                self.found.add(*min(places.values()), f"step: {name} has no row of step {missing[0]}")


def _critical(of: Criticality, run: Recorded | None) -> Iterator[str]:
    yield from measured("criticality", of, ("alternative", "original"))
    if of.alternative < 0:
        yield f"criticality.alternative: {of.alternative}"
    if of.verified and run is not None and (of.difference >= 0 if run.success else of.difference <= 0):
        yield f"criticality.verified: with a difference of {of.difference:g} in a run that {_outcome(run)}"


def _outcome(run: Recorded) -> str:
    return "succeeded" if run.success else "did not succeed"


@dataclass(slots=True)
class Tally:
    """The continuations of one action."""

    essence: bytes
    bare: bytes
    place: Place
    verdicts: dict[int, bool | None] = field(default_factory=dict)
    """By sample."""

    def judged(self, n: int) -> tuple[int, int]:
        """Successes and number of the first ``n`` continuations that were judged; of fewer when there are no more."""
        told = [verdict for _, verdict in sorted(self.verdicts.items()) if verdict is not None][:n]
        return sum(told), len(told)


class ContinuationCheck:
    def __init__(self, found: Problems, trajectories: TrajectoryCheck, steps: StepCheck) -> None:
        self.found = found
        self.trajectories = trajectories
        self.steps = steps
        self.tallies: dict[tuple[str, int], dict[tuple[Side, int], Tally]] = defaultdict(dict)

    def see(self, file: DataFile, row: int, branch: ContinuationRow) -> None:
        place = (file.label, row)
        for what in self._problems(place, branch):
            self.found.add(*place, what)

    def _problems(self, place: Place, row: ContinuationRow) -> Iterator[str]:
        run = self.trajectories.recorded.get(row.trajectory_id)
        yield from owner_problems(row, run)
        if (row.alternative == -1) != (row.side == "original") or row.alternative < -1:
            yield f"alternative: {row.alternative} on the {row.side} side"
        yield from ending_problems(row)
        yield from branch_source_problems(row)
        turns = turn_ranges(row.content)
        nothing = not row.content and row.step == -1 and row.stop_reason is StopReason.REJECTED
        if not nothing and (not turns or turns[0][0] != 0):
            yield "content: does not begin with an action"
            return
        first = row.content[: turns[0][1]] if turns else ()
        gave_up = row.stop_reason is StopReason.GAVE_UP and len(turns) == 1
        kind = "none" if nothing else action_kind(first, gave_up=gave_up)
        if row.action_kind != kind:
            yield f"action_kind: {row.action_kind}, but the first turn is {kind}"
        yield from link_problems(row.content)
        if run is not None and -1 <= row.step < len(run.ranges):
            yield from _against_prefix(row, first, run)
        yield from self._count(place, row, first)

    def _count(self, place: Place, row: ContinuationRow, first: tuple[ContentItem, ...]) -> Iterator[str]:
        shown, plain = essence(first), bare(first)
        tallies = self.tallies[row.trajectory_id, row.step]
        key = (row.side, row.alternative)
        if row.side == "alternative":
            for (side, number), other in tallies.items():
                if side == "alternative" and number != row.alternative and other.essence == shown:
                    yield f"content: puts the same action there as alternative {number}"
        tally = tallies.setdefault(key, Tally(shown, plain, place))
        if row.step >= 0 and tally.bare != plain:
            yield f"content: begins otherwise than sample 0 of alternative {row.alternative} ({tally.place[0]})"
        tally.verdicts[row.sample] = row.verdict.correct

    def finish(self) -> None:
        for (name, step), tallies in self.tallies.items():
            for (side, number), tally in tallies.items():
                if (min(tally.verdicts), max(tally.verdicts)) != (0, len(tally.verdicts) - 1):
                    what = f"{side} {number}" if side == "alternative" else side
                    self.found.add(*tally.place, f"sample: the {what} side of {name}/{step} lacks one")
        if self.tallies:
            self._against_steps()

    def _against_steps(self) -> None:
        for (name, step), (of, place) in self.steps.criticality.items():
            for what in self.against("criticality", name, step, of.alternative, _counts(of)):
                self.found.add(*place, what)
        for (name, step), tallies in self.tallies.items():
            held = self.steps.places.get(name, {}).get(step)
            if held and len({side for side, _ in tallies}) == 2 and (name, step) not in self.steps.criticality:
                self.found.add(*held, "criticality: null, though both sides were tried")

    def against(
        self, path: str, name: str, step: int, alternative: int, counts: Mapping[Side, tuple[int, int]]
    ) -> Iterator[str]:
        """Whether ``counts`` (successes, continuations by side) are those of the continuations."""
        tallies = self.tallies.get((name, step), {})
        for side, (good, n) in counts.items():
            tally = tallies.get((side, alternative if side == "alternative" else -1))
            held = tally.judged(n) if tally else (0, 0)
            if held != (good, n):
                yield f"{path}: {good} of {n} on the {side} side, but the continuations hold {held[0]} of {held[1]}"


def _counts(of: Criticality) -> dict[Side, tuple[int, int]]:
    return {
        "alternative": (of.alternative_successes, of.alternative_n),
        "original": (of.original_successes, of.original_n),
    }


def _against_prefix(row: ContinuationRow, first: tuple[ContentItem, ...], run: Recorded) -> Iterator[str]:
    # Without thoughts: those of all calls but the first of a turn get lost in the history that is continued.
    if row.side == "original" and row.step >= 0 and essence(first) != run.essences[row.step]:
        yield f"content: does not begin with what the trajectory did at step {row.step}"
    if row.side == "alternative" and essence(first) == run.essences[row.step]:
        yield f"content: begins with what the trajectory did at step {row.step}, which is no alternative"
    before = set(run.ids[: run.ranges[max(row.step, 0)][0]]) - {None}
    own = (item.tool_call_id for item in row.content if isinstance(item, ApiAction | CodeAction))
    if again := next((name for name in own if name in before), None):
        yield f"content: {again!r} is the id of a call before the step already"
