"""Vectorized work on ranges of a flat array: expand them, search in them, encode strings as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["decode_strings", "encode_strings", "expand", "index_dtype", "offsets_of", "search_ranges"]

Ints = NDArray[Any]


def index_dtype(largest: int) -> type[np.int32] | type[np.int64]:
    """int32 where ``largest`` fits, else int64: half the memory for every graph that we can hold."""
    return np.int32 if largest < 2**31 else np.int64


def offsets_of(counts: Ints) -> Ints:
    """Offsets ``(n + 1,)`` of ranges with the given sizes ``(n,)``: range ``i`` is ``[offsets[i], offsets[i + 1])``."""
    total = int(counts.sum())
    offsets = np.zeros(len(counts) + 1, dtype=index_dtype(total))
    np.cumsum(counts, out=offsets[1:])
    return offsets


def expand(starts: Ints, counts: Ints) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All positions of the ranges ``[starts[i], starts[i] + counts[i])``, in order.

    Returns:
        ``owner`` (total,) int64: the number ``i`` of the range, and ``position`` (total,) int64.
    """
    counts = counts.astype(np.int64)
    owner = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    before = np.cumsum(counts) - counts
    position = np.arange(len(owner), dtype=np.int64) + np.repeat(starts.astype(np.int64) - before, counts)
    return owner, position


def search_ranges(values: Ints, low: Ints, high: Ints, wanted: Ints) -> NDArray[np.int64]:
    """First position in ``[low, high)`` whose value is >= ``wanted``, row by row; ``values`` ascends in each range.

    All of ``low``, ``high`` and ``wanted`` are ``(n,)``. Where there is none, the answer is ``high``. Takes
    ``log2(longest range)`` vectorized rounds.
    """
    lo = low.astype(np.int64)
    hi = high.astype(np.int64)
    if len(lo) == 0 or len(values) == 0:
        return lo
    for _ in range(int(np.max(hi - lo, initial=0)).bit_length()):
        open_ = lo < hi
        middle = (lo + hi) >> 1
        right = open_ & (values[np.minimum(middle, len(values) - 1)] < wanted)
        lo = np.where(right, middle + 1, lo)
        hi = np.where(open_ & ~right, middle, hi)
    return lo


def encode_strings(strings: Iterable[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Strings as one UTF-8 array and offsets ``(n + 1,)`` int64, so that they can be memory-mapped."""
    encoded = [string.encode() for string in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


def decode_strings(data: Ints, offsets: Ints, numbers: Sequence[int] | None = None) -> tuple[str, ...]:
    """The strings ``numbers`` (all by default) of ``encode_strings``."""
    wanted = range(len(offsets) - 1) if numbers is None else numbers
    return tuple(bytes(data[int(offsets[i]) : int(offsets[i + 1])]).decode() for i in wanted)
