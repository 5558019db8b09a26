"""Duplicates of a whole table: pairs with scores, clusters, representatives.

Rows are taken in the order of their ids, whatever order they come in, so neither shards nor workers change anything.
Memory: 8 bytes per row and band of MinHash, 4 per row and dimension where texts are encoded, 24 per pair of the forests
(at most one pair per row and kind), beside the texts, which are asked for by number and may stay on disk.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.dedup.minhash import MinHasher, bands_for, candidates, caught
from synth.dedup.pairs import UNIT, Clusters, Kind, Pair, PairForest, clusters_of
from synth.dedup.rules import Rules
from synth.dedup.sketch import Sketch
from synth.dedup.text import jaccard, shingles, text_hash
from synth.retrieval.encoder import Encoder
from synth.retrieval.joins import join

__all__ = ["Corpus", "Found", "Method", "find_duplicates", "signatures"]

_BATCH = 1024
"""Texts per call of the encoder: always, so that a model's batches are the same."""
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
    order = sorted(range(len(corpus.ids)), key=corpus.ids.__getitem__)
    texts = _Ordered(corpus.texts, order)
    n = len(order)
    pairs: list[Pair] = []
    methods: list[Method] = []
    distinct = list(range(n))
    if rules.exact:
        hashes: list[Hashable] = [text_hash(text) for text in texts] if sketch is None else _keys(sketch.texts, order)
        distinct = _groups(hashes, "exact", pairs)
        methods.append(Method("exact", True, 1.0, "hashes of canonical texts"))
    if rules.structural and (corpus.structures is not None or (sketch is not None and sketch.structures is not None)):
        if sketch is not None and sketch.structures is not None:
            _groups(_keys(sketch.structures, order), "structural", pairs)
        elif corpus.structures is not None:
            _groups([corpus.structures[row] for row in order], "structural", pairs)
        methods.append(Method("structural", True, 1.0, "hashes of structures"))
    if rules.near is not None:
        made = None if sketch is None else sketch.signatures
        rows = None if made is None else made[[order[row] for row in distinct]]
        pairs += _near(texts, distinct, rules.near, rules.words, methods, rows)
    if rules.semantic is not None and encoder is not None:
        known = None if sketch is None else sketch.vectors
        vectors = _encoded(texts, distinct, encoder) if known is None else known[[order[row] for row in distinct]]
        pairs += _semantic(vectors, distinct, rules, encoder, methods)
    quality = None if corpus.quality is None else tuple(corpus.quality[row] for row in order)
    if sketch is not None:
        quality = tuple(tuple(sketch.quality[row].tolist()) for row in order)
    return Found(tuple(corpus.ids[row] for row in order), rules, tuple(pairs), tuple(methods), quality)


def _fits(sketch: Sketch, corpus: Corpus, rules: Rules) -> None:
    """Raises ValueError: the sketch is of other rows, or lacks what the rules need."""
    if len(sketch.texts) != len(corpus.ids):
        raise ValueError(f"a sketch of {len(sketch.texts)} rows for {len(corpus.ids)}")
    if rules.near is not None and sketch.signatures is None:
        raise ValueError("near duplicates need signatures, and the sketch has none")
    if rules.semantic is not None and sketch.vectors is None:
        raise ValueError("semantic duplicates need vectors, and the sketch has none")


def _keys(hashes: NDArray[np.uint64], order: Sequence[int]) -> list[Hashable]:
    """A key per row of ``hashes (n, 2)``, in ``order``; None where it is all zeros."""
    return [hashes[row].tobytes() if hashes[row].any() else None for row in order]


class _Ordered(Sequence[str]):
    """Texts in another order, asked for one by one."""

    def __init__(self, texts: Sequence[str], order: Sequence[int]) -> None:
        self._texts, self._order = texts, order

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, place: int) -> str:  # type: ignore[override]
        return self._texts[self._order[place]]


def _groups(keys: Sequence[Hashable], kind: Kind, pairs: list[Pair]) -> list[int]:
    """A pair for each row whose key an earlier row has, with the first such; the rows whose key is new, or None."""
    first: dict[Hashable, int] = {}
    new: list[int] = []
    for row, key in enumerate(keys):
        if key is None or first.setdefault(key, row) == row:
            new.append(row)
        else:
            pairs.append(Pair(first[key], row, kind, 1.0))
    return new


def signatures(texts: Sequence[str], hasher: MinHasher, words: int) -> NDArray[np.uint64]:
    """``(len(texts), bands) uint64``: keys of the bands. Of every text alone, so it may be computed in any pieces."""
    found = np.zeros((len(texts), hasher.bands), dtype=np.uint64)
    for row, text in enumerate(texts):
        found[row] = hasher.keys(hasher.signature(shingles(text, words))[None])[0]
    return found


def _near(
    texts: Sequence[str],
    distinct: Sequence[int],
    threshold: float,
    words: int,
    methods: list[Method],
    made: NDArray[np.uint32] | None,
) -> Iterator[Pair]:
    bands, rows = bands_for(threshold)
    hasher = MinHasher(bands, rows)
    if made is None:
        keys = signatures(_Ordered(texts, distinct), hasher, words)
    else:
        keys = hasher.keys(made[:, : bands * rows])

    # Neighbouring candidates share their left row, and a bucket's rows come again in other bands.
    @lru_cache(maxsize=4096)
    def grams(row: int) -> NDArray[np.uint64]:
        return shingles(texts[distinct[row]], words)

    forest = PairForest(len(distinct))
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


def _encoded(texts: Sequence[str], distinct: Sequence[int], encoder: Encoder) -> NDArray[np.float32]:
    vectors = np.zeros((len(distinct), encoder.dim), dtype=np.float32)
    for start in range(0, len(distinct), _BATCH):
        batch = [texts[row] for row in distinct[start : start + _BATCH]]
        vectors[start : start + len(batch)] = encoder.encode(batch)
    return vectors


def _semantic(
    vectors: NDArray[np.float32], distinct: Sequence[int], rules: Rules, encoder: Encoder, methods: list[Method]
) -> Iterator[Pair]:
    assert rules.semantic is not None
    forest = PairForest(len(distinct))
    alike: list[Pair] = []
    # Texts of one vector (the same words in another order) first: a thousand of them are a thousand pairs, not 10^6.
    rows = np.array(_groups([_bytes(vector) for vector in vectors], "semantic", alike), dtype=np.int64)
    if alike:
        ends = np.array([(pair.left, pair.right) for pair in alike], dtype=np.int64)
        forest.add(ends[:, 0], ends[:, 1], np.full(len(ends), UNIT))
    found = join(vectors[rows] if alike else vectors, rules.semantic, rules.index)
    for left, right, scores in found:
        forest.add(rows[left], rows[right], scores)
    how = (
        "every two compared" if found.exact else f"{rules.index}, {found.probes} probes, {found.sampled:,} rows sampled"
    )
    methods.append(Method("semantic", found.exact and not found.cut, found.recall, f"{encoder.name}: {how}"))
    return _pairs(forest, distinct, "semantic")


def _bytes(vector: NDArray[np.float32]) -> str | None:
    return xxhash.xxh3_128_hexdigest(vector.tobytes()) if vector.any() else None


def _pairs(forest: PairForest, rows: Sequence[int], kind: Kind) -> Iterator[Pair]:
    for score, left, right in forest.pairs().tolist():
        yield Pair(rows[left], rows[right], kind, score / UNIT)
