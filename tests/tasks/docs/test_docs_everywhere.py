"""What all pages are about is known by their texts, or, where they are few and long, by their titles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pytest

from synth.schemas.arrow import to_arrow
from synth.schemas.documents import Document
from synth.tasks.docs.corpus import Corpus


@dataclass
class Pages:
    arrow: pa.Table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return self.arrow.slice(number, 1).to_pylist()[0]


def corpus(titles: list[str], text: str) -> Corpus:
    pages = [Document(id=title, title=title, text=text, kind="page", source="s") for title in titles]
    return Corpus(Pages(to_arrow(pages, Document)), [], [], hub_share=0.2)


@pytest.mark.parametrize(
    ("titles", "everywhere"),
    [
        (["Kiln Explained", "Kiln Administration", "Clusters from Scratch", "Kiln Development"], True),
        (
            ["Anvils", "Bellows", "Crucibles", "The Kiln"],
            False,
        ),  # one book is about it, however often the others name it
        (["Kiln Explained", "Kiln Administration"], False),  # of two nothing can be said
        (["Kiln Manual"], True),
        ([f"Chapter {number}" for number in range(12)], True),
    ],
)
def test_what_all_pages_are_about(titles: list[str], everywhere: bool) -> None:
    found = corpus(titles, "A kiln is fired slowly. Glaze comes later.")
    assert found.is_everywhere("Kiln") is everywhere
    assert not found.is_everywhere("Kiln lid"), "every word must be everywhere"
