"""A small world by hand: facts, pages and search that the tests of checks and audit share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from synth.retrieval.bm25 import Bm25Index
from synth.schemas.documents import Document, Evidence
from synth.schemas.row import Split
from synth.schemas.tasks import Difficulty, Hop, Node, Walk
from synth.tasks.contract import Surroundings
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.tasks.index_search import IndexSearch
from synth.tasks.pattern import Pattern
from synth.tasks.query import Results, evaluate
from synth.tasks.values import Measure, in_range, parse_measure, parse_range

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
    "vask": ("city", "Vask", "Vask is a city. It stands on the banks of the River Dorn."),
    "dorn": ("river", "River Dorn", "The River Dorn empties into Lake Fenn."),
    "fenn": ("lake", "Lake Fenn", "Lake Fenn is a lake. It is 40 metres deep."),
    "una": (
        "person",
        "Una Marsh",
        "Una Marsh was a sailor. She was born in Vask on 2 May 1871. Her mentor was Lev Roth.",
    ),
    "lev": ("person", "Lev Roth", "Lev Roth was a sailor who was born in Vask on 9 June 1840."),
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
    ("vask", "on_river", "dorn"),
    ("dorn", "flows_into", "fenn"),
    ("fenn", "depth", "40 metres"),
    ("una", "born_in", "vask"),
    ("una", "birth_date", "1871-05-02"),
    ("una", "mentor", "lev"),
    ("lev", "born_in", "vask"),
    ("lev", "birth_date", "1840-06-09"),
]
VALUES = {
    "1850-03-12": ("date", "12 March 1850"),
    "1871-05-02": ("date", "2 May 1871"),
    "1840-06-09": ("date", "9 June 1840"),
    "90 metres": ("quantity", "90 metres"),
    "40 metres": ("quantity", "40 metres"),
}


Ints = NDArray[Any]


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

    def results(self, walk: Walk, pattern: Pattern | None = None, most: int | None = None) -> Results:
        return evaluate(walk, HandRelations(self), pattern, most=most)

    def extremes(self, kind: str, relation: str) -> tuple[frozenset[str], frozenset[str]]:
        known = {}
        for subject, name, value in self.triples:
            if name == relation and PAGES[subject][0] == kind:
                known[subject] = parse_measure(VALUES[value][0], value)
        low = min((m.low for m in known.values() if m), default=0)
        high = max((m.high for m in known.values() if m), default=0)
        return (
            frozenset(name for name, m in known.items() if m and m.low == low),
            frozenset(name for name, m in known.items() if m and m.high == high),
        )

    def competitors(self, hop: Hop) -> int:
        return max(1, len(self.neighbours(hop.source.id, hop.relation, hop.forward)))

    def connected(self, left: Node, right: Node) -> bool:
        return any({s, o} == {left.id, right.id} for s, _, o in self.triples)

    def partition(self, node: str) -> Split | None:
        return self.partitions.get(node, "train") if node in PAGES else None

    def hub(self, node: str) -> bool:
        return node in self.hubs


class HandRelations:
    """The triples as joins ask for them: nodes are places in the sorted list of all names."""

    def __init__(self, facts: HandFacts) -> None:
        self.facts = facts
        self.names = sorted({end for s, _, o in facts.triples for end in (s, o)})

    def start(self, node: Node) -> Ints:
        if node.kind == "range":
            low, high = (parse_measure("date", end) if end else None for end in parse_range(node.id))
            dates = [n for n in self.names if (m := parse_measure("date", n)) and in_range(m, low, high)]
            return np.array([self.names.index(n) for n in dates], dtype=np.int64)
        return np.array([self.names.index(node.id)] if node.id in self.names else [], dtype=np.int64)

    def expand(self, nodes: Ints, relation: str, forward: bool) -> tuple[Ints, Ints]:
        pairs = [
            (place, self.names.index(end))
            for place, node in enumerate(nodes)
            for end in sorted(self.facts.neighbours(self.names[int(node)], relation, forward))
        ]
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]

    def fanout(self, nodes: Ints, relation: str, forward: bool) -> Ints:
        owner, _ = self.expand(nodes, relation, forward)
        return np.bincount(owner, minlength=len(nodes))

    def sources(self, relation: str, forward: bool, most: int) -> Ints:
        ends = {s if forward else o for s, name, o in self.facts.triples if name == relation}
        return np.array(sorted(self.names.index(end) for end in ends)[:most], dtype=np.int64)

    def of_kind(self, nodes: Ints, kind: str) -> NDArray[np.bool_]:
        return np.array(
            [self.names[int(n)] in PAGES and PAGES[self.names[int(n)]][0] == kind for n in nodes], dtype=bool
        )

    def id(self, node: int) -> str:
        return self.names[node]

    def measure(self, node: int) -> Measure | None:
        name = self.names[node]
        return parse_measure(VALUES[name][0], name) if name in VALUES else None


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
