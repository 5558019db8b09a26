"""Whether what was read is the evidence of a hop."""

from __future__ import annotations

from collections.abc import Sequence

from synth.environments.passages import Passage
from synth.text.words import fold, words

__all__ = ["overlaps", "passage"]

_LONGEST_PASSAGE = 8
"""Sentences that a piece of evidence may have."""


def overlaps(quote: str, sentence: str) -> bool:
    """Whether ``sentence`` is (part of) the quoted evidence, whatever links and line breaks did to either."""
    left, right = fold(quote), fold(sentence)
    if not left or not right:
        return False
    if "\n" in quote and right == fold(quote.split("\n", 1)[0]):
        return True  # the term above what is said of it
    enough = max(3.0, 0.4 * len(left.split()))  # a heading ("The minsane option") is no passage
    if f" {left} " in f" {right} " or (len(right.split()) >= enough and f" {right} " in f" {left} "):
        return True
    a, b = set(words(quote)), set(words(sentence))
    return len(a & b) >= 0.8 * len(a)


def passage(quote: str, sentences: Sequence[Passage]) -> list[Passage]:
    """The sentences, one after the other, that make up a quote of several: "size - The size of a kiln. It may be set to
    0. The default is 64.", of which the last alone names the value and says little. Empty for a quote of one."""
    left = fold(quote)
    opens = " ".join(left.split()[:3])
    for at, first in enumerate(sentences):
        opening = fold(first.text)
        if opens not in opening and not left.startswith(f"{opening} "):
            continue  # neither the beginning of the quote nor the term above it
        read = ""
        for end in range(at, min(at + _LONGEST_PASSAGE, len(sentences))):
            read = f"{read} {fold(sentences[end].text)}"
            if f" {left} " in f"{read} ":
                return list(sentences[at : end + 1]) if end > at else []
    return []
