"""Rules of what single turns were worth: advantages are those of the continuations, and rows for reinforcement learning
repeat what steps say."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.dataset.rules.rules import Known, Place, rule
from synth.dataset.rules.runs import Continuations, Runs
from synth.identity import digest
from synth.schemas.rl import RlRow, TurnValue
from synth.schemas.steps import ContinuationRow, StepRow

__all__ = ["VALUE_RULES"]


@dataclass
class _Values:
    advantages: dict[tuple[str, int], tuple[float | None, Place]] = field(default_factory=dict)
    held: dict[tuple[str, str, int], float | None] = field(default_factory=dict)
    groups: dict[tuple[str, str], list[tuple[float, Place]]] = field(default_factory=lambda: defaultdict(list))
    turns: dict[str, dict[tuple[str, str], dict[int, str]]] = field(default_factory=lambda: defaultdict(dict))
    """Task -> (run, role) -> what its turns were worth, hashed."""


@rule("steps", "advantage")
def turn_value(row: StepRow, known: Known) -> Iterator[str]:
    """An advantage is a difference of rates, and null where one of them was not measured."""
    state = known.of(_Values)
    state.advantages[row.trajectory_id, row.step] = (row.advantage, known.place)
    if "rl" in known.there:
        turns = state.turns[row.task_id].setdefault((row.trajectory_id, row.role), {})
        turns[row.step] = _hash(TurnValue.of(row))
    if row.advantage is not None and not -1 <= row.advantage <= 1:
        yield f"advantage: {row.advantage:g} is not from -1 to 1"


@rule("steps", "answer_probability answer_gain outcome_potential outcome_gain")
def answer_held(row: StepRow, known: Known) -> Iterator[str]:
    """Probabilities are of turns of the policy that call tools; a gain is the difference from the turn before."""
    yield from _held(row, known, "answer_probability", "answer_gain")
    yield from _held(row, known, "outcome_potential", "outcome_gain")


def _held(row: StepRow, known: Known, name: str, of_gain: str) -> Iterator[str]:
    held, gain = getattr(row, name), getattr(row, of_gain)
    before = known.of(_Values).held.get((name, row.trajectory_id, row.step - 1))
    known.of(_Values).held[name, row.trajectory_id, row.step] = held
    if held is None:
        if gain is not None:
            yield f"{of_gain}: {gain:g}, but {name} is null"
        return
    if not 0 <= held <= 1:
        yield f"{name}: {held:g} is not from 0 to 1"
    if row.role != "policy":
        yield f"{name}: {held:g} in a run of the {row.role}"
    if row.action_kind in ("answer", "give_up"):
        yield f"{name}: {held:g}, but the turn calls no tool"
    if row.step and gain != (None if before is None else held - before):
        yield f"{of_gain}: {gain}, but the values are {before} and {held:g}"
    if not row.step and gain is not None and not -1e-9 <= held - gain <= 1 + 1e-9:
        yield f"{of_gain}: {gain:g} can't lead to {held:g}"


def _balanced(known: Known) -> Iterator[tuple[Place, str]]:
    for values in known.of(_Values).groups.values():
        if abs(math.fsum(value for value, _ in values)) > 1e-9 * len(values):
            yield values[0][1], "group_advantage: those of the runs on its task do not add up to 0"


@rule("steps", "group_advantage", close=_balanced)
def in_group(row: StepRow, known: Known) -> Iterator[str]:
    """Advantages among equal states are differences from a mean: over the runs of a role on a task they add up to 0."""
    if row.group_advantage is not None:
        known.of(_Values).groups[row.task_id, row.role].append((row.group_advantage, known.place))
    yield from ()


def _measured(known: Known) -> Iterator[tuple[Place, str]]:
    advantages = known.of(_Values).advantages if known.of(Continuations).tallies else {}
    for (name, step), (value, place) in advantages.items():
        before, behind = _rate(known, name, step - 1), _rate(known, name, step)
        wanted = None if before is None or behind is None else behind - before
        if value != wanted:
            yield place, f"advantage: {value}, but the continuations give {wanted}"


def _rate(known: Known, name: str, step: int) -> float | None:
    """Value of the state behind a step of a run."""
    run = known.of(Runs).recorded.get(name)
    if run is not None and step == len(run.ranges) - 1:
        return None if run.correct is None else float(run.correct)
    tally = known.of(Continuations).tallies.get((name, step), {}).get(("original", -1))
    good, n = tally.judged(len(tally.verdicts)) if tally else (0, 0)
    return good / n if n else None


@rule("continuations", close=_measured)
def turn_values(row: ContinuationRow, known: Known) -> Iterator[str]:
    """The advantage of a step is the rate of success behind it minus the one before it."""
    yield from ()


def _hash(value: TurnValue) -> str:
    return digest(value.model_dump(mode="json"))[:16]


@rule("rl", "runs[]")
def rl_runs(row: RlRow, known: Known) -> Iterator[str]:
    """Runs on the task are listed with what their steps say."""
    if "steps" not in known.there:
        return
    wanted = known.of(_Values).turns.get(row.task_id, {})
    held = {(run.trajectory_id, run.role): dict(enumerate(map(_hash, run.turns))) for run in row.runs}
    if held != wanted or len(row.runs) != len(wanted):
        yield "runs: are not those of the steps of its task"


VALUE_RULES = (turn_value, answer_held, in_group, turn_values, rl_runs)
