"""The checklist of a plan against what was done (CM2, arXiv 2602.12268): yes or no, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from synth.environments.answers import judge
from synth.environments.contract import ToolCall, ToolResult
from synth.identity import canonical_json
from synth.schemas.plans import AnswerItem, CallItem, Change, ChecklistItem, StateItem

__all__ = ["checklist_results"]


def checklist_results(
    items: Sequence[ChecklistItem],
    calls: Sequence[tuple[ToolCall, ToolResult]],
    end: Sequence[Change] | None,
    answer: str | None,
    *,
    correct: bool | None = None,
) -> tuple[bool | None, ...]:
    """Which items a run shows, in their order.

    Args:
        calls: The calls of the run with what came of them.
        end: The state at the end, as a difference from the beginning (``AppEpisode.difference``). None = not known:
            then a run that is ``correct`` has reached it, and of any other nothing can be told.
        answer: The final message; None if the run has none.
    """
    return tuple(
        (correct or None) if item.kind == "state" and end is None else _shown(item, calls, end or (), answer)
        for item in items
    )


def _shown(
    item: ChecklistItem, calls: Sequence[tuple[ToolCall, ToolResult]], end: Sequence[Change], answer: str | None
) -> bool:
    if item.kind == "state":
        wanted_change = StateItem.of(item.details).change
        if wanted_change is None:
            return not end
        return Change.model_validate(wanted_change).model_dump(mode="json") in [
            one.model_dump(mode="json") for one in end
        ]
    if item.kind in ("call", "no_call"):
        about = CallItem.of(item.details)
        wanted_error = "refused" if about.refused else None
        done = [call for call, result in calls if call.name == about.tool and result.error == wanted_error]
        if item.kind == "no_call":
            return not done
        return any(
            all(
                name in call.arguments and _same(call.arguments[name], value) for name, value in about.arguments.items()
            )
            for call in done
        )
    said = (answer or "").casefold()
    wanted = AnswerItem.of(item.details)
    if wanted.answer is not None:
        return bool(judge(answer, gold=wanted.answer).correct) or wanted.answer.casefold() in said
    return any(word in said for word in wanted.any)


def _same(left: Any, right: Any) -> bool:
    return canonical_json(left) == canonical_json(right)
