"""Labels of a run on a question whose walk is not known: by what its results show, and by its verdict.

What a step adds is measured on the text that came back: the answer, words of the question that were missing so far, a
lead of an earlier result followed up, or nothing that had not been read. The floor is the rule that a repeated query or
a result with nothing new harms, and any other step helps.

The rest follows the guide by which people labelled AgentProcessBench (arXiv 2603.14465): a step that leads nowhere is
neutral once and harms from then on; what follows harm in a run that ends wrong harms, unless it is back on track; a
call that the tool does not take harms; a right end helps. On the 4,200 labels of its parts gaia_dev and bfcl, 170 of
174 right ends help, and of what follows the first harm in a run that ends wrong .89 and .43 harm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, Literal

from synth.agents.contract import History, Step
from synth.annotate.evidence.view import collected, stands_verbatim
from synth.environments.contract import ToolCall, ToolSchema, call_key
from synth.environments.wording import content_of, related
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Task
from synth.text.words import content_words, words_of

__all__ = ["Judged", "Measured", "measured_by_results"]

Measured = Literal[-1, 0, 1] | None
Judged = tuple[Measured, LabelReason, str]
"""(label or None = not measured, reason, what it rests on)"""

_LEAST_NEW = 3
"""Words that were in no result before, from which a result adds something ..."""
_LEAST_SHARE = 0.1
"""... and their share of its words."""
_REWORDED = 0.8
"""Share of the words of both queries that they have in common, from which one is the other in other words."""
_ABOUT = 0.5
"""Share of the words of a query that a result holds which is about it."""
_MISSED = re.compile(
    r"\s*(?:\W*(?:error|exception|traceback|failed|failure|invalid|unknown|timeout|timed out|unable to|could ?n[o']t)\b"
    r"|(?:\w+\W+){0,4}(?:not found|no (?:results?|matches|such|data|documents?|information)|does not exist)"
    r"|\w*(?:Error|Exception)\b)",
    re.IGNORECASE,
)
_SHORT = 400
"""Signs of a message of a tool that failed; a longer one brings something."""
_SHORTEST = 3
"""Signs of an answer that is looked for in results; a shorter one stands in many by chance."""


def measured_by_results(
    task: Task, history: History, judged: Sequence[Judged], *, correct: bool | None, tools: Sequence[ToolSchema] = ()
) -> list[Judged]:
    """``judged`` with the labels that results and verdict give, where it has none.

    Args:
        judged: Labels by failed calls and by the last message, one per step.
        correct: Whether the run's answer is right; None = not judged.
        tools: By their defaults, calls are told to be equal.
    """
    seen = _Seen(task, tools)
    unnamed = correct is None and bool(history) and _names_nothing(task, history[-1].turn.answer)
    correct = False if unnamed else correct
    found: list[Judged] = []
    harmed: int | None = None
    idle: int | None = None
    for number, (step, given) in enumerate(zip(history, judged, strict=True)):
        made = given if given[0] is not None else seen.judge(step) or given
        if not step.turn.calls:
            made = _spoken(given, correct, unnamed) if number == len(history) - 1 else _on_the_way(step)
        elif made[1] is LabelReason.REDUNDANT and made[0] == 0 and idle is not None:
            made = (-1, LabelReason.REDUNDANT, f"{made[2]}, as in step {idle}")
        elif correct is False and made[0] == 1 and seen.adds in (_ASTRAY if harmed is not None else _LEADS_NOWHERE):
            if harmed is not None:
                told = f"{made[2]}; step {harmed} had brought nothing, and the run ends wrong"
                made = (-1, LabelReason.PROPAGATED, told)
            elif idle is not None:
                made = (-1, LabelReason.REDUNDANT, f"{made[2]}, but leads nowhere, as step {idle}")
            else:
                made = (0, LabelReason.NEUTRAL, f"{made[2]}, but leads nowhere, and the run ends wrong")
        if step.turn.calls and harmed is None and made[0] == -1:
            harmed = number
        if step.turn.calls and idle is None and made[0] == 0:
            idle = number
        seen.take(step)
        found.append(made)
    return found


_NOT_LAST: Judged = (None, LabelReason.UNMEASURED, "speaks on the way; nothing says what that was good for")
_ASKS_FOR_CALL = re.compile(r"\b(?:no|not|invalid|without)\b.{0,40}\b(?:tool|function)s?[ -]?calls?\b", re.IGNORECASE)
_OWN_FAULT = re.compile(
    r"\b(?:missing|required|unexpected|unrecognized|malformed|unparsable|schema|unknown (?:tool|function|argument)"
    r"|invalid (?:tool|function|arguments?|parameters?|json))",
    re.IGNORECASE,
)


def _on_the_way(step: Step) -> Judged:
    """A message that is not the last: what answers it may say that it should have been a call."""
    said = next((one.content for one in step.results if _ASKS_FOR_CALL.search(one.content[:_SHORT])), None)
    return _NOT_LAST if said is None else (-1, LabelReason.INVALID_CALL, f"calls nothing: {_first(said)}")


def _spoken(given: Judged, correct: bool | None, unnamed: bool) -> Judged:
    """The last message: by its verdict. A right answer that no text states word for word may still rest on what was
    read, or on what the agent knew: without a walk, nothing says that it had to be looked up."""
    if correct is True and given[0] != 1:
        return 1, LabelReason.PROGRESS, "right by its verdict; nothing that was read states it word for word"
    if unnamed and given[0] is None:
        return -1, LabelReason.UNSUPPORTED_ANSWER, "no verdict, but it says no word of the right answer"
    return given


def _names_nothing(task: Task, answer: str | None) -> bool:
    """Whether an answer has no word, nor form of one, that a right one has and the question has not."""
    if answer is None or not stands_verbatim(task):
        return False
    wanted = [content_of(name) - content_of(task.question) for name in (task.answer, *task.answer_aliases)]
    return all(name and not related(content_of(answer), name) for name in wanted)


class _Adds(Enum):
    """What the best of a step's results adds."""

    ANSWER = "answer"
    QUESTION = "question"
    """Words of the question that no result had."""
    LEAD = "lead"
    """More of what an earlier result named."""
    WORDS = "words"
    """Words that no result had, and nothing else."""
    NOTHING = "nothing"


_LEADS_NOWHERE = frozenset((_Adds.WORDS,))
_ASTRAY = frozenset((_Adds.WORDS, _Adds.LEAD))
"""After harm, what earlier results named leads on as little: only the question or the answer brings a run back."""


class _Seen:
    """What came back so far."""

    def __init__(self, task: Task, tools: Sequence[ToolSchema]) -> None:
        self._tools = tools
        names = (task.answer, *task.answer_aliases) if stands_verbatim(task) else ()
        self._answers = [words for name in names if len((words := words_of(name)).strip()) >= _SHORTEST]
        self._question = frozenset(content_words(task.question))
        self._missing = set(self._question)
        self._words: set[str] = set()
        self._calls: dict[str, str] = {}
        self._queries: list[tuple[str, frozenset[str]]] = []
        self.answered = False
        """A result stated the answer."""
        self.adds = _Adds.NOTHING
        """Of the step that was judged last."""

    def judge(self, step: Step) -> Judged | None:
        """What the results of a step add; None where it has none."""
        self.adds = _Adds.NOTHING
        if not step.turn.calls or not step.results:
            return None
        text = "\n".join(collected(result.content) for result in step.results)
        words = set(content_words(text))
        new = words - self._words
        keys = [call_key(call, self._tools) for call in step.turn.calls]
        before = [self._calls[key] for key in keys if key in self._calls]
        if len(text) < _SHORT and _MISSED.match(text):
            if before:
                return -1, LabelReason.REPEATED_FAILURE, f"made again, and brings nothing again: {_first(text)}"
            if _OWN_FAULT.search(text):
                return -1, LabelReason.INVALID_CALL, f"not a call that the tool takes: {_first(text)}"
            return 0, LabelReason.TOOL_FAILURE, f"brings nothing: {_first(text)}"
        if self._answers and not self.answered and any(name in words_of(text) for name in self._answers):
            self.adds = _Adds.ANSWER
            return 1, LabelReason.PROGRESS, f"a result states {self._answers[0].strip()!r}, which none had"
        if len(before) == len(keys) and len(new) < _LEAST_NEW:
            return -1, LabelReason.REDUNDANT, "the same call as before, and nothing new in its result"
        if len(new) < _LEAST_NEW or len(new) < _LEAST_SHARE * len(words):
            how = "the query of before in other words" if self._reworded(step) else "a result"
            return (
                0 if new else -1,
                LabelReason.REDUNDANT,
                f"{how} with {len(new)} of {len(words)} words that no result had",
            )
        about = sorted(self._missing & new)
        if about:
            self.adds = _Adds.QUESTION
            return 1, LabelReason.PROGRESS, f"a result has {', '.join(about[:5])} of the question, which none had"
        if self._reworded(step):
            told = "the query of before in other words; nothing of the question is new"
            return 0, LabelReason.REDUNDANT, told
        if named := self._lead(step, words):
            self.adds = _Adds.LEAD
            return 1, LabelReason.PROGRESS, f"follows up {', '.join(named[:5])}, which an earlier result named"
        self.adds = _Adds.WORDS
        return 1, LabelReason.PROGRESS, f"a result has {len(new)} of {len(words)} words that none had"

    def _reworded(self, step: Step) -> bool:
        return any(
            name == call.name and words and len(words & own) >= _REWORDED * len(words | own)
            for call in step.turn.calls
            for own in [_asked(call)]
            for name, words in self._queries
        )

    def _lead(self, step: Step, words: set[str]) -> list[str]:
        """What the calls ask for that an earlier result named and the question does not, where the result is about what
        was asked."""
        asked = frozenset[str]().union(*(_asked(call) for call in step.turn.calls))
        about = len(asked & words) >= _ABOUT * len(asked)
        return sorted((asked & self._words & words) - self._question) if asked and about else []

    def take(self, step: Step) -> None:
        """The step is over."""
        for result in step.results:
            text = collected(result.content)
            self._words |= set(content_words(text))
            self.answered = self.answered or any(name in words_of(text) for name in self._answers)
        self._missing -= self._words
        for call in step.turn.calls:
            self._calls[call_key(call, self._tools)] = call.name
            self._queries.append((call.name, _asked(call)))


def _asked(call: ToolCall) -> frozenset[str]:
    """The words of a call's arguments."""
    return frozenset(word for text in _texts(call.arguments) for word in content_words(text))


def _texts(value: Any) -> Iterator[str]:
    """Every text in ``value``: queries come one by one, in lists, or in objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(one)


def _first(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:120]
