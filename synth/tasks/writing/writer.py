"""Questions worded by a model, around what the grammar made: same conditions, other words.

The model sees the question and its parts: never the answer, the walk or a page. What it writes is accepted when

1. it is of the form, with words for every part;
2. the exact rules find nothing wrong (``synth.tasks.writing.words``);
3. the checks of tasks that depend on words pass again (answer not in the question, nothing found at once);
4. a second reader, who compares both questions part by part, finds each the same and nothing added.

Whatever is not shown is refused (an abstention of the second reader too) and the task keeps the grammar's words: so the
number of tasks does not depend on how well a model writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from synth.identity import digest
from synth.models.asking import Asked, Asks, quoted
from synth.schemas.rejections import Reason
from synth.tasks.draft import Draft
from synth.tasks.writing.asked import CONFIRM, WRITE, Compared, NewWording, schema_of
from synth.tasks.writing.parts import Part, parts_of, reworded
from synth.tasks.writing.words import problem_with

__all__ = ["QUESTIONS", "Attempt", "Confirmed", "QuestionWriter", "Rules", "differences"]

Recheck = Callable[[Draft], tuple[Reason, str] | None]
"""What the exact checks of tasks say against a draft; None when they pass."""
Confirmed = Literal["same", "different", "abstained"] | None
"""What the second reader found; None where no one was asked."""


@dataclass(frozen=True)
class Attempt:
    """One wording that a model proposed."""

    number: int
    question: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    """New words of each old cue."""
    reason: Reason | None = None
    """None = accepted."""
    detail: str = ""
    confirmed: Confirmed = None
    calls: tuple[str, ...] = ()
    thought: str | None = None


@dataclass(frozen=True)
class Rules:
    """How one kind of text is worded anew: what its parts are, and what speaks against new words for them."""

    parts: Callable[[Draft], Sequence[Part]]
    """None of them: the text is not to be reworded."""
    problem: Callable[[str, str, Sequence[Part], Mapping[str, str]], str | None]
    """``problem(before, after, parts, new words by cue)``: what is wrong, in a line."""
    reworded: Callable[[Draft, str, Mapping[str, str]], Draft]
    """The draft in the new words."""


QUESTIONS = Rules(parts_of, problem_with, reworded)
"""Of questions whose walk says what each part of them states."""


class QuestionWriter:
    """
    Args:
        writer: Who writes (``tasks/write``, or ``tasks/write_request``).
        reader: Who compares (``tasks/confirm``, or ``tasks/confirm_request``); None = no one.
        attempts: Wordings that are asked for until one is accepted.
    """

    def __init__(self, writer: Asks, reader: Asks | None, *, attempts: int = 1) -> None:
        self._writer = writer
        self._reader = reader
        self._attempts = attempts

    def write(
        self, draft: Draft, recheck: Recheck, sample: Callable[[int], str], rules: Rules = QUESTIONS
    ) -> tuple[Draft | None, tuple[Attempt, ...]]:
        """The draft in new words (None: it keeps its own), and every attempt at it.

        Args:
            sample: Name of the sample of attempt n.
        """
        parts = rules.parts(draft)
        attempts: list[Attempt] = []
        for number in range(self._attempts if parts else 0):
            made, attempt = self._attempt(draft, parts, recheck, number, sample(number), rules)
            attempts.append(attempt)
            if made is not None:
                return made, tuple(attempts)
        return None, tuple(attempts)

    def _attempt(
        self, draft: Draft, parts: Sequence[Part], recheck: Recheck, number: int, sample: str, rules: Rules
    ) -> tuple[Draft | None, Attempt]:
        numbered = [{"number": at, "words": part.cue} for at, part in enumerate(parts, 1)]
        asked: Asked[NewWording] = self._writer.ask(
            sample, schema=schema_of(WRITE), question=quoted(question=draft.question, parts=numbered)
        )
        if asked.answer is None:
            return None, Attempt(number, reason=asked.reason, detail=asked.detail[:1000], calls=asked.calls)
        question = asked.answer.question
        words: dict[str, str] = {}
        if question is None:
            return None, Attempt(number, reason=Reason.UNNATURAL, detail="left as it is", calls=asked.calls)
        for said in asked.answer.parts:
            if 1 <= said.number <= len(parts):
                words.setdefault(parts[said.number - 1].cue, said.words)

        def refused(
            reason: Reason, detail: str, calls: tuple[str, ...] = asked.calls, confirmed: Confirmed = None
        ) -> tuple[None, Attempt]:
            return None, Attempt(
                number,
                question,
                words,
                reason,
                detail[:1000],
                confirmed,
                calls,
                asked.thought,
            )

        if " ".join(question.casefold().split()) == draft.question.casefold():
            return refused(Reason.UNNATURAL, "the words are those of the question")
        problem = rules.problem(draft.question, question, parts, words)
        if problem is not None:
            return refused(Reason.MEANING_CHANGED, problem)
        made = rules.reworded(draft, question, words)
        against = recheck(made)
        if against is not None:
            return refused(*against)
        if self._reader is None:
            return made, Attempt(number, question, words, calls=asked.calls, thought=asked.thought)
        compared: Asked[Compared] = self._reader.ask(
            digest("compare", sample)[:32],
            schema=schema_of(CONFIRM),
            questions=quoted(old=draft.question, parts=numbered, new=question),
        )
        calls = (*asked.calls, *compared.calls)
        if compared.answer is None:
            what = f"{compared.reason.value if compared.reason else 'no answer'}: {compared.detail}"
            return refused(Reason.NOT_CONFIRMED, what, calls, "abstained")
        against_it = differences(compared.answer, question, parts)
        if against_it is not None:
            return refused(Reason.NOT_CONFIRMED, against_it[1], calls, against_it[0])
        return made, Attempt(number, question, words, confirmed="same", calls=calls, thought=asked.thought)


def differences(
    compared: Compared, question: str, parts: Sequence[Part]
) -> tuple[Literal["different", "abstained"], str] | None:
    """What the second reader has against ``question``, which is to say what ``parts`` do. Who points at words that are
    not there has not read."""
    told = {part.number: part for part in compared.parts}
    if len(told) < len(compared.parts):
        return "abstained", "a part was judged twice"
    for number, part in enumerate(parts, 1):
        said = told.get(number)
        if said is None or said.verdict == "unsure":
            return "abstained", f"unsure about {part.cue!r}"
        if said.verdict != "same":
            return "different", f"{said.verdict}: {part.cue!r} became {said.words!r}"
        if not said.words.strip() or said.words not in question:
            return "abstained", f"for {part.cue!r} it cites words that are not there: {said.words!r}"
    if compared.added:
        return "different", f"added: {'; '.join(compared.added)}"
    return None
