"""Walks: every rule checked on every row, batches that don't matter, distributions, proofs of uniqueness."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from graph_examples import INVERSES, Triple, make_graph, neighbours, random_graph, tables
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.graph.draws import Draws
from synth.graph.graph import Graph
from synth.graph.steps import COUNTERS_PER_STEP, admissible_steps, draw_steps
from synth.graph.walks import Walker, Walks


def compositions(graph: Graph, indices: Any, hops: Any, seed: int, **rules: Any) -> Walks:
    return Walker(graph, **rules).compositions(indices, hops, seed)


def conjunctions(
    graph: Graph, indices: Any, constraints: int, seed: int, *, minimal: bool = True, largest: int = 4096, **rules: Any
) -> Walks:
    return Walker(graph, **rules).conjunctions(indices, constraints, seed, minimal=minimal, largest=largest)


def groups_of(graph: Graph, node: int) -> dict[tuple[str, bool], list[int]]:
    """(relation, forward) -> targets of one node, from the public views."""
    found = {}
    for relation in graph.relations:
        symmetric = graph.port(relation, True) == graph.port(relation, False)
        for forward in (True,) if symmetric else (True, False):
            targets = neighbours(graph, node, relation, forward)
            if targets:
                found[relation, forward] = targets
    return found


def check_composition(graph: Graph, walks: Walks, row: int, rules: dict[str, Any]) -> None:
    """Asserts every rule on a valid row, and on an invalid one that no admissible step was left."""
    allowed = rules.get("allowed", np.ones(graph.n_nodes, dtype=bool))
    answers = rules.get("answers", np.ones(graph.n_nodes, dtype=bool))
    hops = int(walks.hops[row])
    reached = [int(node) for node in walks.nodes[row] if node >= 0]
    used: list[str] = []
    for hop in range(len(reached) - 1):
        source, target, number = reached[hop], reached[hop + 1], int(walks.facts[row, hop])
        fact, forward = graph.fact(number), bool(walks.forward[row, hop])
        symmetric = graph.port(fact.relation, True) == graph.port(fact.relation, False)
        ends = {(fact.subject, fact.object)} if forward else {(fact.object, fact.subject)}
        assert (source, target) in (ends | {(fact.object, fact.subject)} if symmetric else ends)
        assert forward or not symmetric
        assert walks.fanout[row, hop] == len(groups_of(graph, source)[fact.relation, forward])
        used.append(fact.relation)
    assert len(set(reached)) == len(reached)
    assert len(set(used)) == len(used)
    assert not set(used) & set(rules.get("blocked", ()))
    for hop, node in enumerate(reached[1:], 1):
        assert allowed[node]
        assert answers[node] or hop < hops
        assert hop == hops or rules.get("value_bridges") or not graph.is_value(node)
    if walks.valid[row]:
        assert len(reached) == hops + 1
        assert walks.answers[row] == reached[-1]
        return
    assert walks.answers[row] == -1
    if reached:  # got stuck: nothing admissible was left
        last = len(reached) == hops
        for (relation, _), targets in groups_of(graph, reached[-1]).items():
            if relation in used or relation in rules.get("blocked", ()):
                continue
            if rules.get("functional_only") and len(targets) > 1:
                continue
            for target in set(targets) - set(reached):
                fits = allowed[target] and (answers[target] if last else True)
                bridge = last or rules.get("value_bridges") or not graph.is_value(target)
                assert not (fits and bridge), f"step to {target} by {relation} was possible"


@settings(max_examples=60)
@given(tables(max_edges=60), st.data())
def test_compositions_keep_every_rule(table: tuple[int, list[Triple]], data: st.DataObject) -> None:
    graph = make_graph(*table, INVERSES)
    masks = st.lists(st.booleans(), min_size=graph.n_nodes, max_size=graph.n_nodes).map(np.array)
    rules: dict[str, Any] = {
        "functional_only": data.draw(st.booleans()),
        "value_bridges": data.draw(st.booleans()),
        "weighting": data.draw(st.sampled_from(["relation", "edge"])),
        "blocked": data.draw(st.sets(st.sampled_from(["knows", "born_in", "unheard of"]))),
    }
    for name in data.draw(st.sets(st.sampled_from(["allowed", "answers", "starts"]))):
        rules[name] = data.draw(masks).astype(bool)
    hops = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=12))
    walks = compositions(graph, np.arange(len(hops)), np.array(hops), 5, **rules)
    for row in range(len(walks)):
        check_composition(graph, walks, row, rules)
        start = int(walks.nodes[row, 0])
        if "starts" in rules and start >= 0:
            assert rules["starts"][start]
        if walks.valid[row]:
            assert int(walks.answers[row]) in graph.answers(walks.constraints(row, graph))


@settings(max_examples=40)
@given(st.integers(0, 2**63 - 1), st.data())
def test_a_row_does_not_depend_on_its_batch(seed: int, data: st.DataObject) -> None:
    graph = random_graph(3, 60, 400, inverses={"r2": "r2"})
    walker = Walker(graph, weighting=data.draw(st.sampled_from(["relation", "edge"])))
    indices = np.array(data.draw(st.lists(st.integers(0, 2**62), min_size=2, max_size=30, unique=True)))
    sizes = np.array(data.draw(st.lists(st.integers(2, 6), min_size=len(indices), max_size=len(indices))))
    draw: Any = data.draw(st.sampled_from([walker.compositions, walker.conjunctions]))
    whole = draw(indices, sizes, seed)
    order = np.array(data.draw(st.permutations(range(len(indices)))))
    cut = data.draw(st.integers(1, len(indices)))
    for part in (order[:cut], order[cut:], order[:1]):
        piece = draw(indices[part], sizes[part], seed)
        for at, row in enumerate(part):
            k = int(sizes[row])
            assert piece.valid[at] == whole.valid[row]
            assert piece.nodes[at, : k + 1].tolist() == whole.nodes[row, : k + 1].tolist()
            for name in ("facts", "forward", "fanout"):
                assert getattr(piece, name)[at, :k].tolist() == getattr(whole, name)[row, :k].tolist()


def test_seed_index_and_shape_matter() -> None:
    graph = random_graph(1, 200, 1500)
    walker = Walker(graph)
    one, two = walker.compositions(np.arange(50), 3, 1), walker.compositions(np.arange(50), 3, 2)
    assert (one.nodes != two.nodes).any(axis=1).mean() > 0.9
    assert len({tuple(row) for row in one.nodes.tolist()}) > 45


def expected_weights(groups: dict[str, list[int]], visited: set[int], used: set[str], weighting: str) -> Counter[int]:
    weights: Counter[int] = Counter()
    for relation, targets in groups.items():
        for target in targets:
            if relation not in used and target not in visited:
                weights[target] += 1 if weighting == "edge" else 1 / len(targets)  # type: ignore[assignment]
    return weights


SPENT = tuple(f"spent{i}" for i in range(17))


@pytest.mark.parametrize("weighting", ["edge", "relation"])
@pytest.mark.parametrize("used", [(), ("hub",), ("hub", "pair"), ("hub", *SPENT)])
@pytest.mark.parametrize("visited", [(), (1, 2, 301, 401)])
def test_steps_are_drawn_by_weight(weighting: Any, used: tuple[str, ...], visited: tuple[int, ...]) -> None:
    """With the hub, or most relations, used up nearly every proposal is rejected: this covers the exact draw too."""
    groups = {"hub": list(range(1, 301)), "pair": [301, 302], "trio": [401, 402, 403], "one": [404]}
    if SPENT[0] in used:
        groups |= {name: [410 + number] for number, name in enumerate(SPENT)}
    triples = [(0, relation, target) for relation, targets in groups.items() for target in targets]
    graph = make_graph(430, triples)
    n = 20_000
    numbers = {name: number for number, name in enumerate(graph.relations)}
    drawn = draw_steps(
        admissible_steps(graph, None, None),
        weighting,
        Draws(11, "test", np.arange(n)),
        np.arange(n),
        7,
        np.zeros(n, dtype=np.int64),
        np.tile(np.array([0, *visited], dtype=np.int32), (n, 1)),
        np.tile(np.array([numbers[name] for name in used], dtype=np.int32), (n, 1)).reshape(n, len(used)),
    )
    weights = expected_weights(groups, set(visited), set(used), weighting)
    total = sum(weights.values())
    seen = Counter(drawn.target.tolist())
    assert set(seen) <= set(weights)
    chi_square = sum((seen[t] - n * w / total) ** 2 / (n * w / total) for t, w in weights.items())
    freedom = len(weights) - 1
    assert chi_square < freedom + 4 * np.sqrt(2 * max(1, freedom)) + 4
    assert bool((graph.fact_object[drawn.fact] == drawn.target).all())


def test_a_step_that_only_the_exact_draw_can_find() -> None:
    triples = [(0, "hub", target) for target in range(2, 5000)] + [(0, "rare", 1)]
    graph = make_graph(5000, triples)
    numbers = {name: number for number, name in enumerate(graph.relations)}
    n = 500
    drawn = draw_steps(
        admissible_steps(graph, None, None),
        "edge",
        Draws(0, "test", np.arange(n)),
        np.arange(n),
        0,
        np.zeros(n, dtype=np.int64),
        np.zeros((n, 1), dtype=np.int32),
        np.full((n, 1), numbers["hub"], dtype=np.int32),
    )
    assert drawn.found.all()
    assert set(drawn.target.tolist()) == {1}


def test_relation_weighting_keeps_a_large_relation_from_dominating() -> None:
    triples = [(node, "in", 0) for node in range(1, 200)] + [(0, "capital", 5)]
    graph = make_graph(200, triples)
    capital = graph.relations.index("capital")
    share = {}
    for weighting in ("edge", "relation"):
        walks = compositions(graph, np.arange(4000), 1, 3, weighting=weighting, starts=np.arange(200) == 0)
        assert walks.valid.all()
        share[weighting] = float((graph.fact_relation[walks.facts[:, 0]] == capital).mean())
    assert share["edge"] == pytest.approx(1 / 200, abs=0.005)
    assert share["relation"] == pytest.approx(1 / 2, abs=0.03)


@pytest.mark.parametrize("weighting", ["edge", "relation"])
def test_functional_steps_make_the_answer_unique(weighting: Any) -> None:
    graph = random_graph(5, 300, 900)
    walks = compositions(graph, np.arange(800), np.arange(800) % 4 + 1, 0, functional_only=True, weighting=weighting)
    assert walks.valid.sum() > 100
    for row in np.flatnonzero(walks.valid).tolist():
        assert graph.answers(walks.constraints(row, graph)).tolist() == [walks.answers[row]]
        assert walks.fanout[row, : walks.hops[row]].tolist() == [1] * int(walks.hops[row])


def is_proven(graph: Graph, walks: Walks, row: int, k: int, minimal: bool) -> bool:
    """Brute force: do the constraints of a complete row identify its answer, and is each of them needed?"""
    facts = [graph.fact(int(number)) for number in walks.facts[row, :k]]
    members = [
        set(neighbours(graph, int(walks.nodes[row, j]), facts[j].relation, bool(walks.forward[row, j])))
        for j in range(k)
    ]
    if set.intersection(*members) != {int(walks.answers[row])} or any(len(group) < 2 for group in members):
        return False
    rest = [set.intersection(*(members[:j] + members[j + 1 :])) for j in range(k)]
    return not minimal or all(len(group) > 1 for group in rest)


@settings(max_examples=60)
@given(tables(max_edges=60), st.booleans(), st.sampled_from(["relation", "edge"]), st.integers(0, 99))
def test_conjunctions_are_proven(table: tuple[int, list[Triple]], minimal: bool, weighting: Any, seed: int) -> None:
    graph = make_graph(*table, INVERSES)
    count = np.arange(40) % 3 + 2
    walks = conjunctions(graph, np.arange(40), count, seed, minimal=minimal, weighting=weighting)
    for row in range(40):
        k = int(count[row])
        if int(walks.answers[row]) < 0:
            assert not walks.valid[row]
            continue
        sources = walks.nodes[row, :k].tolist()
        relations = [graph.fact(int(number)).relation for number in walks.facts[row, :k]]
        assert len({*sources, int(walks.answers[row])}) == k + 1
        assert len(set(relations)) == k
        assert bool(walks.valid[row]) == is_proven(graph, walks, row, k, minimal)
        if walks.valid[row]:
            for step in walks.steps(row, graph):
                fact = graph.fact(step.fact)
                assert {step.source, step.target} == {fact.subject, fact.object}
                assert step.target == walks.answers[row]
                assert step.fanout == len(neighbours(graph, step.source, step.relation, step.forward))
            assert graph.answers(walks.constraints(row, graph)).tolist() == [walks.answers[row]]


def test_conjunctions_of_a_larger_graph_are_found_and_proven() -> None:
    graph = random_graph(8, 120, 1500, relations=8, inverses={"r3": "r3"})
    for k in (2, 3, 4):
        walks = conjunctions(graph, np.arange(3000), k, 1, minimal=k < 4)
        complete = np.flatnonzero(walks.answers >= 0)
        assert len(complete) > 1000
        assert [bool(walks.valid[row]) for row in complete] == [
            is_proven(graph, walks, row, k, k < 4) for row in complete.tolist()
        ]
        assert walks.valid.sum() > 20


def test_conjunctions_of_broad_sets_are_proven() -> None:
    """Sets of hundreds, which are looked at in several rounds: they share one node, or some, first, last or both."""
    first, last = 10, 309
    members = {
        "a": range(first, last + 1),
        "one": range(last, 600),
        "many": range(last - 30, 600),
        "ends": [first, last, *range(700, 1000)],
    }
    triples = [(source, relation, x) for source, (relation, nodes) in enumerate(members.items()) for x in nodes]
    graph = make_graph(1000, triples)
    walks = conjunctions(graph, np.arange(8000), 2, 0, starts=np.arange(1000) < 4)
    seen: Counter[tuple[frozenset[str], bool]] = Counter()
    for row in np.flatnonzero(walks.answers >= 0).tolist():
        assert bool(walks.valid[row]) == is_proven(graph, walks, row, 2, True)
        pair = frozenset(graph.fact(int(number)).relation for number in walks.facts[row])
        seen[pair, bool(walks.valid[row])] += 1
    assert seen[frozenset({"a", "one"}), True] > 0
    assert seen[frozenset({"a", "many"}), False] > 0
    assert seen[frozenset({"a", "ends"}), False] > 0
    assert seen[frozenset({"one", "ends"}), True] > 0


def test_every_eligible_constraint_is_drawn_and_no_other() -> None:
    """Eligible: the relation leads from the source to several nodes. With symmetric relations and self loops."""
    triples: list[Triple] = [(0, "knows", 1), (0, "knows", 2), (3, "knows", 3), (1, "knows", 2), (4, "knows", 5)]
    triples += [(s, "likes", o) for s, o in ((0, 1), (0, 2), (1, 2), (3, 2), (5, 5), (5, 4))]
    triples += [(s, "year", ("year", y)) for s, y in ((0, "1"), (1, "1"), (2, "2"), (4, "1"))]
    graph = make_graph(6, triples, INVERSES)
    eligible = set()
    for answer in range(graph.n_nodes):
        own = set()
        for (relation, forward), sources in groups_of(graph, answer).items():
            backward = True if relation == "knows" else not forward
            for source in set(sources) - {answer}:
                if len(neighbours(graph, source, relation, backward)) > 1:
                    own.add((relation, source, backward))
        if len({(relation, forward) for relation, _, forward in own}) > 1:
            eligible |= {(relation, source, forward) for relation, source, forward in own}
    walks = conjunctions(graph, np.arange(20_000), 2, 0)
    drawn = set()
    for row in np.flatnonzero(walks.facts[:, 0] >= 0).tolist():
        relation = graph.fact(int(walks.facts[row, 0])).relation
        drawn.add((relation, int(walks.nodes[row, 0]), bool(walks.forward[row, 0])))
    assert drawn == eligible
    assert {"knows", "likes", "year"} == {relation for relation, _, _ in eligible}


def test_conjunctions_keep_the_masks() -> None:
    graph = random_graph(8, 120, 1500, relations=8)
    allowed, starts = np.arange(120) % 2 == 0, np.arange(120) % 3 != 0
    rules: dict[str, Any] = {"allowed": allowed, "starts": starts, "blocked": ["r1"]}
    walks = conjunctions(graph, np.arange(3000), 2, 1, answers=np.arange(120) < 90, **rules)
    valid = np.flatnonzero(walks.valid)
    assert len(valid) > 20
    entity_answers = walks.answers[valid][walks.answers[valid] < 120]
    assert (allowed[entity_answers] & (entity_answers < 90)).all()
    assert starts[walks.nodes[valid, :2]].all()
    assert graph.relations.index("r1") not in graph.fact_relation[walks.facts[valid]]


def test_constraints_that_are_too_broad_are_not_scanned() -> None:
    graph = random_graph(8, 120, 1500, relations=8)
    broad = conjunctions(graph, np.arange(1000), 2, 1)
    narrow = conjunctions(graph, np.arange(1000), 2, 1, largest=3)
    assert (narrow.nodes == broad.nodes).all()
    smallest = broad.fanout.min(axis=1)
    assert narrow.valid.tolist() == (broad.valid & (smallest <= 3)).tolist()
    assert narrow.valid.sum() < broad.valid.sum()


def test_graphs_without_a_walk() -> None:
    for graph in (make_graph(0, []), make_graph(5, []), make_graph(2, [(0, "r", 0), (1, "r", 1)])):
        chains = compositions(graph, np.arange(6), np.array([1, 2, 3, 1, 2, 3]), 0)
        assert not chains.valid.any()
        assert (chains.answers == -1).all()
        assert not conjunctions(graph, np.arange(6), 2, 0).valid.any()
    graph = random_graph(1, 30, 100)
    assert len(compositions(graph, np.arange(0), 3, 0)) == 0
    assert len(conjunctions(graph, np.arange(0), 3, 0)) == 0
    assert not compositions(graph, np.arange(9), 2, 0, starts=np.zeros(30, dtype=bool)).valid.any()
    assert not compositions(graph, np.arange(9), 2, 0, allowed=np.zeros(graph.n_nodes, dtype=bool)).valid.any()
    assert not compositions(graph, np.arange(9), 2, 0, blocked=graph.relations).valid.any()


def test_wrong_calls_are_refused() -> None:
    graph = random_graph(1, 30, 100)
    with pytest.raises(ValueError, match="at least 1"):
        compositions(graph, np.arange(2), 0, 0)
    with pytest.raises(ValueError, match="at least 2"):
        conjunctions(graph, np.arange(2), 1, 0)
    with pytest.raises(ValueError, match="negative"):
        compositions(graph, np.array([-1]), 2, 0)
    with pytest.raises(ValueError, match="mask of 7"):
        Walker(graph, allowed=np.ones(7, dtype=bool))
    walks = compositions(graph, np.arange(9), 2, 0, blocked=graph.relations)
    with pytest.raises(ValueError, match="not a valid walk"):
        walks.steps(0, graph)


def test_draws_are_uniform_and_pinned() -> None:
    draws = Draws(7, "name", np.arange(100_000))
    every = np.arange(100_000)
    first, second = draws.uniform(every, 0), draws.uniform(every, 1)
    assert abs(first.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.015
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.015
    counts = np.bincount(draws.below(every, 2, np.full(100_000, 37)), minlength=37)
    expected = 100_000 / 37
    assert ((counts - expected) ** 2 / expected).sum() < 36 + 4 * np.sqrt(72)
    assert draws.below(every[:3], 0, np.array([0, 1, 1])).tolist() == [0, 0, 0]
    # Rows of a dataset hang on these numbers: they may only change with the version of the stages that walk.
    pinned = Draws(20260601, "composition", np.array([0, 1, 2**40])).below(np.arange(3), 3, np.full(3, 10**6))
    assert pinned.tolist() == [544875, 690227, 215178]
    assert COUNTERS_PER_STEP == 14
