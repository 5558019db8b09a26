"""Another look at the first results: pairs of query and passage are scored, and the results put in that order.

Each is an entry of the registry's table ``rerankers``; ``environment.reranker`` names one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

from pydantic import Field, model_validator

from synth.errors import InputError
from synth.identity import versioned
from synth.retrieval.passages import PASSAGE, Found
from synth.retrieval.retrievers import Retriever
from synth.retrieval.snippets import best_passage, heavy_terms
from synth.retrieval.tokens import tokenize
from synth.schemas.described import Described

__all__ = ["CrossEncoder", "Proximity", "Reranked", "Reranker", "Reranking"]


class Reranking(Described):
    """Who looks at the first results again, and at how many."""

    kind: str = "proximity"
    """``proximity`` prefers passages in which the words of a query stand together, in its order, and needs nothing;
    ``cross-encoder`` is such a model of sentence-transformers (extra ``embed``); or one of an installed package."""
    model: str | None = None
    """Of ``cross-encoder``: the model's name on the Hub, or its folder."""
    revision: str | None = None
    """Of ``cross-encoder``: commit of the model on the Hub."""
    depth: int = Field(default=50, ge=1, le=200)
    """So many of the retriever's results are looked at; those behind them keep their order."""

    @model_validator(mode="after")
    def _model(self) -> Reranking:
        if (self.kind == "cross-encoder") != (self.model is not None):
            raise ValueError("model names the model of the reranker cross-encoder, and only of that")
        return self

    @property
    def options(self) -> dict[str, Any]:
        return self.model_dump(exclude={"kind"} if self.model is not None else {"kind", "model", "revision"})


class Reranker(Protocol):
    depth: int
    """How many results it is shown."""

    def scores(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """How well each passage answers ``query``: the higher, the better. Equal arguments, equal numbers."""


class Proximity:
    """Share of the query's words that a passage has, and of its pairs of neighbours that stand together there."""

    def __init__(self, depth: int = 50) -> None:
        self.depth = depth

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :class:`Reranker`. From 0 to 2."""
        words = tokenize(query)
        pairs = set(pairwise(words))
        found = []
        for passage in passages:
            there = tokenize(passage)
            near = set(pairwise(there)) | set(zip(there, there[2:], strict=False))
            held = len(set(words) & set(there)) / max(1, len(set(words)))
            found.append(held + len(pairs & near) / max(1, len(pairs)))
        return found


class CrossEncoder:
    """A cross-encoder of sentence-transformers, on the CPU (extra ``embed``).

    Args:
        model: Name on the Hub or path of a folder that ``CrossEncoder`` opens.
        revision: Commit of the model on the Hub.
    """

    def __init__(self, model: str, revision: str | None = None, depth: int = 50) -> None:
        self.depth = depth
        try:
            import sentence_transformers  # type: ignore[import-not-found]
        except ImportError as error:
            what = "the reranker 'cross-encoder' needs sentence-transformers"
            raise InputError(what, mend="install the extra embed") from error
        try:
            self._model: Any = sentence_transformers.CrossEncoder(model, revision=revision, device="cpu")
        except (OSError, ValueError) as error:
            first = (str(error).splitlines() or [""])[0]
            raise InputError(f"the reranker model {model!r} can't be opened: {first}") from error

    def scores(self, query: str, passages: Sequence[str]) -> list[float]:
        """See :class:`Reranker`."""
        made = self._model.predict([(query, passage) for passage in passages], show_progress_bar=False)
        return [round(float(score), 6) for score in made]


class Reranked:
    """A retriever whose first results a reranker puts in order. Of a page it sees the passage that was found, or that
    which has most of the query, below the title.

    Args:
        page: Title and text of a row of the documents table.
    """

    def __init__(self, inner: Retriever, reranker: Reranker, page: Callable[[int], tuple[str, str]]) -> None:
        self._inner, self._reranker, self._page = inner, reranker, page
        self.weight: Callable[[str], float] | None = getattr(inner, "weight", None)

    def search(self, query: str, k: int) -> list[Found]:
        """See :class:`~synth.retrieval.retrievers.Retriever`."""
        depth = self._reranker.depth
        hits = self._inner.search(query, max(k, depth))
        found = [Found(int(hit.document), float(hit.score), getattr(hit, "start", None)) for hit in hits]
        first, rest = found[:depth], found[depth:]
        terms = heavy_terms(query, self.weight)
        scores = self._reranker.scores(query, [self._passage(terms, one) for one in first]) if first else ()
        order = sorted(range(len(first)), key=lambda place: (-scores[place], place))
        return [*(Found(first[at].document, scores[at], first[at].start) for at in order), *rest][:k]

    def _passage(self, terms: Mapping[str, float], found: Found) -> str:
        title, text = self._page(found.document)
        if found.start is None:
            best = best_passage(text, terms, max_chars=PASSAGE)
            return f"{title}\n{text[best.start : best.end]}"
        return f"{title}\n{text[found.start : found.start + PASSAGE]}"


@versioned(6)
def proximity(*, depth: int = 50) -> Proximity:
    """The reranker that needs nothing."""
    return Proximity(depth)


@versioned(6)
def cross_encoder(*, model: str, revision: str | None = None, depth: int = 50) -> CrossEncoder:
    """A model of sentence-transformers. Raises InputError when the extra or the model is missing."""
    return CrossEncoder(model, revision, depth)
