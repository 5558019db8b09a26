"""Duplicates: what is found of what was planted, how fast, in how much memory; beside FAISS, semhash and datatrove.

    python tests/benchmarks/bench_dedup.py planted --rows 20000    precision and recall of each kind
    python tests/benchmarks/bench_dedup.py vectors --rows 100000   near pairs of vectors (256 numbers each)
    python tests/benchmarks/bench_dedup.py near --rows 100000      MinHash on texts of 150 words
    python tests/benchmarks/bench_dedup.py predict --rows 100000   memory that `synth plan` predicts, and that it takes
    python tests/benchmarks/bench_dedup.py paraphrases --pairs FILE --model FOLDER

`paraphrases` takes pairs that people judged: lines of five columns parted by tabs, the first 1 or 0 (says the same or
not) and the two last a sentence each, below a header, as the Microsoft Research Paraphrase Corpus has them. 1,000 pairs
that say the same are planted among all that do not, and looked for by n-grams of words, by the encoder that needs
nothing and by a model, at several thresholds. Precision counts judged pairs alone.

Every contender runs in a process of its own over the same rows, which lie in a file or are made anew from their number;
memory is what a process grows by while it works (at its peak, memory-mapped files apart). `--only` names contenders,
`--limit` ends one after so many seconds. The last lines compare them. CPU seconds are of all threads; on a busy machine
they stretch less than those of the clock.

Recall: of vectors, the share of the true pairs of 2,000 rows (drawn otherwise than those that ours tunes itself on),
all of which are known by comparing them with every row; of texts, the share of the planted pairs. semhash and datatrove
tell one pair per row that they drop, so "rows" counts rows that have a true pair and stand in any pair that was found.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from dedup_contenders import MEMORY, NEAR, THRESHOLD, VECTORS, measured, run
from dedup_data import Texts, write_vectors

from synth.identity import derive_generator

_SAMPLED = 2_000


def say(**facts: Any) -> None:
    print(json.dumps(facts), flush=True)


def contend(given: argparse.Namespace, names: list[str], folder: Path) -> dict[str, dict[str, Any]]:
    """The reports of all contenders that come to an end, in the order in which they run."""
    reports: dict[str, dict[str, Any]] = {}
    probes = given.probes
    for name in names:
        asked = [sys.executable, __file__, "contender", "--name", name, "--folder", str(folder)]
        asked += ["--rows", str(given.rows), "--words", str(given.words), "--probes", str(probes)]
        began = time.perf_counter()
        try:
            done = subprocess.run(asked, capture_output=True, text=True, timeout=given.limit, check=False)
        except subprocess.TimeoutExpired:
            say(who=name, more_than_wall_s=round(time.perf_counter() - began))
            continue
        if done.returncode:
            say(who=name, failed=(done.stderr.strip().splitlines() or ["without a word"])[-1])
            continue
        reports[name] = json.loads(done.stdout)
        if name == "faiss-ivf":
            probes = reports[name]["probes"]
        say(**reports[name])
    return reports


def vectors(given: argparse.Namespace) -> None:
    names = given.only or list(VECTORS)
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        folder = Path(made)
        write_vectors(folder / "vectors.npy", given.rows)
        matrix = np.load(folder / "vectors.npy", mmap_mode="r")
        rows, true = _true(matrix)
        say(rows=given.rows, dim=matrix.shape[1], sampled=len(rows), true_pairs=len(true))
        reports = contend(given, names, folder)
        for name, report in reports.items():
            found = np.load(folder / f"{name}.npy")
            own = found[np.isin(found, sorted(rows)).any(axis=1)]
            pairs = set(map(tuple, own.tolist()))
            hit = sum(pair in pairs for pair in true)
            wanted = {row for pair in true for row in pair if row in rows}
            seen = wanted & set(own.ravel().tolist())
            wrong = _wrong(matrix, found)
            report |= {"recall": round(hit / max(1, len(true)), 4), "rows": round(len(seen) / max(1, len(wanted)), 4)}
            say(who=name, recall_of_pairs=report["recall"], recall_of_rows=report["rows"], below_the_threshold=wrong)
    compare(reports, ("cells", "faiss-ivf"), ("semhash", "bare-ivf"))


def _true(matrix: np.ndarray) -> tuple[set[int], set[tuple[int, int]]]:
    """Sampled rows, and their pairs by comparing them with every row."""
    drawn = derive_generator(14, "sample").choice(len(matrix), min(_SAMPLED, len(matrix)), replace=False)
    queries = np.array(matrix[drawn])
    pairs: set[tuple[int, int]] = set()
    for start in range(0, len(matrix), 10_000):
        scores = queries @ np.array(matrix[start : start + 10_000]).T
        at, place = np.nonzero(np.round(scores, 4) >= THRESHOLD)
        for one, other in zip(drawn[at].tolist(), (place + start).tolist(), strict=True):
            if one != other:
                pairs.add((min(one, other), max(one, other)))
    return set(drawn.tolist()), pairs


def _wrong(matrix: np.ndarray, found: np.ndarray) -> int:
    """Pairs whose cosine is below the threshold, rounding apart."""
    wrong = 0
    for start in range(0, len(found), 10_000):
        one, other = found[start : start + 10_000].T
        wrong += int(((matrix[one] * matrix[other]).sum(axis=1) < THRESHOLD - 1e-4).sum())
    return wrong


def near(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        folder = Path(made)
        reports = contend(given, given.only or list(NEAR), folder)
        texts = Texts(given.rows, given.words)
        true = texts.planted("near") | texts.planted("exact")
        for name in reports:
            found = set(map(tuple, np.load(folder / f"{name}.npy").tolist()))
            report = {"recall": round(len(found & true) / len(true), 4), "wrong": len(found - true)}
            reports[name] |= report
            say(who=name, **report)
    compare(reports, ("ours",), ("datatrove",))


def compare(reports: dict[str, dict[str, Any]], ours: tuple[str, ...], others: tuple[str, ...]) -> None:
    """Time and memory of ours as multiples of others'."""
    for one in [name for name in ours if name in reports]:
        for other in [name for name in others if name in reports]:
            ratios = {
                what: round(reports[one][what] / max(0.01, reports[other][what]), 3)
                for what in ("wall_s", "cpu_s", "grown_mb")
            }
            say(ours=one, beside=other, **ratios)


def planted(given: argparse.Namespace) -> None:
    from synth.filtering.dedup import Corpus, Rules, find_duplicates
    from synth.retrieval.encoder import HashedEncoder

    texts = Texts(given.rows, given.words)
    encoder = HashedEncoder()
    encoder.fit(texts)
    report: dict[str, Any] = {"who": "find_duplicates"}
    with measured(report):
        ids = [f"{row:08}" for row in range(given.rows)]
        found = find_duplicates(Corpus(ids, texts), Rules(near=0.7, semantic=0.95), encoder)
    say(**report)
    for kind, plant in {"exact": "exact", "near": "near", "semantic": "shuffled"}.items():
        pairs = {(pair.left, pair.right) for pair in found.pairs if pair.kind == kind}
        true = texts.planted(plant)
        every = true | (texts.planted("near") if kind == "semantic" else set())
        precision = len(pairs & every) / max(1, len(pairs))
        say(kind=kind, precision=round(precision, 4), recall=round(len(pairs & true) / len(true), 4), pairs=len(pairs))
    for method in found.methods:
        say(kind=method.kind, recall=method.recall, how=method.words)


def paraphrases(given: argparse.Namespace) -> None:
    from synth.filtering.dedup import Corpus, Rules, find_duplicates
    from synth.retrieval.encoder import Encoder, HashedEncoder, sentence_encoder

    judged = [line.split("\t") for line in Path(given.pairs).read_text("utf-8-sig").splitlines()[1:]]
    pairs = {(one, other): same == "1" for same, *_, one, other in judged if one != other}
    same = [pair for pair, verdict in pairs.items() if verdict]
    order = derive_generator(0, "paraphrases").permutation(len(same))[:1_000]
    chosen = {same[at] for at in order} | {pair for pair, verdict in pairs.items() if not verdict}
    texts = list(dict.fromkeys(text for pair in sorted(chosen) for text in pair))
    row = {text: at for at, text in enumerate(texts)}
    verdicts = {frozenset((row[one], row[other])): pairs[one, other] for one, other in chosen}
    true = sum(verdicts.values())
    corpus = Corpus([f"{at:06}" for at in range(len(texts))], texts)
    say(sentences=len(texts), same=true, different=len(verdicts) - true)

    def tell(who: str, threshold: float, found: Iterable[tuple[int, int]]) -> None:
        told = [verdicts.get(frozenset(pair)) for pair in found]
        right, wrong = told.count(True), told.count(False)
        precision = round(right / (right + wrong), 3) if right + wrong else None
        facts = {"precision": precision, "recall": round(right / true, 3), "not_judged": told.count(None)}
        say(who=who, threshold=threshold, **facts)

    for threshold in (0.3, 0.5, 0.7, 0.8):
        found = find_duplicates(corpus, Rules(near=threshold, exact=False, structural=False))
        tell("n-grams of three words", threshold, [(pair.left, pair.right) for pair in found.pairs])
    hashed = HashedEncoder()
    hashed.fit(texts)
    encoders: dict[str, Encoder] = {"hashed": hashed}
    if given.model:
        encoders["model"] = sentence_encoder(model=given.model)
    for who, encoder in encoders.items():
        options = {"encoder": "sentence-transformers", "model": given.model} if who == "model" else {}
        least = Rules(near=None, semantic=0.6, exact=False, structural=False, **options)
        report: dict[str, Any] = {"who": who}
        with measured(report):
            found = find_duplicates(corpus, least, encoder)
        say(**report, sentences_per_s=round(len(texts) / report["wall_s"]))
        for threshold in (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
            tell(who, threshold, [(pair.left, pair.right) for pair in found.pairs if pair.score >= threshold])


def predict(given: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(dir=given.folder) as made:
        contend(given, given.only or list(MEMORY), Path(made))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("planted", "vectors", "near", "predict", "paraphrases", "contender"))
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--words", type=int, help="per text (150; of planted 60, of predict 18)")
    parser.add_argument("--only", nargs="+", choices=[*VECTORS, *NEAR, *MEMORY], help="contenders")
    parser.add_argument("--limit", type=float, default=540, help="seconds for a contender")
    parser.add_argument("--probes", type=int, default=8, help="of FAISS alone, where ours did not run before it")
    parser.add_argument("--folder", help="where the vectors are written (1 GB for 10^6); the temporary folder else")
    parser.add_argument("--name", choices=[*VECTORS, *NEAR, *MEMORY], help=argparse.SUPPRESS)
    parser.add_argument("--pairs", help="of paraphrases: the file of judged pairs")
    parser.add_argument("--model", help="of paraphrases: a sentence-transformers model, by name or folder")
    given = parser.parse_args()
    if given.what == "paraphrases" and not given.pairs:
        parser.error("paraphrases wants --pairs FILE")
    if given.words is None:
        given.words = {"planted": 60, "predict": 18}.get(given.what, 150)
    if given.what == "contender":
        say(**run(given.name, Path(given.folder), given.rows, given.words, given.probes))
    else:
        runs = {"planted": planted, "vectors": vectors, "near": near, "predict": predict, "paraphrases": paraphrases}
        runs[given.what](given)


if __name__ == "__main__":
    sys.exit(main())
