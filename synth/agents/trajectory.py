"""Rollouts as rows of the ``trajectories`` table, and back.

Thought -> ``reasoning_content`` and text beside calls -> ``description`` of the turn's first action; the final answer
is a ``message_action``; the question is the first ``text_observation``. An action that a stop cut off has no
``tool_call_id``. Which results were errors stands in the details (:class:`CallErrors`). A
page in a browser is a ``web_observation`` whose ``axtree`` is the whole text that the agent read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.loop import Rollout
from synth.environments.contract import Environment, ToolCall, ToolError, ToolResult, ToolSchema, WebPage
from synth.identity import digest
from synth.schemas.adp import (
    ADP_VERSION,
    Action,
    ApiAction,
    CodeAction,
    ContentItem,
    ImageObservation,
    MessageAction,
    TextObservation,
    WebObservation,
)
from synth.schemas.delegations import delegations_of
from synth.schemas.details import Facts, details_with
from synth.schemas.injected import InjectedError
from synth.schemas.model_turns import ModelTurns
from synth.schemas.provenance import Provenance
from synth.schemas.row import JsonObject
from synth.schemas.summaries import Shown
from synth.schemas.trajectories import CallErrors, Recorded, Role, StopReason, TrajectoryRow

__all__ = ["facts_of", "history_of", "injected_rows", "step_items", "steps_of", "text_seen", "to_row", "tools_of"]


def to_row(
    rollout: Rollout,
    environment: Environment,
    *,
    role: Role,
    number: int,
    privileged: bool,
    provenance: Provenance,
    model: str | None = None,
) -> TrajectoryRow:
    """The row of ``rollout``, the sample ``number`` of its task by ``role``. The id is a hash of what the row is.

    Of a model's run, the details say where each turn comes from, and the provenance names the revision that the server
    names. The summaries that the agent read in the place of observations stand there too.
    """
    task = rollout.task
    content: list[ContentItem] = [TextObservation(content=rollout.prompt.question, source="user", name="user")]
    errors: dict[str, str] = {}
    for step in rollout.history:
        content += step_items(step)
        errors |= {result.call_id: result.error for result in step.results if result.error}
    calls = [call for step in rollout.history for call in step.turn.calls]
    said: list[Facts] = [CallErrors(tool_errors=errors)] if errors else []
    if settings := {**environment.settings(task), **rollout.facts}:
        said.append(Recorded(environment=settings))
    if rollout.shown:
        said.append(Shown(shown=rollout.shown))
    if rollout.sources:
        said.append(ModelTurns(model_turns=rollout.sources))
        provenance = provenance.model_copy(update={"model_revision": _revision(rollout)})
    body = [item.model_dump(mode="json") for item in content]
    return TrajectoryRow(
        schema_version=ADP_VERSION,
        id=f"trajectory-{digest('trajectory', task.id, role, model, number, body)[:16]}",
        content=tuple(content),
        available_custom_tools=tuple(tool.name for tool in rollout.prompt.tools),
        details=details_with(*said),
        task_id=task.id,
        rollout=number,
        role=role,
        model=model,
        privileged=privileged,
        success=rollout.verdict.correct is True,
        verdict=rollout.verdict,
        answer=rollout.answer,
        stop_reason=rollout.stop_reason,
        turns=len(rollout.history),
        tool_calls=len(calls),
        split=task.split,
        licence=task.licence,
        system_prompt=rollout.prompt.system,
        tool_schemas=tuple(tool.function() for tool in rollout.prompt.tools),
        environment=environment.name,
        environment_version=environment.version,
        provenance=provenance,
    )


def _revision(rollout: Rollout) -> str | None:
    """What the server says that it served, where it says so and always says the same."""
    for name in ("served_by", "fingerprint"):
        said = {getattr(source, name) for source in rollout.sources}
        if len(said) == 1 and None not in said:
            return str(said.pop())
    return None


def step_items(step: Step) -> list[ContentItem]:
    """The ADP items of one turn and its observations."""
    turn = step.turn
    if not turn.calls:
        text = turn.answer if turn.answer is not None else turn.said or ""
        beside = turn.said if turn.answer is not None else None
        return [MessageAction(content=text, description=beside, reasoning_content=turn.thought)]
    items: list[ContentItem] = []
    for place, call in enumerate(turn.calls):
        items.append(
            ApiAction(
                function=call.name,
                kwargs=call.arguments,
                tool_call_id=call.id if step.results else None,
                description=turn.said if place == 0 else None,
                reasoning_content=turn.thought if place == 0 else None,
            )
        )
    for result in step.results:
        items.append(_observation(result))
    return items


def _observation(result: ToolResult) -> TextObservation | WebObservation:
    page = result.page
    if page is None:
        return TextObservation(
            content=result.content, source="environment", name=result.name, tool_call_id=result.call_id
        )
    picture = page.screenshot
    return WebObservation(
        html=page.html,
        axtree=result.content,
        url=page.url,
        image_observation=ImageObservation(content=picture, source="environment") if picture else None,
        viewport_size=page.viewport,
        tool_call_id=result.call_id,
    )


def _result(
    seen: ContentItem, place: int, asked: Mapping[str, str], errors: Mapping[str, ToolError]
) -> ToolResult | None:
    """The result that an observation records; None for an action.

    What answers no call (words of the user in the middle of a run, the output of what the agent wrote into a message)
    is a result all the same: of the user, or of whoever speaks.

    Args:
        place: Of the item in the content.
        asked: Name of the tool by call id: a web observation holds no name.
    """
    if isinstance(seen, Action):
        return None
    call_id = seen.tool_call_id or f"observation_{place}"
    name = asked.get(call_id, "tool" if seen.tool_call_id or isinstance(seen, WebObservation) else "")
    error = errors.get(call_id)
    if isinstance(seen, WebObservation):
        picture = seen.image_observation.content if seen.image_observation is not None else None
        page = None
        if seen.url:
            page = WebPage(url=seen.url, viewport=seen.viewport_size or (0, 0), html=seen.html, screenshot=picture)
        return ToolResult(call_id=call_id, name=name, content=text_seen(seen), error=error, page=page)
    if isinstance(seen, ImageObservation):
        return ToolResult(call_id=call_id, name=name or seen.source, content=text_seen(seen), error=error)
    who = "tool" if seen.tool_call_id or seen.source == "environment" else seen.source
    return ToolResult(call_id=call_id, name=seen.name or who, content=seen.content, error=error)


def text_seen(seen: ContentItem) -> str:
    """What a reader of text sees of an observation: a page's tree, or its markup; where a picture is kept."""
    if isinstance(seen, WebObservation):
        return seen.axtree or seen.html or ""
    return seen.content if isinstance(seen, TextObservation | ImageObservation) else ""


def injected_rows(rollout: Rollout, row: TrajectoryRow) -> tuple[InjectedError, ...]:
    """What the scripted agent did wrong on purpose, under the trajectory's id: for the sealed table."""
    return tuple(error.model_copy(update={"trajectory_id": row.id}) for error in rollout.injected)


def facts_of(row: TrajectoryRow) -> JsonObject:
    """What ``row`` records of its environment: what a replay is given (``Environment.resume``)."""
    return Recorded.of(row.details).environment


def tools_of(row: TrajectoryRow) -> tuple[ToolSchema, ...]:
    """The tools that the agent had."""
    return tuple(
        ToolSchema(name=f["name"], description=f["description"], parameters=f["parameters"])
        for f in (tool["function"] for tool in row.tool_schemas)
    )


def history_of(row: TrajectoryRow) -> tuple[Prompt, History]:
    """The prompt and history that ``row`` records, equal to those of the rollout that made it.

    Raises:
        ValueError: the content is not of the form that ``to_row`` writes.
    """
    start = next((at for at, item in enumerate(row.content) if isinstance(item, Action)), len(row.content))
    told = row.content[:start]
    if not any(isinstance(item, TextObservation) and item.source == "user" for item in told):
        raise ValueError(f"{row.id}: no words of the user stand before the first action")
    errors = cast(dict[str, ToolError], CallErrors.of(row.details).tool_errors)
    gave_up = row.stop_reason is StopReason.GAVE_UP
    steps = steps_of(row.content[start:], errors, gave_up=gave_up, name=row.id)
    if proven := {call_id: one.proves for call_id, one in delegations_of(facts_of(row)).items() if one.proves}:
        steps = tuple(_proving(step, proven) for step in steps)
    question = "\n\n".join(text_seen(item) for item in told)
    return Prompt(system=row.system_prompt, question=question, tools=tools_of(row)), steps


def _proving(step: Step, proven: Mapping[str, tuple[int, ...]]) -> Step:
    results = (result.model_copy(update={"proves": proven.get(result.call_id, ())}) for result in step.results)
    return step.model_copy(update={"results": tuple(results)})


def steps_of(items: Sequence[ContentItem], errors: Mapping[str, ToolError], *, gave_up: bool, name: str) -> History:
    """The steps that ``items``, the content behind the question, record.

    Args:
        errors: Which observations were errors, by call id.
        gave_up: Whether the run ended so.
        name: Of the run, for messages.

    Raises:
        ValueError: they are not of the form that ``step_items`` writes.
    """
    steps: list[Step] = []
    at = 0
    while at < len(items):
        number, start = len(steps), at
        while at < len(items) and isinstance(items[at], Action):
            at += 1
        actions = items[start:at]
        if not actions:
            raise ValueError(f"{name}: item {at} is an observation that no action asked for")
        turn = _turn(actions, number, gave_up=gave_up and at == len(items))
        asked = {call.id: call.name for call in turn.calls}
        results: list[ToolResult] = []
        while at < len(items) and (result := _result(items[at], at, asked, errors)) is not None:
            results.append(result)
            at += 1
        steps.append(Step(turn=turn, results=tuple(results)))
    return tuple(steps)


def _turn(actions: Sequence[ContentItem], number: int, *, gave_up: bool) -> Turn:
    """The turn of these actions. What a turn that also calls tells the user is said beside the calls; code that is run
    is a call of ``code``."""
    calls: list[ToolCall] = []
    said: list[str] = []
    for action in actions:
        assert isinstance(action, Action)
        said += [action.description] if action.description is not None else []
        if isinstance(action, MessageAction):
            said.append(action.content)
            continue
        bare = f"call_{number}_{len(calls)}"
        if isinstance(action, CodeAction):
            arguments: JsonObject = {"language": action.language, "code": action.content}
            calls.append(ToolCall(id=action.tool_call_id or bare, name="code", arguments=arguments))
        else:
            calls.append(ToolCall(id=action.tool_call_id or bare, name=action.function, arguments=action.kwargs))
    thoughts = [action.reasoning_content for action in actions if isinstance(action, Action)]
    thought = next((one for one in thoughts if one is not None), None)
    if calls:
        return Turn(thought=thought, said="\n\n".join(said) if said else None, calls=tuple(calls))
    answer = said.pop()
    beside = "\n\n".join(said) if said else None
    if gave_up:
        return Turn(thought=thought, said=answer or None)
    return Turn(thought=thought, said=beside, answer=answer)
