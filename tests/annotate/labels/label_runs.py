"""Runs in the small collection that tests of labels make by hand."""

from __future__ import annotations

from collections.abc import Callable

from synth.agents.contract import Step, Turn
from synth.agents.loop import Rollout, prompt_for
from synth.agents.trajectory import to_row
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.search import SearchEnvironment
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents

__all__ = ["DOCUMENTS", "ENVIRONMENT", "Move", "history", "row_of"]

DOCUMENTS = small_documents()
ENVIRONMENT = SearchEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
Move = tuple[str, dict[str, object]] | str | None
"""A call, an answer, or None to give up."""


def history(
    task: Task, *steps: tuple[str, Move], mend: Callable[[ToolResult], ToolResult] = lambda result: result
) -> tuple[Step, ...]:
    """Steps of (thought, move)."""
    episode = ENVIRONMENT.reset(task)
    made: list[Step] = []
    for number, (thought, move) in enumerate(steps):
        if isinstance(move, tuple):
            call = ToolCall(id=f"call_{number}_0", name=move[0], arguments=move[1])
            made.append(Step(turn=Turn(thought=thought, calls=(call,)), results=(mend(episode.step(call)),)))
        else:
            made.append(Step(turn=Turn(thought=thought, answer=move)))
    return tuple(made)


def row_of(task: Task, steps: tuple[Step, ...], stop: StopReason | None = None) -> TrajectoryRow:
    answer = steps[-1].turn.answer
    reason = stop or (StopReason.ANSWERED if answer is not None else StopReason.GAVE_UP)
    verdict = ENVIRONMENT.reset(task).check(answer)
    done = Rollout(task, prompt_for(ENVIRONMENT, task, "s"), steps, reason, verdict)
    return to_row(done, ENVIRONMENT, role="policy", number=0, privileged=False, provenance=PROVENANCE)
