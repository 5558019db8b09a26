"""Little worlds of triples for tests of queries: real graphs, and a plain enumeration to hold them against."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import pyarrow as pa

from synth.graph.graph import Graph
from synth.schemas.documents import Evidence
from synth.schemas.tasks import Hop, Node, Operation, OperationKind, Walk
from synth.tasks.graph_facts import GraphFacts

Triple = tuple[str, str, str]
"""(subject, relation, object); an object with a colon is a value: ``year:1874``, ``quantity:12 metres``."""


def little_facts(triples: Sequence[Triple], entities: Sequence[str]) -> GraphFacts:
    """Facts over a real graph of ``triples``; every entity's kind is the letter before its number."""
    place = {name: row for row, name in enumerate(entities)}
    table = pa.table(
        {
            "ordinal": list(range(len(entities))),
            "id": pa.chunked_array([list(entities)]),
            "name": list(entities),
            "kind": [name[0] for name in entities],
            "document": [-1] * len(entities),
            "partition": ["train"] * len(entities),
        }
    )
    rows = {"subject": [], "relation": [], "object": [], "value": [], "value_kind": []}  # type: ignore[var-annotated]
    for subject, relation, target in triples:
        kind, colon, text = target.partition(":")
        rows["subject"].append(place[subject])
        rows["relation"].append(relation)
        rows["object"].append(-1 if colon else place[target])
        rows["value"].append(text if colon else None)
        rows["value_kind"].append(kind if colon else "entity")
    edges = pa.table(
        {
            "subject": pa.array(rows["subject"], pa.int32()),
            "relation": pa.array(rows["relation"], pa.string()),
            "object": pa.array(rows["object"], pa.int32()),
            "value": pa.array(rows["value"], pa.string()),
            "value_kind": pa.array(rows["value_kind"], pa.string()),
            "document": pa.array([0] * len(triples), pa.int32()),
            "start": pa.array([0] * len(triples), pa.int32()),
            "end": pa.array([1] * len(triples), pa.int32()),
        }
    )
    return GraphFacts(Graph.build(table, edges, {}), table)


def node(name: str) -> Node:
    kind, colon, text = name.partition(":")
    if colon:
        return Node(id=text, name=text, kind=kind)
    return Node(id=name, name=name.upper(), kind=name[0], document_id=f"page-{name}")


def step(source: str, relation: str, target: str, *needs: int, forward: bool = True, cue: str = "") -> Hop:
    evidence = Evidence(document_id="page", start=0, end=1, quote="x")
    return Hop(
        source=node(source),
        target=node(target),
        relation=relation,
        forward=forward,
        needs=needs,
        evidence=evidence,
        cue=cue or f"{source} {relation}",
    )


def members(source: str, relation: str, targets: Sequence[str], *needs: int, forward: bool = True) -> list[Hop]:
    """One hop per member, stated by the same words."""
    return [step(source, relation, target, *needs, forward=forward, cue=f"the {relation}s") for target in targets]


def measures(hops: Sequence[Hop], relation: str, values: Sequence[str], start: int = 0) -> list[Hop]:
    """A measure of each hop's target; ``start`` is the number of the first of ``hops`` in the walk."""
    return [
        step(hop.target.id, relation, value, start + at, cue=f"by {relation}")
        for at, (hop, value) in enumerate(zip(hops, values, strict=True))
    ]


def done(
    kind: OperationKind, over: Sequence[int], *result: str, within: int | None = None, bound: str | None = None
) -> Operation:
    return Operation(
        kind=kind,
        over=tuple(over),
        within=within,
        bound=None if bound is None else node(bound),
        result=tuple(node(name) for name in result),
        cue=kind,
    )


def enumerated(walk: Walk, triples: Sequence[Triple], entities: Sequence[str]) -> set[str]:
    """The answers of a walk without operations, by trying every assignment of every variable: ids."""
    names = sorted({hop.target.id for hop in walk.hops})
    everything = [*entities, *sorted({target for _, _, target in triples if ":" in target})]
    facts = set(triples)

    def holds(assigned: dict[str, str]) -> bool:
        for hop in walk.hops:
            source = assigned[hop.source.id] if hop.needs else hop.source.id
            target = assigned[hop.target.id]
            subject, other = (source, target) if hop.forward else (target, source)
            if (subject, hop.relation, other) not in facts:
                return False
        return True

    def assignments() -> Iterator[dict[str, str]]:
        for values in product(everything, repeat=len(names)):
            yield dict(zip(names, values, strict=True))

    last = walk.hops[-1].target.id
    return {found[last].partition(":")[2] or found[last] for found in assignments() if holds(found)}
