"""Wordings with slots ("None is left {bound}."), and whether a phrase that was said is of one."""

from __future__ import annotations

import re
from itertools import combinations

from synth.text.words import fold, words_of

__all__ = ["is_part", "with_slots"]

_SLOT = "slotofwording"
_FEWEST = 3
"""Words that a phrase shares with a wording whose slot it runs into."""


def with_slots(wording: str) -> str:
    """A wording as whole words, its slots marked."""
    return words_of(re.sub(r"{.*?}", f" {_SLOT} ", wording))


def is_part(phrase: str, wording: str) -> bool:
    """Whether a phrase stands in a wording, or runs over its words into what a slot was filled with: "none is left
    before" is of "None is left {bound}".

    Args:
        wording: One or more, by :func:`with_slots`.
    """
    said = fold(phrase).split()
    if f" {' '.join(said)} " in wording.replace(f" {_SLOT}", ""):
        return True
    for begin, end in combinations(range(len(said) + 1), 2):
        before = f" {_SLOT} " if begin else " "
        after = f" {_SLOT} " if end < len(said) else " "
        if end - begin >= _FEWEST and f"{before}{' '.join(said[begin:end])}{after}" in wording:
            return True
    return False
