"""The index against bm25s itself, against brute force, and against its own batches."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.retrieval.bm25 import Bm25Index, Hit, _kth_largest
from synth.retrieval.tokens import tokenize

Document = tuple[str, str, Sequence[str]]

WORDS = ["the", "of", "velmora", "Old", "1987", "os.path", "path", "read_text", "été", "東京", "412.5", "harbour"]


def index_of(documents: list[Document], **options: float) -> Bm25Index:
    return Bm25Index(Bm25Index.build(documents, **options))  # type: ignore[arg-type]


def corpus(seed: int, n: int, words: int = 40, vocabulary: int = 400) -> list[Document]:
    """Documents of Zipf-like words: a few are in nearly every document, most in a few."""
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, vocabulary + 1)
    drawn = rng.choice(vocabulary, size=(n, words), p=weights / weights.sum())
    lengths = rng.integers(1, words, n)
    return [
        (f"Name{i % 97} Place{i % 11}", " ".join(f"w{w}" for w in row[:length]), [f"alias{i % 13}"])
        for i, (row, length) in enumerate(zip(drawn.tolist(), lengths.tolist(), strict=True))
    ]


def token_lists(documents: list[Document], title_weight: int = 3, alias_weight: int = 1) -> list[list[str]]:
    return [
        tokenize(title) * title_weight
        + [t for alias in aliases for t in tokenize(alias)] * alias_weight
        + tokenize(text)
        for title, text, aliases in documents
    ]


class Reference:
    """An index that bm25s builds by itself, from lists of tokens, and a search that anyone can read."""

    def __init__(self, documents: list[Document]) -> None:
        import bm25s

        lists = token_lists(documents)
        self.vocabulary = sorted({token for tokens in lists for token in tokens}, key=str.encode)
        self.numbers = {token: number for number, token in enumerate(self.vocabulary)}
        self.bm25 = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        self.bm25.index(([[self.numbers[t] for t in tokens] for tokens in lists], self.numbers), show_progress=False)
        self.n = len(documents)

    def scores(self, query: str) -> np.ndarray:
        """(n_documents,) float32"""
        known = sorted({self.numbers[t] for t in tokenize(query) if t in self.numbers})
        return np.asarray(self.bm25.get_scores_from_ids(known)) if known else np.zeros(self.n, dtype=np.float32)

    def search(self, query: str, k: int) -> list[Hit]:
        raw = self.scores(query)
        scores = np.round(raw.astype(np.float64), 4)
        order = sorted((i for i in range(self.n) if raw[i] > 0), key=lambda i: (-scores[i], i))
        return [Hit(i, float(scores[i])) for i in order[:k]]


documents_strategy = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join),
        st.lists(st.sampled_from(WORDS), max_size=2),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=60)
@given(documents_strategy, st.lists(st.sampled_from([*WORDS, "unknown"]), max_size=5).map(" ".join), st.integers(1, 14))
def test_search_is_bm25s_to_the_last_bit(documents: list[Document], query: str, k: int) -> None:
    assert index_of(documents).search(query, k) == Reference(documents).search(query, k)


def test_pruned_search_finds_what_the_whole_search_finds() -> None:
    """4,000 documents, so that frequent words have long columns: the pruned path must be taken and change nothing."""
    documents = [(title, f"{text} pair{i // 2}", aliases) for i, (title, text, aliases) in enumerate(corpus(1, 4000))]
    index, reference = index_of(documents), Reference(documents)
    rng = np.random.default_rng(2)
    pruned = 0
    for _ in range(40):
        rare = [f"w{rng.integers(100, 400)}" for _ in range(rng.integers(0, 3))]
        frequent = [f"w{rng.integers(0, 6)}" for _ in range(rng.integers(0, 4))]
        # Few documents have the last word, sometimes fewer than are asked for: then frequent words must fill the list.
        last = f"Name{rng.integers(0, 97)}" if rng.random() < 0.5 else f"pair{rng.integers(0, 2000)}"
        query = " ".join([*rare, *frequent, last])
        k = int(rng.integers(1, 12))
        tokens = index._known(tokenize(query))
        pruned += len(index._candidates(tokens, k)[0]) < int((reference.scores(query) > 0).sum())
        assert index.search(query, k) == reference.search(query, k)
    assert pruned > 5


def test_the_arrays_are_those_that_bm25s_builds() -> None:
    documents = corpus(3, 300)
    arrays, reference = Bm25Index.build(documents), Reference(documents)
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(arrays[name], reference.bm25.scores[name])
    offsets = arrays["vocabulary_offsets"]
    data = arrays["vocabulary_bytes"].tobytes()
    assert [data[offsets[i] : offsets[i + 1]].decode() for i in range(len(offsets) - 1)] == reference.vocabulary


def test_the_result_does_not_depend_on_how_documents_come() -> None:
    documents = corpus(4, 9000, words=6)  # more than two chunks
    expected = Bm25Index.build(documents)
    table = pa.table(
        {
            "title": [title for title, _, _ in documents],
            "text": [text for _, text, _ in documents],
            "aliases": pa.array([list(aliases) for _, _, aliases in documents], pa.list_(pa.string())),
        }
    )
    pieces = pa.concat_tables([table.slice(0, 5), table.slice(5, 4000), table.slice(4005)])
    for other in (iter(documents), table, pieces):
        arrays = Bm25Index.build(other)
        assert all(np.array_equal(arrays[name], expected[name]) for name in expected)
        assert all(arrays[name].dtype == expected[name].dtype for name in expected)


def test_memory_mapped_index(tmp_path: Path) -> None:
    documents = corpus(5, 200)
    arrays = Bm25Index.build(documents)
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    mapped = Bm25Index({path.stem: np.load(path, mmap_mode="r") for path in tmp_path.glob("*.npy")})
    whole = Bm25Index(arrays)
    for query in ("w0 w5 name7", "w100", "nothing known", "place3 w1 w2 w3"):
        assert mapped.search(query, 7) == whole.search(query, 7)


def test_ties_go_by_document_number() -> None:
    documents: list[Document] = [("Same", "velmora harbour", ())] * 2000
    hits = index_of(documents).search("velmora", 5)
    assert [hit.document for hit in hits] == [0, 1, 2, 3, 4]
    assert len({hit.score for hit in hits}) == 1
    better: list[Document] = [*documents, ("Velmora", "velmora", ())]
    assert [hit.document for hit in index_of(better).search("velmora", 3)] == [2000, 0, 1]


def test_title_counts_more_than_text() -> None:
    documents: list[Document] = [("Other", "velmora is a port here", ()), ("Velmora", "other is a port here", ())]
    assert index_of(documents).search("velmora", 1)[0].document == 1
    flat = index_of(documents, title_weight=1).search("velmora", 2)
    assert flat[0].score == flat[1].score
    named: list[Document] = [("One", "port", ()), ("Two", "port", ("Velmora",))]
    assert [hit.document for hit in index_of(named).search("velmora", 5)] == [1]


def test_identifiers_are_found_whole_and_in_parts() -> None:
    documents: list[Document] = [
        ("a", "call os.path to join", ()),
        ("b", "the os and a path of the os and a path", ()),
        ("c", "OrderedDict keeps order", ()),
    ]
    index = index_of(documents)
    assert [hit.document for hit in index.search("os.path", 5)] == [0, 1]
    assert {hit.document for hit in index.search("path", 5)} == {0, 1}
    assert [hit.document for hit in index.search("dict", 5)] == [2]


@pytest.mark.parametrize("documents", [[], [("", "", ())], [("...", "—", ())]])
def test_nothing_to_find(documents: list[Document]) -> None:
    index = index_of(documents)
    assert index.n_documents == len(documents)
    assert index.n_tokens == 0
    assert index.search("velmora", 3) == []


def test_queries_without_a_known_token() -> None:
    index = index_of([("Velmora", "a port", ())])
    for query in ("", "...", "unknown words", "\u0000", "vel"):
        assert index.search(query, 3) == []
    assert index.search("Velmora", 100) == [Hit(0, index.search("Velmora", 1)[0].score)]
    with pytest.raises(ValueError, match="k is 0"):
        index.search("velmora", 0)


def test_weights_and_frequencies() -> None:
    index = index_of(corpus(6, 300))
    assert index.frequency("w0") > index.frequency("w50") > 0
    assert 0 < index.weight("w0") < index.weight("w50")
    assert (index.frequency("unknown"), index.weight("unknown")) == (0, 0.0)
    assert index.frequency("place3") == len([i for i in range(300) if i % 11 == 3])


def test_arrays_of_another_kind_are_refused() -> None:
    arrays = Bm25Index.build([("a", "x", ())])
    with pytest.raises(ValueError, match="no array 'largest'"):
        Bm25Index({name: array for name, array in arrays.items() if name != "largest"})
    with pytest.raises(ValueError, match="tokenizer 99"):
        Bm25Index({**arrays, "sizes": np.array([1, 99, 1])})


@given(st.lists(st.integers(0, 9), min_size=1, max_size=3000), st.data())
def test_kth_largest(values: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, min(len(values), 12)))
    assert _kth_largest(np.array(values, dtype=np.float64), k) == sorted(values, reverse=True)[k - 1]


def test_jax_is_not_started_where_it_is_installed(tmp_path: Path) -> None:
    """Its import in bm25s would take three quarters of a GPU's memory, in every process."""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    (tmp_path / "jax.py").write_text("raise SystemExit('JAX was started')", "utf-8")
    code = "import sys; from synth.retrieval.bm25_library import *; print(load_bm25s().__name__, 'jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stdout == "bm25s False\n", done.stderr
    code = "import bm25s"
    plain = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "JAX was started" in plain.stderr, "bm25s takes JAX no longer: load_bm25s can go"
