"""Rules of runs that go on from others, and of trees of them: counts of a node are those of the nodes behind it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from synth.dataset.rules.rules import Known, Place, rule
from synth.dataset.rules.runs import Runs
from synth.schemas.refined import Refined
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.trees import Grown, TreeNodeRow
from synth.schemas.turns import turn_ranges

__all__ = ["TREE_RULES"]


@dataclass
class _Trees:
    ends: dict[str, tuple[int, bool | None]] = field(default_factory=dict)
    """Run -> number of its last turn, and its verdict."""
    nodes: dict[str, tuple[int, str | None, int, int, Place]] = field(default_factory=dict)
    """Node -> step, parent, successes, leaves."""


@rule("trajectories")
def end_of_run(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """How runs of trees end is known."""
    if "tree_nodes" in known.there:
        known.of(_Trees).ends[row.id] = len(turn_ranges(row.content)) - 1, row.verdict.correct
    yield from ()


@rule("trajectories")
def begins_as(row: TrajectoryRow, known: Known) -> Iterator[str]:
    """A refined run, or a branch, begins as the run that it tries again."""
    runs = known.of(Runs).recorded
    step = -1
    if Refined.stand_in(row.details):
        step = Refined.of(row.details).refined.step
    elif Grown.stand_in(row.details):
        step = Grown.of(row.details).branch.step
    if step < 0 or not runs:
        return
    first, turns = runs.get(row.retry_of or ""), turn_ranges(row.content)
    if first is None:
        yield f"retry_of: {row.retry_of} is no run before it"
    elif step >= min(len(turns), len(first.ranges)) or not first.starts_with(row.content[: turns[step][0]], step):
        yield f"retry_of: {row.retry_of} begins otherwise than this run, which is to part from it at turn {step}"


def _counts(known: Known) -> Iterator[tuple[Place, str]]:
    state = known.of(_Trees)
    right: Counter[str] = Counter()
    behind: Counter[str] = Counter()
    for name, (step, parent, successes, leaves, place) in state.nodes.items():
        run, _, _ = name.rpartition("/")
        last, correct = state.ends.get(run, (-1, None))
        if step == last and correct is not None:
            right[name] += correct
            behind[name] += 1
        if parent is None:
            if step:
                yield place, f"parent: null at step {step}"
            continue
        right[parent] += successes
        behind[parent] += leaves
        if parent not in state.nodes or state.nodes[parent][0] != step - 1:
            yield place, f"parent: {parent} is no node of step {step - 1}"
    for name, (_, _, successes, leaves, place) in state.nodes.items():
        if (successes, leaves) != (right[name], behind[name]):
            yield (
                place,
                f"successes, leaves: {successes} of {leaves}, but behind it are {right[name]} of {behind[name]}",
            )


@rule("tree_nodes", "id trajectory_id step parent successes leaves value", close=_counts)
def node(row: TreeNodeRow, known: Known) -> Iterator[str]:
    """A node is a turn of its run, hangs on the turn before it, and counts the ends behind it."""
    state = known.of(_Trees)
    state.nodes[row.id] = row.step, row.parent, row.successes, row.leaves, known.place
    if row.id != f"{row.trajectory_id}/{row.step}":
        yield f"id: {row.id}, but it is turn {row.step} of {row.trajectory_id}"
    if row.step > state.ends.get(row.trajectory_id, (row.step, None))[0]:
        yield f"step: the run has no turn {row.step}"
    if row.value != (row.successes / row.leaves if row.leaves else None):
        yield f"value: {row.value}, but {row.successes} of {row.leaves} ended right"
    if row.draws > row.of:
        yield f"draws: {row.draws} of {row.of}"


TREE_RULES = (end_of_run, begins_as, node)
