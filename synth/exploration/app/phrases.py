"""Templates of requests: values put in as a person writes them, and which of them were said.

The grammar is that of :mod:`synth.environments.app.requests`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from synth.environments.app.requests import EITHER, HOLE, PART
from synth.exploration.pipeline import word_in
from synth.exploration.walks import choose
from synth.text.dates import MONTHS
from synth.text.inflection import capital, ordinal
from synth.text.numbers import NUMERALS

__all__ = ["Said", "forms_of", "plain", "put", "said_in", "sentence", "usable"]

_NUMBERS = ("no", *NUMERALS[1:13])
_SHORTEST = 3
"""Characters of a value that is known again wherever it stands; shorter ones only under their own name."""


@dataclass(frozen=True)
class Said:
    """A value that words hold."""

    column: str
    value: str
    words: str


def usable(template: str, values: Mapping[str, Any]) -> bool:
    """Whether every value outside of ``[[ ... ]]`` is there."""
    return all(values.get(name) not in (None, "") for name, _ in HOLE.findall(PART.sub("", template)))


def put(
    template: str,
    values: Mapping[str, Any],
    generator: np.random.Generator,
    today: str,
    noun: Callable[[str], tuple[str, tuple[Said, ...]] | None] = lambda _: None,
    *,
    quotes: str = '""',
) -> tuple[str, tuple[Said, ...]]:
    """The words, and what they say.

    Args:
        today: ``YYYY-MM-DD``: a date in the same year is said without it.
        noun: Gives the noun phrase of a name that refers to a row, and what that says; None for any other.
        quotes: The quotation marks of the whole request.
    """
    while (match := EITHER.search(template)) is not None:
        options = match.group(1).split("|")
        template = template[: match.start()] + choose(generator, options) + template[match.end() :]
    said: list[Said] = []

    def hole(match: re.Match[str]) -> str:
        name, form = match.group(1), match.group(2)
        phrase = noun(name)
        if phrase is not None:
            said.extend(phrase[1])
            return capital(phrase[0]) if form == "start" else phrase[0]
        value = values[name]
        known, words = _written(value, form, generator, today)
        words = f"{quotes[0]}{known}{quotes[1]}" if form == "quote" else words
        said.append(Said(name, known, words))
        return words

    def part(match: re.Match[str]) -> str:
        inside = match.group(1)
        empty = any(values.get(name) in (None, "") for name, _ in HOLE.findall(inside))
        return "" if empty else inside

    words = HOLE.sub(hole, PART.sub(part, template))
    words = re.sub(r"\bthe ([a-z]+(?: date)?) of it\b", r"its \1", words)
    return re.sub(r"\bon (today|tomorrow|yesterday)\b", r"\1", words), tuple(said)


def plain(template: str, values: Mapping[str, Any], today: str) -> str:
    """The words without a choice: the first of all alternatives, forms at their plainest."""
    while (match := EITHER.search(template)) is not None:
        template = template[: match.start()] + match.group(1).split("|")[0] + template[match.end() :]

    def hole(match: re.Match[str]) -> str:
        return _written(values[match.group(1)], match.group(2), None, today)[1]

    return HOLE.sub(hole, template)


def _written(value: Any, form: str | None, generator: np.random.Generator | None, today: str) -> tuple[str, str]:
    """What is said, as the application has it, and the words."""
    text = str(value)
    if form == "day":
        return text[:10], _day(text[:10], generator, today)
    if form == "month":
        year, month = text[:7].split("-")
        name = MONTHS[int(month) - 1]
        return text[:7], name if year == today[:4] else f"{name} {year}"
    if form == "time":
        return text[-5:], text[-5:].removeprefix("0")
    if form == "money":
        return text, _money(int(value), generator)
    if form == "ordinal":
        return text, ordinal(int(value))
    if form == "quote":
        return text, f'"{text}"'
    if form == "lower":
        return text, text if re.match(r"I\b", text) else text[:1].lower() + text[1:]
    if form == "start":
        return text, capital(text)
    if form:
        one, many = form.split("/")
        number = int(value)
        words = _NUMBERS[number] if 0 <= number < len(_NUMBERS) and _chance(generator, 0.7) else str(number)
        return text, f"{words} {one if number == 1 else many}"
    return text, text


def _chance(generator: np.random.Generator | None, share: float) -> bool:
    return generator is None or bool(generator.random() < share)


def _day(text: str, generator: np.random.Generator | None, today: str) -> str:
    day, now = date.fromisoformat(text), date.fromisoformat(today)
    away = (day - now).days
    near = {0: "today", 1: "tomorrow", -1: "yesterday"}.get(away)
    month = MONTHS[day.month - 1]
    year = "" if day.year == now.year else f" {day.year}"
    if generator is None:
        return f"{day.day} {month}{year}"
    if near is not None and generator.random() < 0.4:
        return near
    forms = [f"{day.day} {month}{year}"] * 3 + [f"{month} {day.day}" + (f",{year}" if year else "")]
    if not year:
        forms.append(f"{ordinal(day.day)} {month}")
        if abs(away) < 14:
            forms.append(f"{day.strftime('%A')} {day.day} {month}")
    return choose(generator, forms)


def _money(cents: int, generator: np.random.Generator | None) -> str:
    sign, cents = ("-" if cents < 0 else ""), abs(cents)
    whole, rest = divmod(cents, 100)
    if rest or generator is None or generator.random() < 0.25:
        return f"{sign}${whole:,}.{rest:02d}"
    if generator.random() < 0.2:
        return f"{sign}{whole:,} dollar{'' if whole == 1 else 's'}"
    return f"{sign}${whole:,}"


def said_in(said: Iterable[Said], column: str, value: Any) -> Said | None:
    """Where ``value`` is said: under its own name, or anywhere when it is long enough not to be there by chance; as a
    whole, else as words of something longer (a family name in a name)."""
    text, listed = str(value), list(said)
    own = next((one for one in listed if one.value == text and one.column == column), None)
    if own is not None or len(text) < _SHORTEST:
        return own
    return next((one for one in listed if one.value == text), None) or next(
        (one for one in listed if word_in(one.words, text) is not None), None
    )


def sentence(text: str) -> str:
    """With a capital and one end."""
    text = text.strip()
    text = re.sub(r"([.?!][\"”])[.?]", r"\1", text if "@" in text.partition(" ")[0] else capital(text))
    return text if text.rstrip('"”)')[-1:] in (".", "?", "!") and text[-1:] != ")" else f"{text}."


def forms_of(answers: Sequence[str]) -> Iterator[str]:
    """Answers, and each sum of money in the other ways in which it is written."""
    for answer in answers:
        yield answer
        if answer.lstrip("-").startswith("$"):
            bare = answer.replace("$", "").replace(",", "")
            yield from (answer.removesuffix(".00"), answer.replace(",", ""), bare, f"{bare} dollars")
            yield f"{bare.removesuffix('.00')} dollars"
