"""Who finds documents for a search: words (BM25), vectors of passages, or both.

Each is an entry of the registry's table ``retrievers``; a search environment without one ranks by BM25.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray
from pydantic import Field, model_validator

from synth.identity import versioned
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.encoder import Encoder
from synth.retrieval.passages import PASSAGE, Found, PassageIndex
from synth.retrieval.vectors import IndexKind
from synth.schemas.described import Described

__all__ = [
    "BM25",
    "DENSE",
    "HYBRID",
    "DenseRetriever",
    "FoundDocument",
    "HybridRetriever",
    "Retriever",
    "RetrieverSpec",
    "Vectors",
]

_FUSION = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009): a document's score is the sum of
1 / (60 + rank) over the rankings."""
_DEPTH = 100
"""Results of each ranking that are fused."""
_HELD = 0.4
"""Where the best page by words holds so much of the query's weight, words and passages count alike; where it holds
less, words count by the square of the proportion. The mean is 0.55 on questions in a page's own words, 0.05 on
paraphrases."""


class Arrays(Protocol):
    def arrays(self, name: str) -> Mapping[str, NDArray[Any]]: ...


class Vectors(Described):
    """How vectors are made and compared, where a search goes by meaning."""

    encoder: str = "hashed"
    """Encodes passages and queries: ``hashed`` sees words and their spelling and needs nothing,
    ``sentence-transformers`` is any such model (extra ``embed``)."""
    model: str | None = None
    """Of ``sentence-transformers``: the model's name on the Hub, or its folder."""
    revision: str | None = None
    """Of ``sentence-transformers``: commit of the model on the Hub."""
    index: IndexKind = "exact"
    """How the nearest vectors are found: ``exact`` compares with all, ``faiss-hnsw`` (extra ``embed``) is faster over
    many passages and misses some."""
    passage: int = Field(default=PASSAGE, ge=100, le=10_000)
    """Code points of a passage. A document is as near as its nearest passage."""

    @model_validator(mode="after")
    def _model(self) -> Vectors:
        if (self.encoder == "sentence-transformers") != (self.model is not None):
            raise ValueError("model names the model of the encoder sentence-transformers, and only of that")
        return self

    @property
    def encoder_options(self) -> dict[str, Any]:
        return {} if self.model is None else {"model": self.model, "revision": self.revision}


class FoundDocument(Protocol):
    @property
    def document(self) -> int:
        """Row number in the documents table."""

    @property
    def score(self) -> float: ...


class Retriever(Protocol):
    def search(self, query: str, k: int) -> Sequence[FoundDocument]:
        """The ``k`` best documents, best first, ties in a fixed order. One found by a passage of it says its
        ``start``, too."""


@dataclass(frozen=True)
class RetrieverSpec:
    """One way to find documents."""

    open: Callable[..., Retriever]
    """Makes it from ``inputs`` and, where it compares vectors, ``encoder`` and ``index``."""
    needs: tuple[str, ...]
    """Arrays of the build that it is opened over."""
    vectors: bool
    """Whether it compares vectors."""
    libraries: tuple[str, ...] = ("numpy",)

    def __call__(self, **options: Any) -> Retriever:
        return self.open(**options)

    @property
    def version(self) -> int:
        """What the factory states (:func:`synth.identity.versioned`)."""
        stated: int = self.open.version  # type: ignore[attr-defined]
        return stated


class DenseRetriever:
    """By the nearest passage. Words are weighed as BM25 weighs them, for the snippets of results."""

    def __init__(self, passages: PassageIndex, words: Bm25Index) -> None:
        self._passages = passages
        self.weight = words.weight

    def search(self, query: str, k: int) -> list[Found]:
        """See :class:`Retriever`."""
        return self._passages.search(query, k)


class HybridRetriever:
    """BM25 and passages, fused by reciprocal ranks. Words count for less where no page holds those of the query."""

    def __init__(self, passages: PassageIndex, words: Bm25Index) -> None:
        self._passages, self._words = passages, words
        self.weight = words.weight

    def search(self, query: str, k: int) -> list[Found]:
        """See :class:`Retriever`."""
        depth = max(_DEPTH, k)
        near = self._passages.search(query, depth)
        start = {found.document: found.start for found in near}
        score: dict[int, float] = {}
        hits = self._words.search(query, depth)
        trust = min(1.0, self._words.share(query, hits[0].score) / _HELD) ** 2 if hits else 0.0
        rankings = ((trust, [hit.document for hit in hits]), (1.0, [found.document for found in near]))
        for weight, ranking in rankings:
            for rank, row in enumerate(ranking, start=1):
                score[row] = score.get(row, 0.0) + weight / (_FUSION + rank)
        best = sorted(score, key=lambda row: (-round(score[row], 9), row))[:k]
        return [Found(row, round(score[row], 9), start.get(row)) for row in best]


@versioned(7)
def open_bm25(*, inputs: Arrays) -> Bm25Index:
    """BM25 over the arrays ``index``."""
    return Bm25Index(inputs.arrays("index"))


def _opened(inputs: Arrays, encoder: Encoder, index: IndexKind) -> tuple[PassageIndex, Bm25Index]:
    return PassageIndex(inputs.arrays("passages"), encoder, index), open_bm25(inputs=inputs)


@versioned(7)
def open_dense(*, inputs: Arrays, encoder: Encoder, index: IndexKind = "exact") -> DenseRetriever:
    """Vectors over the arrays ``passages`` (and ``index``)."""
    return DenseRetriever(*_opened(inputs, encoder, index))


@versioned(8)
def open_hybrid(*, inputs: Arrays, encoder: Encoder, index: IndexKind = "exact") -> HybridRetriever:
    """Both over the arrays ``passages`` and ``index``."""
    return HybridRetriever(*_opened(inputs, encoder, index))


BM25 = RetrieverSpec(open_bm25, ("index",), vectors=False, libraries=("numpy", "bm25s"))
DENSE = RetrieverSpec(open_dense, ("index", "passages"), vectors=True, libraries=("numpy", "bm25s"))
HYBRID = RetrieverSpec(open_hybrid, ("index", "passages"), vectors=True, libraries=("numpy", "bm25s"))
