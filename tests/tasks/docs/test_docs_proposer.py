"""Questions over a small site of invented documentation: built, searched and questioned for real."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig, Proposed
from synth.tasks.draft import finish
from synth.tasks.text import mentions

NAMES = "quarn velib tosk mirad plune grath zephon ordix karsh wembly fennic dravo".split()
THINGS = [
    ("tide tables for harbours", "Read the hourly water level of a harbour from the almanac."),
    ("railway timetables", "Merge two seasonal timetables while keeping night trains apart."),
    ("birdsong recordings", "Classify a recording by the species whose call it most resembles."),
    ("stained glass patterns", "Cut a pattern into panes that a lead strip can hold."),
    ("mountain weather", "Predict fog on a summit from the valley temperature."),
    ("library catalogues", "Sort shelf marks by the rules of the national library."),
    ("sheet music", "Transpose a score for a wind instrument in another key."),
    ("bread recipes", "Scale a recipe to the weight of flour at hand."),
    ("sailing knots", "Render a knot as a diagram of crossings."),
    ("lighthouse signals", "Decode a light character into its flashes and eclipses."),
    ("beehive sensors", "Detect swarming from the hum of a colony."),
    ("postal routes", "Shorten a delivery round that must start at the depot."),
]
FAILURES = (
    "raised when the almanac lacks a page|raised when a score has no clef|raised when the colony is silent".split("|")
)


def site() -> dict[str, str]:
    """Twelve modules: each lists two others under "See also", its function raises the error of a third and mentions one
    function of a fourth."""
    files = {}
    for n, (name, (topic, task)) in enumerate(zip(NAMES, THINGS, strict=True)):
        first, second = NAMES[(n + 1) % 12], NAMES[(n + 5) % 12]
        other, error = NAMES[(n + 3) % 12], NAMES[n % 3]
        failure = (
            f'<dl class="py exception"><dt class="sig" id="{name}.Trouble">exception {name}.Trouble</dt><dd><p>'
            f"Exception {FAILURES[n]}.</p><p>New in version 2.{n + 1}.</p></dd></dl>"
            if n < 3
            else ""
        )
        files[f"lib/{name}.html"] = f"""<html><body><h1 id="module-{name}">{name} — Tools</h1>
<p>Source code: Lib/{name}.py</p><p>New in version 1.{n % 4}.</p>
<p>This module provides tools for {topic} and for those who work with them.</p>
<dl class="py function"><dt class="sig" id="{name}.do_{name}">{name}.do_{name}(item, *, width={40 + n})</dt>
<dd><p>{task}
Raises <a href="{error}.html#{error}.Trouble">{error}.Trouble</a> if the given item was sold before noon.
It prepares its data with <a href="{other}.html#{other}.do_{other}">{other}.do_{other}()</a> at first.</p>
<p>New in version 1.{5 + n % 3}.</p></dd></dl>{failure}
<div class="admonition seealso"><p class="admonition-title">See also</p>
<p>Module <a href="{first}.html#module-{first}">{first}</a></p><p>Module <a href="{second}.html">{second}</a></p></div>
</body></html>"""
    return files


@dataclass(frozen=True)
class Table:
    arrow: pa.Table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


@dataclass(frozen=True)
class World:
    documents: Table
    entities: list[Entity]
    edges: list[Edge]
    search: Callable[[str, int], Sequence[int]]

    def proposer(self, **config: Any) -> DocsProposer:
        return DocsProposer(self.documents, self.entities, self.edges, self.search, DocsTasksConfig(**config))


def build(root: Path, files: dict[str, str]) -> World:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    source = DocsSource(
        DocsConfig(path=str(root), licence="MIT", fractions={"train": 1.0, "validation": 0.0, "test": 0.0})
    )
    table = to_arrow(source.read(source.files)[0], Document)
    entities, edges = graph_tables(table)
    index = Bm25Index(Bm25Index.build(table))
    return World(
        Table(table),
        list(from_arrow(entities, Entity)),
        list(from_arrow(edges, Edge)),
        lambda query, k: [hit.document for hit in index.search(query, k)],
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("site"), site())


@pytest.fixture(scope="module")
def proposals(world: World) -> list[Proposed | Rejection]:
    proposer = world.proposer(hub_share=1.0)
    return [proposer.propose(i, "train", derive_generator(3, "docs", i)) for i in range(400)]


@pytest.fixture(scope="module")
def accepted(proposals: list[Proposed | Rejection]) -> list[Proposed]:
    return [p for p in proposals if isinstance(p, Proposed)]


def test_both_shapes_and_many_surfaces_come_out(accepted: list[Proposed]) -> None:
    shapes = Counter(p.draft.shape for p in accepted)
    assert shapes["composition"] >= 20
    assert shapes["conjunction"] >= 10
    assert len({p.draft.surface for p in accepted}) >= 12
    assert len({p.draft.question for p in accepted}) >= 40


def test_what_an_accepted_question_promises(world: World, accepted: list[Proposed]) -> None:
    rows = {document: row for row, document in enumerate(world.documents.arrow["id"].to_pylist())}
    for proposed in accepted:
        draft = proposed.draft
        assert re.fullmatch(r"[A-Z“\"].*[?.]", draft.question)
        assert "«" not in draft.question
        assert draft.question.count("“") == draft.question.count("”")
        assert 2 <= len(draft.walk.hops) <= 4
        assert len(draft.gold_documents) >= 2
        assert not mentions(draft.question, [draft.answer, *draft.answer_aliases])
        assert draft.gold_entities[-1] == draft.walk.hops[-1].target.id or draft.answer_kind == "text"
        for number, hop in enumerate(draft.walk.hops):
            assert hop.cue in draft.question
            assert all(need < number for need in hop.needs)
            text = world.documents.row(rows[hop.evidence.document_id]).text
            assert text[hop.evidence.start : hop.evidence.end] == hop.evidence.quote
            if not hop.needs and hop.source.kind == "description":
                assert hop.source.name in draft.question
        assert {check.outcome for check in proposed.checks} == {"passed"}
        assert {check.check for check in proposed.checks} == {
            "answer_not_in_question", "split", "evidence", "no_shortcut", "retrievable", "unique_answer",
        }  # fmt: skip


def test_the_row_can_be_finished(accepted: list[Proposed]) -> None:
    provenance = Provenance(
        dataset="d", stage="s", stage_version=1, fingerprint="f", seed=1, source="s", source_sha256="0"
    )
    ids = {finish(p.draft, p.checks, provenance, n).id for n, p in enumerate(accepted)}
    assert len(ids) == len({(p.draft.question, p.draft.answer) for p in accepted})
    assert {p.draft.licence for p in accepted} == {"MIT"}


def test_conjunctions_by_brute_force(world: World, accepted: list[Proposed]) -> None:
    """Asked again from the raw edges: one thing fits all constraints, and more than one fits without any of them."""
    kinds = {e.id: e.kind for e in world.entities}
    titles = {e.id: e.ordinal for e in world.entities}
    checked = 0
    for proposed in accepted:
        hops = [h for h in proposed.draft.walk.hops if h.source.kind != "description"]
        if proposed.draft.shape != "conjunction" or any(h.relation not in ("added_in", "see_also_of") for h in hops):
            continue
        fits = []
        for hop in hops:
            if hop.relation == "added_in":
                found = {e.subject for e in world.edges if e.relation == "added_in" and e.value == hop.source.id}
            else:
                start = titles[hop.source.id]
                found = {e.object for e in world.edges if e.relation == "see_also" and e.subject == start}
            answer = proposed.draft.walk.hops[-1].target.id
            fits.append({e for e in found if world.entities[e].kind == kinds[answer]})
        assert {world.entities[e].id for e in set.intersection(*fits)} == {answer}
        for left_out in range(len(fits)):
            rest = [f for i, f in enumerate(fits) if i != left_out]
            assert len(set.intersection(*rest)) > 1
        checked += 1
    assert checked >= 3


def test_a_candidate_depends_on_its_number_only(world: World, proposals: list[Proposed | Rejection]) -> None:
    again = world.proposer(hub_share=1.0)
    for index in (17, 3, 250, 3):
        assert again.propose(index, "train", derive_generator(3, "docs", index)) == proposals[index]


def test_a_split_without_pages_and_a_missing_search_give_rejections(world: World) -> None:
    proposer = world.proposer(hub_share=1.0)
    found = proposer.propose(0, "test", derive_generator(3, "docs", 0))
    assert isinstance(found, Rejection)
    assert found.reason == Reason.NO_WALK
    blind = DocsProposer(world.documents, world.entities, world.edges, None, DocsTasksConfig(hub_share=1.0))
    outcomes = [blind.propose(i, "train", derive_generator(3, "docs", i)) for i in range(30)]
    assert all(isinstance(o, Rejection) for o in outcomes)


def test_a_second_thing_that_fits_a_description_takes_it_out(tmp_path: Path) -> None:
    files = site()
    twin = "Read the hourly water level of a harbour from the almanac."
    files["lib/copycat.html"] = (
        '<html><body><h1 id="module-copycat">copycat — Tools</h1><p>This module provides an imitation of something.</p>'
        '<dl class="py function"><dt class="sig" id="copycat.imitate">copycat.imitate(item)</dt>'
        f"<dd><p>{twin}</p></dd></dl>"
        "</body></html>"
    )
    proposer = build(tmp_path, files).proposer(hub_share=1.0)
    for index in range(150):
        found = proposer.propose(index, "train", derive_generator(3, "docs", index))
        if isinstance(found, Proposed) and "hourly water level" in found.draft.question:
            assert "quarn module" in found.draft.question  # the module is named beside it


def judge(world: World) -> Judge:
    proposer = world.proposer(hub_share=1.0)
    return Judge(proposer.corpus, proposer.descriptions, world.search, k=10, overlap=0.72)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ("answer", Reason.ANSWER_IN_QUESTION),
        ("split", Reason.SPLIT_CONFLICT),
        ("quote", Reason.EVIDENCE_DOES_NOT_STATE),
        ("span", Reason.EVIDENCE_DOES_NOT_STATE),
        ("target", Reason.EVIDENCE_DOES_NOT_STATE),
        ("document", Reason.SPLIT_CONFLICT),
        ("one_page", Reason.SHORTCUT),
    ],
)
def test_every_check_can_fail(world: World, accepted: list[Proposed], spoil: str, reason: Reason) -> None:
    draft = next(p.draft for p in accepted if p.draft.shape == "composition" and p.draft.answer_kind == "text")
    hops = list(draft.walk.hops)
    last = hops[-1]
    assert not isinstance(judge(world).run(draft), Failure)
    changes: dict[str, Any] = {}
    if spoil == "answer":
        changes["question"] = f"{draft.question} Is it {draft.answer}?"
    elif spoil == "split":
        changes["split"] = "test"
    elif spoil == "quote":
        hops[-1] = last.model_copy(update={"evidence": last.evidence.model_copy(update={"quote": "Something else."})})
    elif spoil == "span":
        hops[-1] = last.model_copy(
            update={"evidence": last.evidence.model_copy(update={"start": 0, "end": 5, "quote": "quarn"})}
        )
    elif spoil == "target":
        hops[-1] = last.model_copy(update={"target": last.target.model_copy(update={"id": "9.9", "name": "9.9"})})
    elif spoil == "document":
        changes["gold_documents"] = (*draft.gold_documents, "lib/none.html")
    else:
        same = hops[0].evidence.document_id
        text = next(d for d in from_arrow(world.documents.arrow, Document) if d.id == same).text
        place = text.index("Lib/")
        path = text[place : text.index("\n", place)]
        evidence = last.evidence.model_copy(
            update={"document_id": same, "start": place, "end": place + len(path), "quote": path}
        )
        hops = [
            hops[0],
            last.model_copy(
                update={"evidence": evidence, "target": last.target.model_copy(update={"id": path, "name": path})}
            ),
        ]
    walk = draft.walk.model_copy(update={"hops": tuple(hops)})
    found = judge(world).run(draft.model_copy(update=changes | {"walk": walk}))
    assert isinstance(found, Failure)
    assert found.reason == reason


def test_index_pages_are_hubs_that_no_split_owns(tmp_path: Path) -> None:
    files = site()
    items = "".join(f'<li><a href="lib/{name}.html">{name} — Tools</a></li>' for name in NAMES)
    files["index.html"] = f"<html><body><h1>All Tools</h1><ul>{items}</ul></body></html>"
    proposer = build(tmp_path, files).proposer(hub_share=1.0)
    assert proposer.hubs == ["index.html"]
