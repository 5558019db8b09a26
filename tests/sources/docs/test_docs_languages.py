"""Trees in German, French and Chinese: tasks, or an error that says what was found; searches find what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest
from shared_builds import LEAN

import synth
from synth.dataset.reader import load
from synth.errors import SynthError
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.tokens import tokenize
from synth.text.sentences import sentences

TREES = Path(__file__).parents[1] / "languages"


@pytest.mark.parametrize("language", ["de", "fr", "zh"])
def test_a_tree_gives_tasks_and_says_what_was_found_when_they_are_too_few(language: str, tmp_path: Path) -> None:
    settings = {"source.path": str(TREES / language), **LEAN}
    with pytest.raises(SynthError, match=r"[45] of them in another language.*facts: .* for 200 tasks") as caught:
        synth.build("docs-search", out=tmp_path / "out", store=tmp_path / "store", tasks=200, settings=settings)
    assert "\n" not in str(caught.value)
    synth.build("docs-search", out=tmp_path / "out", store=tmp_path / "store", tasks=1, settings=settings)
    assert len(load(tmp_path / "out").table("tasks")) == 1


@pytest.mark.parametrize(
    ("language", "query", "page"),
    [
        ("de", "Läuferstein Größling", "mahlwerk.md"),
        ("de", "ÜBERSETZUNG ZAHNRÄDERN", "getriebe.md"),
        ("fr", "élève brouillard navires", "corne.md"),
        ("fr", "l'huile", "tour.md"),
        ("zh", "山泉水", "water.md"),
        ("zh", "龙井茶产于哪里", "tea.md"),
    ],
)
def test_pages_are_found_by_their_words(language: str, query: str, page: str) -> None:
    paths = sorted((TREES / language).glob("*.md"))
    pages = [(path.stem, path.read_text("utf-8"), ()) for path in paths]
    hits = Bm25Index(Bm25Index.build(pages)).search(query, 1)
    assert paths[hits[0].document].name == page


def test_tokens_and_sentences_of_chinese_are_shorter_than_lines() -> None:
    text = (TREES / "zh" / "tea.md").read_text("utf-8")
    assert max(map(len, tokenize(text))) <= 4
    assert len(sentences(text)) >= 6
