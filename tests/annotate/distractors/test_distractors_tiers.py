"""Tiers from real runs in a collection that fits on one screen: every call is written out, so every tier is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.loop import Rollout
from synth.agents.trajectory import to_row
from synth.annotate.contexts.admit import PageWords
from synth.annotate.distractors.neighbours import Near, near_pages, queries_of
from synth.annotate.distractors.retrieved import RetrievedPage, retrieved_pages, walk_pages
from synth.annotate.distractors.rows import distractor_rows
from synth.environments.contract import ToolCall
from synth.environments.search import SearchEnvironment
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents, small_tasks

_DOCUMENTS = small_documents()
_BY_ID = {document.id: document for document in _DOCUMENTS}
_IDS = [document.id for document in _DOCUMENTS]
_ENVIRONMENT = SearchEnvironment(WordIndex(_DOCUMENTS), ListTable(_DOCUMENTS), default_k=3)
Calls = list[tuple[str, dict[str, Any]]]


def run(task: Task, calls: Calls, *, role: Role = "policy", number: int = 0) -> TrajectoryRow:
    """A run that makes ``calls``, one a turn, and answers."""
    episode = _ENVIRONMENT.reset(task)
    steps = []
    for turn, (name, arguments) in enumerate(calls):
        call = ToolCall(id=f"call_{turn}_0", name=name, arguments=arguments)
        steps.append(Step(turn=Turn(thought=f"Turn {turn}.", calls=(call,)), results=(episode.step(call),)))
    steps.append(Step(turn=Turn(answer="Mosk")))
    prompt = Prompt(system="s", question=task.question, tools=_ENVIRONMENT.tools())
    done = Rollout(task, prompt, tuple(steps), StopReason.ANSWERED, episode.check("Mosk"))
    return to_row(done, _ENVIRONMENT, role=role, number=number, privileged=False, provenance=PROVENANCE)


def test_opened_pages_are_tier_one_and_pages_that_were_only_returned_tier_two() -> None:
    task = small_tasks()[0]
    one = run(task, [("search", {"query": "Arvel Torrin"}), ("open", {"document": "arvel-torrent"})])
    met = {item.document_id: item for item in retrieved_pages([one], task.gold_documents)}
    assert not set(met) & set(task.gold_documents)
    hits = [hit.document for hit in _ENVIRONMENT.index.search("Arvel Torrin", 3)]
    returned = [_IDS[row] for row in hits if _IDS[row] not in task.gold_documents]
    assert set(met) == {"arvel-torrent", *returned}
    opened = met["arvel-torrent"]
    rank = [_IDS[row] for row in hits].index("arvel-torrent") + 1
    assert opened == RetrievedPage("arvel-torrent", 1, "policy", one.id, 1, "Arvel Torrin", rank)
    for name in set(returned) - {"arvel-torrent"}:
        assert (met[name].tier, met[name].step, met[name].query) == (2, 0, "Arvel Torrin")


def test_the_lowest_tier_of_all_runs_counts_and_the_teacher_comes_first() -> None:
    task = small_tasks()[0]
    looked = run(task, [("search", {"query": "Arvel Torrent painter"})])
    opened = run(task, [("open", {"document": "arvel-torrent"})], role="teacher")
    again = run(task, [("open", {"document": "arvel-torrent"})], number=1)
    met = retrieved_pages([looked, again, opened, opened], task.gold_documents)
    first = met[0]
    assert (first.document_id, first.tier, first.role, first.trajectory_id) == (
        "arvel-torrent",
        1,
        "teacher",
        opened.id,
    )
    assert first.runs == 2  # a run that is given twice is one run
    assert (first.query, first.rank) == ("", None)  # nothing had returned it
    assert [item.tier for item in met] == sorted(item.tier for item in met)
    assert sum(item.document_id == "arvel-torrent" for item in met) == 1


def test_pages_of_the_walk_are_no_distractors() -> None:
    task = small_tasks()[1]  # the birthday of the first director of the works that Arvel Torrin founded
    assert walk_pages(task) == {"arvel-torrin", "korvan-works", "ilse-brandt"} >= set(task.gold_documents)
    values = small_tasks()[4]
    assert walk_pages(values) == {"ilse-brandt", "orl-academy"}  # 80,000 has no page
    one = run(task, [("search", {"query": "Ilse Brandt"}), ("open", {"document": "ilse-brandt"})])
    assert not {item.document_id for item in retrieved_pages([one], walk_pages(task))} & walk_pages(task)


def test_calls_that_failed_show_nothing() -> None:
    task = small_tasks()[0]
    failed = run(task, [("open", {"document": "arvel-torrent", "page": 99}), ("search", {"q": "Arvel Torrent"})])
    assert retrieved_pages([failed], task.gold_documents) == []


@given(st.permutations([0, 1, 2]))
def test_the_order_of_runs_does_not_matter(order: list[int]) -> None:
    task = small_tasks()[3]
    runs = [
        run(task, [("search", {"query": "Orl"}), ("open", {"document": "orl"})], role="teacher"),
        run(task, [("search", {"query": "Mosk"}), ("open", {"document": "mosk"})], number=0),
        run(task, [("search", {"query": "Velden"}), ("open", {"document": "orl"})], number=1),
    ]
    assert retrieved_pages([runs[at] for at in order], task.gold_documents) == retrieved_pages(
        runs, task.gold_documents
    )


@dataclass(frozen=True)
class _Hit:
    document: int
    score: float


def test_neighbours_take_turns_over_the_queries() -> None:
    task = small_tasks()[0]
    queries = queries_of(task)
    assert queries == (task.question, *(hop.evidence.quote for hop in task.walk.hops))
    lists = {query: [_Hit(3 * number + place, 9 - place) for place in range(3)] for number, query in enumerate(queries)}
    found = near_pages(
        task,
        lambda asked, k: [lists[query][:k] for query in asked],
        lambda numbers: list(map(str, numbers)),
        kind="bm25",
        method="bm25",
        depth=3,
        without={"3"},
    )
    assert [item.document_id for item in found] == ["0", "6", "1", "4", "7", "2", "5", "8"]
    assert found[1] == Near("6", "bm25", "bm25", queries[2], 1, 9.0)


def _rows(task: Task, names: list[str], **options: Any) -> tuple[list[Any], dict[str, int]]:
    met = [RetrievedPage(name, 2, "policy", "trajectory-1", 0, "q", 1) for name in names]
    pages = {name: PageWords(document) for name, document in _BY_ID.items()}
    rows, refused = distractor_rows(
        task,
        met,
        pages.get,
        falsehoods=options.get("falsehoods", {}),
        provenance=PROVENANCE,
        limits=options.get("limits", {}),
    )
    return rows, dict(refused)


def test_gold_and_pages_that_state_a_hop_are_refused() -> None:
    task = small_tasks()[0]
    rows, refused = _rows(task, [*task.gold_documents, "nowhere", "velden", "velden"])
    assert [row.document_id for row in rows] == ["velden"]
    assert refused == {"is_a_gold_document": 2, "no_document": 1}
    # A page of another name that says what the evidence says.
    told = _BY_ID["velden"].model_copy(
        update={"id": "rumour", "text": "It is told that the Korvan Works had its head office in Dessau Ferry."}
    )
    rows, refused = distractor_rows(
        task,
        [RetrievedPage("rumour", 1, "policy", "trajectory-1", 0)],
        {"rumour": PageWords(told)}.get,
        falsehoods={},
        provenance=PROVENANCE,
        limits={},
    )
    assert not rows
    assert refused == {"states_a_hop": 1}


def test_rows_say_where_they_come_from_and_limits_hold() -> None:
    task = small_tasks()[0]
    names = [name for name in _IDS if name not in task.gold_documents]
    rows, _ = _rows(task, names, falsehoods={names[0]: "falsehood-1"})
    assert len({row.id for row in rows}) == len(rows) > 3
    for row in rows:
        assert (row.task_id, row.split, row.tier, row.kind) == (task.id, task.split, 2, "retrieved_not_opened")
        assert (row.misinformation_id == "falsehood-1") == (row.document_id == names[0])
        assert {check.check for check in row.checks} == {"not_gold", "does_not_answer"}
    few, _ = _rows(task, names, limits={"retrieved_not_opened": 2})
    assert few == rows[:2] or [row.document_id for row in few] == [row.document_id for row in rows[:2]]
    none, _ = _rows(task, names, limits={"retrieved_not_opened": 0})
    assert none == []


def test_a_run_that_is_not_of_our_form_is_an_error() -> None:
    task = small_tasks()[0]
    broken = run(task, [("search", {"query": "Orl"})]).model_copy(update={"content": ()})
    with pytest.raises(ValueError, match="no words of the user"):
        retrieved_pages([broken], ())
