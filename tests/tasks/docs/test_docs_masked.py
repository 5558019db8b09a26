"""Masked passages: what was taken out stands nowhere in the question, and another page gives it back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from synth.environments.answers import judge_parts
from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.tasks.docs.checks import Failure
from synth.tasks.docs.masked import Masked, frames, mask_names
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig, Proposed
from synth.tasks.text import mentions

TOPICS = {
    "quarn": "read the hourly water level of a harbour",
    "velib": "merge two seasonal timetables of a railway",
    "tosk": "classify a birdsong recording by its species",
    "mirad": "cut stained glass into panes for a window",
    "plune": "predict fog on a summit from valley temperature",
    "grath": "sort the shelf marks of a national library",
    "zephon": "transpose a score for another wind instrument",
    "ordix": "scale a bread recipe to the flour at hand",
}


class Table:
    def __init__(self, arrow: object) -> None:
        self.arrow = arrow

    def __len__(self) -> int:
        return len(self.arrow)  # type: ignore[arg-type]

    def row(self, number: int) -> Document:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


def site() -> dict[str, str]:
    files = {
        f"{name}.html": f"<h1>{name}</h1><p>{name} — {topic}</p><h2>Description</h2><p>{name} was written long ago.</p>"
        for name, topic in TOPICS.items()
    }
    items = "".join(f'<p><a href="{name}.html">{name}</a> can {topic} every day.</p>' for name, topic in TOPICS.items())
    text = "<p>These programs were collected by a friend of ours who travels much and writes of what he sees. </p>" * 12
    files["tour.html"] = f"<h1>Tour</h1>{text}{items}"
    return files


@pytest.fixture(scope="module")
def proposer(tmp_path_factory: pytest.TempPathFactory) -> DocsProposer:
    root: Path = tmp_path_factory.mktemp("masked")
    for name, body in site().items():
        (root / name).write_text(f"<html><body>{body}</body></html>")
    source = DocsSource(DocsConfig(path=str(root), fractions={"train": 1.0, "validation": 0.0, "test": 0.0}))
    table = to_arrow(source.read(source.files)[0], Document)
    entities, edges = graph_tables(table)
    index = Bm25Index(Bm25Index.build(table))
    return DocsProposer(
        Table(table),
        list(from_arrow(entities, Entity)),
        list(from_arrow(edges, Edge)),
        lambda query, k: [hit.document for hit in index.search(query, k)],
        DocsTasksConfig(masked_share=1.0, hub_share=1.0),
    )


@pytest.fixture(scope="module")
def accepted(proposer: DocsProposer) -> list[Proposed]:
    tries = (proposer.propose(i, "train", derive_generator(3, "masked", i)) for i in range(200))
    return [p for p in tries if isinstance(p, Proposed) and p.draft.shape == "masked"]


def test_masks_are_given_back_by_other_pages(proposer: DocsProposer, accepted: list[Proposed]) -> None:
    assert {len(p.draft.walk.hops) for p in accepted} == {1, 2, 3, 4}
    for proposed in accepted:
        draft = proposed.draft
        names = [hop.target.name for hop in draft.walk.hops]
        assert mentions(draft.question, names) is None
        assert len(set(names)) == len(names)
        for number, hop in enumerate(draft.walk.hops, 1):
            assert hop.cue in draft.question
            assert f"[{number}]" in hop.cue
            assert not hop.needs
            assert hop.evidence.document_id == f"{hop.target.name}.html"
            assert hop.evidence.document_id != "tour.html"
            row = proposer.corpus.columns.ids.index(hop.evidence.document_id)
            assert proposer.corpus.text(row)[hop.evidence.start : hop.evidence.end] == hop.evidence.quote


def test_the_answer_is_in_parts_and_in_order(accepted: list[Proposed]) -> None:
    several = [p.draft for p in accepted if len(p.draft.walk.hops) > 1]
    assert several
    for draft in several:
        assert [part.answer for part in draft.answer_parts] == [hop.target.name for hop in draft.walk.hops]
        assert draft.answer_ordered
        assert judge_parts(draft.answer, draft.answer_parts, ordered=True).correct
        backwards = ", ".join(part.answer for part in reversed(draft.answer_parts))
        assert not judge_parts(backwards, draft.answer_parts, ordered=True).correct
    single = [p.draft for p in accepted if len(p.draft.walk.hops) == 1]
    assert single
    assert all(not draft.answer_parts and draft.answer == draft.walk.hops[0].target.name for draft in single)


def test_a_passage_that_two_things_fit_is_not_masked(proposer: DocsProposer) -> None:
    """A twin of one page, under another name, takes that page's masks away and no other's."""
    corpus = proposer.corpus
    whole = {m.entity for g in Masked(corpus).by_signature["train"].values() for p in g for m in p.masks}
    victim = next(e for e in corpus.entities if e.name == "grath")
    assert victim.ordinal in whole
    edge = next(corpus.edges[n] for n in corpus.out[victim.ordinal]["subtitle"])
    twin = next(e for e in corpus.entities if e.name == "Tour")
    before = corpus.edges
    try:
        corpus.edges = [*before, edge.model_copy(update={"subject": twin.ordinal})]
        left = {m.entity for g in Masked(corpus).by_signature["train"].values() for p in g for m in p.masks}
    finally:
        corpus.edges = before
    assert left == whole - {victim.ordinal}


def test_checks_refuse_what_was_tampered_with(proposer: DocsProposer, accepted: list[Proposed]) -> None:
    draft = next(p.draft for p in accepted if len(p.draft.walk.hops) == 2)
    first, second = draft.walk.hops
    swapped = (
        first.model_copy(update={"evidence": second.evidence}),
        second.model_copy(update={"evidence": first.evidence}),
    )
    for change in (
        {"walk": draft.walk.model_copy(update={"hops": swapped})},
        {"question": f"{draft.question} It is not {first.target.name}."},
    ):
        assert isinstance(proposer._judge.run(draft.model_copy(update=change)), Failure)


def test_names_are_masked_whole() -> None:
    assert (
        mask_names("Call walk() or os.walk(), not walker.", ("os.walk", "walk"), "[1]")
        == "Call [1] or [1], not walker."
    )


@pytest.mark.parametrize("count", [1, 2, 4])
def test_six_ways_to_ask(count: int) -> None:
    asked = {frame.format(m="M", p="P") for frame in frames(count)}
    assert len(asked) == 6
    assert all("M" in text and "“P”" in text and not re.search(r"[{}]", text) for text in asked)
