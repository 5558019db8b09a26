"""Success against failure on the same task, with length under control.

Only the question is shared, so all that a student can tell the sides apart by is the run itself. Lengths are kept alike
per pair (a ratio) and, in exports, over all pairs (``balance_lengths`` in ``select.py``), since
a preference for short or long runs is the easiest thing to learn from such pairs and the least useful.
"""

from __future__ import annotations

from collections.abc import Sequence

from synth.annotate.preferences.sides import PairPosition, Pairs, make_pair, not_grounded
from synth.schemas.preferences import PairKind, PreferenceRow
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Rejection
from synth.schemas.searched import Unpaired
from synth.schemas.trajectories import RECORDED, TrajectoryRow

__all__ = ["trajectory_pairs"]


def trajectory_pairs(
    runs: Sequence[TrajectoryRow],
    *,
    provenance: Provenance,
    ratio: float = 1.25,
    per_task: int = 1,
    stage: str = "preferences",
) -> Pairs:
    """Pairs of runs on ONE task: chosen = a successful run, rejected = a failed one.

    Args:
        runs: Runs of one task; their order does not matter.
        ratio: The longer side has at most ``ratio`` times the turns of the shorter one.
        per_task: At most so many pairs; no run is in two of them. Runs of the same role and nearest in length go first.

    A run whose verdict abstained is on neither side. A chosen run of ours that names what it had not seen is rejected:
    it might have been told.

    Raises:
        ValueError: runs of several tasks.
    """
    if len({row.task_id for row in runs}) > 1:
        raise ValueError("the runs are of several tasks: a pair shares its question")
    good = [row for row in runs if row.verdict.correct is True]
    bad = [row for row in runs if row.verdict.correct is False]
    rejected: list[Rejection] = []
    sound: list[TrajectoryRow] = []
    for row in sorted(good, key=lambda row: row.id):
        whole = PairPosition.whole(row)
        # A recorded run knew no more than its record shows: what it names unseen is what its model knew.
        own = row.environment == RECORDED
        problem = None if own else not_grounded(whole, whole.recorded, stage=stage)
        if problem is not None:
            rejected.append(problem)
        else:
            sound.append(row)
    fits = [
        (left.role != right.role, abs(left.turns - right.turns), left.id, right.id, left, right)
        for left in sound
        for right in bad
        if left.retry_of != right.id
        and max(left.turns, right.turns) <= ratio * min(left.turns, right.turns)
        and (left.system_prompt, left.tool_schemas, left.content[0])
        == (right.system_prompt, right.tool_schemas, right.content[0])
    ]
    rows: list[PreferenceRow] = []
    used: set[str] = set()
    for *_, left, right in sorted(fits, key=lambda fit: fit[:4]):
        if len(rows) < per_task and left.id not in used and right.id not in used:
            used |= {left.id, right.id}
            rows.append(_pair(left, right, provenance))
    why = "no run of like length got it right" if sound else "no run got it right"
    alone = sorted(row.id for row in bad if row.id not in used)
    unpaired = tuple(Unpaired(trajectory_id=name, why=why) for name in alone)
    return Pairs(tuple(rows), tuple(rejected), unpaired)


def _pair(good: TrajectoryRow, bad: TrajectoryRow, provenance: Provenance) -> PreferenceRow:
    ending = f"answers {bad.answer!r}" if bad.answer is not None else f"ends without an answer ({bad.stop_reason})"
    position = PairPosition.whole(good)
    return make_pair(
        position,
        kind=PairKind.TRAJECTORY,
        family="whole_run",
        chosen=position.recorded,
        rejected=PairPosition.whole(bad).recorded,
        difference=f"A run of {good.turns} turns by the {good.role} that answers {good.answer!r} against one of "
        f"{bad.turns} turns by the {bad.role} that {ending}.",
        why=f"Right: {good.verdict.evidence} Wrong: {bad.verdict.evidence}",
        provenance=provenance,
        other=bad,
        rejected_by=bad.role,
    )
