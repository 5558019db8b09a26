"""What is computed of each row by itself, before any two are compared: hashes, signatures, vectors.

None of it depends on a threshold, so whoever keeps a sketch can compare the same rows at another threshold without
reading or encoding any of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.dedup.minhash import NUMBERS, MinHasher
from synth.dedup.text import shingles, text_hash
from synth.retrieval.encoder import Encoder

__all__ = ["Sketch", "sketch_rows"]

R = TypeVar("R")
_BATCH = 1024
"""Texts per call of the encoder: always, so that a model's batches are the same."""


@dataclass(frozen=True)
class Sketch:
    """Of ``n`` rows, in their order. Memory: 512 bytes a row where there are signatures, 4 a dimension with vectors."""

    texts: NDArray[np.uint64]
    """``(n, 2)``: hash of the canonical text."""
    quality: NDArray[np.float64]
    """``(n, k)``: greater is better, the first number first."""
    structures: NDArray[np.uint64] | None = None
    """``(n, 2)``: hash of the key of structure, zeros where a row has none; None = rows have none."""
    signatures: NDArray[np.uint32] | None = None
    """``(n, 128)``: MinHash of the n-grams; None = none were made."""
    vectors: NDArray[np.float32] | None = None
    """``(n, dim)``; None = nothing was encoded."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As named arrays, for :meth:`of`."""
        named = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: array for name, array in named.items() if array is not None}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]]) -> Sketch:
        """What :meth:`arrays` gave; memory-mapped ones are welcome."""
        return cls(**{name: arrays[name] for name in cls.__dataclass_fields__ if name in arrays})


def sketch_rows(
    rows: Iterable[R],
    text: Callable[[R], str],
    quality: Callable[[R], tuple[float, ...]],
    structure: Callable[[R], str | None] | None = None,
    *,
    words: int | None = None,
    encoder: Encoder | None = None,
) -> Sketch:
    """The sketch of ``rows``, which are read once, one after the other.

    Args:
        words: Signatures of n-grams of so many words; None = no signatures.
        encoder: Makes vectors. It is fitted to nothing, so that a row's vector depends on no other row.
    """
    hasher = MinHasher(1, NUMBERS)
    texts, structures, qualities, signatures = [], [], [], []
    vectors: list[NDArray[np.float32]] = []
    waiting: list[str] = []
    if encoder is not None:
        encoder.load(encoder.fit(()))
    for row in rows:
        said = text(row)
        texts.append(_numbers(text_hash(said)))
        qualities.append(quality(row))
        if structure is not None:
            key = structure(row)
            structures.append((0, 0) if key is None else _numbers(xxhash.xxh3_128_hexdigest(key.encode())))
        if words is not None:
            signatures.append(hasher.signature(shingles(said, words)))
        if encoder is not None:
            waiting.append(said)
            if len(waiting) == _BATCH:
                vectors.append(encoder.encode(waiting))
                waiting = []
    if encoder is not None and waiting:
        vectors.append(encoder.encode(waiting))
    n = len(texts)
    return Sketch(
        texts=np.array(texts, dtype=np.uint64).reshape(n, 2),
        quality=np.array(qualities, dtype=np.float64).reshape(n, -1 if n else 0),
        structures=None if structure is None else np.array(structures, dtype=np.uint64).reshape(n, 2),
        signatures=None if words is None else _stacked(signatures, NUMBERS, np.uint32),
        vectors=None if encoder is None else _stacked(vectors, encoder.dim, np.float32),
    )


def _numbers(digest: str) -> tuple[int, int]:
    """32 hex digits as two numbers."""
    return int(digest[:16], 16), int(digest[16:], 16)


def _stacked(parts: Sequence[NDArray[Any]], width: int, kind: Any) -> NDArray[Any]:
    return np.vstack(parts) if parts else np.zeros((0, width), dtype=kind)
