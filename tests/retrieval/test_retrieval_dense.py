"""The light encoder and the exact index: deterministic, near where texts are alike, exact where they say so."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from synth.errors import InputError
from synth.retrieval.dense import DenseIndex
from synth.retrieval.encoder import HashedEncoder, sentence_encoder
from synth.retrieval.vectors import ExactIndex, open_index

_TEXTS = (
    "The bridge over the River Senn was designed by Orla Venn and opened in 1871.",
    "Orla Venn designed a bridge that crosses the River Senn; it was opened in 1871.",
    "Tarnvale is a city in Keldmark with 48,000 inhabitants.",
    "Tarnvelle is a city in Keldmark with 51,000 inhabitants.",
    "The museum keeps a collection of early clocks.",
    "A festival of chamber music is held in late summer.",
)


def _fitted() -> HashedEncoder:
    encoder = HashedEncoder()
    encoder.fit(_TEXTS)
    return encoder


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=5))
def test_rows_have_length_one_and_do_not_depend_on_company(texts: list[str]) -> None:
    encoder = _fitted()
    together = encoder.encode(texts)
    assert together.shape == (len(texts), 384)
    assert together.dtype == np.float32
    for row, text in zip(together, texts, strict=True):
        assert np.linalg.norm(row) == pytest.approx(1.0, abs=1e-4) or not row.any()
        assert np.array_equal(encoder.encode([text])[0], row)
        assert np.array_equal(_fitted().encode([text])[0], row)


def test_likeness_of_words_and_of_spelling_counts() -> None:
    vectors = _fitted().encode(_TEXTS)
    cosine = vectors @ vectors.T
    assert cosine[0, 1] > 0.6  # the same said otherwise, in the same words
    assert cosine[2, 3] > 0.5
    assert max(cosine[4, :4].max(), cosine[5, :4].max()) < 0.3
    names = _fitted().encode(["Tarnvale", "Tarnvelle", "Obrusk"])
    assert names[0] @ names[1] > 0.12 > abs(names[0] @ names[2])


def test_hashed_features_are_as_good_as_orthogonal() -> None:
    """Random words: the mean square of the cosine is about 1/384, as for a random projection to 384 dimensions."""
    encoder = _fitted()
    letters = np.random.Generator(np.random.Philox(key=5)).integers(ord("a"), ord("z") + 1, size=(200, 9))
    vectors = encoder.encode(["".join(map(chr, word)) for word in letters.tolist()])
    cosine = (vectors @ vectors.T)[np.triu_indices(200, 1)]
    assert abs(float(cosine.mean())) < 0.01
    assert float((cosine**2).mean()) < 2 / 384


def test_arrays_of_another_encoder_are_refused() -> None:
    encoder = HashedEncoder()
    with pytest.raises(RuntimeError, match="fit or load"):
        encoder.encode(["a"])
    found = DenseIndex.build(lambda: [("t", text) for text in _TEXTS], encoder)
    with pytest.raises(ValueError, match="the vectors are of other"):
        DenseIndex({**found, "encoder_name": np.frombuffer(b"other", dtype=np.uint8)}, encoder)
    with pytest.raises(ValueError, match="not of hashed-words-384-v1"):
        encoder.load({"frequency": np.zeros(3, np.uint32), "sizes": np.array([1, 384, 1])})


def test_dense_search_finds_itself_first_and_its_double_next() -> None:
    index = DenseIndex(
        DenseIndex.build(lambda: [("", text) for text in _TEXTS], HashedEncoder()), HashedEncoder(), "exact"
    )
    for at, text in enumerate(_TEXTS):
        hits = index.search(text, 3)
        assert hits[0].document == at
        assert hits[0].score > 0.99
    assert index.search(_TEXTS[2], 2)[1].document == 3
    assert index.search_all([], 3) == []
    empty = DenseIndex(DenseIndex.build(list, HashedEncoder()), HashedEncoder())
    assert empty.search("anything", 3) == []


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.float32, st.tuples(st.integers(0, 40), st.just(4)), elements=st.floats(-1, 1, width=16)),
    st.integers(1, 12),
)
def test_exact_search_is_a_sort(vectors: np.ndarray, k: int) -> None:
    query = np.array([[0.5, -0.25, 1.0, 0.125]], dtype=np.float32)
    scores = np.round(vectors @ query[0], 4)
    wanted = sorted(range(len(vectors)), key=lambda row: (-scores[row], row))[:k]
    found = ExactIndex(vectors).search(query, k)[0]
    assert [item.document for item in found] == wanted
    others = ExactIndex(vectors).search(np.concatenate((query, -query, query)), k, 2)
    assert len(others) == 2
    assert others[0] == found


def test_what_is_not_installed_is_the_users_to_mend() -> None:
    vectors = np.eye(3, dtype=np.float32)
    for module, make in (
        ("faiss", lambda: open_index(vectors, "faiss-flat")),
        ("sentence_transformers", lambda: sentence_encoder(model="any")),
    ):
        try:
            __import__(module)
        except ImportError:
            with pytest.raises(InputError, match=r"(?i)install the extra embed"):
                make()
