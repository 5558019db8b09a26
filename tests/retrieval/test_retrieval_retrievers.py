"""Passages join to their text, retrievers find pages, ranks are fused as stated, recipes say who searches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchmarks.bench_retrieval import recall, retrievers, rows
from hypothesis import given
from hypothesis import strategies as st
from shared_builds import LEAN

import synth
from synth.agents.trajectory import history_of
from synth.dataset.reader import load
from synth.environments.trust import untrusted
from synth.errors import InputError
from synth.pipelines.planner import plan
from synth.pipelines.reopen import reopen
from synth.recipe.load import load_recipe
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.encoder import HashedEncoder
from synth.retrieval.passages import PassageIndex, cut
from synth.schemas.arrow import from_arrow
from synth.schemas.trajectories import TrajectoryRow


@given(text=st.text(alphabet="ab .\n。", max_size=300), size=st.integers(5, 60))
def test_passages_join_to_the_text(text: str, size: int) -> None:
    spans = list(cut(text, size))
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(0 < end - start <= size or not text for start, end in spans)


def test_each_retriever_finds_pages_by_their_own_words_and_paraphrases_are_out_of_reach_of_words() -> None:
    made = retrievers(HashedEncoder())
    for retriever in made.values():
        hits = [retriever.search(" ".join(text.split()[:8]), 1) for _, text, _ in rows()]
        assert sum(found[0].document == row for row, found in enumerate(hits)) >= 0.95 * len(hits)
    assert recall(made["bm25"], 10) < 0.3


@pytest.mark.parametrize(
    ("query", "trusted"), [("a loan for music at night", False), ("fill the vessel with vinegar and water", True)]
)
def test_ranks_are_fused_as_stated(query: str, trusted: bool) -> None:
    made = retrievers(HashedEncoder())
    words = made["bm25"]
    assert isinstance(words, Bm25Index)
    trust = min(1.0, words.share(query, words.search(query, 1)[0].score) / 0.4) ** 2
    assert (trust == 1) is trusted
    ranks = [{hit.document: n for n, hit in enumerate(made[name].search(query, 100), 1)} for name in ("bm25", "dense")]
    wanted = {
        row: sum(weight / (60 + found[row]) for weight, found in zip((trust, 1), ranks, strict=True) if row in found)
        for row in {row for found in ranks for row in found}
    }
    best = sorted(wanted, key=lambda row: (-round(wanted[row], 9), row))
    assert [hit.document for hit in made["hybrid"].search(query, 7)] == best[:7]


def test_fusing_costs_nothing_where_words_do_not_match() -> None:
    made = retrievers(HashedEncoder())
    assert recall(made["hybrid"], 10) >= recall(made["dense"], 10)


def test_a_long_document_is_found_by_any_of_its_passages() -> None:
    filler = "Water flows under the old bridge. " * 100
    pages = [("One", filler), ("Two", f"{filler}The zeppelin landed in a field of rye. {filler}"), ("Three", filler)]
    encoder = HashedEncoder()
    (hit, *_) = PassageIndex(PassageIndex.build(lambda: pages, encoder), encoder).search("zeppelin landed rye", 3)
    assert hit.document == 1
    assert hit.start is not None
    assert "zeppelin" in pages[1][1][hit.start : hit.start + 800]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"environment.retriever": "colbert"}, "choose one of bm25, dense, hybrid"),
        ({"environment.vectors.encoder": "hashed"}, "environment.vectors has no effect"),
        ({"environment.retriever": "dense", "environment.vectors.encoder": "glove"}, "there is no 'glove'"),
        ({"environment.retriever": "dense", "environment.vectors.encoder": "sentence-transformers"}, "names the model"),
    ],
)
def test_wrong_keys_are_refused_in_one_line(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        load_recipe("world-search", settings=settings)
    assert "\n" not in str(caught.value)


def test_plans_give_searchers_their_vectors() -> None:
    wanted = plan(load_recipe("world-search", settings={"environment.retriever": "dense"}))
    nodes = {node.label: node for node in wanted.nodes}
    for label in ("teacher-rollouts", "policy-rollouts", "critical-steps", "perturbed-pairs", "rl"):
        assert nodes[label].inputs["passages"] == "passages"
    assert "passages" not in {node.label for node in plan(load_recipe("world-search")).nodes}


def test_a_finished_dataset_is_searched_as_it_was(tmp_path: Path) -> None:
    settings = {"source.entities": 300, **LEAN, "environment.retriever": "hybrid"}
    synth.build("world-search", tasks=3, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    dataset = load(tmp_path / "out")
    environment, tasks = reopen(dataset)
    searched = 0
    for row in from_arrow(dataset.table("trajectories"), TrajectoryRow):
        task = tasks.by_id(row.task_id)
        assert task is not None
        episode = environment.reset(task)
        for step in history_of(row)[1]:
            for call, result in zip(step.turn.calls, step.results, strict=True):
                assert episode.step(call) == result
                searched += call.name == "search"
    assert searched


def test_an_encoder_to_be_loaded_takes_trust() -> None:
    model = {"encoder": "sentence-transformers", "model": "some/model"}
    assert untrusted({"retriever": "dense", "vectors": {"encoder": "hashed"}}) is None
    assert untrusted({"retriever": "dense", "vectors": model}) == "load the encoder 'some/model'"
    assert "does not ship" in str(untrusted({"retriever": "mine"}))
