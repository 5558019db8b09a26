"""Who takes part in bench_dedup.py: each reads the same rows and writes the pairs that it finds. One process each."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from dedup_data import Texts

THRESHOLD = 0.9
Pairs = np.ndarray
Result = tuple[Pairs, dict[str, Any]]


def resident() -> int:
    """Bytes of this process that no file holds: a memory-mapped matrix is not counted."""
    with open("/proc/self/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["RssAnon"].split()[0]) * 1024


@contextmanager
def measured(report: dict[str, Any]) -> Iterator[None]:
    """Adds seconds and the growth of memory at its peak, looked at a hundred times a second."""
    before, stop = resident(), threading.Event()
    peak = [before]

    def watch() -> None:
        while not stop.wait(0.01):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        report["wall_s"] = round(time.perf_counter() - wall, 2)
        report["cpu_s"] = round(time.process_time() - cpu, 2)
        peak[0] = max(peak[0], resident())
        stop.set()
        watcher.join()
        report["grown_mb"] = round((peak[0] - before) / 1e6, 1)


def _joined(vectors: np.ndarray, kind: Any) -> Result:
    from synth.retrieval.joins import join

    asked = join(vectors, THRESHOLD, kind)
    blocks = [np.stack([left, right], axis=1) for left, right, _ in asked]
    pairs = np.unique(np.concatenate(blocks), axis=0) if blocks else np.zeros((0, 2), np.int64)
    return pairs, {"probes": asked.probes, "said": round(asked.recall, 4)}


def ours(kind: str) -> Callable[[np.ndarray, int], Result]:
    return lambda vectors, probes: _joined(vectors, kind)


def bare_ivf(vectors: np.ndarray, probes: int) -> Result:
    """As one would write it with FAISS alone: the partition of its documentation (4 * sqrt(n) cells, 40 vectors each to
    train on), its defaults else, and a number of probes that somebody has found out before."""
    import faiss

    rows, dim = vectors.shape
    cells = int(4 * rows**0.5)
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dim), dim, cells, faiss.METRIC_INNER_PRODUCT)
    index.train(np.ascontiguousarray(vectors[:: max(1, rows // (40 * cells))]))
    index.add(np.asarray(vectors))
    index.nprobe = probes
    return _range(index, vectors), {"probes": probes}


def _range(index: Any, vectors: np.ndarray) -> Pairs:
    found = []
    for start in range(0, len(vectors), 8192):
        ends, _, rows = index.range_search(np.ascontiguousarray(vectors[start : start + 8192]), THRESHOLD)
        at = np.repeat(np.arange(start, start + len(ends) - 1), np.diff(ends).astype(np.int64))
        found.append(np.stack([at, rows], axis=1)[at < rows])
        found.append(np.stack([rows, at], axis=1)[rows < at])
    return np.unique(np.concatenate(found), axis=0)


def semhash(vectors: np.ndarray, probes: int) -> Result:
    """Its index and ``self_deduplicate``; pairs of what it drops with what it drops it for."""
    from semhash import SemHash

    class Nothing:
        def encode(self, inputs: Any, **_: Any) -> np.ndarray:
            raise RuntimeError("vectors are given")

    records = [str(number) for number in range(len(vectors))]
    made = SemHash.from_embeddings(embeddings=np.asarray(vectors), records=records, model=Nothing())  # type: ignore[arg-type]
    found = made.self_deduplicate(threshold=THRESHOLD)
    pairs = [sorted((int(item.record), int(item.duplicate_of))) for item in found.filtered]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), {}


VECTORS: dict[str, Callable[[np.ndarray, int], Result]] = {
    "cells": ours("cells"),
    "faiss-ivf": ours("faiss-ivf"),
    "bare-ivf": bare_ivf,
    "semhash": semhash,
}
"""``cells`` and ``faiss-ivf`` are ours."""


def ours_near(texts: Texts) -> Result:
    """All that a build does: hashes and signatures of every row, copies, candidates, their Jaccard similarity."""
    from synth.filtering.dedup import Corpus, Rules, find_duplicates
    from synth.filtering.dedup.sketch import sketch_rows

    ids = [f"{row:08}" for row in range(len(texts))]
    sketch = sketch_rows(range(len(texts)), texts.__getitem__, lambda row: (0.0,), words=3)
    found = find_duplicates(Corpus(ids, texts), Rules(near=0.7), sketch=sketch)
    pairs = [(pair.left, pair.right) for pair in found.pairs]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2), {"bands": found.methods[-1].words}


def datatrove_near(texts: Texts) -> Result:
    """datatrove's signatures (14 buckets of 8) of our n-grams, since its tokenizer wants spaCy; what meets in a bucket
    is a pair. Its files between the steps are left out: a dictionary stands for them."""
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
    from datatrove.utils.hashing import HashConfig

    from synth.filtering.dedup.text import shingles

    class Signatures(MinhashDedupSignature):  # type: ignore[misc]
        def __init__(self) -> None:
            self.config = MinhashConfig(n_grams=3, hash_config=HashConfig(precision=64))
            self.num_hashes = self.config.num_buckets * self.config.hashes_per_bucket
            self._parameters = None

    own, met = Signatures(), set()
    buckets: dict[tuple[int, bytes], int] = {}
    for row in range(len(texts)):
        signature = own.get_signature(shingles(texts[row], 3).reshape(-1, 1))
        for number, key in enumerate(signature):
            first = buckets.setdefault((number, np.array(key, dtype=np.uint64).tobytes()), row)
            if first != row:
                met.add((first, row))
    return np.array(sorted(met), dtype=np.int64).reshape(-1, 2), {}


NEAR: dict[str, Callable[[Texts], Result]] = {
    "ours": ours_near,
    "datatrove": datatrove_near,
}


class _Drawn:
    """An encoder that costs next to nothing: a vector drawn by a hash of the sorted words, and a fifth of one drawn by
    a hash of the text: the same words in another order are near (.96), all else is not. Memory asks for no more."""

    name, dim = "drawn", 256

    def fit(self, texts: Any) -> dict[str, Any]:
        return {}

    def load(self, arrays: Any) -> None:
        pass

    def encode(self, texts: Any) -> np.ndarray:
        words = (" ".join(sorted(text.lower().replace(",", "").split())) for text in texts)
        found = self._of(words) + np.float32(0.2) * self._of(texts)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def _of(self, texts: Any) -> np.ndarray:
        from zlib import crc32

        seeds = np.array([crc32(text.encode()) for text in texts], dtype=np.uint64)[:, None]
        with np.errstate(over="ignore"):
            # Steele et al.'s splitmix64. One round is too few: vectors of texts whose hashes are near would be alike.
            mixed = (seeds + np.arange(self.dim, dtype=np.uint64) * np.uint64(1 << 32)) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed ^= mixed >> np.uint64(31)
        found = (mixed >> np.uint64(40)).astype(np.float32) - np.float32(1 << 23)
        return found / np.linalg.norm(found, axis=1, keepdims=True)


def tables(level: str, **settings: Any) -> Callable[[int, int, Path], dict[str, Any]]:
    """What a level takes by its default rules and ``settings``, as the two stages do it: sketches that go to files,
    then the comparison, which reads them from there. Texts are made when asked for."""

    def measure(rows: int, words: int, folder: Path) -> dict[str, Any]:
        from synth.filtering.dedup import Corpus, Rules, find_duplicates
        from synth.filtering.dedup.estimate import table_bytes
        from synth.filtering.dedup.sketch import Sketch, sketch_rows
        from synth.recipe.dedup import DocumentRules, PairRules, RunRules
        from synth.stages.duplicates import Duplicates

        kinds: dict[str, type[Rules]] = {"documents": DocumentRules, "trajectories": RunRules, "preferences": PairRules}
        rules = kinds[level](**settings)

        def work(count: int) -> dict[str, Any]:
            texts = Texts(count, words)
            encoder: Any = None if rules.semantic is None else _Drawn()
            first: dict[str, Any] = {}
            with measured(first):
                sketch = sketch_rows(
                    range(count),
                    texts.__getitem__,
                    lambda row: (float(row % 7), 1.0, 0.0, -1.0),
                    (lambda row: f"{row - row % 8 // 5 * 5}") if rules.structural else None,
                    words=None if rules.near is None else rules.words,
                    encoder=encoder,
                )
                for name, array in sketch.arrays().items():
                    np.save(folder / f"{name}.npy", array)
                names = list(sketch.arrays())
            del sketch
            second: dict[str, Any] = {}
            with measured(second):
                arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in names}
                corpus = Corpus([f"document-{row:016x}" for row in range(count)], texts)
                found = find_duplicates(corpus, rules, encoder, sketch=Sketch.of(arrays))
                duplicates = Duplicates(found, level)  # type: ignore[arg-type]
                pq.write_table(duplicates.table(), folder / "pairs.parquet")
            disk = sum((folder / name).stat().st_size for name in ("pairs.parquet", *(f"{one}.npy" for one in names)))
            return {
                "sketch_mb": first["grown_mb"],
                "compare_mb": second["grown_mb"],
                "grown_mb": max(first["grown_mb"], second["grown_mb"]),
                "cpu_s": round(first["cpu_s"] + second["cpu_s"], 1),
                "wall_s": round(first["wall_s"] + second["wall_s"], 1),
                "disk_mb": round(disk / 1e6, 1),
                "pairs": len(found.pairs),
            }

        work(2_000)
        report = work(rows)
        memory, disk = table_bytes(rows, rules, dim=_Drawn.dim, share=report["pairs"] / rows)
        return {
            "rows": rows,
            **report,
            "predicted_mb": round(memory / 1e6, 1),
            "predicted_disk_mb": round(disk / 1e6, 1),
            "ratio": round(memory / 1e6 / report["grown_mb"], 3),
            "disk_ratio": round(disk / 1e6 / report["disk_mb"], 3),
        }

    return measure


def accepting(rows: int, words: int, folder: Path) -> dict[str, Any]:
    """The acceptance loop: questions of ``words`` words; a tenth repeat an earlier one with a word more."""
    from synth.filtering.dedup import Asked, TaskFilter, TaskRules
    from synth.filtering.dedup.estimate import filter_bytes

    def loop(count: int) -> tuple[TaskFilter, int]:
        judged, accepted = TaskFilter(TaskRules()), 0
        for number in range(count):
            of = number - 3 if number % 10 == 9 else number
            question = texts[8 * of] + (" indeed" if of != number else "")
            asked = Asked(f"task-{number:016x}", question, f"answer {of % 5000}", "train", f"{number:032x}")
            accepted += judged.take(asked) is None
        return judged, accepted

    texts = Texts(8 * rows, words)
    loop(2_000)
    report: dict[str, Any] = {"rows": rows}
    with measured(report):
        judged, accepted = loop(rows)
    report["accepted"] = accepted
    del judged
    predicted = round(filter_bytes(accepted, TaskRules(), words=words)[0] / 1e6, 1)
    return {**report, "predicted_mb": predicted, "ratio": round(predicted / report["grown_mb"], 3)}


MEMORY: dict[str, Callable[[int, int, Path], dict[str, Any]]] = {
    "documents": tables("documents"),
    "trajectories": tables("trajectories"),
    "pairs": tables("preferences"),
    "vectors": tables("documents", near=None, semantic=0.95),
    "accepted tasks": accepting,
}


def run(name: str, folder: Path, rows: int, words: int, probes: int) -> dict[str, Any]:
    """One contender in this process; its pairs go to ``folder``."""
    if name in MEMORY:
        return {"who": name, **MEMORY[name](rows, words, folder)}
    report: dict[str, Any] = {"who": name}
    if name in VECTORS:
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
        VECTORS[name](np.array(vectors[: min(rows, 4_000)]), 1)  # imports are done, and threads there
        with measured(report):
            pairs, more = VECTORS[name](vectors, probes)
    else:
        NEAR[name](Texts(500, words))
        texts = Texts(rows, words)
        with measured(report):
            pairs, more = NEAR[name](texts)
    np.save(folder / f"{name}.npy", pairs)
    return {**report, "pairs": len(pairs), **more}
