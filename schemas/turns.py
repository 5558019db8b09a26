"""The turns of a trajectory's content: one definition for labels, continuations, pairs and ``validate``.

A *turn* is a maximal run of actions; an observation (of a tool or of the user) ends it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.schemas.adp import Action, ApiAction, CodeAction, ContentItem, TextObservation
from synth.schemas.row import JsonObject

__all__ = [
    "action_kind",
    "bare_actions",
    "full_actions",
    "full_arguments",
    "speaker_named",
    "speakers",
    "turn_ranges",
    "turns_within",
]


def turn_ranges(content: Sequence[ContentItem]) -> tuple[tuple[int, int], ...]:
    """``(start, end)`` of each turn: its actions are ``content[start:end]``."""
    ranges: list[tuple[int, int]] = []
    start: int | None = None
    for index, item in enumerate(content):
        if isinstance(item, Action):
            start = index if start is None else start
        elif start is not None:
            ranges.append((start, index))
            start = None
    if start is not None:
        ranges.append((start, len(content)))
    return tuple(ranges)


def turns_within(content: Sequence[ContentItem], *, recorded: bool = False) -> tuple[int, int]:
    """How many turns an agent may have taken for it, at least and at most.

    A message may be a turn that nothing answers, with the next one right behind it. Calls made at once are one turn.

    Args:
        recorded: Whether it was read from a log, which may leave out the answers to calls.
    """
    ranges = turn_ranges(content)
    more = (
        end - at - 1
        for at, end in ranges
        if recorded or not all(isinstance(item, ApiAction) for item in content[at:end])
    )
    return len(ranges), len(ranges) + sum(more)


def speaker_named(item: ContentItem) -> str | None:
    """Who speaks next, where the item says only that: an empty text of an agent (:func:`speakers`)."""
    only = isinstance(item, TextObservation) and item.source == "agent" and not item.content
    return item.name if only and isinstance(item, TextObservation) else None


def speakers(content: Sequence[ContentItem]) -> tuple[str | None, ...]:
    """Who takes each turn, in a log of several agents; None where the log is of one."""
    ranges = turn_ranges(content)
    return tuple(speaker_named(content[start - 1]) if start else None for start, _ in ranges)


def action_kind(actions: Sequence[ContentItem], *, gave_up: bool = False) -> str:
    """Names of the tools called, in order and joined by ``+`` (``code`` for code that is run).

    A turn without a call is ``answer``, or ``give_up`` when the run ended so: its content alone does not tell.
    """
    names = [item.function if isinstance(item, ApiAction) else "code" for item in actions if _calls(item)]
    return "+".join(names) or ("give_up" if gave_up else "answer")


def bare_actions(actions: Sequence[ContentItem]) -> tuple[ContentItem, ...]:
    """The actions as they stand when nothing answers them: without ``tool_call_id``, as the protocol asks of an action
    that was cut off."""
    return tuple(item.model_copy(update={"tool_call_id": None}) if _calls(item) else item for item in actions)


def full_arguments(arguments: JsonObject, parameters: JsonObject) -> JsonObject:
    """What a call asks for: its arguments, and the default of each that it leaves out. Calls are compared by it.

    Args:
        parameters: JSON Schema of the tool's arguments.
    """
    properties = parameters.get("properties")
    stated = properties if isinstance(properties, Mapping) else {}
    defaults = {key: one["default"] for key, one in stated.items() if isinstance(one, Mapping) and "default" in one}
    return {**defaults, **arguments}


def full_actions(content: Sequence[ContentItem], tool_schemas: Sequence[JsonObject]) -> tuple[ContentItem, ...]:
    """``content`` with the calls in full."""
    tools = [tool.get("function") for tool in tool_schemas]
    parameters = {tool["name"]: tool.get("parameters") or {} for tool in tools if isinstance(tool, Mapping)}
    return tuple(
        item.model_copy(update={"kwargs": full_arguments(item.kwargs, parameters[item.function])})
        if isinstance(item, ApiAction) and item.function in parameters
        else item
        for item in content
    )


def _calls(item: ContentItem) -> bool:
    return isinstance(item, ApiAction | CodeAction)
