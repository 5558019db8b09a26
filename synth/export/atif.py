"""ATIF, Harbor's Agent Trajectory Interchange Format: 1.7 and 1.8, as JSON lines.

A turn of the agent is a step, with its calls and what they were answered. Turns of a scripted agent that thinks have no
``llm_call_count``: 0 would forbid their thought. Code is a call of a tool that takes it, a page is its text, and what
answers no call is said to the agent. What the format has no field for stands in ``extra``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from synth.agents.trajectory import text_seen
from synth.dataset.usage import usage
from synth.export.adp import details_of
from synth.export.contract import About, Format, Inexpressible, Record, Run, Why
from synth.export.messages import code_tool
from synth.schemas.adp import (
    Action,
    ApiAction,
    CodeAction,
    ContentItem,
    ImageObservation,
    MessageAction,
    TextObservation,
)

__all__ = ["ATIF_17", "ATIF_18"]


def _atif(run: Run, about: About, cut: int, *, version: str) -> list[Record]:
    row = run.row
    content = row.content
    labels = {step.step: step for step in run.steps or ()}
    steps: list[dict[str, Any]] = []
    if row.system_prompt:
        steps.append({"source": "system", "message": row.system_prompt})
    at = turn = 0
    while at < len(content):
        item = content[at]
        if isinstance(item, Action):
            end = at
            while end < len(content) and isinstance(content[end], Action):
                end += 1
            stop = end
            while stop < len(content) and _answers(content[stop]):
                stop += 1
            while at < end - 1 and isinstance(spoken := content[at], MessageAction):
                steps.append(_step((spoken,), (), turn, about))  # said before it acts
                at += 1
            step = _step(content[at:end], content[end:stop], turn, about)
            if turn in labels:
                found = labels[turn]
                step.setdefault("extra", {}).update(label=found.label, train=found.train, reason=found.label_reason)
            if row.model is None and "reasoning_content" not in step:
                step["llm_call_count"] = 0
            steps.append(step)
            at, turn = stop, turn + 1
            continue
        text, extra = _seen(item, "user")
        if item.tool_call_id is not None:
            raise Inexpressible(Why.STRAY_OBSERVATION, f"content[{at}]")
        step = {"source": "user", "message": text}
        if extra:
            step["extra"] = {"adp_source" if name == "source" else name: value for name, value in extra.items()}
        steps.append(step)
        at += 1
    for number, step in enumerate(steps, start=1):
        step["step_id"] = number
    details = details_of(row, about, cut)
    for name in ("system_prompt", "tools"):
        details.pop(name)
    agent: dict[str, Any] = {"name": f"synth-{row.role}", "version": row.schema_version}
    if row.model:
        agent["model_name"] = row.model
    if row.tool_schemas:
        agent["tool_definitions"] = list(row.tool_schemas)
    if row.provenance.backend:
        agent["extra"] = {"backend": row.provenance.backend}
    available = _set(
        available_custom_tools=row.available_custom_tools, available_code_languages=row.available_code_languages
    )
    return [
        {
            "schema_version": f"ATIF-v{version}",
            "session_id": row.id,
            "trajectory_id": row.id,
            "agent": agent,
            "steps": [{"step_id": step.pop("step_id"), **step} for step in steps],
            "final_metrics": {"total_steps": len(steps)},
            "extra": {"details": details, "success": row.verdict.correct, **available},
        }
    ]


def _answers(item: ContentItem) -> bool:
    """Whether an observation answers a call."""
    return not isinstance(item, Action) and item.tool_call_id is not None


def _seen(item: ContentItem, usual: str) -> tuple[str, dict[str, Any]]:
    """What a reader of text sees of an observation, and what else there is to it.

    Args:
        usual: Who speaks, where nothing says otherwise.

    Raises:
        Inexpressible: it is a picture.
    """
    text = text_seen(item)
    if isinstance(item, TextObservation):
        return text, _set(name=item.name, reward=item.reward, source=None if item.source == usual else item.source)
    if not text or isinstance(item, ImageObservation):
        raise Inexpressible(Why.NO_TEXT, item.class_)
    left_out = {"tool_call_id", *(("reward",) if item.reward is None else ())}
    return text, {"adp_item": item.model_dump(mode="json", exclude=left_out)}


def _step(actions: Sequence[ContentItem], answers: Sequence[ContentItem], turn: int, about: About) -> dict[str, Any]:
    first = actions[0]
    if isinstance(first, MessageAction):
        if len(actions) > 1 or answers:
            raise Inexpressible(Why.MIXED_TURN, f"turn {turn}")
        step: dict[str, Any] = {"source": "agent", "message": first.content}
        if about.thoughts and first.reasoning_content is not None:
            step["reasoning_content"] = first.reasoning_content
        if extra := _set(description=first.description, reward=first.reward):
            step["extra"] = extra
        return step
    calls: list[dict[str, Any]] = []
    for place, action in enumerate(actions):
        if not isinstance(action, ApiAction | CodeAction):
            raise Inexpressible(Why.MIXED_TURN, f"turn {turn}")
        extra = _set(reward=action.reward)
        if place or action.description == "":
            extra |= _set(description=action.description)
            extra |= _set(reasoning_content=action.reasoning_content) if about.thoughts and place else {}
        call: dict[str, Any] = {
            "tool_call_id": action.tool_call_id or f"call_{turn}_{place}",
            **_called(action, extra),
        }
        calls.append(call | ({"extra": extra} if extra else {}))
    assert isinstance(first, ApiAction | CodeAction)
    step = {"source": "agent", "message": first.description or ""}
    if about.thoughts and first.reasoning_content is not None:
        step["reasoning_content"] = first.reasoning_content
    step["tool_calls"] = calls
    own = {call["tool_call_id"] for call in calls}
    if len(own) < len(calls):
        raise Inexpressible(Why.RESERVED_TEXT, f"turn {turn}: two calls of one id")
    results = [_result(answer, own) for answer in answers]
    if results:
        step["observation"] = {"results": results}
    return step


def _result(answer: ContentItem, own: set[str]) -> dict[str, Any]:
    assert not isinstance(answer, Action)
    if answer.tool_call_id not in own:
        raise Inexpressible(Why.STRAY_OBSERVATION, str(answer.tool_call_id))
    text, extra = _seen(answer, "environment")
    made: dict[str, Any] = {"source_call_id": answer.tool_call_id, "content": text}
    return made | ({"extra": extra} if extra else {})


def _called(action: ApiAction | CodeAction, extra: dict[str, Any]) -> dict[str, Any]:
    """Name and arguments of a call; ``extra`` says of code what it is."""
    if isinstance(action, ApiAction):
        return {"function_name": action.function, "arguments": action.kwargs}
    extra |= {"adp_class": action.class_, "language": action.language}
    return {"function_name": code_tool(action.language), "arguments": {"code": action.content}}


def _set(**values: Any) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items() if v is not None}


def _format(version: str) -> Format:
    return Format(
        name=f"atif-{version}",
        summary=f"Agent Trajectory Interchange Format {version}: one trajectory per line, calls with their answers.",
        source="trajectories",
        layout="jsonl",
        convert=partial(_atif, version=version),
        usage=usage("atif"),
    )


ATIF_17 = _format("1.7")
ATIF_18 = _format("1.8")
