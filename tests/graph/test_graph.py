"""The graph against plain Python on its triples, and against networkx."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from graph_examples import INVERSES, RELATIONS, Triple, edge_table, entity_table, make_graph, neighbours, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.graph.columns import canonical_relations
from synth.graph.graph import Constraint, Fact, Graph

Key = tuple[int, str, int]


def plain_facts(n: int, triples: list[Triple]) -> tuple[dict[Key, list[int]], list[tuple[str, str]]]:
    """Distinct facts -> edge rows, and values in order of appearance, by a loop that one can read."""
    values: list[tuple[str, str]] = []
    facts: dict[Key, list[int]] = {}
    for row, (subject, relation, obj) in enumerate(triples):
        if isinstance(obj, tuple):
            if obj not in values:
                values.append(obj)
            end = n + values.index(obj)
        else:
            end = obj
        if relation == "founded":
            subject, relation, end = end, "founded_by", subject
        if relation == "knows":
            subject, end = min(subject, end), max(subject, end)
        facts.setdefault((subject, relation, end), []).append(row)
    return facts, values


def plain_step(facts: dict[Key, list[int]], node: int, relation: str, forward: bool) -> set[int]:
    along = {o for s, r, o in facts if r == relation and s == node}
    against = {s for s, r, o in facts if r == relation and o == node}
    if relation == "knows":
        return along | against
    return along if forward else against


@given(tables())
def test_facts_and_evidence_are_those_of_the_triples(table: tuple[int, list[Triple]]) -> None:
    n, triples = table
    graph = make_graph(n, triples, INVERSES)
    facts, values = plain_facts(n, triples)
    assert graph.n_entities == n
    assert graph.n_edges == len(triples)
    assert [graph.value(node) for node in range(n, graph.n_nodes)] == values
    assert [graph.fact(number) for number in range(graph.n_facts)] == [Fact(*key) for key in sorted(facts)]
    for number, key in enumerate(sorted(facts)):
        assert graph.evidence(number).tolist() == facts[key]
        assert graph.find(*key) == number


@given(tables())
def test_neighbours_degrees_and_ends_are_those_of_the_triples(table: tuple[int, list[Triple]]) -> None:
    n, triples = table
    graph = make_graph(n, triples, INVERSES)
    facts, _ = plain_facts(n, triples)
    for node in range(graph.n_nodes):
        own = sorted(number for number, (s, _, o) in enumerate(sorted(facts)) if node in (s, o))
        assert graph.facts_of(node).tolist() == own
        ends = [(s == node) + (o == node) - (s == o and r == "knows") for s, r, o in facts if node in (s, o)]
        assert graph.degree(node) == sum(ends)
        everything: set[int] = set()
        for relation in graph.relations:
            along, against = (plain_step(facts, node, relation, forward) for forward in (True, False))
            assert graph.objects(node, relation).tolist() == sorted(along)
            assert graph.subjects(relation, node).tolist() == sorted(against)
            assert neighbours(graph, node, relation) == sorted(along | against)
            assert neighbours(graph, node, relation, True) == sorted(along)
            assert neighbours(graph, node, relation, False) == sorted(against)
            everything |= along | against
        assert neighbours(graph, node) == sorted(everything)
        expected_kind = graph.value(node)[0] if node >= n else "city" if node % 3 else "person"
        assert graph.kind(node) == expected_kind


@given(tables(max_edges=25), st.data())
def test_answers_are_exhaustive(table: tuple[int, list[Triple]], data: st.DataObject) -> None:
    n, triples = table
    graph = make_graph(n, triples, INVERSES)
    if graph.n_nodes == 0 or not graph.relations:
        return
    facts, _ = plain_facts(n, triples)
    step = st.tuples(st.sampled_from(graph.relations), st.booleans())
    constraint = st.tuples(st.integers(0, graph.n_nodes - 1), st.lists(step, min_size=1, max_size=4))
    constraints = data.draw(st.lists(constraint, min_size=1, max_size=3))
    expected = set(range(graph.n_nodes))
    for source, path in constraints:
        nodes = {source}
        for relation, forward in path:
            nodes = set().union(*(plain_step(facts, node, relation, forward) for node in nodes))
        expected &= nodes
    found = graph.answers([Constraint(source, tuple(path)) for source, path in constraints])
    assert found.tolist() == sorted(expected)


@given(tables(), st.randoms(use_true_random=False))
def test_order_of_edges_changes_only_value_numbers_and_evidence(table: tuple[int, list[Triple]], random) -> None:  # type: ignore[no-untyped-def]
    n, triples = table
    shuffled = list(triples)
    random.shuffle(shuffled)

    def named(rows: list[Triple]) -> list[tuple[int, str, object]]:
        graph = make_graph(n, rows, INVERSES)
        ends = [(graph.fact(i), graph.fact(i).object) for i in range(graph.n_facts)]
        return [(f.subject, f.relation, graph.value(o) if o >= n else o) for f, o in ends]

    assert sorted(named(triples), key=repr) == sorted(named(shuffled), key=repr)


@settings(max_examples=25)
@given(tables())
def test_memory_mapped_arrays_give_the_same_graph(tmp_path_factory, table: tuple[int, list[Triple]]) -> None:  # type: ignore[no-untyped-def]
    n, triples = table
    folder: Path = tmp_path_factory.mktemp("graph")
    graph = make_graph(n, triples, INVERSES)
    for name, array in graph.to_arrays().items():
        np.save(folder / f"{name}.npy", array)
    mapped = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
    again = Graph.from_arrays(mapped)
    assert again.relations == graph.relations
    assert again.kinds == graph.kinds
    for node in range(graph.n_nodes):
        assert neighbours(again, node) == neighbours(graph, node)
        assert again.kind(node) == graph.kind(node)
        if again.is_value(node):
            assert again.value_node(*again.value(node)) == node
    assert all(again.fact(i) == graph.fact(i) for i in range(graph.n_facts))
    assert again.value_node("year", "no such year") is None
    assert again.value_node("number", "1987") is None


def test_one_fact_from_a_relation_its_inverse_and_both_pages() -> None:
    graph = make_graph(3, [(0, "founded", 1), (1, "founded_by", 0), (1, "founded_by", 0), (2, "knows", 0)], INVERSES)
    assert graph.n_facts == 2
    number = graph.find(1, "founded_by", 0)
    assert number is not None
    assert graph.evidence(number).tolist() == [0, 1, 2]
    assert graph.find(0, "knows", 2) == graph.find(2, "knows", 0)
    assert graph.find(0, "founded_by", 1) is None
    with pytest.raises(KeyError, match="founded"):
        graph.objects(0, "founded")


@pytest.mark.parametrize(
    ("inverses", "expected"),
    [
        ({"a": "b"}, {"a": ("b", True), "b": ("b", False)}),
        ({"b": "a", "a": "b"}, {"a": ("a", False), "b": ("a", True)}),
        ({"s": "s"}, {"s": ("s", False)}),
        ({}, {}),
    ],
)
def test_canonical_names_of_inverses(inverses: dict[str, str], expected: dict[str, tuple[str, bool]]) -> None:
    assert canonical_relations(inverses) == expected


def test_a_relation_with_two_inverses_is_refused() -> None:
    with pytest.raises(ValueError, match="two inverses"):
        canonical_relations({"a": "b", "c": "b"})


def test_a_graph_without_edges_or_without_entities() -> None:
    for n in (0, 4):
        graph = make_graph(n, [])
        assert (graph.n_nodes, graph.n_facts, graph.relations) == (n, 0, ())
        assert all(neighbours(graph, node) == [] for node in range(n))
    with pytest.raises(IndexError):
        make_graph(4, []).degree(-1)


def test_chunked_and_dictionary_encoded_tables_give_the_same_graph() -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    triples: list[Triple] = [(i % 5, RELATIONS[i % 5], (i * 7) % 5) for i in range(30)]
    triples += [(i % 5, "year", ("year", str(1900 + i % 4))) for i in range(12)]
    whole = edge_table(triples)
    pieces = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 1), whole.slice(8, 0), whole.slice(8)])
    coded = pieces
    for name in ("relation", "value", "value_kind"):
        coded = coded.set_column(coded.column_names.index(name), name, pc.dictionary_encode(pieces.column(name)))
    narrow = pieces.set_column(0, "subject", pieces.column("subject").cast(pa.int32()))
    expected = Graph.build(entity_table(5), whole).to_arrays()
    for table in (pieces, coded, narrow):
        arrays = Graph.build(entity_table(5), table).to_arrays()
        assert all(np.array_equal(arrays[name], expected[name]) for name in expected)
        assert all(arrays[name].dtype == expected[name].dtype for name in expected)


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ([(0, "r", 1), (3, "r", 1)], "edges row 1: subject 3"),
        ([(0, "r", 7)], "edges row 0: object 7"),
        ([(0, "r", -2)], "edges row 0: object -2"),
        ([(0, "r", 1), (0, "r", -1)], "edges row 1: neither an object nor a value"),
        ([(0, "founded", ("text", "x"))], "edges row 0: 'founded' has a declared inverse"),
    ],
)
def test_bad_edges_are_refused_by_row(triples: list[Triple], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_graph(3, triples, {"founded": "founded_by"})


def test_bad_arrays_are_refused() -> None:
    arrays = make_graph(2, [(0, "r", 1)]).to_arrays()
    with pytest.raises(ValueError, match="step_fact"):
        Graph.from_arrays({name: array for name, array in arrays.items() if name != "step_fact"})
    with pytest.raises(ValueError, match="format 99"):
        Graph.from_arrays({**arrays, "sizes": np.array([99, 0, 0, 0])})
    with pytest.raises(ValueError, match="row i must have ordinal i"):
        Graph.build(entity_table(3).slice(1), edge_table([]))


def test_questions_that_ask_nothing_are_refused() -> None:
    graph = make_graph(2, [(0, "r", 1)])
    with pytest.raises(ValueError, match="no constraint"):
        graph.answers([])
    with pytest.raises(ValueError, match="no path"):
        graph.answers([Constraint(0, ())])
    with pytest.raises(KeyError, match="nowhere"):
        graph.answers([Constraint(0, (("nowhere", True),))])
    with pytest.raises(ValueError, match="is an entity"):
        graph.value(0)
    with pytest.raises(IndexError, match="no fact 1"):
        graph.evidence(1)


def test_indices_are_32_bit() -> None:
    arrays = make_graph(4, [(0, "r", 1), (1, "r", 2), (2, "year", ("year", "1987"))]).to_arrays()
    wide = {name for name, array in arrays.items() if array.dtype == np.int64}
    assert wide == {"sizes", "relation_offsets", "kind_offsets", "value_offsets"}
