"""Near pairs of vectors: every two compared, or by FAISS (here a small one of ours, on a GPU that does not exist)."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from synth.errors import InputError
from synth.retrieval.cells import near_pairs, open_cells, sample_pairs
from synth.retrieval.joins import SCALE, join
from synth.retrieval.vectors import FaissJoin


def _vectors(rows: int, near: int = 0, dim: int = 24) -> np.ndarray:
    drawn = np.random.Generator(np.random.Philox(key=rows)).normal(size=(rows, dim)).astype(np.float32)
    drawn[rows - near :] = drawn[:near] + 0.1 * drawn[rows - near :]
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def _found(vectors: np.ndarray, threshold: float, kind: Any = "exact") -> dict[tuple[int, int], int]:
    pairs = {}
    for left, right, scores in join(vectors, threshold, kind):
        pairs |= dict(zip(zip(left.tolist(), right.tolist(), strict=True), scores.tolist(), strict=True))
    return pairs


@pytest.mark.parametrize("rows", [0, 1, 700, 1024, 2100])
def test_every_two_are_compared_once(rows: int) -> None:
    vectors = _vectors(rows, near=rows // 3)
    units = np.rint((vectors @ vectors.T).astype(np.float64) * SCALE) if rows else np.zeros((0, 0))
    at, row = np.nonzero(np.triu(units >= 9000, 1))
    found = _found(vectors, 0.9)
    assert set(found) == set(zip(at.tolist(), row.tolist(), strict=True))
    assert len(found) >= rows // 3
    for (left, right), score in found.items():
        assert abs(score - units[left, right]) <= 1


def test_scores_do_not_depend_on_the_place_of_a_row() -> None:
    vectors = _vectors(1500, near=500)
    order = np.random.Generator(np.random.Philox(key=9)).permutation(1500)
    moved = _found(vectors[order], 0.9)
    back = {tuple(sorted((int(order[a]), int(order[b])))): score for (a, b), score in moved.items()}
    assert back == _found(vectors, 0.9)


def test_rows_of_zeros_are_near_to_none_and_bad_arguments_are_named() -> None:
    vectors = _vectors(10)
    vectors[3:6] = 0
    assert _found(vectors, 0.99) == {}
    with pytest.raises(ValueError, match="a threshold of 0"):
        join(vectors, 0)
    with pytest.raises(ValueError, match="a matrix is needed"):
        join(vectors[0], 0.5)


def test_a_partition_finds_nearly_all_pairs_without_faiss() -> None:
    """Pairs of every score from the threshold on, in vectors that have clusters; no place of a row counts."""
    generator = np.random.Generator(np.random.Philox(key=5))
    centres = generator.normal(size=(40, 24))
    drawn = centres[generator.integers(0, 40, 6_000)] + generator.normal(size=(6_000, 24))
    drawn[:1_500] = drawn[1_500:3_000] + generator.uniform(0, 0.7, (1_500, 1)) * generator.normal(size=(1_500, 24))
    drawn = drawn[generator.permutation(6_000)].astype(np.float32)
    drawn[77] = 0
    vectors = drawn / np.maximum(np.linalg.norm(drawn, axis=1, keepdims=True), 1e-9)
    true = _found(vectors, 0.93)
    assert 800 < len(true) < 8_000
    asked = join(vectors, 0.93, "cells", small=1_000)
    assert (asked.exact, asked.sampled, asked.cut) == (False, 2_000, 0)
    assert 0.985 <= asked.recall < 1
    assert 1 <= asked.probes < 154 // 2
    found = {}
    for left, right, scores in asked:
        assert (left < right).all()
        found |= dict(zip(zip(left.tolist(), right.tolist(), strict=True), scores.tolist(), strict=True))
    assert len(found.keys() & true.keys()) >= 0.99 * len(true)
    # A pair whose cosine lies between two ten-thousandths may be rounded the other way, and stand in one of both only.
    assert all(abs(score - true.get(pair, 9_300)) <= 1 for pair, score in found.items())
    halves = join(vectors.astype(np.float16), 0.93, "cells", small=1_000)
    assert sum(len(left) for left, _, _ in halves) > 0.9 * len(true)


def test_looks_that_are_held_in_parts_find_the_same_pairs() -> None:
    vectors = _vectors(9_000, near=900)
    wanted = round(0.9 * SCALE)
    cells = open_cells(vectors, sample_pairs(vectors, wanted, 500, 50), 0.99)
    found = []
    for together in (1 << 24, 1):  # in one part; in parts of 4,096 rows
        pairs: set[tuple[int, int, int]] = set()
        for left, right, scores in near_pairs(vectors, cells, wanted, together=together):
            pairs.update(zip(left.tolist(), right.tolist(), scores.tolist(), strict=True))
        found.append(pairs)
    assert found[0] == found[1]
    assert len(found[0]) > 500


def test_a_partition_is_opened_wide_enough_for_what_is_hard_to_find() -> None:
    """Nothing is near: the nearest pairs that there are stand in, and crowds do not fill the sample."""
    lonely = _vectors(3_000, dim=16)
    asked = join(lonely, 0.99, "cells", small=100)
    assert asked.recall >= 0.98
    assert asked.probes > 2
    assert [len(left) for left, _, _ in asked] == []
    crowd = np.repeat(_vectors(2, dim=16), 400, axis=0) + 0.001 * _vectors(800, dim=16)
    crowd /= np.linalg.norm(crowd, axis=1, keepdims=True)
    pairs = set()
    for left, right, _ in join(crowd, 0.99, "cells", small=100):
        pairs.update(zip(left.tolist(), right.tolist(), strict=True))
    assert len(pairs) >= 0.95 * 400 * 399
    assert {row for pair in pairs for row in pair} == set(range(800))


class _Index:
    """What we use of a FAISS index: exhaustive, but for ``nprobe`` cells of every 50 rows."""

    def __init__(self, dim: int, cells: int = 0) -> None:
        self.cells, self.nprobe, self.cp = cells, 1, ModuleType("cp")
        self._rows = np.zeros((0, dim), dtype=np.float32)

    @property
    def ntotal(self) -> int:
        return len(self._rows)

    def train(self, rows: np.ndarray) -> None:
        assert len(rows) == 40 * self.cells

    def add(self, rows: np.ndarray) -> None:
        assert rows.dtype == np.float32
        self._rows = np.concatenate([self._rows, rows])

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        assert k <= 2048
        scores = queries @ self._rows.T
        if self.cells:
            scores[:, np.arange(self.ntotal) % self.cells >= self.nprobe] = -np.inf
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        best = np.take_along_axis(scores, order, axis=1)
        return best, np.where(np.isfinite(best), order, -1)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A FAISS that sees one GPU; the list says what was moved there."""
    moved: list[str] = []
    faiss = ModuleType("faiss")
    faiss.METRIC_INNER_PRODUCT = 0  # type: ignore[attr-defined]
    faiss.IndexFlatIP = _Index  # type: ignore[attr-defined]
    faiss.IndexIVFFlat = lambda _quantizer, dim, cells, _metric: _Index(dim, cells)  # type: ignore[attr-defined]
    faiss.omp_set_num_threads = lambda _number: None  # type: ignore[attr-defined]
    faiss.get_num_gpus = lambda: 1  # type: ignore[attr-defined]

    def moving(index: _Index) -> _Index:
        moved.append(f"{index.cells} cells")
        return index

    faiss.index_cpu_to_all_gpus = moving  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "faiss", faiss)
    return moved


def test_faiss_is_used_on_the_gpu_by_the_same_code_and_crowds_are_asked_for_again(gpu: list[str]) -> None:
    vectors = np.concatenate([_vectors(600, near=200), np.repeat(_vectors(1), 30, axis=0)])
    index = FaissJoin(vectors, "faiss-flat")
    at, row, scores = index.above(vectors, 0.9)
    assert gpu == ["0 cells"]
    true = {tuple(pair) for pair in np.argwhere(vectors @ vectors.T >= 0.9).tolist()}
    assert set(zip(at.tolist(), row.tolist(), strict=True)) == true  # 30 neighbours each, found beyond the first 16
    assert scores.min() >= 0.9
    assert index.cut == 0
    with pytest.raises(ValueError, match="not an index of FAISS"):
        FaissJoin(vectors, "exact")


def test_cells_are_opened_until_enough_is_found(gpu: list[str]) -> None:
    """Small sets are compared in full whatever is asked for; larger ones say how much is found."""
    small = join(_vectors(900, near=300), 0.9, "faiss-ivf")
    assert (small.exact, small.recall) == (True, 1.0)
    vectors = _vectors(2_400, near=700, dim=8)
    asked = join(vectors, 0.97, "faiss-ivf", small=1_000)
    pairs = {(int(a), int(b)) for left, right, _ in asked for a, b in zip(left, right, strict=True)}
    true = set(_found(vectors, 0.97))
    assert gpu == ["60 cells"]
    assert not asked.exact
    assert asked.recall >= 0.99
    assert asked.sampled == 2000
    assert asked.probes > 8
    assert len(pairs & true) >= 0.98 * len(true)


def test_without_faiss_the_line_says_what_to_install() -> None:
    if "faiss" in sys.modules:
        pytest.skip("FAISS is installed")
    try:
        import faiss  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match="needs FAISS"):
            join(_vectors(20, dim=4), 0.9, "faiss-flat", small=10)
    else:
        pytest.skip("FAISS is installed")
