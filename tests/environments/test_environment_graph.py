"""The graph environment: what it shows, what it refuses, and that what it shows is read back as it was meant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from synth.environments.contract import ToolCall, ToolResult
from synth.environments.graph import GraphEnvironment, open_graph
from synth.environments.observed import observe
from synth.environments.passages import End, Triple
from synth.environments.shown import Facts, Listed
from synth.environments.triples import written
from synth.graph.graph import Graph
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.tasks import Task
from synth.testing.corpus import small_tasks
from synth.testing.environments import EnvironmentContract

_NAMES = {
    "person/ada-moor": ("Ada Moor", "person", ("Ada Lin Moor",)),
    "person/adam-moor": ("Adam Moor", "person", ()),
    "city/orl": ("Orl", "city", ()),
    "lake/orl": ("Orl", "lake", ("Lake Orl",)),
    "book/lamp (1904)": ("The Lamp [a play]", "book", ()),
    "book/moor": ("Moor", "book", ()),
}
_FACTS: list[tuple[str, str, str | tuple[str, str]]] = [
    ("person/ada-moor", "born_in", "city/orl"),
    ("person/ada-moor", "birth_date", ("date", "1874-03-05")),
    ("person/ada-moor", "spouse", "person/adam-moor"),
    ("city/orl", "area", ("quantity", "4059 square kilometres")),
    ("city/orl", "lies_on", "lake/orl"),
    ("book/lamp (1904)", "author", "person/ada-moor"),
    ("book/moor", "author", "person/ada-moor"),
    ("person/adam-moor", "mentor", "person/ada-moor"),
    ("person/ada-moor", "mentor", "person/adam-moor"),
]


class _Table:
    def __init__(self, table: pa.Table) -> None:
        self.arrow = table


def make(extra: Sequence[tuple[str, str, str | tuple[str, str]]] = (), **options: Any) -> GraphEnvironment:
    entities, graph, names = _parts(extra)
    return GraphEnvironment(graph, _Table(entities), names, **options)


def _parts(extra: Sequence[tuple[str, str, str | tuple[str, str]]] = ()) -> tuple[pa.Table, Graph, Bm25Index]:
    ids = list(_NAMES)
    facts = [*_FACTS, *extra]
    entities = pa.table(
        {
            "ordinal": list(range(len(ids))),
            "id": ids,
            "name": [_NAMES[name][0] for name in ids],
            "kind": [_NAMES[name][1] for name in ids],
            "aliases": pa.array([list(_NAMES[name][2]) for name in ids], pa.list_(pa.string())),
        }
    )
    values = [end if isinstance(end, tuple) else None for _, _, end in facts]
    edges = pa.table(
        {
            "subject": [ids.index(subject) for subject, _, _ in facts],
            "relation": [relation for _, relation, _ in facts],
            "object": [ids.index(end) if isinstance(end, str) else -1 for _, _, end in facts],
            "value": pa.array([value[1] if value else None for value in values], pa.string()),
            "value_kind": [value[0] if value else "entity" for value in values],
        }
    )
    graph = Graph.build(entities, edges, {"spouse": "spouse"})
    names = Bm25Index.build([(_NAMES[name][0], "", _NAMES[name][2]) for name in ids], title_weight=1)
    return entities, graph, Bm25Index(names)


class TestGraphEnvironment(EnvironmentContract):
    def environment(self) -> GraphEnvironment:
        return make(page_size=5)

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "name": ["Ada Moor", "orl", "nobody"],
            "entity": [*_NAMES, "city/nowhere", "Ada Moor"],
            "relation": ["author", "born_in", "spouse", "mentor", "nothing"],
            "direction": ["out", "in", "both"],
            "page": [1, 2, 3],
        }


def do(environment: GraphEnvironment, *calls: tuple[str, dict[str, Any]]) -> list[ToolResult]:
    episode = environment.reset(small_tasks()[0])
    return [
        episode.step(ToolCall(id=f"c{number}", name=name, arguments=arguments))
        for number, (name, arguments) in enumerate(calls)
    ]


def test_names_are_found_whole_names_first_then_aliases() -> None:
    found, alias, none = do(
        make(),
        ("find_entity", {"name": " ada  moor"}),
        ("find_entity", {"name": "Ada Lin Moor", "k": 1}),
        ("find_entity", {"name": "zzz"}),
    )
    assert found.content.split("\n")[:3] == [
        '3 entities for "ada moor":',
        "1. [Ada Moor](person/ada-moor)",
        "   a person, also called Ada Lin Moor",
    ]
    assert "[Ada Moor]" in alias.content
    assert alias.content.startswith("1 entity for")
    assert none.content == 'No entity has a name like "zzz".'
    both = do(make(), ("find_entity", {"name": "Orl"}))[0].content
    assert both.index("city/orl") < both.index("lake/orl")  # both are called so; the table's order decides


def test_relations_say_direction_number_and_kind() -> None:
    (result,) = do(make(), ("get_relations", {"entity": "person/ada-moor"}))
    assert result.content.split("\n") == [
        "[Ada Moor](person/ada-moor), relations, page 1 of 1",
        "",
        "A person, also called Ada Lin Moor, with 6 relations:",
        "- author (in): 2 facts, book",
        "- birth_date (out): 1 fact, date",
        "- born_in (out): 1 fact, city",
        "- mentor (out): 1 fact, person",
        "- mentor (in): 1 fact, person",
        "- spouse (both): 1 fact, person",
    ]


def test_facts_are_written_in_the_direction_that_is_stated() -> None:
    author, spouse, mentor, born, area = do(
        make(),
        ("get_triples", {"entity": "person/ada-moor", "relation": "author", "direction": "in"}),
        ("get_triples", {"entity": "person/adam-moor", "relation": "spouse", "direction": "out"}),
        ("get_triples", {"entity": "person/ada-moor", "relation": "mentor"}),
        ("get_triples", {"entity": "person/ada-moor", "relation": "birth_date"}),
        ("get_triples", {"entity": "city/orl", "relation": "area"}),
    )
    assert author.content.split("\n") == [
        "[Ada Moor](person/ada-moor), author (in), page 1 of 1",
        "",
        "- [The Lamp \\[a play\\]](<book/lamp (1904)>), author: [Ada Moor](person/ada-moor)",
        "- [Moor](book/moor), author: [Ada Moor](person/ada-moor)",
    ]
    assert "[Adam Moor](person/adam-moor), spouse (both), page 1 of 1" in spouse.content
    assert "- [Adam Moor](person/adam-moor), spouse: [Ada Moor](person/ada-moor)" in spouse.content
    assert "mentor (out and in), page 1 of 1" in mentor.content
    assert mentor.content.count("mentor: ") == 2
    assert born.content.endswith("- [Ada Moor](person/ada-moor), birth_date: 5 March 1874")
    assert area.content.endswith("- [Orl](city/orl), area: 4,059 square kilometres")


def test_wrong_calls_are_told_what_was_wrong() -> None:
    environment = make()
    calls: list[tuple[str, dict[str, Any], str, str]] = [
        (
            "get_triples",
            {"entity": "person/ada-moor", "relation": "author", "direction": "out"},
            "not_found",
            "direction",
        ),
        ("get_triples", {"entity": "person/ada-moor", "relation": "parents"}, "not_found", "'parents'"),
        ("get_triples", {"entity": "Ada Moor", "relation": "author"}, "not_found", "'Ada Moor'"),
        ("get_relations", {"entity": "person/ada-moor", "page": 2}, "not_found", "no page 2"),
        ("get_triples", {"entity": "person/ada-moor", "relation": "author", "page": 9}, "not_found", "no page 9"),
        (
            "get_triples",
            {"entity": "person/ada-moor", "relation": "author", "direction": "up"},
            "bad_arguments",
            "'up'",
        ),
        ("find_entity", {"name": " \n"}, "bad_arguments", "no words"),
        ("find_entity", {"name": "x" * 401}, "bad_arguments", "name"),
        ("get_relations", {"entity": "x' OR 1=1; --"}, "not_found", "OR 1=1"),
        ("get_relations", {"entity": "\u202e\x00person/ada-moor"}, "not_found", "no entity"),
        ("get_relations", {"entity": "y" * 400}, "not_found", "..."),
        ("query", {"sparql": "SELECT *"}, "unknown_tool", "find_entity, get_relations, get_triples"),
    ]
    results = do(environment, *[(name, arguments) for name, arguments, _, _ in calls])
    for result, (_, _, error, words) in zip(results, calls, strict=True):
        assert result.error == error, result
        assert words in result.content
        assert len(result.content) < 700


def test_large_fans_come_in_pages_that_hold_every_fact_once() -> None:
    many = [("book/moor", f"r{number:02d}", "city/orl") for number in range(12)]
    fan: list[tuple[str, str, str | tuple[str, str]]] = [
        ("book/moor", "year", ("year", str(1900 + n))) for n in range(23)
    ]
    environment = make([*many, *fan], page_size=10)
    pages = do(
        environment, *[("get_triples", {"entity": "book/moor", "relation": "year", "page": n}) for n in (1, 2, 3)]
    )
    shown = [observe(page.content) for page in pages]
    assert [len(page.facts) for page in shown if isinstance(page, Facts)] == [10, 10, 3]
    facts = [fact for page in shown if isinstance(page, Facts) for fact in page.facts]
    assert sorted(fact.object.name for fact in facts) == [str(1900 + n) for n in range(23)]
    assert "(There are 23 facts: this is page 2 of 3.)" in pages[1].content
    relations = do(
        environment, ("get_relations", {"entity": "book/moor"}), ("get_relations", {"entity": "book/moor", "page": 2})
    )
    labels = [item.label for page in relations for item in observe(page.content).relations]
    assert len(labels) == len(set(labels)) == 14


def test_it_runs_over_memory_mapped_arrays_and_copies_none_for_an_episode(tmp_path: Path) -> None:
    entities, graph, _ = _parts()
    arrays = {"graph": graph.to_arrays(), "names": Bm25Index.build([(n, "", a) for n, _, a in _NAMES.values()])}
    for group, items in arrays.items():
        for name, array in items.items():
            np.save(tmp_path / f"{group}-{name}.npy", array)

    class Inputs:
        def table(self, name: str) -> Any:
            return _Table(entities)

        def arrays(self, name: str) -> dict[str, Any]:
            return {item: np.load(tmp_path / f"{name}-{item}.npy", mmap_mode="r") for item in arrays[name]}

    environment = open_graph(inputs=Inputs())
    assert isinstance(environment.graph.step_target.base, np.memmap)
    one = environment.reset(small_tasks()[0])
    call = ToolCall(id="a", name="get_relations", arguments={"entity": "city/orl"})
    assert one.step(call) == make().reset(small_tasks()[0]).step(call)
    assert not any(isinstance(value, np.ndarray) for value in vars(one).values())


def test_an_observation_is_read_as_the_facts_that_it_states() -> None:
    relations, facts = do(
        make(),
        ("get_relations", {"entity": "person/ada-moor"}),
        ("get_triples", {"entity": "person/ada-moor", "relation": "author"}),
    )
    seen = observe(relations.content)
    assert seen.about == "person/ada-moor"
    assert Listed("author", "in", 2, ("book",)) in seen.relations
    assert not seen.passages[1:]
    first, second = observe(facts.content).passages
    assert first.fact == Triple(
        End("The Lamp [a play]", "book/lamp (1904)"), "author", End("Ada Moor", "person/ada-moor")
    )
    assert second.document == "person/ada-moor"
    assert not second.symmetric


def test_lines_of_a_page_are_no_facts() -> None:
    page = "[A page](a), page 1 of 1\n\n- [One](one), author: [Two](two)\n- author (in): 2 facts, book"
    seen = observe(page)
    assert seen.relations == ()
    assert all(passage.fact is None for passage in seen.passages)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("1874-03-05", "date", "5 March 1874"),
        ("1874-13-05", "date", "1874-13-05"),
        ("1204500", "number", "1,204,500"),
        ("-3", "number", "-3"),
        ("4059 metres", "quantity", "4,059 metres"),
        ("1874", "year", "1874"),
        ("a\nb", "text", "a b"),
    ],
)
def test_values_are_written_as_people_write_them(value: str, kind: str, text: str) -> None:
    assert written(value, kind) == text
