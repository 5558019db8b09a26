"""Checks of a task that need a reader: known without looking, answerable from its evidence, a second answer.

Counts are kept, not impressions: how often it was asked, how often there was a reply, how often it was right by the
rules that judge every answer of the dataset. A sample without a reply is neither right nor wrong, and a check without
any reply abstains. (SSP, arXiv 2510.18821, takes an exception for a pass and the word "incorrect" for "correct".)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from synth.models.asking import Asked, Asks, quoted
from synth.models.bridge import together
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.writing import Claim, ModelCheck
from synth.tasks.contract import Pages
from synth.tasks.writing.asked import ALTERNATIVES, ANSWERABLE, CLOSED_BOOK, Alternatives, schema_of
from synth.tasks.writing.config import CheckKeys

__all__ = ["CHECKS", "Found", "TaskChecker", "excerpts_of"]

CHECKS: Mapping[ModelCheck, tuple[str, Reason]] = {
    "closed_book": (CLOSED_BOOK, Reason.KNOWN_ANSWER),
    "alternatives": (ALTERNATIVES, Reason.NOT_UNIQUE),
    "answerable": (ANSWERABLE, Reason.NOT_ANSWERABLE),
    "needed": (ANSWERABLE, Reason.SHORTCUT),
}
"""Check -> its prompt, and the reason of a task that fails it. In the order in which they are made: the cheapest first.
"""


_QUOTE = 3
"""Words of a quote that can speak for anything: fewer stand in any text."""


@dataclass(frozen=True)
class Found:
    """What one check found; fields as in :class:`synth.schemas.writing.TaskReviewRow`."""

    check: ModelCheck
    outcome: Literal["passed", "failed", "abstained"]
    samples: int
    replies: int
    answered: int
    right: int
    answers: tuple[str, ...]
    claims: tuple[Claim, ...]
    missing: tuple[str, ...]
    documents: tuple[str, ...]
    calls: tuple[str, ...]

    @property
    def reason(self) -> Reason:
        """Why a task that must pass the check is rejected."""
        return Reason.UNCHECKED if self.outcome == "abstained" else CHECKS[self.check][1]

    @property
    def detail(self) -> str:
        """What it saw, in a line."""
        if self.outcome == "abstained":
            return f"no reply in {self.samples} samples: {'; '.join(dict.fromkeys(self.missing))}"[:500]
        if self.check == "alternatives":
            told = [f"{claim.answer} ({claim.verdict})" for claim in self.claims]
            return f"{len(told)} claims in {self.replies} replies" + (f": {', '.join(told)}" if told else "")
        if self.check == "needed":
            return f"{self.right} of {self.replies} replies are right without one of the facts"
        return f"{self.right} of {self.replies} replies are right"


class TaskChecker:
    """
    Args:
        asks: Who is asked, by check.
        keys: How often, and what fails.
        right: Whether an answer is right (None = no rule can tell).
        pages: The documents.
        search: ``search(query, k)`` -> ids of the best documents.
        complete: Whether the graph behind the tasks holds all that is true, so that their ``unique_answer`` is proof.
    """

    def __init__(
        self,
        asks: Mapping[ModelCheck, Asks],
        keys: CheckKeys,
        right: Callable[[Task, str], bool | None],
        pages: Pages,
        search: Callable[[str, int], Sequence[str]],
        *,
        complete: bool,
    ) -> None:
        self._asks = asks
        self._keys = keys
        self._right = right
        self._pages = pages
        self._search = search
        self._complete = complete

    def check(
        self, task: Task, sample: Callable[[str, int], str], generator: Callable[[int], np.random.Generator]
    ) -> tuple[Found, ...]:
        """Every check, up to the first one that is not passed and must be.

        Args:
            sample: Name of sample n of a check.
            generator: Puts the excerpts of sample n in order.
        """
        done: list[Found] = []
        for name in CHECKS:
            count: int = getattr(self._keys, name)
            if not count:
                continue
            found = self._one(name, task, count, sample, generator)
            done.append(found)
            if found.outcome != "passed" and name in self._keys.reject:
                break
        return tuple(done)

    def _one(
        self,
        check: ModelCheck,
        task: Task,
        count: int,
        sample: Callable[[str, int], str],
        generator: Callable[[int], np.random.Generator],
    ) -> Found:
        job, asks = CHECKS[check][0], self._asks[check]
        shown = [] if check == "closed_book" else self._excerpts(task)
        # What is left out of the excerpts: one fact after the other where each has to be needed.
        quotes = [hop.evidence.quote for hop in task.walk.hops] if check == "needed" else [""]

        def once(number: int) -> Asked[Any]:
            values: dict[str, Any] = {"schema": schema_of(job)}
            if check == "closed_book":
                values["question"] = quoted(question=task.question)
            else:
                order = [shown[place] for place in generator(number).permutation(len(shown))]
                gone = quotes[number // count]
                excerpts = [{"title": title, "text": _without(text, gone)} for _, title, text in order]
                told = {"answer": task.answer} if check == "alternatives" else {}
                values["material"] = quoted(question=task.question, **told, excerpts=excerpts)
            return asks.ask(sample(check, number), **values)

        samples = count * len(quotes)
        asked = together([lambda number=number: once(number) for number in range(samples)])  # type: ignore[misc]
        replies = [one.answer for one in asked if one.answer is not None]
        claims: tuple[Claim, ...] = ()
        if check == "alternatives":
            claims, said, right = self._claims(task, replies, [text for _, _, text in shown]), [], 0
            answered = sum(bool(reply.alternatives) for reply in replies)
            failed = any(claim.verdict == "open" for claim in claims)
        else:
            said = [str(reply.answer) for reply in replies if reply.answer is not None]
            right, answered = sum(self._right(task, answer) is True for answer in said), len(said)
            if check == "closed_book":
                failed = right >= self._keys.known_at
            elif check == "answerable":
                failed = right < self._keys.answerable_share * len(replies)
            else:
                failed = any(self._needless(task, asked[at : at + count]) for at in range(0, samples, count))
        return Found(
            check=check,
            outcome="abstained" if not replies else "failed" if failed else "passed",
            samples=samples,
            replies=len(replies),
            answered=answered,
            right=right,
            answers=tuple(answer[:500] for answer in said),
            claims=claims,
            missing=tuple(
                f"{one.reason.value if one.reason else 'no answer'}: {one.detail}"[:300]
                for one in asked
                if one.answer is None
            ),
            documents=tuple(dict.fromkeys(name for name, _, _ in shown)),
            calls=tuple(call for one in asked for call in one.calls),
        )

    def _needless(self, task: Task, asked: Sequence[Asked[Any]]) -> bool:
        """Whether the replies without a fact come to the answer all the same; without a reply, nothing shows that they
        do not."""
        answers = [one.answer.answer for one in asked if one.answer is not None]
        right = sum(self._right(task, str(answer)) is True for answer in answers if answer is not None)
        return not answers or right >= self._keys.answerable_share * len(answers)

    def _claims(self, task: Task, replies: Sequence[Alternatives], texts: Sequence[str]) -> tuple[Claim, ...]:
        found: dict[str, Claim] = {}
        for reply in replies:
            for one in reply.alternatives:
                verdict: Literal["same", "refuted", "unsupported", "open"] = "open"
                if self._right(task, one.answer) is True:
                    verdict = "same"
                elif self._complete:
                    # The task passed ``unique_answer``: the exhaustive query of this very graph has one result.
                    verdict = "refuted"
                elif len(one.quote.split()) < _QUOTE or not any(one.quote in text for text in texts):
                    verdict = "unsupported"
                claim = Claim(answer=one.answer[:500], why=one.why[:1000], quote=one.quote[:1000], verdict=verdict)
                found.setdefault(one.answer.casefold(), claim)
        return tuple(found.values())

    def _excerpts(self, task: Task) -> list[tuple[str, str, str]]:
        """(document id, title, text): of the evidence, then of pages that the question finds."""
        shown = excerpts_of(task, self._pages, self._keys.excerpt)
        gold = set(task.gold_documents)
        others = [name for name in self._search(task.question, self._keys.noise + len(gold)) if name not in gold]
        for name in others[: self._keys.noise]:
            page = self._pages.document(name)
            if page is not None:
                shown.append((name, page.title, page.text[: self._keys.excerpt]))
        return shown


def _without(text: str, quote: str) -> str:
    return text.replace(quote, "[...]") if quote else text


def excerpts_of(task: Task, pages: Pages, size: int) -> list[tuple[str, str, str]]:
    """(document id, title, text) of ``size`` code points or what one quote needs, that together hold all evidence of
    the walk: from the beginning of a page as long as that is enough."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for hop in task.walk.hops:
        spans.setdefault(hop.evidence.document_id, []).append((hop.evidence.start, hop.evidence.end))
    found: list[tuple[str, str, str]] = []
    for name, places in spans.items():
        page = pages.document(name)
        if page is None:
            continue
        windows: list[tuple[int, int]] = []
        begin, stop, used = 0, size, False
        for start, end in sorted(set(places)):
            if end > stop:
                if used:
                    windows.append((begin, stop))
                begin = max(0, start - size // 4)
                stop = max(begin + size, end)
            used = True
        windows.append((begin, stop))
        found += [(name, page.title, page.text[begin:stop]) for begin, stop in windows]
    return found
