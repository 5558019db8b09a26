"""Moves in a graph: a fact states a hop by relation and ends; another relation than the walk's is a wrong turn."""

from __future__ import annotations

import pytest

from synth.agents.contract import Step, Turn
from synth.annotate.evidence.assessment import Effect
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.passages import End, Triple
from synth.environments.shown import Facts, Hit, Hits, Listed, Relations
from synth.environments.triples import render
from synth.schemas.documents import Evidence
from synth.schemas.tasks import Hop, Node, Task
from synth.testing.corpus import small_tasks

ADA = End("Ada Moor", "person/ada")
ORL, VELD = End("Orl", "city/orl"), End("Veld", "city/veld")
LAMP, MOTH = End("The Lamp", "book/lamp"), End("The Moth", "book/moth")


def node(end: End, kind: str) -> Node:
    return Node(id=end.id, name=end.name, kind=kind, document_id=end.id)


def hop(source: Node, target: Node, relation: str, forward: bool, cue: str, *needs: int) -> Hop:
    evidence = Evidence(document_id="page", start=0, end=4, quote="Word")
    return Hop(
        source=source, target=target, relation=relation, forward=forward, needs=needs, evidence=evidence, cue=cue
    )


@pytest.fixture
def task() -> Task:
    """Where was the author of The Lamp born?"""
    base = small_tasks()[0]
    author = hop(node(LAMP, "book"), node(ADA, "person"), "author", True, "the author of The Lamp")
    born = hop(node(ADA, "person"), node(ORL, "city"), "born_in", True, "born in", 0)
    walk = base.walk.model_copy(update={"shape": "composition", "hops": (author, born), "operations": ()})
    question = "Where was the author of The Lamp born in?"
    return base.model_copy(update={"environment": "graph", "walk": walk, "question": question, "answer": "Orl"})


def relations(thing: End, *items: Listed) -> tuple[ToolCall, ToolResult]:
    shown = Relations(thing, "A thing", len(items), 1, 1, items)
    return call("get_relations", {"entity": thing.id}, render(shown))


def facts(thing: End, label: str, *found: Triple) -> tuple[ToolCall, ToolResult]:
    relation, _, direction = label.partition(" (")
    way = direction.rstrip(")")
    arguments = {"entity": thing.id, "relation": relation, "direction": way}
    return call("get_triples", arguments, render(Facts(thing, relation, way, len(found), 1, 1, found)))


def call(name: str, arguments: dict[str, str], content: str) -> tuple[ToolCall, ToolResult]:
    return ToolCall(id="c", name=name, arguments=arguments), ToolResult(call_id="c", name=name, content=content)


def judge(task: Task, *calls: tuple[ToolCall, ToolResult]) -> list[Effect]:
    view, kinds = EvidenceView(task), []
    for made, result in calls:
        kinds.append(judge_call(view, made, result).kind)
        view.take(Step(turn=Turn(calls=(made,)), results=(result,)))
    return kinds


OF_LAMP = relations(LAMP, Listed("author", "out", 1, ("person",)), Listed("set_in", "out", 1, ("city",)))
OF_ADA = relations(ADA, Listed("born_in", "out", 1, ("city",)), Listed("died_in", "out", 1, ("city",)))
WROTE = facts(LAMP, "author (out)", Triple(LAMP, "author", ADA))
BORN = facts(ADA, "born_in (out)", Triple(ADA, "born_in", ORL))
DIED = facts(ADA, "died_in (out)", Triple(ADA, "died_in", ORL))


def test_the_walk_is_progress(task: Task) -> None:
    assert judge(task, OF_LAMP, WROTE, OF_ADA, BORN) == [
        Effect.REACHES,
        Effect.PROGRESS,
        Effect.REACHES,
        Effect.PROGRESS,
    ]


def test_another_relation_between_the_same_ends_states_nothing(task: Task) -> None:
    view = EvidenceView(task)
    for made, result in (OF_LAMP, WROTE, OF_ADA, DIED):
        view.take(Step(turn=Turn(calls=(made,)), results=(result,)))
    assert view.hops == {0}


def test_a_relation_turned_round_states_nothing(task: Task) -> None:
    view = EvidenceView(task)
    _, result = facts(LAMP, "author (in)", Triple(ADA, "author", LAMP))
    assert view.would_show(result) == frozenset()
    _, result = facts(LAMP, "author (both)", Triple(ADA, "author", LAMP))
    assert view.would_show(result) == {0}


def test_a_relation_that_was_listed_and_passed_over_is_a_wrong_turn(task: Task) -> None:
    assert judge(task, OF_LAMP, WROTE, OF_ADA, DIED)[-1] is Effect.PASSED_OVER
    # Where the right one was not listed yet, or all was read, it is a look around.
    assert judge(task, OF_LAMP, WROTE, DIED)[-1] is Effect.EXPLORES
    assert judge(task, OF_LAMP, WROTE, OF_ADA, BORN, DIED)[-1] is Effect.EXPLORES


def test_what_comes_by_a_wrong_relation_is_unfit(task: Task) -> None:
    off = facts(LAMP, "set_in (out)", Triple(LAMP, "set_in", VELD))
    kinds = judge(task, OF_LAMP, off, relations(VELD, Listed("area", "out", 1, ("quantity",))))
    assert kinds == [Effect.REACHES, Effect.PASSED_OVER, Effect.UNFIT]


def test_another_far_end_of_the_right_relation_is_passed_over(task: Task) -> None:
    both = facts(LAMP, "author (out)", Triple(LAMP, "author", ADA), Triple(LAMP, "author", End("Bo", "person/bo")))
    kinds = judge(task, OF_LAMP, both, relations(End("Bo", "person/bo"), Listed("born_in", "out", 1, ("city",))))
    assert kinds[-1] is Effect.PASSED_OVER


@pytest.mark.parametrize(
    ("query", "question", "text", "effect"),
    [
        ("The Lamp (novel)", "Where was the author of The Lamp (novel) born in?", "a film", Effect.WRONG_RESULT),
        # A language model drops what tells two of a name apart.
        (
            "The Lamp",
            "Where was the author of The Lamp (novel) born in?",
            "a film, also called The Lamp",
            Effect.WRONG_RESULT,
        ),
        ("The Lamp", "Where was the author of The Lamp born in?", "a film, also called The Lamp", Effect.EXPLORES),
        ("Lamps", "Where was the author of The Lamp (novel) born in?", "a film", Effect.EXPLORES),
    ],
)
def test_another_entity_than_the_one_that_was_asked_for_by_name(
    task: Task, query: str, question: str, text: str, effect: Effect
) -> None:
    named = End("The Lamp (novel)", LAMP.id)
    author, born = task.walk.hops
    source = node(named, "book").model_copy(update={"aliases": ("The Lamp",)})
    hops = (author.model_copy(update={"source": source}), born)
    asked = task.model_copy(update={"question": question, "walk": task.walk.model_copy(update={"hops": hops})})
    film = End("The Lamp (1990 film)", "film/lamp")
    hits = Hits(query, (Hit(film.name, film.id, text), Hit(named.name, named.id, "a book, also called The Lamp")))
    found = call("find_entity", {"name": query}, render(hits))
    kinds = judge(asked, found, relations(film, Listed("producer", "out", 1, ("company",))))
    assert kinds[-1] is effect


def test_a_value_in_a_range_states_the_hop_and_one_outside_does_not(task: Task) -> None:
    years = Node(id="1900/1909", name="between 1900 and 1909", kind="range")
    dated = hop(years, node(MOTH, "book"), "published", False, "between 1900 and 1909")
    walk = task.walk.model_copy(update={"hops": (dated,)})
    view = EvidenceView(task.model_copy(update={"walk": walk}))
    for year, held in (("1908", True), ("1910", False), ("19,08", False)):
        _, result = facts(MOTH, "published (out)", Triple(MOTH, "published", End(year)))
        assert bool(view.would_show(result)) is held, year
