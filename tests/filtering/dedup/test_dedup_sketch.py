"""What is computed of rows before they are compared: another threshold computes none of it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from synth.filtering.dedup import Rules, find_duplicates
from synth.filtering.dedup.corpus import Corpus
from synth.filtering.dedup.levels import DOCUMENTS
from synth.filtering.dedup.sketch import Sketch, sketch_rows
from synth.identity import derive_generator
from synth.retrieval.encoder import HashedEncoder
from synth.schemas.documents import Document

WORDS = [f"word{number}" for number in range(400)]


class Counting(HashedEncoder):
    """Counts the texts that it encodes."""

    def __init__(self) -> None:
        super().__init__()
        self.texts = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += len(texts)
        return super().encode(texts)


class Unread(Sequence[str]):
    """Texts that nobody may ask for."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, place: int) -> Any:
        raise AssertionError("a text was read again")


def page(name: str, text: str) -> Document:
    return Document(id=name, title="Mill", text=text, kind="page", source="s")


def pages(count: int = 60) -> list[Document]:
    """Distinct pages, then a copy in other case, one with a word more, and one in another order of words."""
    draw = derive_generator(3, "sketch pages")
    texts = [" ".join(WORDS[at] for at in draw.integers(0, 400, size=40)) for _ in range(count)]
    words = texts[2].split()
    made = [*texts, texts[0].upper() + "!", texts[1] + " more", " ".join([*words[20:], *words[:20]])]
    return [page(f"p{number:03}", text) for number, text in enumerate(made)]


def drawn(rows: Sequence[Document], encoder: Counting | None) -> Sketch:
    return sketch_rows(rows, DOCUMENTS.text, DOCUMENTS.quality, words=3, encoder=encoder)


def test_a_sketch_finds_what_texts_find_and_serves_every_threshold() -> None:
    rows, encoder = pages(), Counting()
    sketch = Sketch.of(drawn(rows, encoder).arrays())
    assert encoder.texts == len(rows)
    corpus = DOCUMENTS.corpus(rows)
    other = Counting()
    other.fit(())
    for near, semantic in ((0.6, 0.9), (0.9, 0.99)):
        rules = Rules(near=near, semantic=semantic)
        again = find_duplicates(corpus, rules, encoder, sketch=sketch)
        direct = find_duplicates(corpus, rules, other)
        assert again.pairs == direct.pairs
        assert again.clusters() == direct.clusters()
        kinds = {pair.kind for pair in again.pairs}
        assert kinds == {"exact", "near", "semantic"}
    assert encoder.texts == len(rows), "nothing was encoded again"
    unread = Corpus(corpus.ids, Unread(len(rows)))
    assert find_duplicates(unread, Rules(near=None, semantic=0.9), encoder, sketch=sketch).pairs, "no text is needed"


def test_the_order_of_rows_changes_nothing() -> None:
    rows = pages()
    turned = [rows[at] for at in derive_generator(5, "sketch order").permutation(len(rows))]
    rules = Rules(near=0.6, semantic=0.9)
    found = [
        find_duplicates(DOCUMENTS.corpus(some), rules, encoder, sketch=drawn(some, encoder))
        for some, encoder in ((rows, Counting()), (turned, Counting()), (rows[::-1], Counting()))
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(
    ("texts", "dropped"),
    [
        ([], 0),
        (["Ein Fluß 河川 🌊 \u0301"], 0),
        (["Ein Fluß 河川 🌊", "EIN FLUSS: 河川", "Ein Fluss 河"], 1),
        (["…", "!!", "…"], 2),
        (["same words here"] * 50, 49),
        ([f"w{number} x{number} y{number}" for number in range(50)], 0),
    ],
)
def test_no_rows_one_row_rows_without_words_and_equal_rows(texts: list[str], dropped: int) -> None:
    rows = [page(f"{number:02}", text) for number, text in enumerate(texts)]
    encoder = Counting()
    sketch = drawn(rows, encoder)
    found = find_duplicates(DOCUMENTS.corpus(rows), Rules(semantic=0.9), encoder, sketch=sketch)
    assert len(found.clusters().dropped) == dropped


def test_a_sketch_that_lacks_something_is_refused() -> None:
    rows = pages(3)
    corpus = DOCUMENTS.corpus(rows)
    bare = sketch_rows(rows, DOCUMENTS.text, DOCUMENTS.quality)
    with pytest.raises(ValueError, match="signatures"):
        find_duplicates(corpus, Rules(near=0.8), sketch=bare)
    with pytest.raises(ValueError, match="vectors"):
        find_duplicates(corpus, Rules(near=None, semantic=0.9), HashedEncoder(), sketch=bare)
    with pytest.raises(ValueError, match="a sketch of 2 rows for 6"):
        find_duplicates(corpus, Rules(near=None), sketch=sketch_rows(rows[:2], DOCUMENTS.text, DOCUMENTS.quality))
