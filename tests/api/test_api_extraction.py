"""A whole build whose graph a model read out of pages: pages of the world, whose facts are known."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import shared_builds
from shared_builds import world_store
from stand_ins.model_server import JobPlayer, ModelServer

import synth
from synth.api import BuildRequest, BuildResult, prepare
from synth.dataset.rules.validate import validate
from synth.errors import InputError
from synth.schemas.documents import Document
from synth.schemas.facts import FactRow
from synth.schemas.rejections import Reason

pytestmark = pytest.mark.thorough

LEAN: dict[str, Any] = {
    **shared_builds.LEAN,
    "roles.policy.rollouts": 1,
}
PAGES = 120
INVENTED = 4
"""Invented triples per page; each is of another sort."""


class World:
    """Pages of the world, and what they state."""

    def __init__(self, built: BuildResult) -> None:
        dataset = synth.load(built.path)
        self.pages: list[Document] = list(dataset.rows("documents"))[:PAGES]  # type: ignore[arg-type]
        self.names = {row.id: row.name for row in dataset.rows("entities")}
        self.facts: dict[str, list[FactRow]] = defaultdict(list)
        for fact in dataset.rows("facts"):
            self.facts[fact.document_id].append(fact)
        self.by_title = {page.title: page for page in self.pages}

    def triple(self, fact: FactRow) -> tuple[str, str, str]:
        value = self.names[fact.object] if fact.object is not None else fact.value
        return self.names[fact.subject], fact.relation, str(value)

    def true(self) -> set[tuple[str, str, str, str]]:
        """(document, subject, relation, object) of every fact of the pages."""
        return {(page.id, *self.triple(fact)) for page in self.pages for fact in self.facts[page.id]}

    def in_sight(self) -> set[tuple[str, str, str, str]]:
        """Those whose sentence names both ends, the subject of the page aside."""
        found = set()
        for page in self.pages:
            for fact in self.facts[page.id]:
                subject, relation, value = self.triple(fact)
                quote = page.text[fact.start : fact.end]
                titled = subject.casefold() in {name.casefold() for name in (page.title, *page.aliases)}
                if all(_named(name, quote) for name in ([value] if titled else [subject, value])):
                    found.add((page.id, subject, relation, value))
        return found

    def read(self, data: Mapping[str, Any], sample: str | None) -> Any:
        """All that the page states, as it says so, and four inventions."""
        page = self.by_title[data["title"]]
        said: list[dict[str, str]] = []
        for fact in self.facts[page.id]:
            subject, relation, value = self.triple(fact)
            quote = page.text[fact.start : fact.end]
            if quote in data["text"]:
                said.append({"subject": subject, "relation": relation, "object": value, "quote": quote})
        first = page.text.split(". ", 1)[0]
        title = page.title
        said += [
            # A sentence that no page says; a page's sentence with a word of it changed; one that does not name the
            # object; one about somebody whom the page does not name.
            {
                "subject": title,
                "relation": "founded_by",
                "object": "Ada Nobody",
                "quote": "It was founded by Ada Nobody",
            },
            {"subject": title, "relation": "near", "object": "Nowhere", "quote": first + " near Nowhere"},
            {"subject": title, "relation": "rival_of", "object": "Bo Nobody", "quote": first},
            {"subject": "Cy Nobody", "relation": "wrote_of", "object": title, "quote": first},
        ]
        return {"triples": said}


def _named(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE) is not None


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("world")
    settings = {"source.entities": 600, **LEAN}
    store = world_store(folder)
    return World(synth.build("world-search", tasks=4, out=folder / "out", store=store, settings=settings))


def recipe(world: World, folder: Path, server: ModelServer | None) -> dict[str, Any]:
    """Over the same pages as plain records, with two questions of one's own."""
    lines = [json.dumps({"id": page.id, "title": page.title, "text": page.text}) for page in world.pages]
    (folder / "pages.jsonl").write_text("\n".join(lines))
    asked = [json.dumps({"question": f"Which page is number {n}?", "answer": world.pages[n].title}) for n in range(2)]
    (folder / "questions.jsonl").write_text("\n".join(asked))
    role = {} if server is None else {"backend": "openai", "model": "toy-writer", "endpoints": [server.url]}
    return {
        **LEAN,
        "source": {"kind": "records", "path": str(folder / "pages.jsonl"), "extract": "model"},
        **({"roles.writer": role} if role else {}),
    }


def test_what_a_page_does_not_say_is_refused_and_what_it_says_is_in_the_graph(world: World, tmp_path: Path) -> None:
    player = JobPlayer({"extract/triples": world.read})
    with ModelServer({"toy-writer": player}) as server:
        options: dict[str, Any] = {
            "tasks_file": tmp_path / "questions.jsonl",
            "store": tmp_path / "store",
            "settings": recipe(world, tmp_path, server),
        }
        built = synth.build("docs-search", out=tmp_path / "out", **options)
        calls = len(server.log.records())
        assert synth.build("docs-search", out=tmp_path / "again", **options).reused
        assert len(server.log.records()) == calls
        assert server.errors == []
    dataset = synth.load(built.path)
    names = {row.id: row.name for row in dataset.rows("entities")}
    relations = {relation for _, _, relation, _ in world.true()} | {"founded_by", "near", "rival_of", "wrote_of"}
    found = {
        (row.document_id, names[row.subject], row.relation, names[row.object] if row.object is not None else row.value)
        for row in dataset.rows("facts")
        if row.relation in relations
    }
    folded = {tuple(part.casefold() for part in fact) for fact in found}
    true = {tuple(part.casefold() for part in fact) for fact in world.true()}
    assert folded <= true, f"precision is 1: {sorted(folded - true)[:5]}"
    sought = {tuple(part.casefold() for part in fact) for fact in world.in_sight()}
    assert folded >= sought, f"whatever a sentence says in so many words is kept: {sorted(sought - folded)[:5]}"
    assert len(sought) >= 200
    rejected = [row for row in dataset.rows("rejected") if row.stage == "read_text"]
    invented = [row for row in rejected if "Nobody" in row.detail or "Nowhere" in row.detail]
    assert len(invented) == INVENTED * PAGES, "not one of them slips through"
    assert {row.reason for row in rejected} == {Reason.NO_EVIDENCE}
    assert all(row.part is not None for row in rejected)
    report = next(stage for stage in built.report.stages if stage.stage == "read_text")
    numbers = report.numbers
    assert numbers["refused"] == len(rejected)
    assert numbers["said"] == INVENTED * PAGES + sum(len(world.facts[page.id]) for page in world.pages)
    assert numbers["kept"] == len(found)
    assert (report.kept, report.rejected, numbers["read"], numbers["pieces"]) == (PAGES, {}, PAGES, PAGES)
    assert [(use.role, use.calls) for use in report.models] == [("writer", PAGES)]
    assert validate(built.path) == []


def test_a_reader_that_talks_nonsense_adds_nothing_and_loses_no_document(world: World, tmp_path: Path) -> None:
    player = JobPlayer({"extract/triples": lambda data, sample: "What a lovely page!"})
    with ModelServer({"toy-writer": player}) as server:
        settings = recipe(world, tmp_path, server)
        built = synth.build(
            "docs-search",
            tasks_file=tmp_path / "questions.jsonl",
            out=tmp_path / "out",
            store=tmp_path / "store",
            settings=settings,
        )
    rejected = [row for row in synth.load(built.path).rows("rejected") if row.stage == "read_text"]
    assert {(row.reason, row.part) for row in rejected} == {(Reason.MALFORMED, 0)}
    assert len(rejected) == PAGES == len(list(synth.load(built.path).rows("documents")))
    assert len(list(synth.load(built.path).rows("tasks"))) == 2
    assert validate(built.path) == []


def test_a_pilot_reads_all_documents_and_counts_them_once(world: World, tmp_path: Path) -> None:
    """Tasks need the whole graph: what is done before them does not grow with their number."""
    player = JobPlayer({"extract/triples": world.read})
    with ModelServer({"toy-writer": player}) as server:
        settings = recipe(world, tmp_path, server)
        request = BuildRequest(
            dataset="docs-search",
            tasks_file=tmp_path / "questions.jsonl",
            out=tmp_path / "out",
            store=tmp_path / "store",
            settings=settings,
        )
        prepared = prepare(request)
        with prepared.engine:
            pilot = prepared.outlook(pilot=1).pilot
    assert pilot is not None
    assert (pilot.tasks, pilot.tasks_total) == (1, 2)
    (stage,) = (one for one in pilot.stages if one.label == "extracted")
    assert (stage.rows, stage.pilot_rows, stage.rows_known) == (PAGES, PAGES, True)
    assert (stage.calls.expected, stage.calls.low, stage.calls.high) == (PAGES, PAGES, PAGES)
    assert stage.kept


def test_a_reader_must_be_named(world: World, tmp_path: Path) -> None:
    settings = recipe(world, tmp_path, None)
    with pytest.raises(InputError, match=r"source.extract: say which model reads the documents under roles.writer"):
        synth.build(
            "docs-search",
            tasks_file=tmp_path / "questions.jsonl",
            out=tmp_path / "out",
            store=tmp_path / "store",
            settings=settings,
        )
