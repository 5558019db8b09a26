"""BM25 over bm25s: a memory-mapped index, exact and deterministic search, exhaustive search for mentions.

The index has the layout of bm25s (a column per token with its documents and their finished scores, method "lucene"),
computed in chunks so that a million documents need no list of their tokens. bm25s scores the queries.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.retrieval.bm25_library import load_bm25s
from synth.retrieval.tokens import TOKENIZER_VERSION, surface_tokens, surfaces, tokenize

__all__ = ["Bm25Index", "Hit"]

Ints = NDArray[Any]

_FORMAT = 1
_DECIMALS = 4
"""Scores are rounded to this before they are compared, so that the last bits of a float decide nothing."""
_MARGIN = 1e-3
"""Room for rounding, and for the order of additions, where scores are compared before they are rounded."""
_LOOK_UP = 20
"""What finding a document in a column costs, in additions of a posting. Sets the speed of search, nothing else."""
_CHUNK = 4096
"""Documents that are counted at once."""
_FOUND = 1 << 16
"""Tokens whose place in the vocabulary is remembered."""
_CACHE = 1 << 20
"""Surfaces whose tokens are remembered while building."""


@dataclass(frozen=True, slots=True)
class Hit:
    document: int
    """Row number in ``documents``."""
    score: float
    """BM25, rounded to four decimals; greater than 0 before rounding."""


class Bm25Index:
    """An index over ``documents``; its arrays may be memory-mapped."""

    def __init__(self, arrays: Mapping[str, Ints]) -> None:
        """``arrays`` is what :meth:`build` returned. Raises ValueError when it is not, or of another version."""
        bm25s = load_bm25s()
        missing = [name for name in _ARRAYS if name not in arrays]
        if missing:
            raise ValueError(f"not a BM25 index: no array {missing[0]!r}")
        version, tokenizer, self.n_documents = (int(number) for number in arrays["sizes"])
        if (version, tokenizer) != (_FORMAT, TOKENIZER_VERSION):
            raise ValueError(
                f"index of format {version} and tokenizer {tokenizer}, this is {_FORMAT} and {TOKENIZER_VERSION}"
            )
        # As plain arrays: still memory-mapped, but slices of np.memmap cost microseconds each.
        self._start = np.asarray(arrays["indptr"])
        self._documents = np.asarray(arrays["indices"])
        self._scores = np.asarray(arrays["data"])
        self._largest = np.asarray(arrays["largest"])
        # An item of a view is a plain number, which one of an array is not.
        self._vocabulary = np.asarray(arrays["vocabulary_bytes"]).data
        self._bounds = np.asarray(arrays["vocabulary_offsets"]).data
        self._found: dict[str, int | None] = {}
        k1, b = (float(number) for number in arrays["parameters"][:2])
        self._bm25 = bm25s.BM25(method="lucene", k1=k1, b=b)
        self._bm25.scores = {
            "data": self._scores,
            "indices": self._documents,
            "indptr": self._start,
            "num_docs": self.n_documents,
        }
        self._bm25.nonoccurrence_array = None

    # -- building ----------------------------------------------------------------------------------------------------

    @classmethod
    def build(
        cls,
        documents: pa.Table | Iterable[tuple[str, str, Sequence[str]]],
        *,
        k1: float = 1.2,
        b: float = 0.75,
        title_weight: int = 3,
        alias_weight: int = 1,
    ) -> dict[str, Ints]:
        """Arrays of an index.

        Args:
            documents: a ``documents`` table (columns title, text, aliases), or (title, text, aliases) in order.
            k1, b: BM25's saturation and length normalization.
            title_weight, alias_weight: how often title and aliases count, as if they stood in the text so many times.

        Memory: about 12 bytes per distinct (token, document) while building, 8 in the result, and the vocabulary.
        """
        vocabulary: dict[str, int] = {}
        known: dict[str, tuple[int, ...]] = {}

        def ids(text: str) -> list[int]:
            found: list[int] = []
            for surface in surfaces(text):
                tokens = known.get(surface)
                if tokens is None:
                    tokens = tuple(vocabulary.setdefault(t, len(vocabulary)) for t in surface_tokens(surface))
                    if len(known) >= _CACHE:
                        known.clear()
                    known[surface] = tokens
                found += tokens
            return found

        counted: list[tuple[Ints, Ints, Ints]] = []
        lengths: list[Ints] = []
        n_documents = 0
        for chunk in _chunks(documents):
            flat: list[int] = []
            sizes: list[int] = []
            for title, text, aliases in chunk:
                before = len(flat)
                flat += ids(title) * title_weight
                for alias in aliases:
                    flat += ids(alias) * alias_weight
                flat += ids(text)
                sizes.append(len(flat) - before)
            length = np.array(sizes, dtype=np.int32)
            counted.append(_count(np.array(flat, dtype=np.int64), length, n_documents))
            lengths.append(length)
            n_documents += len(sizes)
        known.clear()
        length = np.concatenate(lengths) if lengths else np.zeros(0, dtype=np.int32)
        rank, text_bytes, offsets = _sorted_vocabulary(vocabulary)
        vocabulary.clear()
        data, indices, indptr = _columns(counted, rank, length, k1, b)
        largest = np.maximum.reduceat(data, indptr[:-1]) if len(data) else np.zeros(0, dtype=np.float32)
        return {
            "sizes": np.array([_FORMAT, TOKENIZER_VERSION, n_documents], dtype=np.int64),
            "parameters": np.array([k1, b, title_weight, alias_weight], dtype=np.float64),
            "data": data,
            "indices": indices,
            "indptr": indptr,
            "largest": largest,
            "vocabulary_bytes": text_bytes,
            "vocabulary_offsets": offsets,
        }

    # -- searching ---------------------------------------------------------------------------------------------------

    def search(self, query: str, k: int) -> list[Hit]:
        """The ``k`` best documents, best first; equal scores go by document number. Only documents that share a token
        with the query, so the list may be shorter than ``k``, or empty. A token counts once, however often it stands in
        the query.

        Raises:
            ValueError: ``k`` is less than 1.
        """
        if k < 1:
            raise ValueError(f"k is {k}: at least 1 document")
        tokens = self._known(tokenize(query))
        if len(tokens) == 0:
            return []
        documents, scores = self._candidates(tokens, k)
        scores = np.round(scores.astype(np.float64), _DECIMALS)
        if len(scores) > k:
            # Of equal scores only the lowest document numbers can be needed, and documents ascend here.
            worst = _kth_largest(scores, k)
            above = np.flatnonzero(scores > worst)
            level = np.flatnonzero(scores == worst)[: k - len(above)]
            keep = np.concatenate([above, level])
            documents, scores = documents[keep], scores[keep]
        order = np.lexsort((documents, -scores))
        return [Hit(int(documents[i]), float(scores[i])) for i in order]

    def _candidates(self, tokens: Ints, k: int) -> tuple[Ints, Ints]:
        """Documents (ascending) that hold the best ``k``, with their full scores (float32, as bm25s sums them).

        Frequent tokens have long columns and small scores. So columns are added from the rarest token on. As soon as
        the k-th best sum beats all that the columns left out can add to a document (MaxScore), only documents whose sum
        comes close enough can still be among the best; once these are few, only they are scored in full.
        """
        counts = self._start[tokens + 1] - self._start[tokens]
        by_count = np.lexsort((tokens, counts))
        order = tokens[by_count]
        left = np.append(np.cumsum(self._largest[order][::-1].astype(np.float64))[::-1], 0.0)
        postings = np.append(np.cumsum(counts[by_count][::-1])[::-1], 0)
        added = max(1, int(np.count_nonzero(counts <= self.n_documents // 64)))
        sums = self._bm25.get_scores_from_ids(order[:added].tolist())
        best = _kth_largest(sums, k) if len(sums) >= k else 0.0
        most = best
        while added < len(order) and best <= left[added] + _MARGIN:
            self._add(sums, order[added])
            most += float(left[added] - left[added + 1])  # no sum grows by more
            added += 1
            if len(sums) >= k and most > left[added] + _MARGIN:
                most = best = _kth_largest(sums, k)
        documents = np.flatnonzero((sums > 0) & (sums >= best - left[added] - _MARGIN))
        while added < len(order) and len(documents) * len(tokens) * _LOOK_UP >= postings[added]:
            self._add(sums, order[added])
            added += 1
            found = sums[documents]
            documents = documents[found >= np.sort(found)[-k] - left[added] - _MARGIN]
        return documents, self._score(tokens, documents)

    def _add(self, sums: Ints, token: int) -> None:
        start, stop = self._start[token], self._start[token + 1]
        sums[self._documents[start:stop]] += self._scores[start:stop]

    def _score(self, tokens: Ints, documents: Ints) -> Ints:
        """Scores of ``documents``, added in the order in which bm25s adds them: equal to the last bit."""
        scores = np.zeros(len(documents), dtype=np.float32)
        for token in tokens:
            start, stop = int(self._start[token]), int(self._start[token + 1])
            column = self._documents[start:stop]
            at = np.searchsorted(column, documents)
            hit = column[np.minimum(at, len(column) - 1)] == documents
            scores[hit] += self._scores[start + at[hit]]
        return scores

    def holding(self, text: str) -> list[int]:
        """Documents that hold every token of ``text``, ascending; none for a text without tokens."""
        numbers = [self._find(token) for token in dict.fromkeys(tokenize(text))]
        if not numbers or any(number is None for number in numbers):
            return []
        columns = [self._documents[self._start[n] : self._start[n + 1]] for n in numbers if n is not None]
        found = reduce(np.intersect1d, sorted(columns, key=len))
        return [int(row) for row in found]

    # -- tokens and mentions -----------------------------------------------------------------------------------------

    @property
    def n_tokens(self) -> int:
        """Size of the vocabulary."""
        return len(self._bounds) - 1

    def frequency(self, token: str) -> int:
        """How many documents have the token (as ``tokenize`` writes it)."""
        number = self._find(token)
        return 0 if number is None else int(self._start[number + 1] - self._start[number])

    def weight(self, token: str) -> float:
        """Inverse document frequency of a token, 0 when no document has it."""
        count = self.frequency(token)
        return _idf(count, self.n_documents) if count else 0.0

    def share(self, query: str, score: float) -> float:
        """How much of the query's weight a document of this score holds, 0 to 1: a word that no document has weighs as
        much as one that a single document might have."""
        whole = sum(_idf(self.frequency(token), self.n_documents) for token in {*tokenize(query)})
        return min(1.0, score / whole) if whole else 0.0

    def _known(self, tokens: Iterable[str]) -> Ints:
        """Numbers of the distinct tokens that the vocabulary has, ascending."""
        numbers = {number for token in set(tokens) if (number := self._find(token)) is not None}
        return np.array(sorted(numbers), dtype=np.int64)

    def _find(self, token: str) -> int | None:
        if token not in self._found:
            if len(self._found) >= _FOUND:
                self._found.clear()
            wanted = token.encode()
            at = bisect_left(range(self.n_tokens), wanted, key=self._token)
            self._found[token] = at if at < self.n_tokens and self._token(at) == wanted else None
        return self._found[token]

    def _token(self, number: int) -> bytes:
        return self._vocabulary[self._bounds[number] : self._bounds[number + 1]].tobytes()


_ARRAYS = (
    "sizes",
    "parameters",
    "data",
    "indices",
    "indptr",
    "largest",
    "vocabulary_bytes",
    "vocabulary_offsets",
)


def _chunks(
    documents: pa.Table | Iterable[tuple[str, str, Sequence[str]]],
) -> Iterator[list[tuple[str, str, Sequence[str]]]]:
    if isinstance(documents, pa.Table):
        for batch in documents.select(["title", "text", "aliases"]).to_batches(max_chunksize=_CHUNK):
            columns = [batch.column(name).to_pylist() for name in ("title", "text", "aliases")]
            yield [(title, text, aliases or ()) for title, text, aliases in zip(*columns, strict=True)]
        return
    chunk: list[tuple[str, str, Sequence[str]]] = []
    for document in documents:
        chunk.append(document)
        if len(chunk) == _CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _sorted_vocabulary(vocabulary: Mapping[str, int]) -> tuple[Ints, Ints, Ints]:
    """Rank (by UTF-8 bytes) of each token number, the bytes of all tokens in that order, and their offsets."""
    encoded = [token.encode() for token in vocabulary]
    order = sorted(range(len(encoded)), key=encoded.__getitem__)
    rank = np.empty(len(encoded), dtype=np.int64)
    rank[order] = np.arange(len(encoded))
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(encoded[i]) for i in order], out=offsets[1:])
    return rank, np.frombuffer(b"".join(encoded[i] for i in order), dtype=np.uint8), offsets


def _count(tokens: Ints, lengths: Ints, first_document: int) -> tuple[Ints, Ints, Ints]:
    """Distinct (token, document) of a chunk, sorted, with their counts: three arrays (n,)."""
    owner = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
    key, count = np.unique(tokens * max(1, len(lengths)) + owner, return_counts=True)
    token, document = np.divmod(key, max(1, len(lengths)))
    return token.astype(np.int32), (document + first_document).astype(np.int32), count.astype(np.int32)


def _columns(
    counted: list[tuple[Ints, Ints, Ints]], rank: Ints, lengths: Ints, k1: float, b: float
) -> tuple[Ints, Ints, Ints]:
    """The index in bm25s's layout: ``data`` float32, ``indices`` int32 (ascending per token), ``indptr`` int64.

    A counting sort over the chunks, each of which is sorted already; ``counted`` is emptied on the way.
    """
    n_tokens, n_documents = len(rank), len(lengths)
    frequency = np.zeros(n_tokens, dtype=np.int64)
    for token, _, _ in counted:
        first, size = _runs(token)
        frequency[rank[token[first]]] += size
    indptr = np.zeros(n_tokens + 1, dtype=np.int64)
    np.cumsum(frequency, out=indptr[1:])
    idf = np.array([_idf(count, n_documents) for count in frequency.tolist()], dtype=np.float32)
    average = float(lengths.mean()) if n_documents else 0.0
    data = np.empty(int(indptr[-1]), dtype=np.float32)
    indices = np.empty(int(indptr[-1]), dtype=np.int32)
    head = indptr[:-1].copy()
    counted.reverse()
    while counted:
        token, document, count = counted.pop()
        first, size = _runs(token)
        ranked = rank[token]
        place = head[ranked] + np.arange(len(token)) - np.repeat(first, size)
        head[rank[token[first]]] += size
        times = count.astype(np.float64)
        share = times / (k1 * ((1 - b) + b * lengths[document] / average) + times)
        data[place] = idf[ranked] * share
        indices[place] = document
    return data, indices, indptr


def _runs(values: Ints) -> tuple[Ints, Ints]:
    """Where runs of equal values begin, and how long they are."""
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = values[1:] != values[:-1]
    first = np.flatnonzero(new)
    return first, np.diff(np.append(first, len(values)))


def _kth_largest(values: Ints, k: int) -> float:
    """The ``k``-th largest of at least ``k`` values.

    Not by ``np.partition``, which is several times slower where most values are equal, as scores of a frequent word
    are: the k-th largest of the blocks' maxima bounds the answer from below, and few values reach that bound.
    """
    block = 256
    whole = len(values) // block * block
    if whole >= k * block:
        maxima = np.sort(values[:whole].reshape(-1, block).max(axis=1))
        values = values[values >= maxima[len(maxima) - k]]
    return float(np.sort(values)[len(values) - k])


def _idf(count: int, n_documents: int) -> float:
    return math.log(1 + (n_documents - count + 0.5) / (count + 0.5))
