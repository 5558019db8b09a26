"""Answers that say the question again: "Dinosaur came out first." to "Which came out first, Dinosaur or McFarland?".

Where :mod:`synth.environments.verdicts` abstains, the question tells which words of an answer are only an echo. An
answer is right where its first sentence holds the gold answer and else nothing that the question does not say; and,
to a question for yes or no, where the sentence says all that was asked, or denies just that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.environments.verdicts import answer_core
from synth.environments.wording import denies, leaves_open
from synth.schemas.trajectories import Verdict
from synth.text.equivalence import spelled, unabbreviated
from synth.text.forms import normalize
from synth.text.sentences import sentences
from synth.text.words import FUNCTION_WORDS

__all__ = ["is_choice", "restated"]

_POLAR = re.compile(r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.IGNORECASE)
_COPULA = re.compile(r"\b(?:is|are|was|were|be|became|has|had)\b")
_JOINED = re.compile(r"^(?:and|or|nor|as well)\b")
_TAKES_BACK = re.compile(
    r"\b(?:however|but|although|though|unless|maybe|perhaps|possibly|might|unclear|unsure)\b", re.I
)
_NOT = re.compile(r"\b(?:not|n t)\b|n['’]t\b", re.IGNORECASE)
_DATED = re.compile(r"\d{1,4}|(?:jan|febr|septem|octo|novem|decem)\w+|march|april|may|june|july|august|born|died")
_ASIDE = re.compile(r"\s*\([^()]*\)")
_RANKS = (frozenset("earlier earliest before older oldest elder".split()), frozenset(("later", "last", "after")))
"""What one question and its answer may say in different words."""
_LONGEST = 40
"""Words of a first sentence that may be an answer."""
_SAME_QUESTION = 0.6
"""Share of the question's words that a sentence without a verb of ours repeats, where it says the question again."""


def restated(question: str, answer: str, golds: Sequence[str]) -> Verdict | None:
    """The verdict on an answer that says ``question`` again; None where it does not, or is not sure."""
    first, *rest = [text.strip() for text in sentences(unabbreviated(answer_core(answer)))] or [""]
    asked = _stems(question)
    if not first or len(first.split()) > _LONGEST or _TAKES_BACK.search(" ".join(rest)):
        return None
    if normalize(golds[0]) in ("yes", "no"):
        return _polar(question, first, rest, golds[0], asked)
    told = _plain(_ASIDE.sub("", first))
    choice = is_choice(question)
    if denies(re.sub(r"\bthan\b", "", first) if choice else first) or (leaves_open(first) and not choice):
        return None
    allowed = asked.union(*(ranks for ranks in _RANKS if ranks & asked))
    for gold in golds:
        plain = _plain(gold)
        before, _, after = (part.strip() for part in f" {told} ".partition(f" {plain} ")) if plain else ("",) * 3
        among = f" {plain} " in f" {_plain(question)} "
        if not plain or f" {plain} " not in f" {told} " or _JOINED.match(after) or (among and (before or not choice)):
            continue
        extra = _stems(f"{before} {after}") - allowed - _stems(gold)
        if among:
            extra = frozenset(word for word in extra if not _DATED.fullmatch(word))
        told_again = len(before.split()) < 2 or _COPULA.search(before)
        if not extra and (told_again or len(_stems(told) & asked) >= _SAME_QUESTION * len(asked)):
            said = f"{first!r} says {gold!r}, and else only what was asked."
            return Verdict(correct=True, rule="restated", evidence=said)
    return None


def is_choice(question: str) -> bool:
    """Whether the question names what to choose from: then a sentence about the right one may say that it is not it."""
    return " or " in f" {normalize(question)} "


def _polar(question: str, first: str, rest: Sequence[str], gold: str, asked: frozenset[str]) -> Verdict | None:
    said = _stems(first)
    denials = len(_NOT.findall(first))
    if not _POLAR.match(question.strip()) or not asked or not asked <= said or denials > 1 or leaves_open(first):
        return None
    if said - asked - {"not", "both", "same"} or (denials == 0 and (denies(first) or denies(" ".join(rest)))):
        return None
    right = (denials == 0) is (normalize(gold) == "yes")
    told = "denies" if denials else "affirms"
    return Verdict(correct=right, rule="restated", evidence=f"{first!r} {told} what was asked; {gold!r} is wanted.")


def _plain(text: str) -> str:
    """As spelled; "first" stays a rank, and becomes no number."""
    return spelled(re.sub(r"\bfirst\b", "earliest", text, flags=re.IGNORECASE))


def _stems(text: str) -> frozenset[str]:
    words = (word for word in _plain(text).split() if word not in FUNCTION_WORDS or word in ("before", "after"))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
