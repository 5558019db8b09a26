"""FAISS and sentence-transformers, really loaded: `make test-extras ARGS=embed`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from synth.errors import InputError
from synth.retrieval.dense import DenseIndex
from synth.retrieval.encoder import HashedEncoder, sentence_encoder
from synth.retrieval.vectors import ExactIndex, FaissIndex, recall

pytestmark = pytest.mark.extras


def _vectors(rows: int, seed: int) -> np.ndarray:
    found = np.random.Generator(np.random.Philox(key=seed)).normal(size=(rows, 32)).astype(np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_flat_faiss_agrees_with_exact() -> None:
    pytest.importorskip("faiss")
    vectors, queries = _vectors(2_000, 1), _vectors(20, 2)
    one, other = FaissIndex(vectors, "faiss-flat").search(queries, 10), ExactIndex(vectors).search(queries, 10)
    # Rounding may part two equal scores by one place, never more.
    for found, true in zip(one, other, strict=True):
        assert [item.score for item in found] == pytest.approx([item.score for item in true], abs=2e-4)
    assert recall(FaissIndex(vectors, "faiss-flat"), ExactIndex(vectors), queries, 10) > 0.99


def test_hnsw_recall_and_repetition() -> None:
    pytest.importorskip("faiss")
    vectors, queries = _vectors(5_000, 3), _vectors(50, 4)
    index = FaissIndex(vectors, "faiss-hnsw")
    assert recall(index, ExactIndex(vectors), queries, 10) >= 0.9
    assert index.search(queries, 10) == FaissIndex(vectors, "faiss-hnsw").search(queries, 10)
    assert len(FaissIndex(vectors[:3], "faiss-hnsw").search(queries[:1], 10)[0]) == 3
    with pytest.raises(ValueError, match="no index of FAISS"):
        FaissIndex(vectors, "exact")


def test_dense_index_over_faiss() -> None:
    pytest.importorskip("faiss")
    texts = [f"page {number} about {'clocks' if number % 2 else 'bridges'}" for number in range(50)]
    arrays = DenseIndex.build(lambda: [("", text) for text in texts], HashedEncoder())
    exact, faiss = (DenseIndex(arrays, HashedEncoder(), kind) for kind in ("exact", "faiss-flat"))
    assert faiss.search(texts[7], 1) == exact.search(texts[7], 1)


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of random weights, made here: what counts is that it is opened and called as any other."""
    models = pytest.importorskip("sentence_transformers.models")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("tiny")
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz"),
    ]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    transformers.set_seed(1)
    transformers.BertModel(config).save_pretrained(folder / "bert")
    transformers.BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder / "bert")
    word = models.Transformer(str(folder / "bert"), max_seq_length=32)
    model = sentence_transformers.SentenceTransformer(modules=[word, models.Pooling(16)], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"


def test_sentence_encoder_keeps_the_contract(tiny_model: Path) -> None:
    encoder = sentence_encoder(model=str(tiny_model))
    assert encoder.name == "sentence-transformers:model"
    texts = ["a bridge", "a clock", ""]
    vectors = encoder.encode(texts)
    assert vectors.shape == (3, encoder.dim) == (3, 16)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-4)
    assert np.array_equal(encoder.encode(texts), vectors)
    arrays = DenseIndex.build(lambda: [("", text) for text in texts[:2]], encoder)
    assert DenseIndex(arrays, encoder).search("\na clock", 1)[0].document == 1
    with pytest.raises(ValueError, match="the vectors are of sentence-transformers:model"):
        DenseIndex(arrays, HashedEncoder())


def test_a_model_that_is_not_there_is_the_users_mistake(tmp_path: Path) -> None:
    pytest.importorskip("sentence_transformers")
    with pytest.raises(InputError, match="can't be opened"):
        sentence_encoder(model=str(tmp_path / "nothing"))
