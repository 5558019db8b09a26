"""Cycles and parallel questions over a real small world, and webs in words."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import networkx as nx
import pytest
from english_faults import faults
from small_world import SmallWorld
from stand_ins.row_audit import Auditor

from synth.identity import derive_generator
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Task
from synth.sources.world.schema import HUB_TYPES
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.world.grammar import unmark
from synth.tasks.world.links import Link
from synth.tasks.world.shapes.cycle import Cycle, cycles_of, orbits, structure_of
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording_web import Knot, marked_web, word_web
from synth.tasks.world.words import world_words

pytestmark = pytest.mark.thorough

WORDS = world_words()

PROVENANCE = Provenance(
    dataset="d", stage="world_tasks", stage_version=1, fingerprint="f", seed=0, source="world", source_sha256="0"
)


def made(small_world: SmallWorld, shape: str, count: int) -> list[Task]:
    outcomes = small_world.proposer(shapes={shape: 1.0}).propose(range(count), 6)
    return [
        finish(outcome.draft, outcome.checks, PROVENANCE, index)
        for index, outcome in enumerate(outcomes)
        if isinstance(outcome, Checked)
    ]


@pytest.fixture(scope="module")
def cyclic(small_world: SmallWorld) -> list[Task]:
    return made(small_world, "cycle", 90)


@pytest.fixture(scope="module")
def parallel(small_world: SmallWorld) -> list[Task]:
    return made(small_world, "parallel", 60)


@pytest.fixture(scope="module")
def view(small_world: SmallWorld) -> WorldView:
    return small_world.proposer().view


@pytest.fixture(scope="module")
def rings(view: WorldView) -> list[Cycle]:
    starts = [int(node) for node in range(view.graph.n_entities) if view.own("train")[node]]
    return [cycle for node in starts for cycle in cycles_of(view, node, "train")]


def test_an_independent_audit_finds_nothing(small_world: SmallWorld, cyclic: list[Task], parallel: list[Task]) -> None:
    auditor = Auditor(
        from_arrow(small_world.documents, Document),
        from_arrow(small_world.entities, Entity),
        from_arrow(small_world.edges, Edge),
        inverses=WORDS.inverses,
        hub_kinds=HUB_TYPES,
    )
    assert auditor.audit([*cyclic, *parallel]) == []


# cycles ------------------------------------------------------------------------------------------------------------


def test_cycles_have_cycles(cyclic: list[Task]) -> None:
    assert len(cyclic) >= 15
    for task in cyclic:
        graph = nx.Graph((hop.source.id, hop.target.id) for hop in task.walk.hops if hop.source.kind != "range")
        assert graph.number_of_edges() >= graph.number_of_nodes(), task.question
        assert nx.is_connected(graph)
        named = [hop for hop in task.walk.hops if not hop.needs and hop.source.kind != "range"]
        assert len(named) == 1
        assert faults(task.question) == [], task.question


def test_structures_are_many(cyclic: list[Task]) -> None:
    structures = Counter(str(task.details["structure"]) for task in cyclic)
    assert len(structures) > 0.6 * len(cyclic)


def test_rings_are_rings_and_come_once(view: WorldView, rings: list[Cycle]) -> None:
    assert {len(ring.nodes) for ring in rings} == {3, 4}
    assert len({frozenset(ring.facts) for ring in rings}) == len(rings)
    for ring in rings[:500]:
        assert len(set(ring.nodes)) == len(ring.nodes)
        for place, number in enumerate(ring.facts):
            fact = view.graph.fact(number)
            ends = {ring.nodes[place], ring.nodes[(place + 1) % len(ring.nodes)]}
            assert {fact.subject, fact.object} == ends


def plain(view: WorldView, ring: Cycle) -> nx.MultiDiGraph[int]:
    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    graph.add_nodes_from((node, {"kind": view.kind(node)}) for node in ring.nodes)
    for number in ring.facts:
        subject, relation, item = view.graph.fact(number)
        graph.add_edge(subject, item, relation=relation)
        if relation in WORDS.inverses and WORDS.inverses[relation] == relation:
            graph.add_edge(item, subject, relation=relation)
    return graph


def same(view: WorldView, one: Cycle, two: Cycle) -> bool:
    """Isomorphism by trying every bijection."""
    left, right = plain(view, one), plain(view, two)

    def arcs(graph: nx.MultiDiGraph[int], names: dict[int, int]) -> Counter[tuple[int, int, str]]:
        return Counter((names[u], names[v], data["relation"]) for u, v, data in graph.edges(data=True))

    target = arcs(right, {node: node for node in right})
    return any(
        all(view.kind(a) == view.kind(b) for a, b in zip(one.nodes, order, strict=True))
        and arcs(left, dict(zip(one.nodes, order, strict=True))) == target
        for order in permutations(two.nodes)
        if len(one.nodes) == len(two.nodes)
    )


def test_equal_hash_exactly_when_isomorphic(view: WorldView, rings: list[Cycle]) -> None:
    """Rings are small enough for the Weisfeiler-Leman hash to decide; compared with trying all bijections."""
    rng = derive_generator(1, "rings")
    pairs = [(rings[int(i)], rings[int(j)]) for i, j in rng.integers(len(rings), size=(150, 2))]
    by_hash: dict[str, Cycle] = {}
    for ring in rings[:300]:
        pairs.append((by_hash.setdefault(structure_of(view, ring), ring), ring))
    for one, two in pairs:
        assert (structure_of(view, one) == structure_of(view, two)) == same(view, one, two)


def test_orbits_are_those_of_the_automorphisms(view: WorldView, rings: list[Cycle]) -> None:
    for ring in rings[:60]:
        found = orbits(view, ring)
        assert sorted(node for orbit in found for node in orbit) == sorted(ring.nodes)
        graph = plain(view, ring)
        arcs = Counter((u, v, data["relation"]) for u, v, data in graph.edges(data=True))
        images: dict[int, set[int]] = {node: set() for node in ring.nodes}
        for order in permutations(ring.nodes):
            names = dict(zip(ring.nodes, order, strict=True))
            kinds = all(view.kind(node) == view.kind(names[node]) for node in ring.nodes)
            if kinds and Counter((names[u], names[v], r) for (u, v, r), n in arcs.items() for _ in range(n)) == arcs:
                for node, image in names.items():
                    images[node].add(image)
        assert set(found) == {frozenset(image) for image in images.values()}


# parallel ----------------------------------------------------------------------------------------------------------


def test_parallel_questions_are_independent(parallel: list[Task]) -> None:
    assert len(parallel) >= 30
    assert {len(task.answer_parts) for task in parallel} == {2, 3}
    for task in parallel:
        assert task.answer_ordered
        graph = nx.Graph(
            (f"{hop.source.kind}:{hop.source.id}", f"{hop.target.kind}:{hop.target.id}") for hop in task.walk.hops
        )
        if task.answer_kind == "entity":
            assert nx.number_connected_components(graph) == len(task.answer_parts)
        ends = [hop for i, hop in enumerate(task.walk.hops) if not any(i in other.needs for other in task.walk.hops)]
        assert [part.answer for part in task.answer_parts] == [hop.target.name for hop in ends]
        assert len({part.kind for part in task.answer_parts}) == 1
        assert faults(task.question) == [], task.question
        places = [task.question.lower().find(hop.cue.lower()) for hop in ends]
        assert places == sorted(places), "asked in the order of the parts"


def test_parallel_families_are_even(parallel: list[Task]) -> None:
    families = Counter(task.surface for task in parallel)
    assert len(families) >= 8
    assert families.most_common(1)[0][1] <= 0.25 * len(parallel)


# webs in words -----------------------------------------------------------------------------------------------------


def triangle() -> list[Knot]:
    hired = Link(0, WORDS.wordings["studied_at"], False, WORDS.noun("person"), "the University of Molde")
    founded = Link(1, WORDS.wordings["founded_by"], False, WORDS.noun("museum"))
    born = Link(2, WORDS.wordings["born_in"], True, WORDS.noun("city"))
    stands = Link(3, WORDS.wordings["located_in"], True, WORDS.noun("city"))
    return [
        Knot((hired,), (None,), WORDS.noun("person")),
        Knot((founded,), (0,), WORDS.noun("museum")),
        Knot((born, stands), (0, 1), WORDS.noun("city")),
    ]


def test_webs_are_english_and_state_every_hop() -> None:
    families = set()
    for seed in range(200):
        worded = word_web(triangle(), derive_generator(seed, "web"), "cycle")
        assert worded is not None
        assert faults(worded.question) == [], worded.question
        assert len(worded.cues) == 4
        assert all(cue in worded.question for cue in worded.cues)
        assert "the University of Molde" in worded.question
        families.add(worded.surface)
    assert len(families) >= 9


def test_a_second_person_is_another_person() -> None:
    one = Link(0, WORDS.wordings["born_in"], False, WORDS.noun("person"), "Orrin")
    two = Link(1, WORDS.wordings["spouse"], True, WORDS.noun("person"))
    book = Link(2, WORDS.wordings["dedicated_to"], False, WORDS.noun("book"))
    written = Link(3, WORDS.wordings["author"], False, WORDS.noun("book"))
    knots = [
        Knot((one,), (None,), WORDS.noun("person")),
        Knot((two,), (0,), WORDS.noun("person")),
        Knot((book, written), (0, 1), WORDS.noun("book")),
    ]
    for seed in range(60):
        found = marked_web(knots, derive_generator(seed, "two"))
        assert found is not None
        text, _ = unmark(found[0], 4)
        assert "other person" in text
        assert "nother person" in text or "the spouse" in text
