"""Duplicates of a whole table: pairs with scores, clusters, representatives.

Rows are taken in the order of their ids, whatever order they come in, so neither shards nor workers change anything.
Memory: some 100 bytes per row, 8 per row and band of MinHash, 160 per pair (at most one per row and kind), and what the
index of vectors takes. Texts are asked for by number, signatures and vectors of a sketch too: they may stay on disk.
Without a sketch, vectors are held in memory: 4 bytes per row and dimension. ``estimate.py`` reckons it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.filtering.dedup.minhash import MinHasher, bands_for, candidates, caught
from synth.filtering.dedup.pairs import UNIT, Clusters, Kind, Pair, PairForest, clusters_of
from synth.filtering.dedup.rules import Rules
from synth.filtering.dedup.sketch import Sketch, hash_numbers, structure_hash
from synth.filtering.dedup.text import jaccard, shingles, text_hash
from synth.retrieval.encoder import Encoder
from synth.retrieval.joins import join

__all__ = ["Corpus", "Found", "Method", "find_duplicates", "signatures"]

_BATCH = 1024
"""Texts per call of the encoder: always, so that a model's batches are the same."""
_TOGETHER = 128
"""Texts whose n-grams are hashed together."""
_CHUNK = 1 << 16
"""Candidates of MinHash that are scored before they go to the forest."""


@dataclass(frozen=True)
class Corpus:
    """Rows to be compared; all sequences of one length, and lazy ones are welcome."""

    ids: Sequence[str]
    """Distinct."""
    texts: Sequence[str]
    structures: Sequence[str | None] | None = None
    """Keys of structure; None = the row has none."""
    quality: Sequence[tuple[float, ...]] | None = None
    """The greatest of a cluster represents it, of equal ones the first id."""

    def __post_init__(self) -> None:
        for name in ("texts", "structures", "quality"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.ids):
                raise ValueError(f"{len(self.ids)} ids and {len(column)} {name}")
        if len(set(self.ids)) < len(self.ids):
            raise ValueError("two rows have the same id")


@dataclass(frozen=True)
class Method:
    """How pairs of a kind were found."""

    kind: Kind
    exact: bool
    """Whether none can have been missed."""
    recall: float
    """Share that is found: measured on sampled rows for vectors, the probability at the threshold for MinHash."""
    words: str
    """The same in words."""


@dataclass(frozen=True)
class Found:
    """What was found. Row numbers are places in ``ids``, which is sorted."""

    ids: tuple[str, ...]
    rules: Rules
    pairs: tuple[Pair, ...]
    """The forest of each kind, best first: enough for the clusters at every threshold from that of ``rules`` on."""
    methods: tuple[Method, ...]
    quality: tuple[tuple[float, ...], ...] | None = field(default=None, repr=False)

    def chosen(self, *, near: float | None = None, semantic: float | None = None) -> tuple[Pair, ...]:
        """Pairs at thresholds that are no lower than those looked for. Raises ValueError as :meth:`Rules.at`."""
        rules = self.rules.at(near=near, semantic=semantic)
        least = {"near": rules.near, "semantic": rules.semantic}
        return tuple(pair for pair in self.pairs if pair.score >= (least.get(pair.kind) or 0.0))

    def clusters(self, *, near: float | None = None, semantic: float | None = None) -> Clusters:
        """Clusters at those thresholds, without a look at a text or vector."""
        return clusters_of(len(self.ids), self.chosen(near=near, semantic=semantic), self.quality)


def find_duplicates(
    corpus: Corpus, rules: Rules, encoder: Encoder | None = None, *, sketch: Sketch | None = None
) -> Found:
    """All duplicates of ``corpus`` by ``rules``. The result does not depend on the order of its rows.

    Args:
        encoder: fitted; needed where ``rules.semantic`` is given.
        sketch: What was computed of the rows before, in the order of ``corpus``: nothing of it is made again, and a
            text is asked for only where a candidate of MinHash is scored.

    Raises:
        InputError: ``rules.index`` needs FAISS, which is not installed.
        ValueError: there is no encoder, and one is needed; or the sketch lacks what the rules need.
    """
    if rules.semantic is not None and encoder is None:
        raise ValueError("semantic duplicates need an encoder")
    if sketch is not None:
        _fits(sketch, corpus, rules)
    n = len(corpus.ids)
    order = np.fromiter(sorted(range(n), key=corpus.ids.__getitem__), dtype=np.int64, count=n)
    texts = _Ordered(corpus.texts, order)
    pairs: list[Pair] = []
    methods: list[Method] = []
    distinct = np.arange(n)
    if rules.exact:
        hashes = _hashes(text_hash(text) for text in texts) if sketch is None else sketch.texts[order]
        distinct = _groups(hashes, "exact", pairs)
        methods.append(Method("exact", True, 1.0, "hashes of canonical texts"))
    if rules.structural and (corpus.structures is not None or (sketch is not None and sketch.structures is not None)):
        if sketch is not None and sketch.structures is not None:
            _groups(sketch.structures[order], "structural", pairs)
        elif corpus.structures is not None:
            structures = corpus.structures
            _groups(_hashes(structure_hash(structures[row]) for row in order.tolist()), "structural", pairs)
        methods.append(Method("structural", True, 1.0, "hashes of structures"))
    if rules.near is not None:
        made = None if sketch is None or sketch.signatures is None else _Rows(sketch.signatures, order[distinct])
        pairs += _near(texts, distinct, rules.near, rules.words, methods, made)
    if rules.semantic is not None and encoder is not None:
        known = None if sketch is None or sketch.vectors is None else _Rows(sketch.vectors, order[distinct])
        encoded = _Rows(_encoded(texts, distinct, encoder), np.arange(len(distinct))) if known is None else known
        pairs += _semantic(encoded, distinct, rules, encoder, methods)
    quality = None if corpus.quality is None else tuple(corpus.quality[row] for row in order.tolist())
    if sketch is not None:
        quality = _ranks(sketch.quality[order])
    return Found(tuple(corpus.ids[row] for row in order.tolist()), rules, tuple(pairs), tuple(methods), quality)


def _ranks(quality: NDArray[np.float64]) -> tuple[tuple[float, ...], ...]:
    """Of each row of ``quality (n, k)`` the place among all that differ, ascending: small numbers that rows share."""
    if not quality.shape[1]:
        return ((),) * len(quality)
    _, ranks = np.unique(quality, axis=0, return_inverse=True)
    shared = [(float(rank),) for rank in range(int(ranks.max(initial=-1)) + 1)]
    return tuple(shared[rank] for rank in ranks.ravel().tolist())


def _fits(sketch: Sketch, corpus: Corpus, rules: Rules) -> None:
    """Raises ValueError: the sketch is of other rows, or lacks what the rules need."""
    if len(sketch.texts) != len(corpus.ids):
        raise ValueError(f"a sketch of {len(sketch.texts)} rows for {len(corpus.ids)}")
    if rules.near is not None and sketch.signatures is None:
        raise ValueError("near duplicates need signatures, and the sketch has none")
    if rules.semantic is not None and sketch.vectors is None:
        raise ValueError("semantic duplicates need vectors, and the sketch has none")


def _hashes(digests: Iterable[str | None]) -> NDArray[np.uint64]:
    """``(n, 2)``: 32 hex digits each as two numbers; None as zeros."""
    flat = (half for digest in digests for half in ((0, 0) if digest is None else hash_numbers(digest)))
    return np.fromiter(flat, dtype=np.uint64).reshape(-1, 2)


class _Ordered(Sequence[str]):
    """Texts in another order, asked for one by one."""

    def __init__(self, texts: Sequence[str], order: NDArray[np.int64]) -> None:
        self._texts, self._order = texts, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        return self._texts[int(self._order[place])]


class _Rows:
    """Some rows of a matrix, read when they are asked for: of a memory-mapped one no copy is made."""

    ndim = 2

    def __init__(self, matrix: NDArray[Any], order: NDArray[np.int64]) -> None:
        self._matrix, self._order = matrix, order
        self.shape = (len(order), matrix.shape[1])

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, rows: slice | NDArray[np.int64]) -> NDArray[Any]:
        """``(len(rows), width)``."""
        found: NDArray[Any] = self._matrix[self._order[rows]]
        return found

    def only(self, rows: NDArray[np.int64]) -> _Rows:
        """Of these the ``rows``."""
        return _Rows(self._matrix, self._order[rows])


def _groups(keys: NDArray[np.uint64], kind: Kind, pairs: list[Pair]) -> NDArray[np.int64]:
    """A pair for each row of ``keys (n, 2)`` that an earlier row is equal to, with the first such; the rows that none
    is. Zeros are equal to nothing."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))  # stable: equal ones stay in order
    ordered = keys[order]
    new = np.ones(len(keys), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    new |= ~ordered.any(axis=1)
    first = order[np.maximum.accumulate(np.where(new, np.arange(len(keys)), 0))]
    again, firsts = order[~new], first[~new]
    by_row = np.argsort(again)
    pairs += [
        Pair(one, other, kind, 1.0) for one, other in zip(firsts[by_row].tolist(), again[by_row].tolist(), strict=True)
    ]
    return np.sort(order[new])


def signatures(texts: Sequence[str], hasher: MinHasher, words: int) -> NDArray[np.uint64]:
    """``(len(texts), bands) uint64``: keys of the bands. Of every text alone, so it may be computed in any pieces."""
    found = np.zeros((len(texts), hasher.bands), dtype=np.uint64)
    for start in range(0, len(texts), _TOGETHER):
        rows = range(start, min(start + _TOGETHER, len(texts)))
        found[start : rows.stop] = hasher.keys(hasher.signatures([shingles(texts[row], words) for row in rows]))
    return found


def _near(
    texts: Sequence[str],
    distinct: NDArray[np.int64],
    threshold: float,
    words: int,
    methods: list[Method],
    made: _Rows | None,
) -> Iterator[Pair]:
    bands, rows = bands_for(threshold)
    hasher = MinHasher(bands, rows)
    if made is None:
        keys = signatures(_Ordered(texts, distinct), hasher, words)
    else:
        keys = np.zeros((len(made), bands), dtype=np.uint64)
        for start in range(0, len(made), _BATCH):
            keys[start : start + _BATCH] = hasher.keys(made[start : start + _BATCH][:, : bands * rows])

    # Neighbouring candidates share their left row, and a bucket's rows come again in other bands.
    @lru_cache(maxsize=4096)
    def grams(row: int) -> NDArray[np.uint64]:
        return shingles(texts[int(distinct[row])], words)

    forest = PairForest()
    found: list[tuple[int, int, int]] = []
    for one, other in candidates(keys):
        score = round(jaccard(grams(one), grams(other)) * UNIT)
        if score >= threshold * UNIT:
            found.append((one, other, score))
        if len(found) == _CHUNK:
            forest.add(*np.array(found, dtype=np.int64).T)
            found.clear()
    if found:
        forest.add(*np.array(found, dtype=np.int64).T)
    recall = round(caught(threshold, bands, rows), 4)
    said = f"MinHash of {bands} bands of {rows}, every candidate compared: {recall:.2%} of pairs at {threshold} are met"
    methods.append(Method("near", False, recall, said))
    return _pairs(forest, distinct, "near")


def _encoded(texts: Sequence[str], distinct: NDArray[np.int64], encoder: Encoder) -> NDArray[np.float32]:
    vectors = np.zeros((len(distinct), encoder.dim), dtype=np.float32)
    for start in range(0, len(distinct), _BATCH):
        batch = [texts[row] for row in distinct[start : start + _BATCH].tolist()]
        vectors[start : start + len(batch)] = encoder.encode(batch)
    return vectors


def _semantic(
    vectors: _Rows, distinct: NDArray[np.int64], rules: Rules, encoder: Encoder, methods: list[Method]
) -> Iterator[Pair]:
    assert rules.semantic is not None
    forest = PairForest()
    alike: list[Pair] = []
    # Texts of one vector (the same words in another order) first: a thousand of them are a thousand pairs, not 10^6.
    hashes = np.zeros((len(vectors), 2), dtype=np.uint64)
    for start in range(0, len(vectors), _BATCH):
        hashes[start : start + _BATCH] = _hashes(_bytes(vector) for vector in vectors[slice(start, start + _BATCH)])
    rows = _groups(hashes, "semantic", alike)
    if alike:
        ends = np.array([(pair.left, pair.right) for pair in alike], dtype=np.int64)
        forest.add(ends[:, 0], ends[:, 1], np.full(len(ends), UNIT))
    # It asks for slices and for rows by number, no more.
    found = join(cast("NDArray[np.float32]", vectors.only(rows)), rules.semantic, rules.index)
    for left, right, scores in found:
        forest.add(rows[left], rows[right], scores)
    how = (
        "every two compared" if found.exact else f"{rules.index}, {found.probes} probes, {found.sampled:,} rows sampled"
    )
    methods.append(Method("semantic", found.exact and not found.cut, found.recall, f"{encoder.name}: {how}"))
    return _pairs(forest, distinct, "semantic")


def _bytes(vector: NDArray[np.float32]) -> str | None:
    return xxhash.xxh3_128_hexdigest(vector.tobytes()) if vector.any() else None


def _pairs(forest: PairForest, rows: NDArray[np.int64], kind: Kind) -> Iterator[Pair]:
    for score, left, right in forest.pairs().tolist():
        yield Pair(int(rows[left]), int(rows[right]), kind, score / UNIT)
