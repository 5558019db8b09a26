"""Phrases that tell the class of a row: wording that occurs in one class far more often than in another.

Who trains on such rows learns the phrase and not the reason. Runs count, not occurrences; names, numbers and quotations
are masked, and what is the evidence of an outcome (giving up, a guess) may tell of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from synth.agents.scripted.phrases import PHRASES
from synth.dataset.reader import Dataset
from synth.schemas.plans import Planned
from synth.schemas.row import Row
from synth.text.words import fold

__all__ = ["Said", "TellingPhrase", "phrases_of", "telling", "telling_phrases"]

_LONGEST = 6
"""Words of a phrase."""
_RATIO = 5.0
"""Likelihood ratio above which a phrase is named."""
_CERTAIN = 4.5
"""Standard errors (signed root of the likelihood-ratio statistic): thousands of phrases are looked at."""
_EVIDENCE = (
    *("find_word", "found_page", "leaf", "next_page", "outline"),
    *("answer_early", "answer_guess", "dead_end", "failed", "fits_none", "g_dead_end", "g_none", "give_up"),
    *("no_result", "postpone", "untold", "p_around", "p_bend", "p_insist", "p_twice", "p_wrong"),
)
"""What an agent says where it leafs through a long document in vain, has failed, is about to, or errs for all to see:
the outcome, and no accident of wording."""
_MASKED = re.compile(r"\"[^\"]*\"|“[^”]*”|\d[\d.,:/-]*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?|[.!?:…]")


class TellingPhrase(Row):
    """A phrase that tells two classes apart."""

    phrase: str
    classes: str
    """``policy: success against failure`` and the like: the class that has it, against the other."""
    runs: int
    """Runs of the first class that hold it."""
    of: int
    """Runs of the first class."""
    others: int
    """Runs of the other class that hold it."""
    of_others: int
    ratio: float
    """Share of the first over share of the other, half a run added to each."""


@dataclass
class Said:
    """What the runs of a class say: how many hold each phrase."""

    runs: int = 0
    holding: Counter[str] = field(default_factory=Counter)

    def add(self, phrases: Iterable[str]) -> None:
        self.runs += 1
        self.holding.update(phrases)


def telling_phrases(dataset: Dataset) -> tuple[TellingPhrase, ...]:
    """The worst first, over the thoughts of scripted players (of each role, those that succeeded against those that
    failed; of those that succeeded, one role against the other) and over requests (refused ones against the others). A
    model's phrases are its own, and are not looked at."""
    runs: dict[tuple[str, str], Said] = {}
    for row in dataset.rows("trajectories"):
        if row.model is None and row.verdict.correct is not None:
            texts = [getattr(item, "reasoning_content", None) for item in row.content]
            own = runs.setdefault((row.role, "success" if row.success else "failure"), Said())
            own.add(phrases_of(text for text in texts if text))
    asked: dict[str, Said] = {}
    for task in dataset.rows("tasks"):
        if Planned.stand_in(task.details):
            outcome = Planned.of(task.details).plan.outcome
            asked.setdefault("refused" if outcome == "refused" else "done", Said()).add(phrases_of((task.question,)))
    pairs = [(runs.get((role, "success")), runs.get((role, "failure")), role) for role in ("teacher", "policy")]
    pairs.append((runs.get(("teacher", "success")), runs.get(("policy", "success")), "success, teacher or policy"))
    pairs.append((asked.get("refused"), asked.get("done"), "requests"))
    names = {"teacher": ("success", "failure"), "policy": ("success", "failure"), "requests": ("refused", "done")}
    found: list[TellingPhrase] = []
    for one, other, what in pairs:
        if one is not None and other is not None:
            first, second = names.get(what, ("teacher", "policy"))
            found += telling(one, other, f"{what}: {first} against {second}")
            found += telling(other, one, f"{what}: {second} against {first}")
    return tuple(sorted(found, key=lambda one: (-one.ratio, one.phrase)))


def phrases_of(texts: Iterable[str]) -> frozenset[str]:
    """All 1- to 6-grams of words, within a sentence and outside names, numbers and quotations."""
    return frozenset(phrase for text in texts for phrase in _grams(text))


def _grams(text: str) -> Iterator[str]:
    run: list[str] = []
    start = True
    for match in (*_WORD.finditer(_MASKED.sub(" … ", text)), None):
        word = "…" if match is None else match.group()
        named = word[:1].isupper() and not start and word != "I"
        if named or not word[:1].isalpha():
            yield from (
                " ".join(run[a:b]) for a in range(len(run)) for b in range(a + 1, min(len(run), a + _LONGEST) + 1)
            )
            run = []
        else:
            run.append(word.casefold())
        start = word in ".!?:…"


def telling(one: Said, other: Said, classes: str) -> Iterator[TellingPhrase]:
    """Phrases of ``one`` that are rare in ``other``; of nested ones with the same counts the longest."""
    named: list[TellingPhrase] = []
    for phrase, runs in one.holding.items():
        others = other.holding[phrase]
        ratio = (runs + 0.5) / (one.runs + 1) / ((others + 0.5) / (other.runs + 1))
        if ratio > _RATIO and _surprise(runs, one.runs, others, other.runs) > _CERTAIN and not _is_evidence(phrase):
            named.append(
                TellingPhrase(
                    phrase=phrase,
                    classes=classes,
                    runs=runs,
                    of=one.runs,
                    others=others,
                    of_others=other.runs,
                    ratio=round(ratio, 1),
                )
            )
    yield from _longest(named)


def _longest(named: Sequence[TellingPhrase]) -> Iterator[TellingPhrase]:
    kept: list[TellingPhrase] = []
    for one in sorted(named, key=lambda one: (-len(one.phrase), one.phrase)):
        if not any(f" {one.phrase} " in f" {other.phrase} " and other.runs >= 0.8 * one.runs for other in kept):
            kept.append(one)
            yield one


def _surprise(runs: int, of: int, others: int, of_others: int) -> float:
    """Signed root of the likelihood-ratio statistic: about standard normal where both classes say it equally often."""
    share = (runs + others) / (of + of_others)
    cells = [(runs, of * share), (of - runs, of * (1 - share))]
    cells += [(others, of_others * share), (of_others - others, of_others * (1 - share))]
    return math.sqrt(max(0.0, 2 * sum(seen * math.log(seen / wanted) for seen, wanted in cells if seen)))


@cache
def _evidence() -> tuple[str, ...]:
    texts = (phrase for intent in _EVIDENCE for phrase in PHRASES.get(intent, ()))
    return tuple(f" {fold(re.sub(r'{.*?}', ' ', text))} " for text in texts)


def _is_evidence(phrase: str) -> bool:
    return any(f" {fold(phrase)} " in text for text in _evidence())
