"""How an answer is worded: a name or a sentence, and whether it denies, leaves open, or shares words with another."""

from __future__ import annotations

import re
from functools import lru_cache

from synth.text.equivalence import spelled
from synth.text.sentences import sentences
from synth.text.words import FUNCTION_WORDS

__all__ = [
    "DENIED",
    "LONGEST_SAYING",
    "OPEN",
    "content_of",
    "denies",
    "figures_of",
    "is_long",
    "leaves_open",
    "related",
    "tells",
]

DENIED = re.compile(
    r"\b(?:not|no|never|neither|nor|none|unlike|instead|rather|than|except|without|false|wrong|incorrect|fails?|lacks?)\b"
    r"|n(?:['’]| )t\b",
    re.IGNORECASE,
)
OPEN = re.compile(
    r"\b(?:or|either|maybe|perhaps|possibly|might|may|could|unclear|unknown|unsure|but|however|although|though|if)\b|\?",
    re.IGNORECASE,
)
LONGEST_SAYING = 40
"""Words of a sentence that may say an answer."""


def denies(text: str) -> bool:
    """Whether a word of ``text`` denies something."""
    return DENIED.search(text) is not None


def leaves_open(text: str) -> bool:
    """Whether ``text`` names several things, has reservations, or asks."""
    return OPEN.search(text) is not None


def describes(text: str) -> bool:
    """Whether it is words that can be said in others, and no name or value."""
    words = text.split()
    return not any(word[0].isupper() or word[0].isdigit() for word in words if word[0].isalnum())


_PREDICATE = re.compile(r"\b(?:is|are|was|were|be|been|has|had|have|did|does|became|can|will|would)\b|,? which\b", re.I)
_NAME_WORDS = 8


def tells(text: str) -> bool:
    """Whether it is a sentence, and no mere name or value."""
    return len(text.split()) > _NAME_WORDS or _PREDICATE.search(text) is not None


def is_long(text: str) -> bool:
    """Whether it says so much that the answer may stand in it in other words."""
    return len(text.split()) > _LONG or len(sentences(text)) > 1


_LONG = 25


def related(one: frozenset[str], other: frozenset[str], stem: int = 4) -> bool:
    """Whether two of their words begin alike, as forms of one word do: ``stem`` letters, or all of a shorter one."""
    pairs = ((a, b) for a in one for b in other if min(len(a), len(b)) > 2)
    return any(a.startswith(b[:stem]) or b.startswith(a[:stem]) for a, b in pairs)


@lru_cache(maxsize=4096)
def content_of(text: str) -> frozenset[str]:
    words = spelled(text).split()
    return frozenset(word for word in words if word not in FUNCTION_WORDS) or frozenset(words)


def figures_of(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in words if word[0].isdigit())
