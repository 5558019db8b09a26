"""Dense search over passages: a document is as near to a query as its nearest passage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.retrieval.dense import DenseIndex
from synth.retrieval.encoder import Encoder
from synth.retrieval.vectors import IndexKind

__all__ = ["Found", "PassageIndex", "cut"]

PASSAGE = 800
"""Code points of a passage: about the 256 tokens that small sentence encoders read."""
_ENDS = ("\n\n", "\n", ". ", "。", " ")
"""Where a passage is cut, the best place first."""
_EACH = 4
"""Passages looked at per document that is wanted; more where a document takes several of the first places."""


@dataclass(frozen=True, slots=True)
class Found:
    document: int
    """Row number of the document."""
    score: float
    start: int | None = None
    """Where the passage begins that was found, in code points; None where no passage in particular was."""


class PassageIndex:
    """Finds documents by the cosine of their nearest passage. Passages are encoded below the document's title."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]], encoder: Encoder, kind: IndexKind = "exact") -> None:
        """``arrays`` is what :meth:`build` returned. Raises as :class:`~synth.retrieval.dense.DenseIndex`."""
        self._index = DenseIndex(arrays, encoder, kind)
        self._document, self._start = np.asarray(arrays["document"]), np.asarray(arrays["start"])

    @classmethod
    def build(
        cls, documents: Callable[[], Iterable[tuple[str, str]]], encoder: Encoder, size: int = PASSAGE
    ) -> dict[str, NDArray[Any]]:
        """Arrays of an index: those of :meth:`DenseIndex.build` for passages of at most ``size`` code points, and of
        each passage its ``document (n,) int32`` and its ``start (n,) int32``.

        Args:
            documents: gives (title, text) in order each time it is called; it is called three times.
        """

        def passages() -> Iterator[tuple[str, str]]:
            for title, text in documents():
                yield from ((title, text[start:end]) for start, end in cut(text, size))

        places = [(row, start) for row, (_, text) in enumerate(documents()) for start, _ in cut(text, size)]
        document, start = np.array(places, dtype=np.int32).reshape(-1, 2).T
        return {**DenseIndex.build(passages, encoder), "document": document, "start": start}

    def search(self, query: str, k: int) -> list[Found]:
        """The ``k`` documents with the passage nearest to ``query``, best first, ties by row."""
        wanted = _EACH * k
        while True:
            best: dict[int, Found] = {}
            near = [item for item in self._index.search(query, wanted) if item.score > 0]
            for item in near:
                row = int(self._document[item.document])
                best.setdefault(row, Found(row, item.score, int(self._start[item.document])))
            if len(best) >= k or len(near) < wanted:
                return sorted(best.values(), key=lambda found: (-found.score, found.document))[:k]
            wanted *= 4


def cut(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Spans of passages of at most ``size`` code points that join to ``text``; cut between paragraphs, else lines,
    else sentences, else words."""
    start = 0
    while len(text) - start > size:
        floor = start + size // 2
        ends = (at + len(mark) for mark in _ENDS if (at := text.rfind(mark, floor, start + size - len(mark) + 1)) > 0)
        end = next(ends, start + size)
        yield start, end
        start = end
    yield start, len(text)
