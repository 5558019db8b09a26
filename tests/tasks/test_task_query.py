"""Exhaustive queries against plain enumeration; operations; what is undecided."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from query_worlds import Triple, done, enumerated, little_facts, measures, members, step

from synth.schemas.tasks import Hop, Node, Operation, Shape, Walk
from synth.tasks.pattern import pattern_of, without_edge
from synth.tasks.query import Results, expected

ENTITIES = ["a0", "a1", "b2", "b3", "c4"]
RELATIONS = ["r", "s"]
TRIPLES = st.lists(
    st.tuples(st.sampled_from(ENTITIES), st.sampled_from(RELATIONS), st.sampled_from([*ENTITIES, "year:1874"])),
    min_size=1,
    max_size=14,
    unique=True,
)


@st.composite
def walks(draw: st.DrawFn) -> Walk:
    """Any walk of one to four hops over at most three bridges: chains, meets, and cycles."""
    names: list[str] = []
    hops: list[Hop] = []
    for number in range(draw(st.integers(1, 4))):
        ends = [*ENTITIES[:3]]
        if names and draw(st.booleans()):
            source = draw(st.sampled_from(names))
            needs = tuple(i for i, hop in enumerate(hops) if hop.target.id == source)
        else:
            source, needs = draw(st.sampled_from(ENTITIES)), ()
        target = draw(st.sampled_from(ends))
        forward = draw(st.booleans())
        hops.append(step(source, draw(st.sampled_from(RELATIONS)), target, *needs, forward=forward, cue=str(number)))
        names.append(target)
    return Walk(shape="cycle", hops=tuple(hops))


@settings(max_examples=60, deadline=None)
@given(TRIPLES, walks())
def test_answers_are_those_of_trying_everything(triples: list[Triple], walk: Walk) -> None:
    """Bridges are bound once for all their constraints, whatever the shape of the pattern."""
    found = little_facts(triples, ENTITIES).results(walk)
    # A hop starts at what it needs: the pattern of a hop whose name was met twice is one variable.
    assert {names[0] for names in found.found} == enumerated(walk, triples, ENTITIES)
    assert found.undecided == ""


def test_joins_bind_one_node_for_both_constraints() -> None:
    """By sets, c4 would pass: some b leads to it, and some b is marked. No single b does both."""
    triples = [("a0", "r", "b2"), ("a0", "r", "b3"), ("b2", "s", "c4"), ("a1", "r", "b3")]
    hops = (step("a0", "r", "b2"), step("a1", "r", "b2"), step("b2", "s", "c4", 0, 1))
    assert little_facts(triples, ENTITIES).results(Walk(shape="cycle", hops=hops)).found == ()


FILMS: list[Triple] = [
    ("d0", "directed", "f1"), ("d0", "directed", "f2"), ("d0", "directed", "f3"), ("d9", "directed", "f4"),
    ("f1", "year", "year:1950"), ("f2", "year", "year:1960"), ("f3", "year", "year:1970"), ("f4", "year", "year:1940"),
    ("f1", "length", "quantity:90 minutes"), ("f2", "length", "quantity:120 minutes"),
    ("f3", "length", "quantity:100 minutes"), ("p5", "died", "date:1965-03-02"), ("s6", "star", "f2"),
    ("s6", "star", "f3"), ("s6", "star", "f4"), ("g7", "made", "d0"),
]  # fmt: skip
NAMES = ["d0", "f1", "f2", "f3", "f4", "p5", "s6", "g7", "d9"]
ALL = members("d0", "directed", ["f1", "f2", "f3"])
YEARS = measures(ALL, "year", ["year:1950", "year:1960", "year:1970"])


def ask(
    hops: list[Hop], *operations: Operation, shape: Shape = "superlative", triples: list[Triple] = FILMS
) -> Results:
    walk = Walk(shape=shape, hops=tuple(hops), operations=tuple(operations))
    return little_facts(triples, NAMES).results(walk)


@pytest.mark.parametrize(
    ("operations", "answer"),
    [
        ([done("argmin", [3, 4, 5], "f1")], ("f1",)),
        ([done("argmax", [3, 4, 5], "f3")], ("f3",)),
        ([done("count", [0, 1, 2], "number:3")], ("3",)),
        ([done("list", [0, 1, 2], "f1", "f2", "f3")], ("f1", "f2", "f3")),
        ([done("filter", [3, 4, 5], "f2", bound="range:1955/1965")], ("f2",)),
        ([done("filter", [3, 4, 5], "f2", bound="year:1960")], ("f2",)),
        (
            [done("filter", [3, 4, 5], "f2", "f3", bound="range:1951/"), done("argmin", [3, 4, 5], "f2", within=0)],
            ("f2",),
        ),
        ([done("filter", [3, 4, 5], bound="range:1951/"), done("count", [0, 1, 2], "number:2", within=0)], ("2",)),
    ],
)
def test_operations_over_a_set(operations: list[Operation], answer: tuple[str, ...]) -> None:
    found = ask([*ALL, *YEARS], *operations)
    assert (found.found, found.undecided) == ((answer,), "")


def test_members_that_the_walk_does_not_list_count() -> None:
    found = ask([ALL[0], ALL[1], *measures(ALL[:2], "year", ["year:1950", "year:1960"])], done("argmax", [2, 3], "f2"))
    assert found.found == (("f3",),)
    assert dict(found.readings[0].members) == {0: ("f1", "f2", "f3")}


def test_a_set_behind_a_bridge_and_two_constraints_on_a_set() -> None:
    first = step("g7", "made", "d0")
    hops = [first, *members("d0", "directed", ["f2", "f3"], 0), *members("s6", "star", ["f2", "f3"])]
    found = ask(hops, done("list", [3, 4], "f2", "f3"), shape="intersection")
    assert found.found == (("f2", "f3"),)


def test_the_bound_of_a_filter_can_be_what_another_hop_found() -> None:
    hops = [*ALL, *YEARS, step("p5", "died", "date:1965-03-02")]
    after = done("filter", [3, 4, 5], "f3", bound="range:1965-03-02/")
    assert ask(hops, after, shape="temporal").found == (("f3",),)
    # It follows the hop, not the written date: p5 died in 1945 in another world.
    earlier = [("p5", "died", "date:1945-03-02") if triple[0] == "p5" else triple for triple in FILMS]
    found = ask(hops, after, shape="temporal", triples=earlier)
    assert found.found == (("f1", "f2", "f3"),)


def test_comparison_and_computation() -> None:
    named = [
        step("f1", "length", "quantity:90 minutes", cue="long"),
        step("f2", "length", "quantity:120 minutes", cue="long"),
    ]
    assert ask(named, done("argmax", [0, 1], "f2"), shape="comparison").found == (("f2",),)
    for kind, result in (("sum", "210 minutes"), ("difference", "30 minutes")):
        found = ask(named, done(kind, [0, 1], f"quantity:{result}"), shape="computation")
        assert found.found == ((result,),)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("f3", "year", "year:1950"), "alone at the end"),
        (("f3", "year", None), "not every candidate"),
        (("f2", "year", "year:1951"), ""),
    ],
)
def test_ties_and_missing_values_are_undecided(change: tuple[str, str, str | None], problem: str) -> None:
    triples = [(s, r, str(change[2]) if (s, r) == change[:2] else o) for s, r, o in FILMS]
    if change[2] is None:
        triples = [triple for triple in triples if triple[:2] != change[:2]]
    found = ask([*ALL, *YEARS], done("argmin", [3, 4, 5], "f1"), triples=triples)
    assert problem in found.undecided
    assert bool(problem) == bool(found.undecided)


def test_a_value_that_the_bound_can_not_decide_is_undecided() -> None:
    hops = [*ALL, *YEARS, step("p5", "died", "date:1960-03-02")]
    triples = [("p5", "died", "date:1960-03-02") if triple[0] == "p5" else triple for triple in FILMS]
    found = ask(hops, done("filter", [3, 4, 5], "f3", bound="range:1960-03-02/"), triples=triples)
    assert "does not decide" in found.undecided


def test_what_the_question_describes_may_be_two_things() -> None:
    triples = [*FILMS, ("g7", "made", "d9")]
    first = step("g7", "made", "d0")
    hops = [first, *members("d0", "directed", ["f1", "f2", "f3"], 0)]
    found = ask(hops, done("count", [1, 2, 3], "number:3"), shape="count", triples=triples)
    assert found.found == (("1",), ("3",))
    assert len(found.readings) == 2


def test_parallel_questions_have_one_result_in_order() -> None:
    hops = (*ALL, *YEARS, step("g7", "made", "d0", cue="who"))
    walk = Walk(shape="parallel", hops=hops, operations=(done("argmax", [3, 4, 5], "f3"),))
    assert little_facts(FILMS, NAMES).results(walk).found == (("f3", "d0"),) == (expected(walk),)


def test_ranges_are_all_values_that_lie_in_them() -> None:
    source = Node(id="1955/1975", name="1955 to 1975", kind="range")
    hops = [
        step("x9", "year", "f2", forward=False).model_copy(update={"source": source}),
        step("d0", "directed", "f2"),
        step("s6", "star", "f2"),
    ]
    walk = Walk(shape="conjunction", hops=tuple(hops))
    assert little_facts(FILMS, NAMES).results(walk).found == (("f2",), ("f3",))
    narrow = Walk(
        shape="conjunction",
        hops=(hops[0].model_copy(update={"source": Node(id="/1960", name="until 1960", kind="range")}), *hops[1:]),
    )
    assert little_facts(FILMS, NAMES).results(narrow).found == (("f2",),)


def test_what_is_asked_for_by_a_word_may_be_any_of_a_narrower_one() -> None:
    people = [f"p{number}" for number in range(4)]
    trades = ("historian", "art historian", "Art Historian", "prehistorian")
    facts = little_facts(
        [(who, "occupation", f"text:{trade}") for who, trade in zip(people, trades, strict=True)], people
    )
    asked = Walk(shape="conjunction", hops=(step("text:historian", "occupation", "p0", forward=False),))
    assert facts.results(asked).found == (("p0",), ("p1",))
    asked = Walk(shape="conjunction", hops=(step("text:art historian", "occupation", "p1", forward=False),))
    assert facts.results(asked).found == (("p1",),)


def test_a_constraint_can_be_left_out() -> None:
    walk = Walk(shape="conjunction", hops=(step("d0", "directed", "f2"), step("s6", "star", "f2")))
    pattern = pattern_of(walk)
    facts = little_facts(FILMS, NAMES)
    rest = [without_edge(pattern, edge) for edge in range(2)]
    assert [len(facts.results(walk, one).found) for one in rest] == [3, 3]
    lonely = pattern_of(Walk(shape="composition", hops=(step("d0", "directed", "f1"),)))
    assert without_edge(lonely, 0) is None


def test_a_bridge_that_nothing_leads_to_is_free() -> None:
    walk = Walk(shape="composition", hops=(step("g7", "made", "d0"), step("d0", "directed", "f1", 0)))
    rest = without_edge(pattern_of(walk), 0)
    found = little_facts(FILMS, NAMES).results(walk, rest)
    assert {names[0] for names in found.found} == {"f1", "f2", "f3", "f4"}


def test_extremes_of_a_kind_hold_ties() -> None:
    facts = little_facts([*FILMS, ("f4", "length", "quantity:90 minutes")], NAMES)
    assert facts.extremes("f", "length") == (frozenset({"f1", "f4"}), frozenset({"f2"}))
    assert facts.extremes("p", "length") == (frozenset(), frozenset())


def test_a_hop_that_starts_nowhere_is_refused() -> None:
    with pytest.raises(ValueError, match="no needed hop finds"):
        pattern_of(Walk(shape="composition", hops=(step("g7", "made", "d0"), step("p5", "directed", "f1", 0))))
