"""Names of people as they are shortened."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["NICKNAMES", "fits_initials", "name_words"]

NICKNAMES = {
    short: full
    for full, shorts in {
        "robert": "bob bobby rob",
        "william": "bill billy will",
        "james": "jim jimmy",
        "john": "jack johnny",
        "joseph": "joe",
        "thomas": "tom tommy",
        "richard": "dick rick",
        "edward": "ed ted eddie",
        "michael": "mike mick",
        "charles": "charlie chuck",
        "elizabeth": "liz beth betty",
        "margaret": "maggie peggy",
        "katherine": "kate kathy",
        "samuel": "sam",
        "benjamin": "ben",
        "daniel": "dan danny",
        "anthony": "tony",
        "david": "dave",
        "steven": "steve",
        "alexander": "alex",
        "theodore": "teddy",
        "franklin": "frank",
    }.items()
    for short in shorts.split()
}


def fits_initials(a: Sequence[str], b: Sequence[str]) -> bool:
    """Whether the given names of a short name are initials of those of a long one, or lack its middle initials only.
    Of both the ``name_words``."""
    if len(a) < 2 or len(b) < 2 or a[-1] != b[-1] or any(word.isdigit() for word in (*a, *b)):
        return False
    if len(a) == len(b):
        return a != b and all(x == y or (len(x) == 1 and y.startswith(x)) for x, y in zip(a, b, strict=True))
    return len(a) == 2 and len(b) > 2 and a[0] == b[0] and all(len(word) == 1 for word in b[1:-1])


def name_words(name: str) -> list[str]:
    """The words of a name; initials that were written as one word are as many."""
    words = name.split()
    first = words[0] if words else ""
    head = list(first) if 2 <= len(first) <= 3 and not _VOWEL.search(first) else words[:1]
    return [*head, *words[1:]]


_VOWEL = re.compile(r"[aeiouy]")
