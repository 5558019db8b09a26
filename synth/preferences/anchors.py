"""The policy's own successes: what keeps DPO from drifting, and a training set of its own (RFT).

In our experiment the anchor alone beat plain SFT by more than half of what the best pairs gained, so a benchmark of
pairs without this arm misleads (METHODS 11).
"""

from __future__ import annotations

from collections.abc import Iterable

from synth.schemas.trajectories import Role, TrajectoryRow

__all__ = ["anchors"]


def anchors(
    runs: Iterable[TrajectoryRow], *, role: Role = "policy", per_task: int = 1, max_turns: int | None = None
) -> tuple[str, ...]:
    """Ids of the ``per_task`` shortest right runs of each task by ``role``, by task id, then from short to long.

    Right = the verdict says so; an abstention does not count, and neither does a second try, which was told what went
    wrong in the first. Runs with an equal number of turns go by their number of
    tool calls, then of errors, then by sample: the choice depends on the runs alone, not on their order.

    Args:
        max_turns: Longer runs are left out.

    Raises:
        ValueError: ``per_task`` is below 1.
    """
    if per_task < 1:
        raise ValueError(f"per_task is {per_task}: at least one run per task, or no anchors at all")
    by_task: dict[str, list[TrajectoryRow]] = {}
    for row in runs:
        right = row.role == role and row.verdict.correct is True and row.retry_of is None
        if right and (max_turns is None or row.turns <= max_turns):
            by_task.setdefault(row.task_id, []).append(row)
    return tuple(row.id for task in sorted(by_task) for row in sorted(by_task[task], key=_cost)[:per_task])


def _cost(row: TrajectoryRow) -> tuple[int, int, int, int, str]:
    return row.turns, row.tool_calls, len(row.details.get("tool_errors", {})), row.rollout, row.id
