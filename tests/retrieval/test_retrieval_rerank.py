"""The first results are put in the order of a second look; what is behind them, and what was found, stays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from shared_builds import LEAN, WORLD, world_store

import synth
from synth.dataset.rules.validate import validate
from synth.environments.trust import untrusted
from synth.errors import InputError
from synth.recipe.load import load_recipe
from synth.retrieval.passages import Found
from synth.retrieval.rerank import Proximity, Reranked, Reranking

PAGES = [
    ("Mills", "The mill of the river grinds corn. A stone bridge stands far from it."),
    ("Rivers", "Stone mill, river, bridge, corn: five words on a wall."),
    ("Bridges", "The stone bridge over the river was built of corn-coloured bricks."),
    ("Corn", "Corn grows."),
]


class InOrder:
    """Finds every page, in the order in which they stand."""

    def __init__(self, start: int | None = None) -> None:
        self.start = start

    def search(self, query: str, k: int) -> Sequence[Found]:
        return [Found(row, 1.0 / (1 + row), self.start) for row in range(len(PAGES))][:k]


def test_words_that_stand_together_come_first_and_what_is_behind_the_depth_stays() -> None:
    found = Reranked(InOrder(), Proximity(depth=3), PAGES.__getitem__).search("stone bridge over the river", 4)
    assert [hit.document for hit in found] == [2, 0, 1, 3]
    assert [hit.score for hit in found[:3]] == sorted((hit.score for hit in found[:3]), reverse=True)
    assert found[3] == Found(3, 0.25)
    assert [hit.document for hit in Reranked(InOrder(), Proximity(), PAGES.__getitem__).search("corn grows", 1)] == [3]


def test_equal_scores_keep_their_order_and_the_passage_that_was_found_is_read() -> None:
    class Same:
        depth = 4
        seen: Sequence[str] = ()

        def scores(self, query: str, passages: Sequence[str]) -> list[float]:
            self.seen = passages
            return [0.5] * len(passages)

    reranker = Same()
    found = Reranked(InOrder(start=4), reranker, PAGES.__getitem__).search("corn", 4)
    assert [hit.document for hit in found] == [0, 1, 2, 3]
    assert {hit.start for hit in found} == {4}
    assert list(reranker.seen) == [f"{title}\n{text[4:]}" for title, text in PAGES]


def test_a_build_searches_by_it_and_validates(tmp_path: Path) -> None:
    settings = {**WORLD, **LEAN, "environment.reranker": {"depth": 20}}
    built = synth.build("world-search", tasks=3, out=tmp_path / "out", store=world_store(tmp_path), settings=settings)
    assert validate(built.path) == []


@pytest.mark.parametrize(
    ("given", "said"),
    [({"kind": "colbert"}, "choose one of proximity, cross-encoder"), ({"kind": "cross-encoder"}, "names the model")],
)
def test_what_does_not_fit_is_one_line(given: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_recipe("world-search", settings={"environment.reranker": given})


def test_a_strangers_dataset_loads_no_model() -> None:
    assert untrusted({"kind": "search", "reranker": None}) is None
    assert untrusted({"kind": "search", "reranker": Reranking().model_dump()}) is None
    model = Reranking(kind="cross-encoder", model="some/model").model_dump()
    assert untrusted({"kind": "search", "reranker": model}) == "load the reranker 'some/model'"
