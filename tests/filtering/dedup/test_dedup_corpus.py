"""Duplicates of a table: what is planted is found, and nothing depends on order, pieces or company."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.filtering.dedup import Corpus, Rules, canonical_text, find_duplicates, text_hash
from synth.filtering.dedup.minhash import MinHasher, bands_for, candidates, caught
from synth.filtering.dedup.pairs import UNIT, Pair, PairForest, clusters_of
from synth.filtering.dedup.text import hash_and_shingles, jaccard, shingles
from synth.identity import derive_generator
from synth.retrieval.encoder import HashedEncoder

WORDS = [f"w{number}" for number in range(400)]


def _text(name: str, words: int = 60) -> list[str]:
    return [WORDS[at] for at in derive_generator(1, "dedup", name).integers(0, len(WORDS), words).tolist()]


def _planted(rows: int) -> tuple[list[str], list[str], dict[str, set[frozenset[str]]]]:
    """Texts, ids, and by kind the pairs that are duplicates of that kind."""
    ids, texts = [], []
    true: dict[str, set[frozenset[str]]] = {"exact": set(), "near": set(), "shuffled": set()}
    for number in range(rows):
        words = _text(str(number))
        ids.append(f"r{number:05}")
        texts.append(" ".join(words))
        if number % 4 == 0:
            ids.append(f"x{number:05}")
            texts.append(", ".join(words).upper() + "!")
            true["exact"].add(frozenset((ids[-1], ids[-2])))
        elif number % 4 == 1:
            ids.append(f"n{number:05}")
            texts.append(" ".join([*words[:-2], "other", "end"]))
            true["near"].add(frozenset((ids[-1], ids[-2])))
        elif number % 4 == 2:
            ids.append(f"s{number:05}")
            texts.append(" ".join(derive_generator(2, ids[-1]).permutation(words).tolist()))
            true["shuffled"].add(frozenset((ids[-1], ids[-2])))
    return ids, texts, true


def _encoder(texts: list[str]) -> HashedEncoder:
    encoder = HashedEncoder()
    encoder.fit(texts)
    return encoder


def _named(found: object, kind: str) -> set[frozenset[str]]:
    return {frozenset((found.ids[p.left], found.ids[p.right])) for p in found.pairs if p.kind == kind}  # type: ignore[attr-defined]


def test_planted_duplicates_are_found_and_nothing_else() -> None:
    ids, texts, true = _planted(400)
    found = find_duplicates(Corpus(ids, texts), Rules(semantic=0.95), _encoder(texts))
    assert _named(found, "exact") == true["exact"]
    assert _named(found, "near") == true["near"]
    assert true["shuffled"] <= _named(found, "semantic") <= true["shuffled"] | true["near"]
    assert len(found.clusters().dropped) == 300
    near = next(method for method in found.methods if method.kind == "near")
    assert not near.exact
    assert near.recall >= 0.99
    assert next(method for method in found.methods if method.kind == "semantic").exact


def test_near_pairs_agree_with_comparing_every_two() -> None:
    texts = [
        " ".join(_text("base")[: 60 - cut] + _text(f"tail {number}")[:cut])
        for number, cut in enumerate(range(0, 40, 2))
    ]
    grams = [shingles(text, 3) for text in texts]
    brute = [
        Pair(one, other, "near", round(jaccard(grams[one], grams[other]), 4))
        for one, other in combinations(range(len(texts)), 2)
        if round(jaccard(grams[one], grams[other]), 4) >= 0.6
    ]
    found = find_duplicates(Corpus([f"{n:03}" for n in range(len(texts))], texts), Rules(near=0.6))
    assert len(brute) > 20
    for threshold in (0.6, 0.7, 0.8, 0.95, 1.0):
        kept = [pair for pair in brute if pair.score >= threshold]
        assert found.clusters(near=threshold).of == clusters_of(len(texts), kept).of
    with pytest.raises(ValueError, match=r"near 0\.5: pairs were looked for from 0\.6 on"):
        found.clusters(near=0.5)
    with pytest.raises(ValueError, match=r"semantic 0\.9: pairs were looked for not at all"):
        found.clusters(semantic=0.9)


@settings(max_examples=8, deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_decides_nothing(chance: object) -> None:
    ids, texts, _ = _planted(24)
    quality = [(float(len(text) % 7),) for text in texts]
    structures = [f"s{len(text) % 5}" if len(text) % 3 else None for text in texts]
    encoder, rules = _encoder(texts), Rules(near=0.5, semantic=0.5)
    expected = find_duplicates(Corpus(ids, texts, structures, quality), rules, encoder)
    order = list(range(len(ids)))
    chance.shuffle(order)  # type: ignore[attr-defined]
    columns = ([column[at] for at in order] for column in (ids, texts, structures, quality))
    found = find_duplicates(Corpus(*columns), rules, encoder)  # type: ignore[arg-type]
    assert found == expected
    assert found.clusters() == expected.clusters()


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 5)), max_size=40), st.integers(1, 7))
def test_a_forest_has_the_components_of_its_graph_at_every_threshold(
    edges: list[tuple[int, int, int]], step: int
) -> None:
    forest = PairForest()
    for start in range(0, len(edges), step):
        part = np.array(edges[start : start + step], dtype=np.int64)
        forest.add(part[:, 0], part[:, 1], part[:, 2] * 1000)
        forest.pairs()
    held = forest.pairs()
    other = PairForest()
    if edges:
        other.add(*np.array([(b, a, 1000 * s) for a, b, s in reversed(edges)], dtype=np.int64).T)
    assert np.array_equal(other.pairs(), held)
    assert len(held) <= 9
    for least in range(1, 6):
        every = [Pair(min(a, b), max(a, b), "near", s / 10) for a, b, s in edges if s >= least and a != b]
        kept = [Pair(a, b, "near", s / UNIT) for s, a, b in held.tolist() if s >= 1000 * least]
        assert clusters_of(10, kept).of == clusters_of(10, every).of


def test_signatures_do_not_depend_on_pieces_or_company() -> None:
    from synth.filtering.dedup.corpus import signatures

    _, texts, _ = _planted(30)
    hasher = MinHasher(*bands_for(0.8))
    whole = signatures(texts, hasher, 3)
    pieces = [signatures(texts[start : start + size], hasher, 3) for start, size in ((0, 7), (7, 1), (8, 100))]
    assert np.array_equal(np.concatenate(pieces), whole)


def test_sets_that_are_hashed_together_have_the_signatures_of_each_alone() -> None:
    chance = derive_generator(3, "sets")
    sizes = [0, 1, 700, 0, 4096, 3, 4095, 1, 9000, 0, 2]  # none, some, just as many as are hashed at once, and more
    sets = [chance.integers(0, 2**63, size=size).astype(np.uint64) for size in sizes]
    hasher = MinHasher(8, 4)
    assert np.array_equal(hasher.signatures(sets), np.array([hasher.signature(one) for one in sets]))
    assert hasher.signatures([]).shape == (0, 32)


@given(st.text(max_size=60), st.integers(1, 4))
def test_a_text_that_is_read_once_has_the_same_hash_and_n_grams(text: str, words: int) -> None:
    hashed, grams = hash_and_shingles(text, words)
    assert hashed == text_hash(text)
    assert np.array_equal(grams, shingles(text, words))


def test_bands_catch_what_they_promise() -> None:
    for threshold in (0.5, 0.7, 0.8, 0.9, 1.0):
        bands, rows = bands_for(threshold)
        assert bands * rows <= 128
        assert caught(threshold, bands, rows) >= 0.99
    with pytest.raises(ValueError, match="more than 0"):
        bands_for(0.0)
    # 300 pairs of Jaccard similarity 0.8: 90 of 110 n-grams in common.
    hasher = MinHasher(*bands_for(0.8))
    met = 0
    for number in range(300):
        drawn = derive_generator(3, number).integers(0, 2**63, 110, dtype=np.uint64)
        both = np.stack([hasher.signature(drawn[:100]), hasher.signature(drawn[10:])])
        met += len(list(candidates(hasher.keys(both)))) == 1
    assert met >= 295
    assert hasher.signature(np.zeros(0, np.uint64)).min() == 0xFFFFFFFF


def test_the_empty_the_unique_the_identical_and_the_strange() -> None:
    rules = Rules(semantic=0.9)
    nothing = find_duplicates(Corpus([], []), rules, _encoder(["a"]))
    assert (nothing.pairs, nothing.clusters().of) == ((), ())
    unique = [" ".join(_text(f"u{number}")) for number in range(200)]
    assert (
        find_duplicates(Corpus([str(n) for n in range(200)], unique), rules, _encoder(unique)).clusters().dropped == ()
    )
    same = ["The same words."] * 3000
    found = find_duplicates(Corpus([str(n) for n in range(3000)], same), rules, _encoder(same))
    assert len(found.clusters().dropped) == len(found.pairs) == 2999
    bag = [" ".join(derive_generator(4, n).permutation(WORDS[:40]).tolist()) for n in range(300)]
    assert (
        len(find_duplicates(Corpus([str(n) for n in range(300)], bag), rules, _encoder(bag)).clusters().dropped) == 299
    )
    strange = [
        "",
        "  ",
        "!?",
        "!?",
        "ﬁn Straße",
        "FIN STRASSE",
        "東京タワー",
        "東京タワー。",
        "e\u0301tude",
        "étude",
        "1,204",
        "1205",
        "🙂",
        "🙃",
    ]
    found = find_duplicates(Corpus([f"{n:02}" for n in range(len(strange))], strange), rules, _encoder(strange))
    assert list(found.clusters().members().values()) == [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)]


def test_representatives_go_by_quality_then_by_id() -> None:
    corpus = Corpus(["c", "a", "b"], ["one text", "one text", "one text"], quality=[(1.0,), (0.0,), (1.0,)])
    found = find_duplicates(corpus, Rules())
    assert [found.ids[row] for row in found.clusters().of] == ["b", "b", "b"]
    assert find_duplicates(Corpus(["c", "a", "b"], ["one text"] * 3), Rules()).clusters().of == (0, 0, 0)
    assert find_duplicates(Corpus(["a", "b"], ["one", "one"]), Rules(exact=False, near=None)).pairs == ()


def test_numbers_are_differences_and_bad_arguments_are_named() -> None:
    assert text_hash("in 1987, 3,400 tons") != text_hash("in 1988, 3,400 tons")
    assert canonical_text("Don’t  STOP — now!") == canonical_text("don't stop now")
    assert len(shingles("one two", 3)) == 1
    with pytest.raises(ValueError, match="at least 1"):
        shingles("one", 0)
    with pytest.raises(ValueError, match="the same id"):
        Corpus(["a", "a"], ["x", "y"])
    with pytest.raises(ValueError, match="2 ids and 1 texts"):
        Corpus(["a", "b"], ["x"])
    with pytest.raises(ValueError, match="need an encoder"):
        find_duplicates(Corpus(["a"], ["x"]), Rules(semantic=0.9))
    with pytest.raises(ValueError, match="only of that"):
        Rules(encoder="sentence-transformers")
