"""What a trajectory keeps of the helpers that it asked: their runs, each as a run and as a row of its own."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import ValidationError

from synth.agents.contract import History, Prompt
from synth.agents.trajectory import facts_of, history_of
from synth.environments.contract import ToolResult
from synth.schemas.adp import Action, TextObservation
from synth.schemas.delegations import Delegation, HelperRunRow
from synth.schemas.details import details_with
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject
from synth.schemas.trajectories import CallErrors, TrajectoryRow, Verdict

__all__ = ["ANSWERS", "MANAGING", "answer_told", "delegations_of", "helper_rows", "helper_runs", "helper_trajectories"]

ANSWERS = "The helper answers: "
"""Stands before a helper's answer in the observation of the agent that asked."""
MANAGING = ("compress", "delegate", "judge", "check")
"""Names of the tools beside those of an environment. Helpers have none of them."""


def answer_told(result: ToolResult) -> str | None:
    """The answer of a helper that the parent reads of; None where there is none."""
    said, _, _ = result.content.removeprefix(ANSWERS).rpartition("\nIt read ")
    return said if result.error is None and result.content.startswith(ANSWERS) else None


def delegations_of(recorded: JsonObject) -> dict[str, Delegation]:
    """The helpers' runs in what a trajectory records of its environment, by the call that asked for them. What is of
    another form is passed over."""
    found: dict[str, Delegation] = {}
    listed = recorded.get("delegated")
    for one in listed if isinstance(listed, list | tuple) else ():
        try:
            made = Delegation.model_validate(one)
        except ValidationError:
            continue
        found[made.call_id] = made
    return found


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
