"""From moves to a plan: which looks are needed, and where every value in a call comes from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from synth.environments.mcp.environment import McpEnvironment
from synth.exploration.mcp.filling import Seen
from synth.exploration.mcp.moving import Filled
from synth.identity import canonical_json
from synth.schemas.plans import AnswerItem, CallItem, ChecklistItem, Given, Plan, PlannedCall

__all__ = ["Untold", "plan_of", "untold_answer"]

_LINE = 300
"""Characters of an observation's line that are kept as the words that show a value."""


class Untold(Exception):
    """A value stands neither in the request nor in anything that is shown before."""


def plan_of(
    environment: McpEnvironment,
    question: str,
    moves: Sequence[Filled],
    lookups: Sequence[Filled],
    asks: Sequence[str],
) -> Plan:
    """The plan of a request.

    Args:
        moves: What is done, in order.
        lookups: What is looked up.
        asks: For each move or lookup, the words that ask for it.

    Raises:
        Untold: a value in it comes from nowhere.
    """
    writer = _Writer(environment, question)
    for move, ask in zip((*moves, *lookups), asks, strict=True):
        if move.move.tool is not None:
            writer.write(move, ask)
        else:
            shown = [seen for seen in move.seen.values() if _line_with(seen.content, move.answer) is not None]
            for seen in shown[-1:]:  # what it takes from others brings those
                writer.look_up(seen, list(move.seen.values()))
    checklist = [
        ChecklistItem.on(f"{call.tool} was called as asked", "call", CallItem(tool=call.tool, arguments=call.arguments))
        for call in writer.calls
        if call.changes
    ]
    if lookups:
        wanted = lookups[0].answer
        checklist.append(ChecklistItem.on(f"the last message says {wanted!r}", "answer", AnswerItem(answer=wanted)))
    return Plan(outcome="answered" if lookups else "done", calls=tuple(writer.calls), checklist=tuple(checklist))


def untold_answer(plan: Plan, lookup: Filled) -> str | None:
    """Why a question can't be answered by what the plan shows; None when it can."""
    shown = [seen.content for seen in lookup.seen.values()]
    if not any(_line_with(content, lookup.answer) is not None for content in shown):
        return f"no look shows {lookup.answer!r}"
    return None if plan.calls else "nothing is looked up"


class _Writer:
    def __init__(self, environment: McpEnvironment, question: str) -> None:
        self.environment = environment
        self.question = question
        self.calls: list[PlannedCall] = []
        self.shown: dict[str, tuple[int, str]] = {}
        """Look, as canonical JSON -> its number and what it showed."""

    def write(self, move: Filled, ask: str) -> None:
        tool, arguments = move.call
        looks = list(move.seen.values())
        given = {path: self._given(tool, path, value, looks) for path, value in leaves(arguments)}
        self.calls.append(
            PlannedCall(tool=tool, arguments=arguments, changes=True, instruction=_upper(f"{ask}."), given=given)
        )

    def look_up(self, seen: Seen, looks: Sequence[Seen]) -> int:
        """The number of a look in the plan; it is made where it was not."""
        key = canonical_json([seen.tool, seen.arguments])
        if key not in self.shown:
            earlier = [one for one in looks if one is not seen]
            given = {path: self._given(seen.tool, path, value, earlier) for path, value in leaves(seen.arguments)}
            words = ", ".join(f"{path} {value}" for path, value in leaves(seen.arguments))
            instruction = f"Look with {seen.tool}{f' ({words})' if words else ''}."
            self.calls.append(
                PlannedCall(
                    tool=seen.tool, arguments=seen.arguments, changes=False, instruction=instruction, given=given
                )
            )
            self.shown[key] = len(self.calls) - 1, seen.content
        return self.shown[key][0]

    def _given(self, tool: str, path: str, value: Any, looks: Sequence[Seen]) -> Given:
        text = value if isinstance(value, str) else canonical_json(value)
        words = _word_of(self.question, text)
        if words is not None:
            return Given(source="question", words=words)
        for seen in looks:
            line = _line_with(seen.content, text)
            if line is not None:
                return Given(source="observation", words=line, call=self.look_up(seen, looks))
        known = self.environment.tool(tool)
        if known is not None:
            about = f"{known.schema.description} {canonical_json(known.schema.parameters)}"
            if _word_of(about, text) is not None:
                return Given(source="schema", words=text)
        if text in (".", "/workspace"):
            return Given(source="schema", words=text)  # where the server works: every agent is told
        raise Untold(f"nothing says what {tool} takes as {path}: {text[:80]!r}")


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of every plain value in arguments: ``items.0.amount``."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from leaves(item, f"{path}.{number}")
    else:
        yield path, value


def _word_of(text: str, value: str) -> str | None:
    """``value`` as it stands in ``text``, as a word of its own."""
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text)
    return found.group() if found is not None else None


def _line_with(content: str, value: str) -> str | None:
    line = next((line for line in content.splitlines() if _word_of(line, value) is not None), None)
    return None if line is None else line.strip() if len(line.strip()) <= _LINE else value


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
