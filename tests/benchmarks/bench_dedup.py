"""Duplicates: what is found of what was planted, how fast, in how much memory; beside FAISS, semhash and datatrove.

    python tests/benchmarks/bench_dedup.py planted --rows 20000     precision and recall of each kind
    python tests/benchmarks/bench_dedup.py accept --rows 100000     memory of the acceptance loop, and its prediction
    python tests/benchmarks/bench_dedup.py vectors --rows 100000 [--peers]    near pairs of vectors (256 numbers each)
    python tests/benchmarks/bench_dedup.py near --rows 20000 [--peers]        MinHash on texts of 150 words

Each command runs in a process of its own, so that peaks of memory are its own. Peers and FAISS must be installed
(semhash, datatrove); without them their lines say so. Seconds are CPU seconds of the process, which a busy machine
stretches less than those of the clock; both are printed.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from synth.identity import derive_generator

DIM = 256
THRESHOLD = 0.9


def memory() -> int:
    """Resident bytes now."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def timed(name: str, work: Callable[[], Any], **facts: Any) -> Any:
    wall, cpu, before = time.perf_counter(), time.process_time(), memory()
    result = work()
    report = {
        "what": name,
        "cpu_s": round(time.process_time() - cpu, 2),
        "wall_s": round(time.perf_counter() - wall, 2),
        "grown_mb": round((memory() - before) / 1e6, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }
    print(json.dumps({**report, **facts}), flush=True)
    return result


def words(name: str, count: int, vocabulary: int = 20_000) -> list[str]:
    drawn = derive_generator(11, name).zipf(1.2, count) % vocabulary
    return [f"w{number}" for number in drawn.tolist()]


def planted_texts(rows: int, size: int) -> tuple[list[str], list[str], dict[str, set[tuple[int, int]]]]:
    """Ids and texts; by kind the planted pairs (numbers in the order of ids): a fifth each exact, near, shuffled."""
    texts: list[str] = []
    true: dict[str, set[tuple[int, int]]] = {"exact": set(), "near": set(), "shuffled": set()}
    number = 0
    while len(texts) < rows:
        own = words(str(number), size)
        texts.append(" ".join(own))
        kind = ("exact", "near", "shuffled", None, None)[number % 5]
        if kind is not None:
            true[kind].add((len(texts) - 1, len(texts)))
            generator = derive_generator(12, number)
            if kind == "exact":
                texts.append(", ".join(own).upper())
            elif kind == "near":
                changed = generator.choice(size, max(1, size // 50), replace=False)
                texts.append(" ".join(f"x{at}" if at in changed else word for at, word in enumerate(own)))
            else:
                texts.append(" ".join(generator.permutation(own).tolist()))
        number += 1
    return [f"{row:08}" for row in range(len(texts))], texts, true


def planted(rows: int) -> None:
    from synth.dedup import Corpus, Rules, find_duplicates
    from synth.retrieval.encoder import HashedEncoder

    ids, texts, true = planted_texts(rows, 60)
    encoder = HashedEncoder()
    encoder.fit(texts)
    found = timed(
        f"find_duplicates, {rows:,} texts",
        lambda: find_duplicates(Corpus(ids, texts), Rules(near=0.7, semantic=0.95), encoder),
    )
    kinds = {"exact": "exact", "near": "near", "semantic": "shuffled"}
    for kind, plant in kinds.items():
        pairs = {(pair.left, pair.right) for pair in found.pairs if pair.kind == kind}
        every = true[plant] | (true["near"] if kind == "semantic" else set())
        print(
            json.dumps(
                {
                    "kind": kind,
                    "precision": round(len(pairs & every) / max(1, len(pairs)), 4),
                    "recall": round(len(pairs & true[plant]) / len(true[plant]), 4),
                    "pairs": len(pairs),
                }
            )
        )
    for method in found.methods:
        print(json.dumps({"kind": method.kind, "said": method.words, "recall": method.recall}))


def accept(rows: int) -> None:
    """Questions of 18 words; a tenth repeat an earlier one with a word more."""
    from synth.dedup import Asked, TaskFilter, TaskRules
    from synth.dedup.estimate import filter_bytes

    def run() -> tuple[TaskFilter, int]:
        judged, accepted = TaskFilter(TaskRules()), 0
        for number in range(rows):
            of = number - 3 if number % 10 == 9 else number
            question = " ".join(words(f"q{of}", 18)) + (" indeed" if of != number else "")
            accepted += judged.take(Asked(f"task-{number:016x}", question, f"a{of % 5000}", "train")) is None
        return judged, accepted

    before = memory()
    judged, accepted = timed(f"acceptance of {rows:,} tasks", run)
    measured, predicted = memory() - before, filter_bytes(accepted, TaskRules(), words=18)
    print(
        json.dumps(
            {
                "accepted": accepted,
                "measured_mb": round(measured / 1e6, 1),
                "predicted_mb": round(predicted / 1e6, 1),
                "off": round(predicted / measured - 1, 3),
            }
        )
    )
    del judged


def near_vectors(rows: int) -> np.ndarray:
    """A tenth are near another one."""
    generator = derive_generator(13, rows)
    centres = generator.normal(size=(rows // 20, DIM)).astype(np.float32)
    found = 0.6 * centres[generator.integers(0, len(centres), rows)]
    found += generator.normal(size=(rows, DIM)).astype(np.float32)
    tenth = rows // 10
    found[:tenth] = found[tenth : 2 * tenth] + 0.2 * generator.normal(size=(tenth, DIM)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def vectors(rows: int, peers: bool) -> None:
    from synth.retrieval.joins import join

    drawn = near_vectors(rows)

    def pairs_of(kind: Any) -> tuple[set[tuple[int, int]], float]:
        asked = join(drawn, THRESHOLD, kind)
        found: set[tuple[int, int]] = set()
        for left, right, _ in asked:
            found.update(zip(left.tolist(), right.tolist(), strict=True))
        return found, asked.recall

    true, _ = timed("every two compared", lambda: pairs_of("exact"))
    print(json.dumps({"pairs": len(true)}))
    try:
        import faiss
    except ImportError:
        print("FAISS is not installed")
    else:

        def bare() -> int:
            index = faiss.IndexFlatIP(DIM)
            index.add(drawn)
            return len(index.range_search(drawn, THRESHOLD)[1])

        timed("FAISS flat alone (range search)", bare)
        found, said = timed("faiss-ivf", lambda: pairs_of("faiss-ivf"))
        print(json.dumps({"recall": round(len(found & true) / len(true), 5), "said": said, "extra": len(found - true)}))
    if peers:
        semhash_peer(drawn, true)


def semhash_peer(drawn: np.ndarray, true: set[tuple[int, int]]) -> None:
    """semhash on the same vectors: flags of its ``self_deduplicate``, against ours (a row near to an earlier one)."""
    try:
        from semhash import SemHash
    except ImportError:
        print("semhash is not installed")
        return
    records = [f"row {number}" for number in range(len(drawn))]

    class Nothing:
        def encode(self, inputs: Any, **_: Any) -> np.ndarray:
            raise RuntimeError("vectors are given")

    made = timed("semhash: index", lambda: SemHash.from_embeddings(embeddings=drawn, records=records, model=Nothing()))  # type: ignore[arg-type]
    result = timed("semhash: self_deduplicate", lambda: made.self_deduplicate(threshold=THRESHOLD))
    flagged = {int(item.record.split()[1]) for item in result.filtered}
    ours = {right for _, right in true} | {left for left, _ in true}
    print(
        json.dumps({"flagged": len(flagged), "of_rows_in_pairs": round(len(flagged & ours) / max(1, len(flagged)), 4)})
    )


def near(rows: int, peers: bool) -> None:
    from synth.dedup import Corpus, Rules, find_duplicates

    ids, texts, true = planted_texts(rows, 150)
    found = timed(f"MinHash, {rows:,} texts", lambda: find_duplicates(Corpus(ids, texts), Rules(near=0.7)))
    pairs = {(pair.left, pair.right) for pair in found.pairs if pair.kind == "near"}
    print(
        json.dumps(
            {
                "recall": round(len(pairs & true["near"]) / len(true["near"]), 4),
                "precision": round(len(pairs & true["near"]) / max(1, len(pairs)), 4),
            }
        )
    )
    if not peers:
        return
    try:
        from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupSignature
        from datatrove.utils.hashing import HashConfig
    except ImportError:
        print("datatrove is not installed")
        return
    from synth.dedup.text import shingles

    class Signatures(MinhashDedupSignature):  # type: ignore[misc]
        """Its signatures without its reader, writer and tokenizer (which wants spaCy)."""

        def __init__(self) -> None:
            self.config = MinhashConfig(n_grams=3, hash_config=HashConfig(precision=64))
            self.num_hashes = self.config.num_buckets * self.config.hashes_per_bucket
            self._parameters = None

    def datatrove() -> set[tuple[int, int]]:
        own, buckets, met = Signatures(), {}, set()  # type: ignore[var-annotated]
        for row, text in enumerate(texts):
            for number, key in enumerate(own.get_signature(shingles(text, 3).reshape(-1, 1))):
                first = buckets.setdefault((number, tuple(key)), row)
                if first != row:
                    met.add((first, row))
        return met

    met = timed("datatrove's signatures (14 x 8), our n-grams, in one dictionary", datatrove)
    print(json.dumps({"recall": round(len(met & true["near"]) / len(true["near"]), 4)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("planted", "accept", "vectors", "near"))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--peers", action="store_true", help="run semhash or datatrove on the same rows too")
    given = parser.parse_args()
    if given.what in ("vectors", "near"):
        {"vectors": vectors, "near": near}[given.what](given.rows, given.peers)
    else:
        {"planted": planted, "accept": accept}[given.what](given.rows)


if __name__ == "__main__":
    sys.exit(main())
