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

from synth.schemas.documents import ValueKind
from synth.schemas.trajectories import Verdict
from synth.text.dates import DATE, YEAR, parse_date
from synth.text.equivalence import TITLES, maybe_same_person, same_by, spelled
from synth.text.forms import normalize
from synth.text.numbers import NUMBER, UNITS, Quantity, parse_quantity
from synth.text.words import FUNCTION_WORDS

__all__ = ["answer_core", "denies", "judge", "leaves_open"]

CONVERSION_TOLERANCE = 0.005
"""Relative; only where the answer is in another unit than the gold answer, so that a rounded conversion passes."""

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
_DENIED = re.compile(
    r"\b(?:not|no|never|neither|nor|none|unlike|instead|rather|than|except|without|false|wrong|incorrect|fails?|lacks?)\b"
    r"|n(?:['’]| )t\b",
    re.IGNORECASE,
)
_REFUTED = re.compile(r"(?:or\b|(?:is|was|are|were|did|does|has|had|can|could|would) ?(?:not|n t|never)\b)")
_OPEN = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|might|may|could|unclear|unknown|unsure|but|however|although|though|if)\b|\?",
    re.IGNORECASE,
)
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
_LONGEST_SAYING = 40
"""Words of a sentence that may say an answer."""
_FREE = 6
"""Content words from which a gold answer is a description, which can be said in many ways."""


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
        return _date(given, gold)
    if kind in ("number", "quantity"):
        return _number(given, golds)
    if (same := _written_otherwise(given, golds, whole=whole)) is not None:
        return same
    if (value := _value(given, gold)) is not None:
        return value
    return _named(given, golds, whole=whole)


def denies(text: str) -> bool:
    """Whether a word of ``text`` denies something."""
    return _DENIED.search(text) is not None


def leaves_open(text: str) -> bool:
    """Whether ``text`` names several things, has reservations, or asks."""
    return _OPEN.search(text) is not None


def answer_core(answer: str) -> str:
    """The answer without what leads to it, and without marks around it."""
    plain = answer.strip().strip(_QUOTES)
    return _LEAD_IN.sub("", plain, count=1).strip(_QUOTES) or answer


def _written_otherwise(given: str, golds: Sequence[str], *, whole: bool = True) -> Verdict | None:
    for one in golds:
        if (row := same_by(given, one, lists=whole)) is not None:
            return Verdict(correct=True, rule="equivalent", evidence=f"{given!r} is {one!r} written otherwise ({row}).")
    return None


def _truth(given: str, gold: str) -> Verdict:
    """Yes or no, which an explanation may follow."""
    said = _TRUTH.match(normalize(given))
    word = said.group(1) if said else ""
    if word not in _TRUE | _FALSE:
        return Verdict(correct=None, rule="abstained", evidence=f"{given!r} does not begin with yes or no.")
    right = (word in _TRUE) is (normalize(gold) in _TRUE)
    return Verdict(correct=right, rule="truth", evidence=f"{given!r} says {word!r}; {gold!r} is wanted.")


_WEEKDAY = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?:the )?")
_BEFORE_DATE = re.compile(r"^(?:(?:in|on|from|since|during|by) )?(?:the year )?(?:of )?")
_ERA = re.compile(r"^(?:(?:ad|a\.d\.) )?(.*?)(?: (?:ad|ce|a\.d|c\.e))?$")
_IN_FIGURES = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})|(\d{4})([/.])(\d{1,2})\6(\d{1,2})")


def _day(text: str) -> tuple[int, int | None, int | None] | None:
    folded = _BEFORE_DATE.sub("", normalize(text))
    folded = _WEEKDAY.sub("", folded)
    match = _ERA.match(folded)
    return parse_date(match.group(1) if match else folded)


def _date(given: str, gold: str) -> Verdict:
    wanted, got = _day(gold), _day(given)
    if wanted is None:
        return _unread(given, (gold,), "date")
    if got is None:
        if (figures := _IN_FIGURES.fullmatch(normalize(given))) is not None:
            return _in_figures(given, figures, gold, wanted)
        found = [match.group() for match in DATE.finditer(given)] or [match.group() for match in YEAR.finditer(given)]
        dates = {day for one in found if (day := _day(one)) is not None}
        return _one_of(given, gold, any(_within(day, wanted) for day in dates), len(found), rule="date")
    if _within(got, wanted):
        return Verdict(correct=True, rule="date", evidence=f"{given!r} and {gold!r} are the same date.")
    return Verdict(correct=False, rule="date", evidence=f"{given!r} is not the date {gold!r}.")


def _unread(given: str, golds: Sequence[str], what: str) -> Verdict:
    """The verdict where the gold answer is not a date or number that the rules read, as a range is none."""
    if (same := _written_otherwise(given, golds)) is not None:
        return same
    ours, theirs = _figures(_content(given)), _figures(_content(golds[0]))
    written = re.search(r"\d", golds[0]) is not None  # "the third year of her reign" may be a date in figures
    if written and ours and not theirs <= ours:
        return Verdict(correct=False, rule=what, evidence=f"{given!r} holds other numbers than {golds[0]!r}.")
    said = f"The gold answer {golds[0]!r} is no {what} that the rules read."
    return Verdict(correct=None, rule="abstained", evidence=said)


def _within(got: tuple[int, int | None, int | None], wanted: tuple[int, int | None, int | None]) -> bool:
    """Whether a date is the wanted one, as exact as that at least."""
    return all(want in (None, have) for have, want in zip(got, wanted, strict=True))


def _in_figures(given: str, figures: re.Match[str], gold: str, wanted: tuple[int, int | None, int | None]) -> Verdict:
    """A date as 14/03/1871: which is the month is known where one number is too high for it, or both are equal."""
    if figures.group(4):
        one, other, year = int(figures.group(1)), int(figures.group(3)), int(figures.group(4))
        orders = ((one, other), (other, one))
        read = {(year, month, day) for month, day in orders if 1 <= month <= 12 and 1 <= day <= 31}
    else:
        read = {(int(figures.group(5)), int(figures.group(7)), int(figures.group(8)))}
    fitting = {day for day in read if _within(day, wanted)}
    if fitting and fitting != read:
        return Verdict(correct=None, rule="abstained", evidence=f"{given!r} may be {gold!r}, or another day.")
    what = "is" if fitting else "is not"
    return Verdict(correct=bool(fitting), rule="date", evidence=f"{given!r} {what} the date {gold!r}.")


def _one_of(given: str, gold: str, named: bool, others: int, *, rule: str) -> Verdict:
    """The verdict on a sentence that names ``others`` values, the wanted one among them or not."""
    if not named:
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} does not name {gold!r}.")
    if _DENIED.search(given) or re.search(r"\bor\b", given, re.IGNORECASE):
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} denies {gold!r}, or leaves open which it is.")
    if others == 1 and not _OPEN.search(given) and len(given.split()) <= _LONGEST_SAYING and not _is_range(given):
        return Verdict(correct=True, rule=rule, evidence=f"{given!r} names {gold!r} and nothing else of its kind.")
    if _is_range(given):
        return Verdict(correct=False, rule=rule, evidence=f"{given!r} is a range, {gold!r} is none.")
    return Verdict(correct=None, rule="abstained", evidence=f"{given!r} names {gold!r} among other things.")


def _is_range(text: str) -> bool:
    return re.fullmatch(r"\D{0,12}\d[\d,.]*\s*(?:-|–|—|to|until)\s*\d[\d,.]*\D{0,20}", normalize(text)) is not None


_MONEY = re.compile(r"^(-?)(?:us|usd)?\s?([$€£])\s?(\d.*)$")
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds sterling"}
_UNIT_NAMES = (
    (re.compile(r"\bper cent\b"), "percent"),
    (re.compile(r"\b(?:us|u\.s\.) dollars?\b|\busd\b|\bdollar\b"), "dollars"),
    (re.compile(r"\beuro\b|\beur\b"), "euros"),
)
_COMPOUND = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*([a-z]+)")


def _quantity(text: str) -> Quantity | None:
    """A number with its unit; money with its sign in front of it, and sums as "1 hour 30 minutes", too."""
    folded = normalize(text)
    if (money := _MONEY.match(folded)) is not None:
        folded = f"{money.group(1)}{money.group(3)} {_CURRENCIES[money.group(2)]}"
        folded = re.sub(r"(?<=\d)\s?(m|mn|bn|k)\b(?= )", lambda m: f" {_SCALES[m.group(1)]}", folded)
    for pattern, name in _UNIT_NAMES:
        folded = pattern.sub(name, folded)
    parts = _COMPOUND.findall(folded)
    if len(parts) > 1 and not re.sub(r"\band\b|[\s,]", "", _COMPOUND.sub("", folded)):
        known = [one for _, unit in parts if (one := UNITS.get(unit)) is not None]
        if len(known) == len(parts) and len({dimension for dimension, _ in known}) == 1:
            numbers = [float(number.replace(",", "")) for number, _ in parts]
            total = sum(number * factor for number, (_, factor) in zip(numbers, known, strict=True))
            return Quantity(total / known[-1][1], parts[-1][1])
    return parse_quantity(folded)


_SCALES = {"m": "million", "mn": "million", "bn": "billion", "k": "thousand"}


def _number(given: str, golds: Sequence[str]) -> Verdict:
    got = _quantity(given)
    wanted = _quantity(golds[0])
    if wanted is None:
        return _unread(given, golds, "number")
    if got is None:
        found = [read for match in NUMBER.finditer(given) if (read := parse_quantity(match.group())) is not None]
        named = any(_equal(read.number, wanted.number) for read in found)
        if not found:
            return Verdict(correct=False, rule="number", evidence=f"{given!r} is not a number; {golds[0]!r} is.")
        return _one_of(given, golds[0], named, len(found), rule="number")
    return _compared(given, got, golds, wanted)


def _equal(one: float, other: float) -> bool:
    return abs(one - other) <= 1e-9 * max(1.0, abs(other))


def _compared(given: str, got: Quantity, golds: Sequence[str], wanted: Quantity) -> Verdict:
    known = {quantity.unit for quantity in map(_quantity, golds) if quantity}
    same = _equal(got.number, wanted.number)
    if not got.unit or got.unit in known:
        return Verdict(
            correct=same, rule="number", evidence=f"{given!r} {'equals' if same else 'differs from'} {golds[0]!r}."
        )
    mine, theirs = UNITS.get(wanted.unit), UNITS.get(got.unit)
    if mine and theirs:
        if mine == theirs:
            return Verdict(correct=same, rule="number", evidence=f"{given!r} against {golds[0]!r} in the same unit.")
        if mine[0] != theirs[0]:
            return Verdict(
                correct=False, rule="unit", evidence=f"{given!r} measures {theirs[0]}, {golds[0]!r} {mine[0]}."
            )
        expected = wanted.number * mine[1]
        close = abs(got.number * theirs[1] - expected) <= CONVERSION_TOLERANCE * abs(expected)
        return Verdict(
            correct=close, rule="number", evidence=f"{given!r} against {golds[0]!r} after conversion of units."
        )
    if not same:
        return Verdict(correct=False, rule="number", evidence=f"{given!r} differs from {golds[0]!r}.")
    return Verdict(
        correct=None, rule="abstained", evidence=f"{given!r} has a unit that {golds[0]!r} can't be compared with."
    )


def _value(given: str, gold: str) -> Verdict | None:
    """The verdict where the gold answer, of whatever kind it is said to be, is a date or a number; None where not."""
    if (wanted := _day(gold)) is not None and (wanted[1] is not None or YEAR.fullmatch(normalize(gold))):
        return _date(given, gold)
    if (quantity := _quantity(gold)) is not None and (not quantity.unit or quantity.unit in UNITS):
        got = _quantity(given)
        return None if got is None else _compared(given, got, (gold,), quantity)
    return None


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


def _named(given: str, golds: Sequence[str], *, whole: bool) -> Verdict:
    """The verdict on words that are not a spelling of the gold answer: a sentence that says it, another thing, or words
    in which no rule finds out."""
    items = [item.strip() for item in _ANOTHER.split(given) if item.strip()] if whole else []
    hits = [any(same_by(item, gold) is not None for gold in golds) for item in items]
    if any(hits) and any(not hit and item[0].isupper() for item, hit in zip(items, hits, strict=True)):
        return Verdict(correct=False, rule="mismatch", evidence=f"{given!r} names other things beside {golds[0]!r}.")
    text = f" {spelled(given)} "
    words = _content(given)
    unsure = False
    for gold in golds:
        theirs = _figures(_content(gold))
        if theirs and (ours := _figures(words)) and not theirs <= ours:
            continue
        if bool(theirs) is not bool(_figures(words)) and _MEASURES.search(f"{given} {gold}"):
            unsure = True  # "half a day" and "12 hours"
        plain = spelled(gold)
        if not plain:
            continue
        before, held, after = text.partition(f" {plain} ")
        own = _content(gold)
        if held:
            lead = " ".join(before.split()[-_NEAR:])
            if _DENIED.search(lead) or _REFUTED.match(after.strip()) or lead.endswith(" or"):
                return Verdict(
                    correct=False, rule="mismatch", evidence=f"{given!r} denies {gold!r}, or leaves open which it is."
                )
            says = (_SAYS.search(before.strip()) and not after.strip()) or (_SAID.match(after) and not before.strip())
            if (
                whole
                and says
                and not _OPEN.search(given)
                and not _DENIED.search(given)
                and len(text.split()) <= _LONGEST_SAYING
            ):
                return Verdict(correct=True, rule="sentence", evidence=f"{given!r} says {gold!r}, and nothing else.")
            unsure = True
        elif (
            (own and (own <= words or words <= own))
            or (len(own) >= _FREE and own & words)
            or _alike(words, own)
            or (whole and maybe_same_person(given, gold))
            or _by_one_name(given, gold)
        ):
            unsure = True
    if unsure:
        said = f"{given!r} shares words with {golds[0]!r}, and no rule tells whether it is the same."
        return Verdict(correct=None, rule="abstained", evidence=said)
    return Verdict(correct=False, rule="mismatch", evidence=f"{given!r} is neither {golds[0]!r} nor an alias of it.")


def _content(text: str) -> frozenset[str]:
    words = spelled(text).split()
    return frozenset(word for word in words if word not in FUNCTION_WORDS) or frozenset(words)


def _figures(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[0].isdigit())


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
