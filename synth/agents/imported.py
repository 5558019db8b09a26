"""Trajectories recorded elsewhere, as our rows.

In come Agent Data Protocol objects (generation 2, checked strictly). What ADP has no place for is read from
``details``, every key optional:

    task_id        id of the task; without it the task whose question is the trajectory's first observation
    role           ``teacher``, ``policy`` (the default) or ``expert``
    model          name of the model that acted
    system_prompt  what it was told before the question
    tools          JSON Schema functions, as chat APIs take them
    tool_errors    call id -> ``unknown_tool``, ``bad_arguments``, ``not_found``, ``refused`` or ``failure``. Without it
                   no call counts as wrong, unless an environment is given that answers the same and says so
    stop_reason    as in ``StopReason``; without it a last message is an answer, and a last action is ``unstated``
    answer         the bare answer; without it, what the last message marks as one (tags, "Answer:"), else all of it
    correct        whether the answer is right, where somebody judged it; without it the environment does, or our rules

Without a task (:func:`synth.pipelines.importing.import_file`) three more are read, since no task says them:

    split          ``train`` (the default), ``validation`` or ``test``
    licence        SPDX id of what the observations quote
    rollout        which sample of its task by its role it is
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from synth.agents.contract import History
from synth.agents.trajectory import history_of
from synth.environments.answers import check_task, final_answer
from synth.environments.contract import Environment, ToolError
from synth.identity import digest
from synth.schemas.adp import Action, ContentItem, MessageAction, TextObservation, Trajectory
from synth.schemas.provenance import Provenance
from synth.schemas.row import Split
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED, Role, StopReason, TrajectoryRow, Verdict

__all__ = ["from_request", "import_trajectory", "question_of"]

_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|hallo|greetings|good (?:morning|afternoon|evening|day))(?: there| all| everyone)?\W*", re.I
)
_LONGEST_WELCOME = 300
"""Characters that an agent says at most before anybody has asked for something."""


def from_request(trajectory: Trajectory) -> Trajectory:
    """The trajectory without its small talk: it starts at the user's first request. A welcome by the agent or a bare
    greeting by the user has nothing to teach; it is kept as ``details.given.opening``."""
    opening: list[ContentItem] = []
    for item in trajectory.content:
        if isinstance(item, TextObservation) and item.source == "user":
            if not _GREETING.fullmatch(item.content):
                break
        elif not isinstance(item, MessageAction) or len(item.content) > _LONGEST_WELCOME:
            return trajectory
        opening.append(item)
    if len(opening) == len(trajectory.content) or not any(isinstance(item, MessageAction) for item in opening):
        return trajectory
    given = trajectory.details.get("given")
    kept = {"opening": [item.model_dump(mode="json", exclude_none=True) for item in opening]}
    details = {**trajectory.details, "given": {**(given if isinstance(given, Mapping) else {}), **kept}}
    return trajectory.model_copy(update={"content": trajectory.content[len(opening) :], "details": details})


def question_of(trajectory: Trajectory) -> str:
    """What the user said before the first action.

    Raises:
        ValueError: nothing.
    """
    said: list[str] = []
    for item in trajectory.content:
        if isinstance(item, Action):
            break
        said += [item.content] if isinstance(item, TextObservation) and item.source == "user" else []
    if not said:
        raise ValueError("nobody asks: no words of the user stand before the agent's first action")
    return "\n\n".join(said)


def import_trajectory(
    trajectory: Trajectory,
    task: Task | None,
    *,
    provenance: Provenance,
    number: int = 0,
    environment: Environment | None = None,
) -> TrajectoryRow:
    """The row of a recorded trajectory on ``task``. It keeps the id that it came with.

    Args:
        task: None = nobody gave its question and gold answer: its id is the recorded one, or stands for the question,
            and the verdict is the recorded one, or nobody's.
        number: Which sample of the task by this role it is.
        environment: Where it was recorded. Then the tools are the environment's, and errors of calls that it answers as
            recorded are known. Whether it answers so throughout is checked where branching needs it.

    Raises:
        ValueError: nobody asks, nobody acts, or a key of ``details`` holds what it can't.
    """
    details = trajectory.details
    question = question_of(trajectory)
    last = trajectory.content[-1]
    if not any(isinstance(item, Action) for item in trajectory.content):
        raise ValueError("nobody acts: there is no turn of an agent")
    stop = _stop(details.get("stop_reason"), isinstance(last, MessageAction))
    gave_up = stop is StopReason.GAVE_UP
    answer = last.content if isinstance(last, MessageAction) and not gave_up else None
    if answer is not None:
        given = details.get("answer") is not None
        answer = _text(details, "answer") if given else final_answer(answer) or answer
    tools, names = _tools(trajectory, environment)
    verdict = _verdict(details.get("correct"), answer, task, environment)
    row = TrajectoryRow(
        **{name: getattr(trajectory, name) for name in Trajectory.model_fields if name != "available_custom_tools"},
        available_custom_tools=names,
        task_id=(_text(details, "task_id") or f"task-{digest(question)[:16]}") if task is None else task.id,
        rollout=number,
        role=_role(details.get("role", "policy")),
        model=_text(details, "model") or None,
        privileged=False,
        success=verdict.correct is True,
        verdict=verdict,
        answer=answer,
        stop_reason=stop,
        turns=1,
        tool_calls=0,
        split=_split(details.get("split", "train")) if task is None else task.split,
        licence=(_text(details, "licence") or None) if task is None else task.licence,
        system_prompt=_text(details, "system_prompt"),
        tool_schemas=tools,
        environment=RECORDED if environment is None else environment.name,
        environment_version=RECORDED if environment is None else environment.version,
        provenance=provenance,
    )
    _check_errors(details.get("tool_errors", {}))
    _, history = history_of(row)
    calls = sum(len(step.turn.calls) for step in history)
    row = row.model_copy(update={"turns": len(history), "tool_calls": calls})
    if environment is None or "tool_errors" in details:
        return row
    errors = _errors(history, task, environment) if task is not None else {}
    return row.model_copy(update={"details": {**details, "tool_errors": errors}}) if errors else row


def _stop(given: Any, answered: bool) -> StopReason:
    if given is None:
        return StopReason.ANSWERED if answered else StopReason.UNSTATED
    try:
        stop = StopReason(given)
    except ValueError:
        raise ValueError(f"details.stop_reason: {given!r} is none of {', '.join(StopReason)}") from None
    if (stop in (StopReason.ANSWERED, StopReason.GAVE_UP)) != answered:
        raise ValueError(f"details.stop_reason: {stop}, but the last item is {'a' if answered else 'no'} message")
    return stop


def _role(given: Any) -> Role:
    if given not in get_args(Role):
        raise ValueError(f"details.role: {given!r} is none of {', '.join(get_args(Role))}")
    return cast(Role, given)


def _split(given: Any) -> Split:
    if given not in get_args(Split):
        raise ValueError(f"details.split: {given!r} is none of {', '.join(get_args(Split))}")
    return cast(Split, given)


def _text(details: Mapping[str, Any], key: str) -> str:
    value = details.get(key) or ""
    if not isinstance(value, str):
        raise ValueError(f"details.{key}: a {type(value).__name__}, not a text")
    return value


def _tools(
    trajectory: Trajectory, environment: Environment | None
) -> tuple[tuple[dict[str, Any], ...], tuple[str, ...] | None]:
    """The functions that the agent had, and their names; of a tool that is only named, no more is known."""
    if environment is not None:
        functions = tuple(tool.function() for tool in environment.tools())
        return functions, tuple(tool["function"]["name"] for tool in functions)
    tools = trajectory.details.get("tools")
    good = tools is None or (
        isinstance(tools, list)
        and all(
            isinstance(tool, dict)
            and isinstance(tool.get("function"), dict)
            and {"name", "description", "parameters"} <= tool["function"].keys()
            for tool in tools
        )
    )
    if not good:
        raise ValueError("details.tools: not a list of functions with name, description and parameters")
    known, given = tuple(tools or ()), trajectory.available_custom_tools
    if tools is not None and not tools:
        return (), given
    names = [tool["function"]["name"] for tool in known]
    bare = [name for name in given or () if name not in names]
    unknown = [{"name": name, "description": "", "parameters": {"type": "object"}} for name in bare]
    every = [*known, *({"type": "function", "function": function} for function in unknown)]
    return tuple(every), None if given is None and not known else (*names, *bare)


def _verdict(given: Any, answer: str | None, task: Task | None, environment: Environment | None) -> Verdict:
    if given is not None:
        if not isinstance(given, bool):
            raise ValueError(f"details.correct: {given!r} is neither true nor false")
        return Verdict(correct=given, rule="recorded", evidence="It came with the trajectory.")
    if task is None:
        return Verdict(correct=None, rule="unjudged", evidence="No gold answer was given, and no verdict.")
    if environment is not None:
        # As continuations are judged that the run will be compared with.
        episode = environment.reset(task)
        try:
            return episode.check(answer)
        finally:
            episode.close()
    return check_task(task, answer)


def _check_errors(given: Any) -> None:
    known = get_args(ToolError)
    if not isinstance(given, dict) or not all(value in known for value in given.values()):
        raise ValueError(f"details.tool_errors: not an object of call ids with {', '.join(known)}")


def _errors(history: History, task: Task, environment: Environment) -> dict[str, str]:
    """The errors of calls that a fresh episode answers in the recorded words, up to the first that it does not."""
    found: dict[str, str] = {}
    episode = environment.reset(task)
    try:
        for step in history:
            for call, recorded in zip(step.turn.calls, step.results, strict=False):
                now = episode.step(call)
                if now.content != recorded.content:
                    return found
                if now.error is not None:
                    found[call.id] = now.error
    finally:
        episode.close()
    return found
