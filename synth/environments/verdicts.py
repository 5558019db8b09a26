"""Is an answer the gold answer? Rules only: each verdict names the rule that decided and what it compared.

An answer is right where it is the gold answer written otherwise, by a row of :data:`synth.text.equivalence.TABLE`, or
where a plain sentence says it of nothing else. No rule looks for a part of an answer: a substring match passes "not
Paris" and "Paris or London", and a judge that looks for the word "correct" accepts "incorrect" (both are defects of
published verifiers). An answer is wrong where it names another thing. Where words are shared and no rule can decide,
the verdict abstains (``correct`` None).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from synth.environments.values import date_verdict, number_verdict, value_verdict, written_otherwise
from synth.environments.wording import (
    DENIED,
    LONGEST_SAYING,
    OPEN,
    content_of,
    describes,
    figures_of,
    is_long,
    related,
    tells,
)
from synth.schemas.documents import ValueKind
from synth.schemas.trajectories import Verdict
from synth.text.equivalence import TITLES, spelled
from synth.text.forms import normalize
from synth.text.sameness import maybe_same_person, same_by
from synth.text.words import FUNCTION_WORDS

__all__ = ["answer_core", "judge"]

_QUOTES = "\"'“”‘’`*_«» \t\r\n"
_LEAD_IN = re.compile(
    r"^(?:(?:so|thus|therefore|hence),?\s+)?"
    r"(?:(?:i|we)\s+(?:think|believe|conclude|found)\s+(?:that\s+)?)?"
    r"(?:(?:(?:the|my)\s+)?(?:(?:final|correct|right)\s+)?"
    r"answers?\s*(?:is|are|:|=|would be|should be)\s*:?\s*"
    r"|(?:it|they|there|these)\s+(?:is|was|are|were)\s+|it['’]s\s+"
    r"|(?<=think )|(?<=believe )|(?<=conclude )|(?<=found )|(?<=that ))",
    re.IGNORECASE,
)
_REFUTED = re.compile(r"(?:or\b|(?:is|was|are|were|did|does|has|had|can|could|would) ?(?:not|n t|never)\b)")
_SAYS = re.compile(
    r"\b(?:is|was|are|were|be|named|called|became|equals|totals|means|in|on|by|at|has|had|:"
    r"|(?:is|was|are|were)\b.* of"
    r"|(?:is|was|are|were) \w+(?:ed|en|wn))$",
    re.IGNORECASE,
)
_SAID = re.compile(r"^(?:is|was|are|were|became|has|had)\b", re.IGNORECASE)
_TRUE, _FALSE = frozenset(("yes", "true", "correct", "yeah", "yep")), frozenset(("no", "false", "incorrect", "nope"))
_TRUTH = re.compile(r"^(\w+)(?=$|\s*[,.;:!—–-])")
_MEASURES = re.compile(r"\b(?:half|quarters?|thirds?|dozens?|couple|pair|several|score|double|twice)\b", re.IGNORECASE)
_ANOTHER = re.compile(r"\s*(?:;|\n|,?\s+(?:and|as well as)\s)\s*")
"""What parts two answers. A comma does not: "Paris, France" is one."""
_NEAR = 5
"""Words before a name in which a denial is one of it."""
_FREE = 6
"""Content words from which a gold answer is a description, which can be said in many ways."""
_SAME_STEM = 6
"""Letters that forms of one word share: "Zoroastrian" and "Zoroastrianism"."""
_DESCRIPTION = 3
"""The same where none of its words is a name."""


def judge(
    answer: str | None,
    *,
    gold: str,
    aliases: Sequence[str] = (),
    kind: ValueKind = "text",
    whole: bool = True,
) -> Verdict:
    """Compare ``answer`` with a single gold answer; :func:`synth.environments.answers.check_task` takes a task of any
    shape.

    Args:
        whole: The answer is all that was said. An item of a list is neither a list nor a sentence.
    """
    if answer is None or not normalize(answer):
        return Verdict(correct=False, rule="no_answer", evidence="There is no answer.")
    given = answer_core(answer)
    if normalize(given) == normalize(gold) or normalize(answer) == normalize(gold):
        return Verdict(correct=True, rule="exact", evidence=f"{answer!r} is {gold!r} after normalization.")
    for alias in aliases:
        if normalize(alias) in (normalize(given), normalize(answer)):
            return Verdict(correct=True, rule="alias", evidence=f"{answer!r} is the alias {alias!r} of {gold!r}.")
    golds = (gold, *aliases)
    if normalize(gold) in _TRUE | _FALSE:
        return _truth(given, gold)
    if kind in ("date", "year"):
        return _best([date_verdict(given, one) for one in golds])
    if kind in ("number", "quantity"):
        return number_verdict(given, golds)
    if (same := written_otherwise(given, golds, whole=whole)) is not None:
        return same
    values = {one: value for one in golds if (value := value_verdict(given, one)) is not None}
    others = [one for one in golds if one not in values]
    return _best([*values.values(), *([_named(given, others, whole=whole, free=kind == "text")] if others else [])])


def _best(verdicts: Sequence[Verdict]) -> Verdict:
    """Of those by each gold answer: one that is right, else one that abstains, else the first."""
    return min(verdicts, key=lambda one: (True, None, False).index(one.correct))


def answer_core(answer: str) -> str:
    """The answer without what leads to it, and without marks around it."""
    plain = answer.strip().strip(_QUOTES)
    return _LEAD_IN.sub("", plain, count=1).strip(_QUOTES) or answer


def _truth(given: str, gold: str) -> Verdict:
    """Yes or no, which an explanation may follow."""
    said = _TRUTH.match(normalize(given))
    word = said.group(1) if said else ""
    if word not in _TRUE | _FALSE:
        return Verdict(correct=None, rule="abstained", evidence=f"{given!r} does not begin with yes or no.")
    right = (word in _TRUE) is (normalize(gold) in _TRUE)
    return Verdict(correct=right, rule="truth", evidence=f"{given!r} says {word!r}; {gold!r} is wanted.")


def _by_one_name(given: str, gold: str) -> bool:
    """Whether a sentence holds the first or the last word of a name, and no other name beside it: "the author is Mr.
    Hammett" for Dashiell Hammett, not "Lillian Hammett" or "the Hammett Museum"."""
    parts = gold.split()
    if len(parts) < 2 or not all(part[0].isupper() for part in parts):
        return False
    words = [word for word in re.findall(r"[\w'’-]+", given) if word.casefold() not in TITLES]
    names = [word[0].isupper() and word.casefold() not in FUNCTION_WORDS for word in words]
    return any(
        word in (parts[0], parts[-1]) and not any(names[max(0, at - 1) : at] + names[at + 1 : at + 2])
        for at, word in enumerate(words)
    )


def _named(given: str, golds: Sequence[str], *, whole: bool, free: bool) -> Verdict:
    """The verdict on words that are not a spelling of the gold answer: a sentence that says it, another thing, or words
    in which no rule finds out.

    Args:
        free: The gold answer may be no name, but words that people say in others.
    """
    items = [item.strip() for item in _ANOTHER.split(given) if item.strip()] if whole else []
    hits = [any(same_by(item, gold) is not None for gold in golds) for item in items]
    tells_it = whole and tells(given)
    if any(hits) and not tells_it and any(not hit and item[0].isupper() for item, hit in zip(items, hits, strict=True)):
        return Verdict(correct=False, rule="mismatch", evidence=f"{given!r} names other things beside {golds[0]!r}.")
    text = f" {spelled(given)} "
    words = content_of(given)
    unsure = False
    for gold in golds:
        theirs = figures_of(content_of(gold))
        if theirs and (ours := figures_of(words)) and not theirs <= ours and not tells_it:
            continue
        if bool(theirs) is not bool(figures_of(words)) and _MEASURES.search(f"{given} {gold}"):
            unsure = True  # "half a day" and "12 hours"
        plain = spelled(gold)
        if not plain:
            continue
        before, held, after = text.partition(f" {plain} ")
        own = content_of(gold)
        if held:
            lead = " ".join(before.split()[-_NEAR:])
            if (DENIED.search(lead) or _REFUTED.match(after.strip()) or lead.endswith(" or")) and not tells_it:
                return Verdict(
                    correct=False, rule="mismatch", evidence=f"{given!r} denies {gold!r}, or leaves open which it is."
                )
            says = (_SAYS.search(before.strip()) and not after.strip()) or (_SAID.match(after) and not before.strip())
            if (
                whole
                and says
                and not OPEN.search(given)
                and not DENIED.search(given)
                and len(text.split()) <= LONGEST_SAYING
            ):
                return Verdict(correct=True, rule="sentence", evidence=f"{given!r} says {gold!r}, and nothing else.")
            unsure = True
        elif (
            (own and (own <= words or words <= own))
            or (len(own) >= _FREE and own & words)
            or (free and describes(gold) and (len(own) >= _DESCRIPTION or related(words, own)))
            or (free and related(words - own, own - words, _SAME_STEM))
            or (tells_it and (related(words, own) or (theirs and figures_of(words))))
            or _alike(words, own)
            or (whole and maybe_same_person(given, gold))
            or _by_one_name(given, gold)
        ):
            unsure = True
    if unsure or (tells_it and is_long(given)):
        said = f"{given!r} shares words with {golds[0]!r}, and no rule tells whether it is the same."
        return Verdict(correct=None, rule="abstained", evidence=said)
    return Verdict(correct=False, rule="mismatch", evidence=f"{given!r} is neither {golds[0]!r} nor an alias of it.")


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether they differ in one long word alone, and in that by one letter."""
    left, right = one - other, other - one
    if len(left) != 1 or len(right) != 1:
        return False
    (a,), (b,) = left, right
    if min(len(a), len(b)) < 7 or abs(len(a) - len(b)) > 1 or not (a + b).isalpha():
        return False
    start = next((at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return a[start + 1 :] == b[start + 1 :] or a[start:] == b[start + 1 :] or a[start + 1 :] == b[start:]
