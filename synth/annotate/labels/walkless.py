"""Labels of a run on a question whose walk is not known: by what its results show, and by its verdict.

What a step adds is measured on the text that came back: the answer, words of the question that were missing so far, or
nothing that had not been read. The floor is the rule that a repeated query or a result with nothing new harms, and any
other helps (.785 of human labels on search runs, where "all help" has .70). Beyond it, steps behind the first one that
brought nothing, in a run that ends wrong, seldom help (AgentProcessBench, arXiv 2603.14465: .89 of them harm on
questions of GAIA), unless they show the answer or what was missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from synth.agents.contract import History, Step
from synth.annotate.evidence.view import collected, stands_verbatim
from synth.environments.contract import ToolCall
from synth.identity import canonical_json
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
_MISSED = re.compile(
    r"\s*(?:\W*(?:error|exception|traceback|failed|failure|invalid|unknown|timeout|timed out|unable to|could ?n[o']t)\b"
    r"|(?:\w+\W+){0,4}(?:not found|no (?:results?|matches|such|data|documents?|information)|does not exist)"
    r"|\w*(?:Error|Exception)\b)",
    re.IGNORECASE,
)
_SHORTEST = 3
"""Signs of an answer that is looked for in results; a shorter one stands in many by chance."""


def measured_by_results(
    task: Task, history: History, judged: Sequence[Judged], *, correct: bool | None
) -> list[Judged]:
    """``judged`` with the labels that results and verdict give, where it has none.

    Args:
        judged: Labels by failed calls and by the last message, one per step.
        correct: Whether the run's answer is right; None = nobody judged it.
    """
    seen = _Seen(task)
    found: list[Judged] = []
    harmed: int | None = None
    for number, (step, given) in enumerate(zip(history, judged, strict=True)):
        last = number == len(history) - 1
        made = given if given[0] is not None else seen.judge(step) or given
        if not step.turn.calls:
            made = _spoken(given, correct) if last else _NOT_LAST
        elif harmed is not None and correct is False and made[0] == 1 and not seen.leads:
            told = f"{made[2]}; step {harmed} had brought nothing, and the run ends wrong"
            made = (-1, LabelReason.PROPAGATED, told)
        if made[0] == -1 and harmed is None and step.turn.calls:
            harmed = number
        seen.take(step)
        found.append(made)
    return found


_NOT_LAST: Judged = (None, LabelReason.UNMEASURED, "speaks on the way; nothing says what that was good for")


def _spoken(given: Judged, correct: bool | None) -> Judged:
    """The last message: by its verdict, and by whether what was read states the answer where it would state it."""
    if given[0] is None and correct is True:
        return 1, LabelReason.PROGRESS, "right by its verdict; what was read need not state it word for word"
    return given


class _Seen:
    """What came back so far."""

    def __init__(self, task: Task) -> None:
        names = (task.answer, *task.answer_aliases) if stands_verbatim(task) else ()
        self._answers = [words for name in names if len((words := words_of(name)).strip()) >= _SHORTEST]
        self._missing = set(content_words(task.question))
        self._words: set[str] = set()
        self._calls: dict[str, str] = {}
        self._queries: list[tuple[str, frozenset[str]]] = []
        self.answered = False
        """A result stated the answer."""
        self.leads = False
        """The step that was judged last shows the answer, or words of the question that were missing."""

    def judge(self, step: Step) -> Judged | None:
        """What the results of a step add; None where it has none."""
        self.leads = False
        if not step.turn.calls or not step.results:
            return None
        text = "\n".join(collected(result.content) for result in step.results)
        words = set(content_words(text))
        new = words - self._words
        keys = [_key(call) for call in step.turn.calls]
        before = [self._calls[key] for key in keys if key in self._calls]
        if len(text) < 400 and _MISSED.match(text):
            if before:
                return -1, LabelReason.REPEATED_FAILURE, f"made again, and brings nothing again: {_first(text)}"
            return 0, LabelReason.TOOL_FAILURE, f"brings nothing: {_first(text)}"
        if self._answers and not self.answered and any(name in words_of(text) for name in self._answers):
            self.leads = True
            return 1, LabelReason.PROGRESS, f"a result states {self._answers[0].strip()!r}, which none had"
        if len(before) == len(keys) and len(new) < _LEAST_NEW:
            return -1, LabelReason.REDUNDANT, "the same call as before, and nothing new in its result"
        if len(new) < _LEAST_NEW or len(new) < _LEAST_SHARE * len(words):
            how = "the query of before in other words" if self._reworded(step) else "a result"
            return -1, LabelReason.REDUNDANT, f"{how} with {len(new)} of {len(words)} words that no result had"
        about = sorted(self._missing & new)
        if about:
            self.leads = True
            return 1, LabelReason.PROGRESS, f"a result has {', '.join(about[:5])} of the question, which none had"
        if self._reworded(step):
            return (
                -1,
                LabelReason.REDUNDANT,
                "the query of before in other words; nothing of the question is new",
            )
        return 1, LabelReason.PROGRESS, f"a result has {len(new)} of {len(words)} words that none had"

    def _reworded(self, step: Step) -> bool:
        return any(
            name == call.name and words and len(words & own) >= _REWORDED * len(words | own)
            for call in step.turn.calls
            for own in [_asked(call)]
            for name, words in self._queries
        )

    def take(self, step: Step) -> None:
        """The step is over."""
        for result in step.results:
            text = collected(result.content)
            self._words |= set(content_words(text))
            self.answered = self.answered or any(name in words_of(text) for name in self._answers)
        self._missing -= self._words
        for call in step.turn.calls:
            self._calls[_key(call)] = call.name
            self._queries.append((call.name, _asked(call)))


def _key(call: ToolCall) -> str:
    return f"{call.name} {canonical_json(call.arguments)}"


def _asked(call: ToolCall) -> frozenset[str]:
    """The words of a call's arguments."""
    texts = [value for value in call.arguments.values() if isinstance(value, str)]
    return frozenset(word for text in texts for word in content_words(text))


def _first(text: str) -> str:
    return next((line.strip() for line in text.split("\n") if line.strip()), "")[:120]
