"""Checklists: what is to be seen in a good run, item by item (CM2); ``synth.agents.checklists`` tells yes from no."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from synth.environments.app.definition import Table
from synth.environments.app.state import entries_in_words
from synth.environments.app.user import ASK_USER
from synth.lexicon.reading import phrases
from synth.schemas.plans import AnswerItem, CallItem, Change, ChecklistItem, PlannedCall, StateItem, UserFact

__all__ = ["checklist_of"]

_DECLINED = phrases("word_lists")["declining"]


def checklist_of(
    calls: Sequence[PlannedCall],
    changes: Sequence[Change],
    tables: Mapping[str, Table],
    *,
    free: Mapping[str, Sequence[str]],
    forbidden: str | None = None,
    answer: str | None = None,
    facts: Sequence[UserFact] = (),
    attempts: Sequence[PlannedCall] = (),
) -> tuple[ChecklistItem, ...]:
    """The items of a plan.

    Args:
        free: Tool -> arguments whose exact words do not matter.
        forbidden: The tool of what has to be declined.
        answer: What has to be said.
        facts: What the person has to be asked for.
        attempts: Calls that have to be tried, and are refused.
    """
    on = ChecklistItem.on
    items = [
        on(f"At the end: {line}.", "state", StateItem(change=change.model_dump(mode="json")))
        for change in changes
        for line in entries_in_words([change], tables)
    ]
    items += [on(f"The user is asked about {fact.topic}.", "call", CallItem(tool=ASK_USER)) for fact in facts]
    items += [
        on(f"Tried: {call.instruction}.", "call", CallItem(tool=call.tool, arguments=call.arguments, refused=True))
        for call in attempts
    ]
    for call in calls:
        if call.changes:
            fixed = {name: value for name, value in call.arguments.items() if name not in free.get(call.tool, ())}
            items.append(on(f"Done: {call.instruction}.", "call", CallItem(tool=call.tool, arguments=fixed)))
    if forbidden is not None:
        if forbidden not in {call.tool for call in calls if call.changes}:
            items.append(on(f"{forbidden} changes nothing.", "no_call", CallItem(tool=forbidden)))
        items.append(on("The user is told that it can't be done.", "answer", AnswerItem(any=_DECLINED)))
    if answer is not None:
        items.append(on(f"The user is told: {answer}.", "answer", AnswerItem(answer=answer)))
    if not any(call.changes for call in calls):
        items.append(on("Nothing is changed.", "state", StateItem(change=None)))
    return tuple(items)
