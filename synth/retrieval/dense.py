"""Dense search: documents as vectors of one encoder, and the nearest of them to a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.retrieval.encoder import Encoder
from synth.retrieval.vectors import IndexKind, Neighbour, VectorIndex, open_index

__all__ = ["DenseIndex"]

_OWN = "encoder."
"""Before the names of the encoder's own arrays."""
_BATCH = 256
"""Texts per call of the encoder."""
_TOGETHER = 8
"""Queries that are compared at once, where nothing else is said."""
_HEAD = 4_000
"""Code points of a document that are encoded: one vector can't hold a book, and a model reads no further anyway."""


class DenseIndex:
    """Finds documents by the cosine of their vectors. Title and the beginning of the text are what is encoded."""

    def __init__(
        self,
        arrays: Mapping[str, NDArray[Any]],
        encoder: Encoder,
        kind: IndexKind = "exact",
        *,
        together: int = _TOGETHER,
    ) -> None:
        """
        Args:
            arrays: What :meth:`build` returned, memory-mapped or not.
            together: Queries that are compared at once. Vectors are read once for all of them.

        Raises:
            ValueError: they are of another encoder.
            InputError: ``kind`` needs FAISS, which is not installed.
        """
        name = bytes(np.asarray(arrays["encoder_name"])).decode()
        if name != encoder.name:
            raise ValueError(f"the vectors are of {name}, the encoder is {encoder.name}")
        encoder.load(
            {key.removeprefix("encoder."): value for key, value in arrays.items() if key.startswith("encoder.")}
        )
        self.encoder = encoder
        self._together = together
        self._index: VectorIndex = open_index(arrays["vectors"], kind)

    @classmethod
    def build(cls, documents: Callable[[], Iterable[tuple[str, str]]], encoder: Encoder) -> dict[str, NDArray[Any]]:
        """Arrays of an index: ``vectors (n, dim) float16``, ``encoder_name`` as bytes, the encoder's own arrays.

        Args:
            documents: gives (title, text) in order each time it is called; it is called twice.
        """
        fitted = encoder.fit(_texts(documents()))
        parts = [encoder.encode(batch).astype(np.float16) for batch in _batches(_texts(documents()))]
        vectors = np.concatenate(parts) if parts else np.zeros((0, encoder.dim), dtype=np.float16)
        name = np.frombuffer(encoder.name.encode(), dtype=np.uint8)
        arrays: dict[str, NDArray[Any]] = {"vectors": vectors, "encoder_name": name}
        return arrays | {f"{_OWN}{key}": value for key, value in fitted.items()}

    def search(self, query: str, k: int) -> list[Neighbour]:
        """The ``k`` documents nearest to ``query``, best first, ties by row."""
        return self.search_all([query], k)[0]

    def search_all(self, queries: Sequence[str], k: int) -> list[list[Neighbour]]:
        """:meth:`search` for each of ``queries``."""
        found: list[list[Neighbour]] = []
        for start in range(0, len(queries), self._together):
            group = list(queries[start : start + self._together])
            # Always so many rows: a product of another shape may differ in its last bits.
            vectors = np.zeros((self._together, self.encoder.dim), dtype=np.float32)
            vectors[: len(group)] = self.encoder.encode(group)
            found += self._index.search(vectors, k, len(group))
        return found


def _texts(documents: Iterable[tuple[str, str]]) -> Iterator[str]:
    for title, text in documents:
        yield f"{title}\n{text[:_HEAD]}"


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    for text in texts:
        batch.append(text)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
