"""Random numbers that belong to a row: keyed by (seed, name, index, counter), computed for many rows at once.

``synth.identity.derive_generator`` makes one stream per name, which costs tens of microseconds a row. A walk needs a
few numbers for each of thousands of candidates, and candidate ``i`` must walk the same way whichever batch it is drawn
in. So every number is a hash of what it is for: the key of the run is mixed with the index, and the result seeds a
SplitMix64 sequence of which ``counter`` is the position (the output function of SplitMix64 passes BigCrush).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.identity import digest

__all__ = ["Draws"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)


class Draws:
    """The random numbers of rows ``indices`` under ``(seed, name)``."""

    def __init__(self, seed: int, name: str, indices: NDArray[Any]) -> None:
        """``indices`` (n,) are non-negative integers, the rows' identities. Raises ValueError when one is negative."""
        if len(indices) and int(np.min(indices)) < 0:
            raise ValueError("an index is negative")
        key = np.array([int(digest("draws", seed, name)[:16], 16)], dtype=np.uint64)
        self._state = _mix(key + (indices.astype(np.uint64) + _ONE) * _GOLDEN)

    def uniform(self, rows: NDArray[Any], counter: int | NDArray[Any]) -> NDArray[np.float64]:
        """Numbers in [0, 1) of 53 random bits: number ``counter`` of each row (places in ``indices``).

        (len(rows),) for one counter, (len(rows), c) for an array of ``c`` counters.
        """
        state = self._state[rows]
        if isinstance(counter, np.ndarray):
            position = (counter.astype(np.uint64) + _ONE) * _GOLDEN
            bits = _mix(state[:, None] + position)
        else:
            bits = _mix(state + np.array([counter + 1], dtype=np.uint64) * _GOLDEN)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, rows: NDArray[Any], counter: int | NDArray[Any], bound: NDArray[Any]) -> NDArray[np.int64]:
        """Integers in [0, bound), uniform to within ``bound / 2**53``; 0 where the bound is 0. Shaped as ``uniform``,
        with which ``bound`` must broadcast."""
        drawn: NDArray[np.int64] = (self.uniform(rows, counter) * bound).astype(np.int64)
        return drawn


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64's output function, in place: ``z`` must be the caller's own."""
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z
