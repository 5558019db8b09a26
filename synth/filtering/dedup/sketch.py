"""What is computed of each row by itself, before any two are compared: hashes, signatures, vectors.

None of it depends on a threshold, so whoever keeps a sketch can compare the same rows at another threshold without
reading or encoding any of them again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.filtering.dedup.minhash import NUMBERS, MinHasher
from synth.filtering.dedup.text import Hashes, hash_and_shingles, text_hash
from synth.retrieval.encoder import Encoder

__all__ = ["PIECE", "Sketch", "hash_numbers", "sketch_rows", "structure_hash"]

R = TypeVar("R")
_BATCH = 1024
"""Texts per call of the encoder: always, so that a model's batches are the same."""
PIECE = 1 << 25
"""Bytes of a piece of a matrix: large enough that the system has it back at once when it is given back."""
_TOGETHER = 128
"""Texts whose n-grams are held and hashed together: 10 MB of texts of 10,000 words."""


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
    texts, structures = _Growing(2, np.uint64), _Growing(2, np.uint64)
    qualities: list[tuple[float, ...]] = []
    measured: list[NDArray[np.float64]] = []
    signatures = _Growing(NUMBERS, np.uint32)
    vectors = _Growing(0 if encoder is None else encoder.dim, np.float32)
    waiting: list[str] = []
    grams: list[Hashes] = []
    if encoder is not None:
        encoder.load(encoder.fit(()))
    for row in rows:
        said = text(row)
        if words is None:
            texts.add([hash_numbers(text_hash(said))])
        else:
            hashed, own = hash_and_shingles(said, words)
            texts.add([hash_numbers(hashed)])
            grams.append(own)
            if len(grams) == _TOGETHER:
                signatures.add(hasher.signatures(grams))
                grams = []
        qualities.append(quality(row))
        if len(qualities) == _BATCH:
            measured.append(np.array(qualities, dtype=np.float64))
            qualities.clear()
        if structure is not None:
            key = structure_hash(structure(row))
            structures.add([(0, 0) if key is None else hash_numbers(key)])
        if encoder is not None:
            waiting.append(said)
            if len(waiting) == _BATCH:
                vectors.add(encoder.encode(waiting))
                waiting = []
    if encoder is not None and waiting:
        vectors.add(encoder.encode(waiting))
    if grams:
        signatures.add(hasher.signatures(grams))
    if qualities:
        measured.append(np.array(qualities, dtype=np.float64))
    return Sketch(
        texts=texts.whole(),
        quality=np.concatenate(measured) if measured else np.zeros((0, 0)),
        structures=None if structure is None else structures.whole(),
        signatures=None if words is None else signatures.whole(),
        vectors=None if encoder is None else vectors.whole(),
    )


def hash_numbers(digest: str) -> tuple[int, int]:
    """32 hex digits as two numbers."""
    return int(digest[:16], 16), int(digest[16:], 16)


def structure_hash(key: str | None) -> str | None:
    """32 hex digits for a key of structure; None for none."""
    return None if key is None else xxhash.xxh3_128_hexdigest(key.encode("utf-8", "surrogatepass"))


class _Growing:
    """A matrix that rows are added to, in pieces: none is copied when it grows, and a page that was never written takes
    no memory. (``ndarray.resize`` copies: it would hold everything twice.)"""

    def __init__(self, width: int, kind: Any) -> None:
        self._pieces = [np.empty((_BATCH, width), dtype=kind)]
        self._used = [0]

    def add(self, rows: Any) -> None:
        """``(m, width)``."""
        given = np.asarray(rows, dtype=self._pieces[-1].dtype)
        while len(given):
            if self._used[-1] == len(self._pieces[-1]):
                self._grow()
            piece, used = self._pieces[-1], self._used[-1]
            taken = min(len(given), len(piece) - used)
            piece[used : used + taken] = given[:taken]
            self._used[-1] += taken
            given = given[taken:]

    def _grow(self) -> None:
        last = self._pieces[-1]
        size = len(last) * (2 if last.nbytes < PIECE else 1)
        self._pieces.append(np.empty((size, last.shape[1]), dtype=last.dtype))
        self._used.append(0)

    def whole(self) -> NDArray[Any]:
        """All rows. Nothing is added afterwards."""
        found = np.empty((sum(self._used), self._pieces[0].shape[1]), dtype=self._pieces[0].dtype)
        at = 0
        while self._pieces:
            piece, used = self._pieces.pop(0), self._used.pop(0)
            found[at : at + used] = piece[:used]
            at += used
        return found
