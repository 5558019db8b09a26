"""The audit's own query and its measures, against the plainest way of saying what they mean."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stand_ins.row_audit import facts_of

from synth.dataset.audit.facts import Constraint, Facts, Undecided, Variable, value_key
from synth.dataset.audit.values import difference, measure, said_forms, span_of

NODES = "abcde"
RELATIONS = {"r": None, "s": "back", "t": "t"}
"""One plain, one that is also read from its other end, one symmetric."""

stated = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from([*RELATIONS, "back"]), st.sampled_from(NODES)))
variables = [Variable(name) for name in "xyz"]
terms = st.sampled_from([*NODES, *variables])
constraints = st.lists(
    st.builds(Constraint, terms, st.sampled_from([*RELATIONS, "back"]), st.booleans(), st.sampled_from(variables)),
    min_size=1,
    max_size=4,
)


def known(rows: list[tuple[str, str, str]]) -> Facts:
    return facts_of(rows, inverses={**RELATIONS, "back": "s"})


def closed(rows: list[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """All readings of the facts."""
    other = {"s": "back", "back": "s", "t": "t"}
    return {*rows, *((o, other[r], s) for s, r, o in rows if r in other)}


def by_trying_everything(rows: set[tuple[str, str, str]], asked: list[Constraint], wanted: Variable) -> set[str]:
    found = set()
    for nodes in product(NODES, repeat=len(variables)):
        bound = dict(zip(variables, nodes, strict=True))
        ok = True
        for item in asked:
            source = bound[item.source] if isinstance(item.source, Variable) else str(item.source)
            one, two = (source, bound[item.target]) if item.forward else (bound[item.target], source)
            ok &= (one, item.relation, two) in rows
        if ok:
            found.add(bound[wanted])
    return found


def linked(asked: list[Constraint], wanted: Variable) -> list[Constraint]:
    reach: set[object] = {wanted}
    for _ in asked:
        for item in asked:
            if reach & set(item.variables):
                reach |= set(item.variables)
    return [item for item in asked if reach & set(item.variables)]


@given(stated, constraints)
def test_every_way_of_binding_is_found_and_no_other(rows: list[tuple[str, str, str]], asked: list[Constraint]) -> None:
    wanted = asked[0].target
    expected = by_trying_everything(closed(rows), linked(asked, wanted), wanted)
    found = known(rows).ends(asked, wanted, limit=100)
    assert len(found) == len(set(found))
    assert set(found) == expected
    few = known(rows).ends(asked, wanted, limit=2)
    assert set(few) <= expected
    assert len(few) >= min(2, len(expected))


def test_a_bridge_is_one_node_for_all_that_is_said_of_it() -> None:
    """Sets that are reached one by one would let two different bridges each satisfy one half."""
    rows = [("a", "r", "b"), ("a", "r", "c"), ("d", "r", "b"), ("c", "s", "e")]
    x, y = variables[:2]
    asked = [Constraint("a", "r", True, x), Constraint("d", "r", True, x), Constraint(x, "s", True, y)]
    assert known(rows).ends(asked, y, limit=5) == []
    assert known([*rows, ("b", "s", "e")]).ends(asked, y, limit=5) == ["e"]


def test_a_span_is_any_value_in_it() -> None:
    years = (("a", "1869"), ("b", "1870"), ("c", "1879"), ("d", "1880"))
    facts = facts_of([(name, "year", value_key(year)) for name, year in years])
    span = span_of("1870/1879")
    assert span is not None
    assert facts.ends([Constraint(span, "year", False, variables[0])], variables[0], limit=5) == ["b", "c"]


def test_too_long_a_search_is_no_verdict() -> None:
    # Eight nodes that are all different, out of seven: no way, and no short proof of it.
    nodes = range(7)
    rows = [(str(one), "r", str(two)) for one in nodes for two in nodes if one != two]
    facts = facts_of(rows)
    names = [Variable(f"v{number}") for number in range(8)]
    different = [Constraint(one, "r", True, two) for place, one in enumerate(names) for two in names[place + 1 :]]
    with pytest.raises(Undecided):
        facts.ends(different, names[-1], limit=1, budget=50_000)
    assert facts.ends(different, names[-1], limit=1) == []
    assert facts.ends(different[:6], names[1], limit=1, budget=50_000) != []


@pytest.mark.parametrize(
    ("one", "two", "place"),
    [
        ("1870", "1871", -1),
        ("1870-05-01", "1870-05-02", -1),
        ("1870-05-01", "1870", None),
        ("1871-01-01", "1870", 1),
        ("12 metres", "1,200 metres", -1),
        ("12 metres", "12 feet", None),
        ("-5", "3", -1),
    ],
)
def test_order(one: str, two: str, place: int | None) -> None:
    left, right = measure(one), measure(two)
    assert left is not None
    assert right is not None
    assert left.place(right) == place
    assert right.place(left) == (None if place is None else -place)


def test_differences_of_dates_are_years() -> None:
    values = [measure(text) for text in ("1870-05-02", "1880-05-01", "1880")]
    assert None not in values
    first, second, year = (value for value in values if value is not None)
    assert difference(first, second) == difference(second, first) == {10, 9}
    assert difference(first, year) == {10}
    assert difference(year, year) == {0}


@pytest.mark.parametrize("text", ["", "about 5", "5 - 6", "1870-13"])
def test_what_is_no_measure(text: str) -> None:
    assert measure(text) is None


@pytest.mark.parametrize("text", ["/", "x/5", "5/y"])
def test_what_is_no_span(text: str) -> None:
    assert span_of(text) is None


def test_forms_of_values() -> None:
    assert "22nd of December 1952" in said_forms("1952-12-22", "date")
    assert "11th of May 1900" in said_forms("1900-05-11", "date")
    assert "12,045 metres" in said_forms("12045 metres", "quantity")
    assert "three" in said_forms("3", "number")
