"""A small world by hand: facts, pages and search that the tests of checks and audit share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from synth.retrieval.bm25 import Bm25Index
from synth.schemas.documents import Document, Evidence
from synth.schemas.row import Split
from synth.schemas.tasks import Difficulty, Hop, Node, Walk
from synth.tasks.contract import Answers, Surroundings, answers_by_sets
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.tasks.index_search import IndexSearch

PAGES: dict[str, tuple[str, str, str]] = {
    "orrin": (
        "city",
        "Orrin",
        "Orrin is a city. It stands on the banks of the River Senn. The mayor of Orrin is Ida Holt.",
    ),
    "molde": ("city", "Molde", "Molde is a city. It stands on the banks of the River Senn and has a market."),
    "tarn": ("person", "Tarn Vale", "Tarn Vale was a painter. He was born in Orrin. His mentor was Bo Wick."),
    "ann": ("person", "Ann Vale", "Ann Vale was a painter. She was born in Molde. Her mentor was Bo Wick."),
    "bo": ("person", "Bo Wick", "Bo Wick was a teacher who was born in Molde on 12 March 1850."),
    "ida": ("person", "Ida Holt", "Ida Holt was a lawyer. She was born in Orrin."),
    "senn": ("river", "River Senn", "The River Senn flows through Orrin and Molde. It empties into Lake Brun."),
    "brun": ("lake", "Lake Brun", "Lake Brun is a lake. It is 90 metres deep."),
}
TRIPLES = [
    ("orrin", "on_river", "senn"),
    ("molde", "on_river", "senn"),
    ("orrin", "mayor", "ida"),
    ("tarn", "born_in", "orrin"),
    ("tarn", "mentor", "bo"),
    ("ann", "born_in", "molde"),
    ("ann", "mentor", "bo"),
    ("bo", "born_in", "molde"),
    ("bo", "birth_date", "1850-03-12"),
    ("ida", "born_in", "orrin"),
    ("senn", "flows_into", "brun"),
    ("brun", "depth", "90 metres"),
]
VALUES = {"1850-03-12": ("date", "12 March 1850"), "90 metres": ("quantity", "90 metres")}


@dataclass
class HandFacts:
    """The triples above as the checks ask for them."""

    triples: list[tuple[str, str, str]] = field(default_factory=lambda: list(TRIPLES))
    partitions: dict[str, Split] = field(default_factory=dict)
    hubs: frozenset[str] = frozenset()

    def neighbours(self, node: str, relation: str, forward: bool) -> set[str]:
        if forward:
            return {o for s, r, o in self.triples if (s, r) == (node, relation)}
        return {s for s, r, o in self.triples if (o, r) == (node, relation)}

    def answers(self, hops: Sequence[Hop]) -> Answers:
        return answers_by_sets(hops, self.neighbours)

    def competitors(self, hop: Hop) -> int:
        return max(1, len(self.neighbours(hop.source.id, hop.relation, hop.forward)))

    def connected(self, left: Node, right: Node) -> bool:
        return any({s, o} == {left.id, right.id} for s, _, o in self.triples)

    def partition(self, node: str) -> Split | None:
        return self.partitions.get(node, "train") if node in PAGES else None

    def hub(self, node: str) -> bool:
        return node in self.hubs


@dataclass
class HandPages:
    texts: dict[str, str] = field(default_factory=dict)
    partitions: dict[str, Split] = field(default_factory=dict)

    def document(self, document_id: str) -> Document | None:
        if document_id not in PAGES:
            return None
        kind, title, text = PAGES[document_id]
        return Document(
            id=document_id,
            title=title,
            text=self.texts.get(document_id, text),
            kind=kind,
            source="hand",
            partition=self.partitions.get(document_id, "train"),
        )


def hand_search() -> IndexSearch:
    """The real index over the pages above."""
    arrays = Bm25Index.build([(title, text, ()) for _, title, text in PAGES.values()])
    return IndexSearch(Bm25Index(arrays), pa.chunked_array([list(PAGES)]))


def surroundings(**changes: object) -> Surroundings:
    given: dict[str, object] = {"facts": HandFacts(), "pages": HandPages(), "search": hand_search(), **changes}
    return Surroundings(**given)  # type: ignore[arg-type]


def node(name: str) -> Node:
    if name in VALUES:
        kind, written = VALUES[name]
        return Node(id=name, name=written, kind=kind)
    kind, title, _ = PAGES[name]
    return Node(id=name, name=title, kind=kind, document_id=name)


def hop(
    source: str, relation: str, target: str, cue: str, page: str, quote: str, *, needs: tuple[int, ...] = ()
) -> Hop:
    forward = (source, relation, target) in TRIPLES
    assert forward or (target, relation, source) in TRIPLES
    start = PAGES[page][2].index(quote)
    evidence = Evidence(document_id=page, start=start, end=start + len(quote), quote=quote)
    return Hop(
        source=node(source),
        target=node(target),
        relation=relation,
        forward=forward,
        needs=needs,
        evidence=evidence,
        cue=cue,
    )


def draft(question: str, *hops: Hop, shape: str = "composition", **changes: object) -> Draft:
    walk = Walk(shape=shape, hops=hops)  # type: ignore[arg-type]
    answer = hops[-1].target
    given: dict[str, object] = {
        "question": question,
        "answer": answer.name,
        "answer_kind": answer.kind if answer.id in VALUES else "entity",
        "shape": shape,
        "walk": walk,
        "gold_entities": gold_entities(walk),
        "gold_documents": gold_documents(walk),
        "difficulty": Difficulty(hops=len(hops), constraints=1, branching=1.0, documents=2),
        "split": "train",
        "surface": "by hand",
        **changes,
    }
    return Draft(**given)  # type: ignore[arg-type]


def chain() -> Draft:
    """A sound composition."""
    return draft(
        "At which lake does a boat trip from the market of Molde end?",
        hop(
            "molde",
            "on_river",
            "senn",
            "a boat trip from the market of Molde",
            "molde",
            "It stands on the banks of the River Senn",
        ),
        hop("senn", "flows_into", "brun", "end", "senn", "It empties into Lake Brun.", needs=(0,)),
    )


def pair() -> Draft:
    """A sound conjunction."""
    return draft(
        "Who was born in Molde and was a pupil of Bo Wick?",
        hop("molde", "born_in", "ann", "was born in Molde", "ann", "She was born in Molde."),
        hop("bo", "mentor", "ann", "was a pupil of Bo Wick", "ann", "Her mentor was Bo Wick."),
        shape="conjunction",
    )
