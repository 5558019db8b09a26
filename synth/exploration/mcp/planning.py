"""From moves to a request and its plan: which looks are needed, and where every value in a call comes from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from synth.environments.mcp.environment import McpEnvironment
from synth.exploration.mcp.book import Seen
from synth.exploration.mcp.trials import Filled
from synth.exploration.pipeline import Dropped, leaves, line_with, word_in
from synth.exploration.walks import choose
from synth.identity import canonical_json
from synth.lexicon.reading import phrases
from synth.schemas.plans import AnswerItem, CallItem, ChecklistItem, Given, Plan, PlannedCall
from synth.schemas.rejections import Reason
from synth.text.inflection import capital

__all__ = ["plan_of", "request", "unanswerable"]

_WORDS = phrases("mcp_requests")

_MORE = "Please do these{order}: {all}."
_OPENING = 0.25
"""Share of requests that begin with something else."""
_LINE = 300
"""Characters of an observation's line that are kept as the words that show a value."""


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
        Dropped: a value in it comes from nowhere.
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


def unanswerable(plan: Plan, lookup: Filled) -> str | None:
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
            PlannedCall(tool=tool, arguments=arguments, changes=True, instruction=capital(f"{ask}."), given=given)
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
        words = word_in(self.question, text)
        if words is not None:
            return Given(source="question", words=words)
        for seen in looks:
            line = _line_with(seen.content, text)
            if line is not None:
                return Given(source="observation", words=line, call=self.look_up(seen, looks))
        known = self.environment.tool(tool)
        if known is not None:
            about = f"{known.schema.description} {canonical_json(known.schema.parameters)}"
            if word_in(about, text) is not None:
                return Given(source="schema", words=text)
        if text in (".", "/workspace"):
            return Given(source="schema", words=text)  # where the server works: every agent is told
        raise Dropped(Reason.UNGROUNDED, f"nothing says what {tool} takes as {path}: {text[:80]!r}", self.question)


def _line_with(content: str, value: str) -> str | None:
    """A line that holds ``value``, or only the value where that is long or a whole answer in one line of JSON, other
    parts of which change. The 9 in 9.22 does not count as 9."""
    lines = content.splitlines()
    if value.isdigit():
        lines = [line for line in lines if re.search(rf"(?<!\w)(?<!\d\.){value}(?!\w)(?!\.\d)", line)]
    line = line_with(lines, value)
    if line is None:
        return None
    whole = line[0] + line[-1] in ("{}", "[]") and ("," in line or len(lines) == 1)
    return value if whole or len(line) > _LINE else line


def request(asks: Sequence[str], generator: np.random.Generator, *, ordered: bool, openings: Sequence[str] = ()) -> str:
    """What a user says.

    Args:
        asks: Clauses that could follow "please", without an end mark.
        ordered: Whether the order matters, so that the words must say it.
        openings: Sentences that may stand before it.
    """
    frames = {
        1: _WORDS["one"],
        2: _WORDS["two_ordered"] if ordered else _WORDS["two"],
        3: _WORDS["three_ordered"] if ordered else _WORDS["three"],
    }.get(len(asks))
    if frames is None:
        order = " in this order" if ordered else ""
        text = _MORE.format(order=order, all="; ".join(asks))
    else:
        text = choose(generator, frames).format(*asks)
    if openings and float(generator.random()) < _OPENING:
        text = f"{choose(generator, openings)} {capital(text)}"
    return _sentences(text)


def _sentences(text: str) -> str:
    """Every sentence of the frame begins with a capital; what stands in quotation marks is nobody's business."""
    out, begins, quoted = [], True, False
    for at, sign in enumerate(text):
        quoted = sign == "“" or (quoted and sign != "”")
        out.append(sign.upper() if begins and sign.isalpha() and not quoted else sign)
        if sign.isalnum() or sign == "“":
            begins = False
        elif sign in ".?!" and not quoted and text[at + 1 : at + 2] in (" ", ""):
            begins = True
    return "".join(out)
