"""Keys that an application hands out: unique, in no order, and not to be guessed from one another.

The ``n``-th key of a table is a keyed permutation of ``n`` written in the table's pattern (a Feistel network with cycle
walking), so there is nothing to look up and nothing to collide with.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache

__all__ = ["capacity", "code"]

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without I and O, which are read as digits."""
_ROUNDS = 6


@lru_cache(maxsize=256)
def capacity(pattern: str) -> int:
    """How many keys a pattern has: ``#`` is a digit, ``@`` a letter."""
    return int(10 ** pattern.count("#") * len(_LETTERS) ** pattern.count("@"))


@lru_cache(maxsize=65_536)
def code(pattern: str, secret: str, number: int) -> str:
    """Key ``number`` (from 0) of ``pattern``. Different numbers give different keys.

    Raises:
        ValueError: the pattern has no so many keys.
    """
    size = capacity(pattern)
    if not 0 <= number < size:
        raise ValueError(f"the pattern {pattern!r} has {size} keys, number {number} is none of them")
    half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
    place = number
    while True:
        left, right = place >> half, place & ((1 << half) - 1)
        for turn in range(_ROUNDS):
            mixed = hashlib.blake2b(f"{secret}/{turn}/{right}".encode(), digest_size=8).digest()
            left, right = right, left ^ (int.from_bytes(mixed, "big") & ((1 << half) - 1))
        place = left << half | right
        if place < size:
            return _written(pattern, place)


def _written(pattern: str, place: int) -> str:
    signs = []
    for sign in reversed(pattern):
        if sign == "#":
            place, digit = divmod(place, 10)
            sign = str(digit)
        elif sign == "@":
            place, digit = divmod(place, len(_LETTERS))
            sign = _LETTERS[digit]
        signs.append(sign)
    return "".join(reversed(signs))
