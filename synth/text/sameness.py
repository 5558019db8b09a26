"""Whether two texts are one answer written in two ways, by the table of :mod:`synth.text.equivalence`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from synth.text.equivalence import TABLE, forms_of, initials, spelled
from synth.text.persons import NICKNAMES, fits_initials, name_words

__all__ = ["maybe_same_person", "same_by"]

_DROPPING = frozenset(("option", "section_number", "qualifier", "title", "suffix"))
"""Rows that leave something out. What both sides have, and is another thing, tells them apart."""


def same_by(left: str, right: str, *, lists: bool = True) -> str | None:
    """The row by which two texts are the same; None where no row makes them so.

    Args:
        lists: Lists of the same items are the same in any order.
    """
    one, other = _spelling_of(left), _spelling_of(right)
    ours, theirs = one.forms, other.forms
    if both := one.dropping & other.dropping:
        ours, theirs = forms_of(left, both), forms_of(right, both)
    shared = {row for form in ours.keys() & theirs.keys() for row in (ours[form], theirs[form])}
    if shared:
        return next((name for name, _ in reversed(TABLE) if name in shared), "exact")
    if lists and one.items is not None and one.items == other.items:
        return "list_order"
    return _by_name(one, other)


class _Spelling(NamedTuple):
    """What is compared of a text, with whatever other one."""

    forms: Mapping[str, str]
    """All forms of it -> the row that made each."""
    dropping: frozenset[str]
    """Rows that left something out of it."""
    items: tuple[str, ...] | None
    """The items of a list, in no order; None for what is none."""
    plain: str
    """In plain words (:func:`spelled`)."""
    words: tuple[str, ...]
    """Of ``plain``, as a name's."""
    initials: str
    """First letters of ``plain``."""
    turned: str | None
    """In plain words with the given names first, where a comma stands between; else None."""
    letters: bool
    """Whether it may be an acronym."""


@lru_cache(maxsize=4096)
def _spelling_of(text: str) -> _Spelling:
    forms, plain = forms_of(text), spelled(text)
    last, comma, first = text.partition(",")
    return _Spelling(
        forms,
        _DROPPING.intersection(forms.values()),
        _list(text),
        plain,
        tuple(name_words(plain)),
        initials(plain),
        spelled(f"{first} {last}") if comma and "," not in first else None,
        len(plain) >= 3 and text.strip(" .").replace(".", "").isupper(),
    )


_BORDER = re.compile(r"\s*(?:[;\n]|,(?!\d{3}\b)(?:\s*and\b)?|\band\b|&)\s*", re.IGNORECASE)


def _list(text: str) -> tuple[str, ...] | None:
    """The items of a list, in no order; None for what is none."""
    items = [item for item in _BORDER.split(text.strip().rstrip(".")) if item.strip()]
    return tuple(sorted(spelled(item) for item in items)) if len(items) > 1 else None


def _by_name(left: _Spelling, right: _Spelling) -> str | None:
    """Names of people and acronyms: initials for given names, a middle initial that one of them lacks, the family name
    first, the first letters of a name of three words and more."""
    for one, other in ((left, right), (right, left)):
        if one.turned is not None and one.turned == other.plain:
            return "family_name_first"
        if one.letters and one.plain == other.initials:
            return "acronym"
    fits = fits_initials(left.words, right.words) or fits_initials(right.words, left.words)
    return "initials" if fits else None


def maybe_same_person(left: str, right: str) -> bool:
    """Whether the given names are forms of one name ("Kathy", "Kathryn"): people marry, and change the other one."""
    one, other = (name_words(spelled(text)) for text in (left, right))
    if min(len(one), len(other)) < 2 or one[0] == other[0] or not (left[:1] + right[:1]).isupper():
        return False
    a, b = (NICKNAMES.get(words[0], words[0]) for words in (one, other))
    return a == b or (min(len(a), len(b)) >= _LONG_STEM and a[:_LONG_STEM] == b[:_LONG_STEM])


_LONG_STEM = 4
