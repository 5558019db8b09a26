"""Shapes with operations over a small world: sound by an independent audit, complete, varied, as configured."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from english_faults import faults
from small_world import SmallWorld, accepted
from stand_ins.row_audit import Auditor

from synth.identity import derive_generator
from synth.registry import names
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Task
from synth.sources.world.schema import HUB_TYPES
from synth.stages.world_tasks import WorldTasks
from synth.tasks.draft import same_question
from synth.tasks.values import Measure, difference, in_range, parse_measure, parse_range, total
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.measures import End
from synth.tasks.world.shapes import SHAPES
from synth.tasks.world.words import world_words
from synth.text.numbers import NUMERALS

WORDS = world_words()

OURS = ("comparison", "computation", "count", "intersection", "superlative", "temporal")
PROVENANCE = Provenance(
    dataset="d", stage="world_tasks", stage_version=1, fingerprint="f", seed=0, source="world", source_sha256="0"
)
CANDIDATES = 100


@pytest.fixture(scope="module")
def tasks(small_world: SmallWorld) -> dict[str, list[Task]]:
    return {shape: accepted(small_world.proposer(shapes={shape: 1.0}).propose(range(CANDIDATES), 5)) for shape in OURS}


def value(hop_kind: str, text: str) -> Measure:
    found = parse_measure(hop_kind, text)
    assert found is not None
    return found


def test_every_shape_that_can_be_asked_has_a_maker() -> None:
    assert set(names("shapes")) == {*SHAPES, "composition", "conjunction"}
    assert set(OURS) <= set(SHAPES)


def test_an_independent_audit_finds_nothing(small_world: SmallWorld, tasks: dict[str, list[Task]]) -> None:
    auditor = Auditor(
        from_arrow(small_world.documents, Document),
        from_arrow(small_world.entities, Entity),
        from_arrow(small_world.edges, Edge),
        inverses=WORDS.inverses,
        hub_kinds=HUB_TYPES,
    )
    everything = [task for shape in OURS for task in tasks[shape]]
    assert auditor.audit(everything) == []
    swapped = [
        one.model_copy(update={"answer": two.answer}) for one, two in pairwise(everything) if one.answer != two.answer
    ]
    damaged = {problem.task_id for problem in auditor.audit(swapped[::7])}
    assert damaged == {task.id for task in swapped[::7]}


@pytest.mark.parametrize("shape", OURS)
def test_a_shape_yields_varied_english(shape: str, tasks: dict[str, list[Task]]) -> None:
    found = tasks[shape]
    assert len(found) > 0.4 * CANDIDATES
    assert {task.question: faults(task.question) for task in found if faults(task.question)} == {}
    families = Counter(task.surface for task in found)
    assert len(families) >= 8, families
    assert families.most_common(1)[0][1] <= 0.2 * len(found), families.most_common(3)
    for task in found:
        assert task.shape == task.walk.shape == shape
        for part in (*task.walk.hops, *task.walk.operations):
            assert part.cue
            assert part.cue in task.question


def test_members_are_all_there_are(small_world: SmallWorld, tasks: dict[str, list[Task]]) -> None:
    """Read off the edges table, not off the graph."""
    ids = small_world.entities.column("id").to_pylist()
    facts = {
        (ids[s], r, ids[o])
        for s, r, o in zip(
            *(small_world.edges.column(name).to_pylist() for name in ("subject", "relation", "object")), strict=True
        )
        if o >= 0
    }
    for task in (*tasks["count"], *tasks["superlative"], *tasks["temporal"]):
        first = next(
            i for i, hop in enumerate(task.walk.hops) if len([h for h in task.walk.hops if h.cue == hop.cue]) > 1
        )
        hop = task.walk.hops[first]
        listed = {h.target.id for h in task.walk.hops if h.cue == hop.cue and h.source.id == hop.source.id}
        if hop.forward:
            there = {o for s, r, o in facts if (s, r) == (hop.source.id, hop.relation)}
        else:
            there = {s for s, r, o in facts if (o, r) == (hop.source.id, hop.relation)}
        assert there <= listed
        assert len({h.target.kind for h in task.walk.hops if h.target.id in listed}) == 1


def test_results_are_what_the_measures_say(tasks: dict[str, list[Task]]) -> None:
    for task in (*tasks["superlative"], *tasks["comparison"], *tasks["temporal"]):
        hops = task.walk.hops
        left = {hops[i].source.id for i in task.walk.operations[0].over}
        for operation in task.walk.operations:
            measured = {hops[i].source.id: value(hops[i].target.kind, hops[i].target.id) for i in operation.over}
            if operation.kind == "filter":
                assert operation.bound is not None
                kind = hops[operation.over[0]].target.kind
                ends = [
                    (parse_measure(kind, end) or parse_measure("date", end) or parse_measure("year", end))
                    if end
                    else None
                    for end in parse_range(operation.bound.id)
                ]
                left = {name for name in left if in_range(measured[name], *ends)}
            else:
                order = sorted(left, key=lambda name: measured[name].low)
                left = {order[0] if operation.kind == "argmin" else order[-1]}
            assert {node.id for node in operation.result} == left
        assert [node.name for node in task.walk.operations[-1].result] == [task.answer]


def test_computed_answers_are_right_and_stand_nowhere(tasks: dict[str, list[Task]]) -> None:
    kinds = Counter()
    for task in tasks["computation"]:
        (operation,) = task.walk.operations
        values = [value(task.walk.hops[i].target.kind, task.walk.hops[i].target.id) for i in operation.over]
        number = total(values) if operation.kind == "sum" else difference(*values)
        assert number is not None
        assert task.answer.replace(",", "").split() == [str(number[0]), *number[1].split()]
        assert all(task.answer not in hop.evidence.quote for hop in task.walk.hops)
        kinds[operation.kind, values[0].dated] += 1
    assert set(kinds) == {("difference", True), ("difference", False), ("sum", False)}


def test_nobody_asks_for_how_many_when_it_is_one(small_world: SmallWorld) -> None:
    view = small_world.proposer(shapes={"computation": 1.0}).view
    drawn = [SHAPES["computation"](view, "train", derive_generator(seed, "computation")) for seed in range(400)]
    numbers = Counter(draft.answer.split()[0] for draft in drawn if draft is not None)
    assert numbers.total() >= 200
    assert numbers["2"] > 0
    assert numbers["0"] == numbers["1"] == 0


def test_counts_are_of_members(tasks: dict[str, list[Task]]) -> None:
    for task in tasks["count"]:
        (operation,) = task.walk.operations
        assert task.answer == str(len(operation.over))
        assert task.answer_aliases == (NUMERALS[len(operation.over)],)
    assert len({task.answer for task in tasks["count"]}) >= 4


def test_lists_hold_every_part(tasks: dict[str, list[Task]]) -> None:
    for task in tasks["intersection"]:
        names = [part.answer for part in task.answer_parts]
        assert 2 <= len(names) <= 4
        assert all(name in task.answer for name in names)
        assert not task.answer_ordered
        ends = Counter(hop.target.name for hop in task.walk.hops)
        assert ends == Counter(dict.fromkeys(names, 2))


def test_bounds_are_named_or_found(tasks: dict[str, list[Task]]) -> None:
    found = Counter()
    for task in tasks["temporal"]:
        operation = task.walk.operations[0]
        over = {i for op in task.walk.operations for i in op.over}
        dates = {
            hop.target.id for i, hop in enumerate(task.walk.hops) if i not in over and hop.target.document_id is None
        }
        assert operation.bound is not None
        ends = {end for end in parse_range(operation.bound.id) if end}
        found["event" if dates else "year"] += 1
        if dates:
            assert ends == dates
            assert not any(end[:4] in task.question for end in ends)
        else:
            assert operation.cue in operation.bound.name or operation.bound.name in task.question
    assert min(found.values()) > 5


def test_candidates_of_a_comparison_are_gold(tasks: dict[str, list[Task]]) -> None:
    named = 0
    for task in tasks["comparison"]:
        sides = {task.walk.hops[i].source.id for i in task.walk.operations[0].over}
        assert sides <= set(task.gold_entities)
        if task.answer in task.question:
            named += 1
            check = next(check for check in task.checks if check.check == "answer_not_in_question")
            assert "a choice between things that the question names" in check.detail
    assert 0 < named < 0.5 * len(tasks["comparison"])


def test_described_is_a_knob(small_world: SmallWorld) -> None:
    for share in (0.0, 1.0):
        for shape in ("superlative", "count", "comparison"):
            proposer = small_world.proposer(shapes={shape: 1.0}, described=share)
            found = accepted(proposer.propose(range(30), 3))
            described = [any(hop.needs for hop in task.walk.hops if hop.target.document_id) for task in found]
            if shape == "comparison":
                described = [bool(task.walk.hops[task.walk.operations[0].over[0]].needs) for task in found]
            assert not any(described) if share == 0 else sum(described) > 0.8 * len(described)


def test_size_of_sets_is_a_knob(small_world: SmallWorld) -> None:
    found = accepted(small_world.proposer(shapes={"count": 1.0}, members=(3, 4)).propose(range(40), 3))
    assert {int(task.answer) for task in found} == {3, 4}


def test_a_candidate_depends_on_seed_and_index_alone(small_world: SmallWorld) -> None:
    shapes = dict.fromkeys(OURS, 1.0)
    whole = small_world.proposer(shapes=shapes).propose(range(48), 5)
    other = small_world.proposer(shapes=shapes)
    for index in (47, 3, 20):
        assert other.propose([index], 5) == [whole[index]]
    assert small_world.proposer(shapes=shapes).propose(range(20), 6) != whole[:20]


def test_the_same_question_has_the_same_key_whatever_its_order(tasks: dict[str, list[Task]]) -> None:
    for task in (*tasks["comparison"][:10], *tasks["computation"][:10]):
        (operation,) = task.walk.operations
        turned = operation.model_copy(update={"over": operation.over[::-1]})
        same = task.model_copy(update={"walk": task.walk.model_copy(update={"operations": (turned,)})})
        assert same_question(same) == same_question(task)
        other = operation.model_copy(update={"kind": "argmin" if operation.kind == "argmax" else "argmax"})
        asks = task.model_copy(update={"walk": task.walk.model_copy(update={"operations": (other,)})})
        assert same_question(asks) != same_question(task)
    keys = [same_question(task) for shape in OURS for task in tasks[shape]]
    assert len(set(keys)) > 0.6 * len(keys)


def order_phrases(relation: str, end: End) -> set[str]:
    """Every phrase, without brackets, with which a question may ask for an end of the order of ``relation``."""
    item = WORDS.measures[relation]
    texts = [*item.clauses(end, two=True), *item.clauses(end, two=False), *item.attributes(end)]
    return {text.replace("[", "").replace("]", "") for text in texts}


def test_every_measure_is_worded_and_every_phrase_says_which_end() -> None:
    for relation in WORDS.measures:
        assert relation in WORDS.wordings
        least, most = order_phrases(relation, "argmin"), order_phrases(relation, "argmax")
        assert least
        assert most
        assert not least & most


def test_in_a_graph_the_question_names_a_thing_to_look_up() -> None:
    def may(environment: str, *values: bool) -> bool:
        hops = [
            SimpleNamespace(needs=(), source=SimpleNamespace(document_id=None if one else "c/keld")) for one in values
        ]
        stage: Any = SimpleNamespace(config=SimpleNamespace(environment=environment))
        walk: Any = SimpleNamespace(hops=hops)
        return WorldTasks._can_start(stage, walk)

    assert not may("graph", True, True)
    assert may("graph", True, False)
    assert may("search", True, True)  # a page may be found by a date


def test_nobody_is_asked_in_riddles_by_default() -> None:
    assert "cycle" in SHAPES
    assert "cycle" not in WorldTasksConfig().shapes
