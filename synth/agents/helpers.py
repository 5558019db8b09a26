"""What a trajectory keeps of the helpers that it asked: their runs, each as a run and as a row of its own."""

from __future__ import annotations

from collections.abc import Iterator

from synth.agents.actions import MANAGING
from synth.agents.contract import History, Prompt
from synth.agents.trajectory import facts_of, history_of
from synth.schemas.adp import Action, TextObservation
from synth.schemas.delegations import Delegation, HelperRunRow, delegations_of
from synth.schemas.details import details_with
from synth.schemas.provenance import Provenance
from synth.schemas.trajectories import CallErrors, TrajectoryRow, Verdict

__all__ = ["helper_rows", "helper_runs", "helper_trajectories"]


def helper_trajectories(row: TrajectoryRow) -> Iterator[tuple[Delegation, TrajectoryRow]]:
    """Every helper's run in the form of a trajectory: of the sub-question, with the environment's own tools, and with
    the verdict on the sub-question's answer."""
    names = tuple(name for name in row.available_custom_tools or () if name not in MANAGING)
    tools = tuple(tool for tool in row.tool_schemas if tool["function"]["name"] not in MANAGING)
    for one in delegations_of(facts_of(row)).values():
        verdict = one.verdict or Verdict(correct=None, rule="abstained", evidence="it was recorded without a verdict")
        content = (TextObservation(content=one.question, source="user", name="user"), *one.content)
        yield (
            one,
            row.model_copy(
                update={
                    "id": f"{row.id}/{one.call_id}",
                    "content": content,
                    "available_custom_tools": names,
                    "tool_schemas": tools,
                    "details": details_with({}, CallErrors(tool_errors=one.tool_errors)),
                    "retry_of": None,
                    "success": verdict.correct is True,
                    "verdict": verdict,
                    "answer": one.answer,
                    "stop_reason": one.stop_reason,
                    "turns": one.turns,
                    "tool_calls": sum(isinstance(item, Action) and item.class_ != "message_action" for item in content),
                }
            ),
        )


def helper_runs(row: TrajectoryRow) -> list[tuple[Prompt, History]]:
    """(what a helper was told, what it did) for every helper of a run.

    Raises:
        ValueError: a helper's content is not of the form that rollouts write.
    """
    return [history_of(run) for _, run in helper_trajectories(row)]


def helper_rows(row: TrajectoryRow, provenance: Provenance) -> tuple[HelperRunRow, ...]:
    """The helpers of ``row`` as rows of the table ``helper_runs``."""
    return tuple(
        HelperRunRow(
            id=run.id,
            task_id=row.task_id,
            trajectory_id=row.id,
            call_id=one.call_id,
            question=one.question,
            answer=one.answer,
            gold=one.gold,
            verdict=run.verdict,
            stop_reason=one.stop_reason,
            turns=one.turns,
            tool_calls=run.tool_calls,
            completion_tokens=one.completion_tokens,
            pages=one.pages,
            content=run.content,
            split=row.split,
            provenance=provenance,
        )
        for one, run in helper_trajectories(row)
    )
