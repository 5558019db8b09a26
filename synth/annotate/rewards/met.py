"""A recorded run against the checklist of its task."""

from __future__ import annotations

from collections.abc import Sequence

from synth.agents.checklists import checklist_results
from synth.agents.plan_view import plan_of
from synth.agents.trajectory import history_of
from synth.annotate.rewards.checklist import NOT_MET, turns_of
from synth.annotate.rewards.truth import ground_truth
from synth.annotate.rewards.turns import SaidTurn
from synth.schemas.rl import Criterion
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

__all__ = ["met_of"]


def met_of(task: Task, run: TrajectoryRow) -> tuple[tuple[Criterion, bool | None], ...]:
    """The items of ``task``, and whether ``run``, a trajectory on it, meets each; None where its record can't tell."""
    truth = ground_truth(task)
    _, history = history_of(run)
    plan = plan_of(task)
    met: Sequence[bool | None]
    if plan is not None:
        calls = [pair for step in history for pair in zip(step.turn.calls, step.results, strict=False)]
        met = checklist_results(plan.checklist, calls, None, run.answer, correct=run.verdict.correct)
    else:
        turns = [
            SaidTurn(
                "\n".join(part for part in (step.turn.thought, step.turn.answer) if part),
                tuple(result.content for result in step.results if result.error is None),
            )
            for step in history
        ]
        found = turns_of(turns, truth, correct=run.verdict.correct)
        met = [None if turn is None else turn != NOT_MET for turn in found]
    return tuple(zip(truth.checklist, met, strict=True))
