"""The Agent Data Protocol: generation 1 (the paper's, arXiv 2510.24702) and generation 2 (1.x), as JSON lines.

What the protocol has no place for stands in ``details``, under the keys that :mod:`synth.agents.imported` reads.
"""

from __future__ import annotations

from typing import Any

from synth.dataset.usage import usage
from synth.export.contract import About, Format, Inexpressible, Record, Run, Why
from synth.schemas.adp import Action, ApiAction, CodeAction, dump
from synth.schemas.arrow import trajectory_of
from synth.schemas.row import JsonObject
from synth.schemas.trajectories import TrajectoryRow
from synth.schemas.turns import turn_ranges

__all__ = ["ADP_1", "ADP_2", "details_of"]


def details_of(row: TrajectoryRow, about: About, cut: int) -> JsonObject:
    """The details of a row with what stands beside the protocol's columns."""
    found: JsonObject = {
        **row.details,
        "task_id": row.task_id,
        "rollout": row.rollout,
        "role": row.role,
        "model": row.model or "",
        "system_prompt": row.system_prompt,
        "tools": list(row.tool_schemas),
        "stop_reason": str(row.stop_reason),
        "split": row.split,
        "licence": row.licence or "",
        "source": about.dataset,
    }
    if row.answer is not None:
        found["answer"] = row.answer
    if row.verdict.correct is not None:
        found["correct"] = row.verdict.correct
    if cut:
        found["observations_cut"] = cut
    return found


def _two(run: Run, about: About, cut: int) -> list[Record]:
    made = dump(trajectory_of(run.row))
    made["details"] = details_of(run.row, about, cut)
    return [_without_thoughts(made, about)]


def _one(run: Run, about: About, cut: int) -> list[Record]:
    row = run.row
    waiting: list[str | None] = []
    acted = False
    for place, item in enumerate(row.content):
        if isinstance(item, Action):
            waiting = waiting if acted else []
            waiting += [item.tool_call_id] if isinstance(item, ApiAction | CodeAction) else []
            acted = True
            continue
        if acted:
            waiting = waiting[next((at for at, name in enumerate(waiting) if name), 0) :]
        acted = False
        if item.tool_call_id is not None and (not waiting or waiting.pop(0) != item.tool_call_id):
            raise Inexpressible(Why.ANSWERS_OUT_OF_ORDER, f"content[{place}]")
        if item.tool_call_id is None and any(waiting):
            raise Inexpressible(Why.STRAY_OBSERVATION, f"content[{place}]")
    made = dump(trajectory_of(row))
    rewards: dict[str, float] = {}
    for place, item in enumerate(made["content"]):
        item.pop("tool_call_id", None)
        picture = item.get("image_observation") or {}
        if picture.pop("tool_call_id", None) or picture.pop("reward", None) is not None:
            raise Inexpressible(Why.NO_TEXT, f"content[{place}]")
        if (reward := item.pop("reward", None)) is not None:
            rewards[str(place)] = reward
    details = details_of(row, about, cut)
    if rewards:
        details["item_rewards"] = rewards
    if (ids := _ids(row)) is not None:
        details["call_ids"] = ids
    tools = {name: made[name] for name in ("available_custom_tools", "available_code_languages") if name in made}
    if tools:
        details["available"] = tools
    return [_without_thoughts({"id": row.id, "content": made["content"], "details": details}, about)]


def _ids(row: TrajectoryRow) -> list[str] | None:
    """The ids of answered calls in the order of their answers, where they are others than an importer gives."""
    usual: dict[str, str] = {}
    for turn, (start, end) in enumerate(turn_ranges(row.content)):
        calls = [item for item in row.content[start:end] if isinstance(item, ApiAction | CodeAction)]
        usual |= {call.tool_call_id: f"call_{turn}_{n}" for n, call in enumerate(calls) if call.tool_call_id}
    answered = [
        item.tool_call_id for item in row.content if not isinstance(item, Action) and item.tool_call_id is not None
    ]
    return None if all(usual.get(name) == name for name in answered) else answered


def _without_thoughts(made: dict[str, Any], about: About) -> dict[str, Any]:
    if not about.thoughts:
        for item in made["content"]:
            item.pop("reasoning_content", None)
    return made


ADP_1 = Format(
    name="adp-1",
    summary="Agent Data Protocol, generation 1: no ids of calls, observations follow their actions in order.",
    source="trajectories",
    layout="jsonl",
    convert=_one,
    usage=usage("adp"),
)
ADP_2 = Format(
    name="adp-2",
    summary="Agent Data Protocol, generation 2 (1.x): as our own tables hold it, with all that stands beside it.",
    source="trajectories",
    layout="jsonl",
    convert=_two,
    usage=usage("adp"),
)
