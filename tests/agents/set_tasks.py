"""Tasks of every shape with operations over a small generated world, worded by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Any

import pyarrow as pa

from synth.environments.search import SearchEnvironment
from synth.identity import digest
from synth.lexicon.names import written_value
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document, Evidence, ValueKind
from synth.schemas.tasks import (
    AnswerPart,
    CheckResult,
    Difficulty,
    Hop,
    Node,
    Operation,
    OperationKind,
    Shape,
    Task,
    Walk,
)
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_tables
from synth.tasks.values import difference, parse_measure, total
from synth.testing.corpus import PROVENANCE

# relation, kind of member, "the films directed by {}", measure, its kind, what is asked of the least and the greatest
_SETS = (
    ("director", "film", "films directed by {}", "release_year", "came out first", "came out last"),
    ("author", "book", "books written by {}", "publication_year", "was published first", "was published last"),
    ("set_in", "book", "books set in {}", "publication_year", "was published first", "was published last"),
    ("publisher", "book", "books published by {}", "page_count", "has the fewest pages", "has the most pages"),
    ("rises_on", "river", "rivers that rise on {}", "length", "is the shortest", "is the longest"),
    ("studied_at", "person", "people who studied at {}", "birth_date", "was born first", "was born last"),
    ("located_in", "museum", "museums in {}", "founding_year", "was founded first", "was founded last"),
)


@dataclass(frozen=True)
class Set:
    relation: str
    cue: str
    measure: str
    first: str
    last: str
    anchor: int
    members: tuple[int, ...]


class _Pages:
    """The documents of a world, read row by row."""

    def __init__(self, table: pa.Table) -> None:
        self.arrow = table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Document:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


class SmallWorld:
    def __init__(self, entities: int = 800, seed: int = 3) -> None:
        self.documents, self.entities, edges = shard_tables(WorldConfig(entities=entities, seed=seed), 0)
        self.edges = edges.to_pylist()
        self.names = self.entities.column("name").to_pylist()
        self.ids = self.entities.column("id").to_pylist()
        self.kinds = self.entities.column("kind").to_pylist()
        self.aliases = self.entities.column("aliases").to_pylist()
        self.pages = self.documents.column("id").to_pylist()
        self.texts = self.documents.column("text").to_pylist()
        self.out: dict[tuple[int, str], dict[str, Any]] = {}
        for edge in self.edges:
            if edge["document"] == edge["subject"]:
                self.out.setdefault((edge["subject"], edge["relation"]), edge)

    def environment(self) -> SearchEnvironment:
        return SearchEnvironment(Bm25Index(Bm25Index.build(self.documents)), _Pages(self.documents))

    def node(self, entity: int) -> Node:
        return Node(
            id=self.ids[entity],
            name=self.names[entity],
            aliases=tuple(self.aliases[entity] or ()),
            kind=self.kinds[entity],
            document_id=self.pages[entity],
        )

    def value(self, entity: int, relation: str) -> Node | None:
        edge = self.out.get((entity, relation))
        if edge is None or edge["value"] is None:
            return None
        kind = edge["value_kind"]
        return Node(id=edge["value"], name=written_value(edge["value"], kind), kind=kind)

    def hop(self, source: Node, target: Node, edge: dict[str, Any], cue: str, *needs: int, forward: bool) -> Hop:
        start, end = edge["start"], edge["end"]
        quote = self.texts[edge["document"]][start:end]
        evidence = Evidence(document_id=self.pages[edge["document"]], start=start, end=end, quote=quote)
        return Hop(
            source=source,
            target=target,
            relation=edge["relation"],
            forward=forward,
            needs=needs,
            evidence=evidence,
            cue=cue,
        )

    def sets(self) -> Iterator[Set]:
        for relation, kind, cue, measure, first, last in _SETS:
            groups: dict[int, list[int]] = {}
            for (subject, name), edge in self.out.items():
                if name == relation and self.kinds[subject] == kind:
                    groups.setdefault(edge["object"], []).append(subject)
            for anchor, members in sorted(groups.items()):
                told = [self.value(member, measure) for member in members]
                if 2 <= len(members) <= 5 and all(told) and len({node.id for node in told if node}) == len(told):
                    yield Set(relation, cue, measure, first, last, anchor, tuple(members))

    # Walks.

    def members(self, group: Set, cue: str, start: Node | None = None, *needs: int) -> list[Hop]:
        anchor = start or self.node(group.anchor)
        edges = [self.out[member, group.relation] for member in group.members]
        ends = [self.node(member) for member in group.members]
        return [self.hop(anchor, end, edge, cue, *needs, forward=False) for end, edge in zip(ends, edges, strict=True)]

    def measures(self, group: Set, cue: str, at: int = 0) -> list[Hop]:
        hops = []
        for place, member in enumerate(group.members):
            value = self.value(member, group.measure)
            assert value is not None
            edge = self.out[member, group.measure]
            hops.append(self.hop(self.node(member), value, edge, cue, at + place, forward=True))
        return hops


def _order(node: Node) -> float:
    measure = parse_measure(node.kind, node.id)
    assert measure is not None
    return measure.low


def _task(
    shape: Shape,
    question: str,
    hops: Sequence[Hop],
    operations: Sequence[Operation],
    answer: Sequence[Node],
    kind: ValueKind,
    *,
    ordered: bool = False,
) -> Task:
    for cue in (*(hop.cue for hop in hops), *(operation.cue for operation in operations)):
        assert cue in question, (cue, question)
    many = len(answer) > 1
    return Task(
        id=f"set-{digest(question, shape)[:16]}",
        question=question,
        answer=", ".join(node.name for node in answer),
        answer_aliases=() if many else answer[0].aliases,
        answer_kind=kind,
        answer_parts=tuple(AnswerPart(answer=n.name, aliases=n.aliases, kind=kind) for n in answer) if many else (),
        answer_ordered=ordered,
        shape=shape,
        walk=Walk(shape=shape, hops=tuple(hops), operations=tuple(operations)),
        gold_entities=tuple(dict.fromkeys(hop.target.id for hop in hops if hop.target.document_id)),
        gold_documents=tuple(dict.fromkeys(hop.evidence.document_id for hop in hops)),
        difficulty=Difficulty(hops=len(hops), constraints=1, branching=1.0, documents=1),
        checks=(CheckResult(check="by_hand", outcome="passed"),),
        split="train",
        candidate_index=0,
        provenance=PROVENANCE,
    )


def superlative(world: SmallWorld, group: Set, *, least: bool) -> Task:
    cue, asked = group.cue.format(world.names[group.anchor]), group.first if least else group.last
    hops = [*world.members(group, cue), *world.measures(group, asked)]
    values = hops[len(group.members) :]
    best = (min if least else max)(values, key=lambda hop: _order(hop.target))
    kind: OperationKind = "argmin" if least else "argmax"
    over = tuple(range(len(group.members), len(hops)))
    operation = Operation(kind=kind, over=over, result=(best.source,), cue=asked)
    return _task("superlative", f"Of the {cue}, which one {asked}?", hops, [operation], [best.source], "entity")


def count(world: SmallWorld, group: Set) -> Task:
    cue = group.cue.format(world.names[group.anchor])
    hops = world.members(group, cue)
    number = Node(id=str(len(hops)), name=str(len(hops)), kind="number")
    operation = Operation(kind="count", over=tuple(range(len(hops))), result=(number,), cue="How many")
    return _task("count", f"How many {cue} are there?", hops, [operation], [number], "number")


def temporal(world: SmallWorld, group: Set) -> Task | None:
    """Those after the least, the first of them: a bound that another hop finds is the anchor's own."""
    values = sorted((world.value(m, group.measure) for m in group.members), key=lambda node: _order(node))  # type: ignore[arg-type]
    if len(values) < 3 or values[0] is None or values[0].kind != "year":
        return None
    cue, bound = group.cue.format(world.names[group.anchor]), int(values[0].id) + 1
    asked = group.first
    question = f"Which of the {cue} {asked} after {bound - 1}?"
    hops = [*world.members(group, cue), *world.measures(group, asked)]
    over = tuple(range(len(group.members), len(hops)))
    late = [hop for hop in hops[len(group.members) :] if int(hop.target.id) >= bound]
    best = min(late, key=lambda hop: _order(hop.target))
    edge = Node(id=f"{bound}/", name=f"after {bound - 1}", kind="range")
    operations = [
        Operation(kind="filter", over=over, bound=edge, result=tuple(h.source for h in late), cue=f"after {bound - 1}"),
        Operation(kind="argmin", over=over, within=0, result=(best.source,), cue=asked),
    ]
    return _task("temporal", question, hops, operations, [best.source], "entity")


def comparison(world: SmallWorld, one: Set, other: Set) -> Task:
    hops = []
    for group in (one, other):
        member = group.members[0]
        value = world.value(member, one.measure)
        assert value is not None
        hops.append(world.hop(world.node(member), value, world.out[member, one.measure], one.first, forward=True))
    best = min(hops, key=lambda hop: _order(hop.target))
    operation = Operation(kind="argmin", over=(0, 1), result=(best.source,), cue=one.first)
    question = f"Which {one.first}, {hops[0].source.name} or {hops[1].source.name}?"
    return _task("comparison", question, hops, [operation], [best.source], "entity")


def computation(world: SmallWorld, group: Set) -> Task:
    hops = []
    for place, member in enumerate(group.members[:2]):
        value = world.value(member, group.measure)
        assert value is not None
        cue = (world.names[group.members[0]], world.names[group.members[1]])[place]
        hops.append(world.hop(world.node(member), value, world.out[member, group.measure], cue, forward=True))
    measures = [parse_measure(hop.target.kind, hop.target.id) for hop in hops]
    dated = all(measure is not None and measure.dated for measure in measures)
    found = difference(*measures) if dated else total(measures)  # type: ignore[arg-type]
    assert found is not None
    number = Node(id=f"{found[0]} {found[1]}".strip(), name=f"{found[0]} {found[1]}".strip(), kind="quantity")
    asked = "How many years lie between" if dated else "What is the sum of"
    what = {"length": "length", "page_count": "number of pages"}.get(group.measure, "beginning")
    question = f"{asked} the {what} of {hops[0].source.name} and that of {hops[1].source.name}?"
    operation = Operation(kind="difference" if dated else "sum", over=(0, 1), result=(number,), cue=asked)
    return _task("computation", question, hops, [operation], [number], "quantity")


def intersection(world: SmallWorld, one: Set, other: Set) -> Task | None:
    both = tuple(member for member in one.members if member in other.members)
    if not both or len(both) > 3:
        return None
    first, second = one.cue.format(world.names[one.anchor]), other.cue.format(world.names[other.anchor])
    kept = [Set(g.relation, g.cue, g.measure, g.first, g.last, g.anchor, both) for g in (one, other)]
    hops = [*world.members(kept[0], first), *world.members(kept[1], second)]
    found = [world.node(member) for member in both]
    operation = Operation(kind="list", over=tuple(range(len(hops))), result=tuple(found), cue="Name all")
    return _task("intersection", f"Name all {first} that are also {second}.", hops, [operation], found, "entity")


def parallel(world: SmallWorld, one: Set, other: Set) -> Task:
    hops, names = [], []
    for group in (one, other):
        member = group.members[0]
        edge = world.out[member, group.relation]
        asked = f"who or what {group.relation} says of {world.names[member]}"
        hops.append(world.hop(world.node(member), world.node(group.anchor), edge, asked, forward=True))
        names.append(asked)
    found = [hop.target for hop in hops]
    question = f"Tell me two things: {names[0]}, and {names[1]}."
    return _task("parallel", question, hops, [], found, "entity", ordered=True)


def ranged(world: SmallWorld, group: Set) -> Task | None:
    """One of a set, told from the others by a blurred year."""
    years = {member: world.value(member, group.measure) for member in group.members}
    member = group.members[0]
    value = years[member]
    if value is None or value.kind != "year":
        return None
    decade = value.id[:3]
    if sum(node is not None and node.id.startswith(decade) for node in years.values()) != 1:
        return None
    cue, asked = group.cue.format(world.names[group.anchor]), f"dates from the {decade}0s"
    source = Node(id=f"{decade}0/{decade}9", name=f"the {decade}0s", kind="range")
    target = world.node(member)
    hops = [
        world.hop(world.node(group.anchor), target, world.out[member, group.relation], cue, forward=False),
        world.hop(source, target, world.out[member, group.measure], asked, forward=False),
    ]
    question = f"Which of the {cue} {asked}?"
    return _task("conjunction", question, hops, [], [target], "entity")


@cache
def set_world() -> SmallWorld:
    return SmallWorld()


@cache
def set_tasks() -> tuple[Task, ...]:
    """Some of each shape."""
    world = set_world()
    groups = list(world.sets())
    pairs = [(a, b) for a, b in combinations(groups, 2) if a.measure == b.measure]
    found: dict[str, list[Task]] = {}

    def add(task: Task | None) -> None:
        if task is not None and len(found.setdefault(task.shape, [])) < 8:
            found[task.shape].append(task)

    for place, group in enumerate(groups[::2]):
        add(superlative(world, group, least=place % 2 == 0))
        add(count(world, groups[2 * place + 1]) if 2 * place + 1 < len(groups) else None)
    for group in groups:
        add(temporal(world, group))
        add(ranged(world, group))
    for group in groups[::-3]:
        add(computation(world, group))
    for one, other in pairs[:: max(1, len(pairs) // 14)]:
        if one.members[0] != other.members[0]:
            add(comparison(world, one, other))
            add(parallel(world, one, other))
    for one, other in combinations(groups, 2):
        if one.relation != other.relation:
            add(intersection(world, one, other))
    return tuple(task for shape in sorted(found) for task in found[shape])
