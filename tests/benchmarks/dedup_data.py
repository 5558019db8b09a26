"""What bench_dedup.py compares: texts and vectors with planted duplicates, made row by row so that 10^6 fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from synth.identity import derive_generator

DIM = 256
BLOCK = 10_000
_VOCABULARY = 20_000
_GROUP = 8
"""Rows of which 5 are originals, and one each the first one's copy, the second one changed, the third one shuffled."""


class Texts(Sequence[str]):
    """Texts of ``words`` words, made when asked for; ``kinds`` says which kinds of duplicates there are."""

    def __init__(self, rows: int, words: int) -> None:
        self._rows, self._words = rows, words
        drawn = derive_generator(11, "frequency").zipf(1.2, 1 << 16) % _VOCABULARY
        self._table = np.array([f"w{number}" for number in drawn.tolist()], dtype=object)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        if not 0 <= row < self._rows:
            raise IndexError(row)
        group, place = divmod(row, _GROUP)
        own = self._drawn(_GROUP * group + place % 5)
        if place == 5:
            return ", ".join(own).upper()
        if place == 6:
            for at in range(0, len(own), 60):
                own[at + min(len(own) - at, 60) // 2] = f"x{at}"
            return " ".join(own)
        if place == 7:  # every third word first
            return " ".join([*own[::3], *own[1::3], *own[2::3]])
        return " ".join(own)

    def _drawn(self, row: int) -> list[str]:
        """Steele et al.'s splitmix64 of row and place: no generator is set up 10^6 times."""
        with np.errstate(over="ignore"):
            mixed = np.arange(self._words, dtype=np.uint64) + np.uint64(row * 1_000_003)
            mixed = (mixed + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found: list[str] = self._table[(mixed ^ (mixed >> np.uint64(31))) >> np.uint64(48)].tolist()
        return found

    def planted(self, kind: str) -> set[tuple[int, int]]:
        """Pairs of ``exact``, ``near`` (one word in 60 is another) or ``shuffled``."""
        place = {"exact": 5, "near": 6, "shuffled": 7}[kind]
        return {(row - 5, row) for row in range(place, self._rows, _GROUP)}


def write_vectors(path: Path, rows: int) -> None:
    """``(rows, 256) float32`` of length 1. A tenth are near another row, at cosines from .88 to 1; the others
    form loose clusters of 20."""
    centres = derive_generator(13, "centres").normal(size=(max(1, rows // 20), DIM)).astype(np.float32)
    out = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, DIM))
    for start in range(0, rows, BLOCK):
        generator = derive_generator(13, "vectors", start)
        size = min(BLOCK, rows - start)
        found = 0.6 * centres[generator.integers(0, len(centres), size)]
        found += generator.standard_normal(size=(size, DIM), dtype=np.float32)
        tenth = size // 10
        apart = generator.uniform(0.02, 0.62, size=(tenth, 1)).astype(np.float32)
        noise = generator.standard_normal(size=(tenth, DIM), dtype=np.float32)
        found[:tenth] = found[tenth : 2 * tenth] + apart * noise
        found = found[generator.permutation(size)]
        out[start : start + size] = found / np.linalg.norm(found, axis=1, keepdims=True)
    out.flush()
