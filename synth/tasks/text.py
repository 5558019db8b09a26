"""Words of questions, names and values: what counts as a mention. Matching is by tokens, never by substrings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import date

from synth.schemas.documents import ValueKind
from synth.text.dates import MONTHS, date_in_words
from synth.text.inflection import ordinal
from synth.text.words import FUNCTION_WORDS, token_cases, tokens

__all__ = [
    "distinctive_words",
    "generic_words",
    "mentions",
    "value_forms",
]


def _inside(needle: Sequence[str], haystack: Sequence[str]) -> bool:
    n = len(needle)
    return n > 0 and any(
        haystack[i] == needle[0] and list(haystack[i : i + n]) == list(needle) for i in range(len(haystack) - n + 1)
    )


def mentions(text: str, names: Iterable[str]) -> str | None:
    """The first of ``names`` that stands in ``text`` as a run of whole words, or None."""
    words = tokens(text)
    for name in names:
        wanted = tokens(name)
        if wanted and wanted[0] in ("the", "a", "an") and len(wanted) > 1:
            wanted = wanted[1:]
        if _inside(wanted, words):
            return name
    return None


def generic_words(names: Iterable[str], *, share: float = 0.01, least: int = 10) -> frozenset[str]:
    """Words that so many names contain ("river", "university") that sharing one gives nothing away.

    A word is generic when at least ``least`` names and at least ``share`` of all names contain it.
    """
    counts: Counter[str] = Counter()
    total = 0
    for name in names:
        total += 1
        counts.update(set(tokens(name)))
    bar = max(least, share * total)
    return frozenset(word for word, count in counts.items() if count >= bar)


def distinctive_words(name: str, generic: Collection[str], *, person: bool) -> tuple[str, ...]:
    """The words of ``name`` that give it away when a question holds one of them.

    Of a person's name that is the family name (the last word): a given name is shared by many and tells little. Of
    any other name it is every word that is neither a function word, nor generic, nor a bare number or letter.
    """
    words = [
        w for w in tokens(name) if w not in FUNCTION_WORDS and w not in generic and len(w) > 1 and not w[0].isdigit()
    ]
    if person and len(tokens(name)) > 1:
        last = tokens(name)[-1]
        return (last,) if last in words else ()
    return tuple(dict.fromkeys(words))


def gives_away(question: str, words: Collection[str]) -> str | None:
    """The first of ``words`` that ``question`` holds, whole or as the stem of a proper name ("Orrin", "Orrinian")."""
    for token, capitalised in token_cases(question):
        for word in words:
            if token == word or (
                capitalised and len(word) >= 4 and token.startswith(word) and len(token) - len(word) <= 4
            ):
                return word
    return None


def value_forms(value: str, kind: ValueKind, name: str = "") -> tuple[str, ...]:
    """The ways a text may write a value. ``name`` is the way it was written where we took it from.

    A date is written "12 March 1850", "March 12, 1850" or "1850-03-12"; a number with or without digit groups; a
    quantity starts with its number.
    """
    forms = [name, value] if name else [value]
    if kind == "date":
        try:
            day = date.fromisoformat(value)
        except ValueError:
            return tuple(dict.fromkeys(forms))
        month, year = MONTHS[day.month - 1], day.year
        forms += [date_in_words(day), f"{month} {day.day}, {year}", f"{ordinal(day.day)} of {month} {year}"]
    return tuple(dict.fromkeys(form for form in forms if form))
