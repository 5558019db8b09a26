"""Pairs of siblings in a tree of runs: from one state, the turn behind which runs end right most often, and the one
behind which they do least. The outlook of every sibling is the reason (ProAct, arXiv 2602.05327, distills
such lookahead).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from synth.annotate.critical.intervals import criticality
from synth.annotate.preferences.sides import (
    PairPosition,
    Pairs,
    alike,
    describe,
    make_pair,
    not_grounded,
    refusal,
)
from synth.schemas.preferences import PairKind, Strength
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.schemas.trees import TreeNodeRow
from synth.schemas.turns import bare_actions

__all__ = ["sibling_pairs", "sibling_strength"]

_CONFIDENCE = 0.95


def sibling_pairs(
    nodes: Sequence[TreeNodeRow],
    runs: Mapping[str, TrajectoryRow],
    *,
    gap: float,
    provenance: Provenance,
    stage: str,
) -> Pairs:
    """At most one pair for each state of a task's tree in which turns part.

    Args:
        runs: The runs of the tree by id.
        gap: Values of both sides differ by so much at least.
    """
    below: dict[tuple[str | None, str], list[TreeNodeRow]] = defaultdict(list)
    for node in nodes:
        below[node.parent, node.task_id].append(node)
    found = Pairs()
    for siblings in below.values():
        judged = sorted((node for node in siblings if node.leaves), key=lambda node: (node.value or 0, node.id))
        if len(judged) > 1 and (judged[-1].value or 0) - (judged[0].value or 0) >= gap:
            found += _pair(judged[-1], judged[0], siblings, runs, provenance, stage)
    return found


def _pair(
    better: TreeNodeRow,
    worse: TreeNodeRow,
    siblings: Sequence[TreeNodeRow],
    runs: Mapping[str, TrajectoryRow],
    provenance: Provenance,
    stage: str,
) -> Pairs:
    sides = [PairPosition.at(runs[node.trajectory_id], node.step) for node in (better, worse)]
    chosen, rejected = (bare_actions(side.recorded) for side in sides)
    position = sides[1]
    if alike(position.run, chosen, rejected):
        said = "both sides act or think alike"
        return Pairs(rejected=(refusal(position.run, stage, Reason.NO_PAIR, said, step=worse.step),))
    why = not_grounded(position, chosen, stage=stage)
    if why is not None:
        return Pairs(rejected=(why,))
    ends = [end.run.stop_reason is StopReason.GAVE_UP and end.step + 1 == end.run.turns for end in sides]
    one, other = ((node.successes, node.leaves) for node in (better, worse))
    pair = make_pair(
        position,
        kind=PairKind.SIBLING,
        family="decision",
        chosen=chosen,
        rejected=rejected,
        difference=f"{describe(chosen, gave_up=ends[0])} instead of {describe(rejected, gave_up=ends[1])}",
        why=f"Looking ahead from this state: {'; '.join(_outlook(node, runs) for node in siblings)}.",
        provenance=provenance,
        strength=sibling_strength(one, other),
        other=sides[0].run,
        gave_up=(ends[0], ends[1]),
    )
    return Pairs((pair,))


def sibling_strength(chosen: tuple[int, int], rejected: tuple[int, int]) -> Strength:
    """How far one sibling is better than another; each is given as runs that ended right, and all. Verified where each
    has two, all of the one end right and none of the other."""
    clear = chosen[0] == chosen[1] >= 2 and rejected[1] >= 2 and not rejected[0]
    measured = criticality(0, chosen, rejected, verified=clear, confidence=_CONFIDENCE)
    return Strength.of(measured, "alternative")


def _outlook(node: TreeNodeRow, runs: Mapping[str, TrajectoryRow]) -> str:
    at = PairPosition.at(runs[node.trajectory_id], node.step)
    return f"{node.successes} of {node.leaves} runs that went on with {describe(bare_actions(at.recorded))} ended right"
