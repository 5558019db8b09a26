"""Delta debugging: the least part of a list of steps that still reaches what all of them do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import permutations
from typing import TypeVar

__all__ = ["minimal", "orders", "removable"]

T = TypeVar("T")
_MOST_ORDERS = 24


def minimal(items: Sequence[T], holds: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """A part of ``items``, in their order, for which ``holds`` and from which no single item can be taken away
    (1-minimal; ddmin of Zeller and Hildebrandt, IEEE TSE 28(2), 2002: complements of ever smaller pieces).

    Args:
        holds: Whether a part will do; asked at most once for each. It is true of ``items``.
    """
    known: dict[tuple[int, ...], bool] = {}

    def will_do(places: tuple[int, ...]) -> bool:
        if places not in known:
            known[places] = holds(tuple(items[at] for at in places))
        return known[places]

    left, pieces = tuple(range(len(items))), 2
    while len(left) >= 2:
        size = -(-len(left) // pieces)
        without = (left[:at] + left[at + size :] for at in range(0, len(left), size))
        smaller = next((places for places in without if will_do(places)), None)
        if smaller is not None:
            left, pieces = smaller, max(2, pieces - 1)
        elif size == 1:
            break
        else:
            pieces = min(len(left), 2 * pieces)
    if len(left) == 1 and will_do(()):
        left = ()
    return tuple(items[at] for at in left)


def removable(items: Sequence[T], reaches: Callable[[Sequence[T]], bool]) -> int | None:
    """The first item without which the rest still reaches it; None where there is none."""
    return next((at for at in range(len(items)) if reaches([*items[:at], *items[at + 1 :]])), None)


def orders(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Other orders of ``items``, all of up to four."""
    for number, order in enumerate(permutations(range(len(items)))):
        if 0 < number < _MOST_ORDERS:
            yield [items[at] for at in order]
