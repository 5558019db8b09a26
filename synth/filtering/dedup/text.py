"""Texts as dedup compares them: canonical words, and sets of hashed n-grams."""

from __future__ import annotations

from functools import lru_cache
from itertools import chain
from operator import itemgetter

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.retrieval.tokens import phrase_atoms, surfaces

__all__ = ["Hashes", "canonical_text", "hash_and_shingles", "jaccard", "shingles", "text_hash"]

Hashes = NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)
"""An odd multiplier: hashes of words are combined as the digits of a number to that base, modulo 2^64."""

_WORD, _HASH = itemgetter(0), itemgetter(1)


@lru_cache(maxsize=1 << 16)
def _words(surface: str) -> tuple[tuple[str, int], ...]:
    """The words of a surface, each with its hash."""
    return tuple(
        (word, xxhash.xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))) for word in phrase_atoms(surface)
    )


def canonical_text(text: str) -> str:
    """``text`` without what dedup takes for no difference: case, punctuation, blanks, forms of Unicode that mean the
    same. Numbers stay as they are: what differs in a number alone is another text. A text without a word is itself."""
    return _canonical(_atoms(text), text)


def _atoms(text: str) -> list[tuple[str, int]]:
    """The words of ``text``, in order, each with its hash."""
    return list(chain.from_iterable(map(_words, surfaces(text))))


def _canonical(atoms: list[tuple[str, int]], text: str) -> str:
    return " ".join(map(_WORD, atoms)) or text.strip()


def text_hash(text: str) -> str:
    """32 hex digits, equal for texts of equal canonical form."""
    return _digest(canonical_text(text))


def _digest(canonical: str) -> str:
    return xxhash.xxh3_128_hexdigest(canonical.encode("utf-8", "surrogatepass"))


def hash_and_shingles(text: str, words: int) -> tuple[str, Hashes]:
    """:func:`text_hash` and :func:`shingles`, for which the text is read once."""
    atoms = _atoms(text)
    return _digest(_canonical(atoms, text)), _runs(atoms, words)


def shingles(text: str, words: int) -> Hashes:
    """``(n,) uint64``, ascending, distinct: hashes of all runs of ``words`` words. A text of fewer words is one run;
    one of none has none.

    Raises:
        ValueError: ``words`` is less than 1.
    """
    return _runs(_atoms(text), words)


def _runs(atoms: list[tuple[str, int]], words: int) -> Hashes:
    if words < 1:
        raise ValueError(f"runs of {words} words: at least 1")
    single = np.fromiter(map(_HASH, atoms), dtype=np.uint64, count=len(atoms))
    size = min(words, len(single))
    if not size:
        return single
    runs = np.zeros(len(single) - size + 1, dtype=np.uint64)
    for place in range(size):
        runs = runs * _MIX + single[place : len(single) - size + 1 + place]
    # Bits of a product depend on the lower bits of its factors only: the high ones are mixed in once more.
    return np.unique(runs ^ (runs >> np.uint64(29)))


def jaccard(one: Hashes, other: Hashes) -> float:
    """Shared share of two sets as :func:`shingles` gives them. Two empty ones share nothing: 0."""
    if not len(one) or not len(other):
        return 0.0
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)
