"""Candidates over a real small world: order-free, sound by an independent audit, varied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from english_faults import faults
from pydantic import ValidationError
from small_world import SmallWorld, accepted
from stand_ins.row_audit import Auditor

from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Task
from synth.sources.world.schema import HUB_TYPES
from synth.tasks.contract import Checked
from synth.tasks.draft import same_question
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.lookups import SAME_EVENT, ends_of
from synth.tasks.world.view import WorldView
from synth.tasks.world.words import world_words

PROVENANCE = Provenance(
    dataset="d", stage="world_tasks", stage_version=1, fingerprint="f", seed=0, source="world", source_sha256="0"
)
CANDIDATES = 900


@pytest.fixture(scope="module")
def outcomes(small_world: SmallWorld) -> list[Checked | Rejection]:
    return small_world.proposer(tail_share=0.2).propose(range(CANDIDATES), 5)


@pytest.fixture(scope="module")
def tasks(outcomes: list[Checked | Rejection]) -> list[Task]:
    return accepted(outcomes)


@pytest.fixture(scope="module")
def auditor(small_world: SmallWorld) -> Auditor:
    return Auditor(
        from_arrow(small_world.documents, Document),
        from_arrow(small_world.entities, Entity),
        from_arrow(small_world.edges, Edge),
        inverses=world_words().inverses,
        hub_kinds=HUB_TYPES,
    )


def test_an_independent_audit_finds_nothing(tasks: list[Task], auditor: Auditor) -> None:
    assert len(tasks) > CANDIDATES * 0.4
    assert auditor.audit(tasks) == []


def test_the_audit_would_have_found_something(tasks: list[Task], auditor: Auditor) -> None:
    """The same rows, each with the answer of the next: every one is seen."""
    moved = [task.model_copy(update={"answer": other.answer + " II"}) for task, other in pairwise(tasks)]
    assert {problem.task_id for problem in auditor.audit(moved)} == {task.id for task in moved}


def test_questions_are_english(tasks: list[Task]) -> None:
    assert {task.question: faults(task.question) for task in tasks if faults(task.question)} == {}


def test_hops_and_cues(tasks: list[Task]) -> None:
    for task in tasks:
        assert all(check.outcome == "passed" for check in task.checks)
        for number, hop in enumerate(task.walk.hops):
            assert hop.cue in task.question
            assert all(need < number for need in hop.needs)
            named = not hop.needs
            stands = hop.source.name in task.question or hop.source.name.removeprefix("The ") in task.question
            assert not named or stands, (hop.source.name, task.question)
        bridges = {task.walk.hops[need].target.name for hop in task.walk.hops for need in hop.needs}
        assert not [name for name in bridges if name in task.question]


def test_no_template_is_common(tasks: list[Task]) -> None:
    """Of a thousand questions no sentence (names taken out) makes five in a hundred, and few make two."""
    sample = tasks[:1000]

    def skeleton(task: Task) -> str:
        text = task.question
        for name in sorted({hop.source.name for hop in task.walk.hops if not hop.needs}, key=len, reverse=True):
            text = text.replace(name, "_")
        return text

    skeletons = Counter(skeleton(task) for task in sample)
    families = Counter(task.surface for task in sample)
    words = [task.question.split() for task in sample]
    distinct = {}
    for n in (1, 2, 3):
        grams = [tuple(text[i : i + n]) for text in words for i in range(len(text) - n + 1)]
        distinct[n] = round(len(set(grams)) / len(grams), 3)
    print(f"{len(sample)} questions, {len(skeletons)} skeletons, {len(families)} families, distinct-n {distinct}")
    assert skeletons.most_common(1)[0][1] <= 0.01 * len(sample)
    assert len(skeletons) >= 0.9 * len(sample)
    assert families.most_common(1)[0][1] <= 0.12 * len(sample)
    assert len({surface for surface in families if surface.startswith("chain")}) >= 6
    assert len({surface for surface in families if surface.startswith("both")}) >= 6


def test_splits_own_their_gold(tasks: list[Task], small_world: SmallWorld) -> None:
    owner = dict(zip(*(small_world.entities.column(name).to_pylist() for name in ("id", "partition")), strict=True))
    kind = dict(zip(*(small_world.entities.column(name).to_pylist() for name in ("id", "kind")), strict=True))
    assert {task.split for task in tasks} == {"train", "validation", "test"}
    for task in tasks:
        for name in task.gold_entities:
            assert owner[name] == task.split or kind[name] in HUB_TYPES


@pytest.mark.parametrize("order", ["one by one", "backwards", "shuffled", "two halves"])
def test_a_candidate_depends_on_seed_and_index_alone(
    small_world: SmallWorld, outcomes: list[Checked | Rejection], order: str
) -> None:
    proposer = small_world.proposer(tail_share=0.2)
    indices = list(range(60))
    if order == "one by one":
        batches = [[index] for index in indices]
    elif order == "two halves":
        batches = [indices[::2], indices[1::2]]
    elif order == "backwards":
        batches = [indices[::-1]]
    else:
        batches = [np.random.Generator(np.random.PCG64(1)).permutation(60).tolist()]
    for batch in batches:
        for index, outcome in zip(batch, proposer.propose(batch, 5), strict=True):
            assert outcome == outcomes[index]


def test_another_seed_asks_other_questions(small_world: SmallWorld, tasks: list[Task]) -> None:
    others = accepted(small_world.proposer().propose(range(60), 6))
    assert not {task.id for task in others} & {task.id for task in tasks[:60]}


def test_rejections_say_why(outcomes: list[Checked | Rejection]) -> None:
    rejected = {index: outcome for index, outcome in enumerate(outcomes) if isinstance(outcome, Rejection)}
    assert all(row.row_id == str(index) and row.detail and row.split for index, row in rejected.items())
    reasons = {row.reason for row in rejected.values()}
    assert {Reason.NO_WALK, Reason.SHORTCUT, Reason.ANSWER_IN_QUESTION, Reason.NOT_RETRIEVABLE} <= reasons
    assert Reason.NOT_UNIQUE not in reasons, "walks promise uniqueness; the check confirms it"


@pytest.mark.parametrize(
    ("config", "holds"),
    [
        (
            {"shapes": {"composition": 1.0}, "hops": {4: 1.0}},
            lambda t: t.shape == "composition" and len(t.walk.hops) == 4,
        ),
        (
            {"shapes": {"conjunction": 1.0}, "constraints": {2: 1.0}},
            lambda t: [h.needs for h in t.walk.hops] == [(), ()],
        ),
        ({"shapes": {"conjunction": 1.0}, "tail_share": 1.0}, lambda t: t.walk.hops[-1].needs != ()),
        ({"shapes": {"composition": 1.0}, "value_answers": 1.0}, lambda t: t.answer_kind != "entity"),
        ({"value_answers": 0.0}, lambda t: t.answer_kind == "entity"),
        (
            {"shapes": {"conjunction": 1.0}, "value_constraints": False},
            lambda t: all(h.source.document_id is not None for h in t.walk.hops),
        ),
        (
            {"shapes": {"conjunction": 1.0}},
            lambda t: not any({name, other} <= {h.relation for h in t.walk.hops} for name, other in SAME_EVENT.items()),
        ),
        ({"hub_gold": False}, lambda t: not any(h.target.kind in HUB_TYPES for h in t.walk.hops)),
        ({"blocked_relations": ("born_in",)}, lambda t: "born_in" not in {h.relation for h in t.walk.hops}),
        ({"fractions": {"train": 0.0, "validation": 0.0, "test": 1.0}}, lambda t: t.split == "test"),
    ],
)
def test_knobs_do_what_they_say(small_world: SmallWorld, config: dict[str, Any], holds: Any) -> None:
    plain = {"shapes": {"composition": 0.5, "conjunction": 0.5}, "obfuscation": {0: 1.0}}
    found = accepted(small_world.proposer(**{**plain, **config}).propose(range(60), 9))
    assert found
    assert [task.question for task in found if not holds(task)] == []


def test_in_a_graph_no_more_are_tested_one_by_one_than_a_run_has_room_for(small_world: SmallWorld) -> None:
    """Over pages a search finds who is a poet; in a graph nothing is found by a value."""
    most: dict[str, int] = {}
    for environment in ("search", "graph"):
        proposer = small_world.proposer(shapes={"conjunction": 1.0}, obfuscation={0: 1.0}, environment=environment)
        fans = [fan for task in accepted(proposer.propose(range(80), 9)) for fan in only_name(small_world, task)]
        most[environment] = max(fans)
    assert most["graph"] <= 12 < most["search"]


def test_in_a_graph_what_is_described_leads_to_few_as_well(small_world: SmallWorld) -> None:
    view, most = small_world.proposer().view, {}
    for environment in ("search", "graph"):
        proposer = small_world.proposer(shapes={"conjunction": 1.0}, obfuscation={2: 1.0}, environment=environment)
        most[environment] = max(led_to(view, small_world, task) for task in accepted(proposer.propose(range(200), 9)))
    assert most["graph"] <= 12 < most["search"]


def led_to(view: WorldView, small_world: SmallWorld, task: Task) -> int:
    """How many things the two hops of a description lead to."""
    ids = small_world.entities.column("id").to_pylist()
    first, second = (hop for hop in task.walk.hops if hop.source.document_id is not None)
    at = ends_of(view, ids.index(first.source.id), first.relation, first.forward)
    return len({end for one in at for end in ends_of(view, one, second.relation, second.forward)})


def only_name(small_world: SmallWorld, task: Task) -> Iterator[int]:
    """What the only name in a question with values fits, before those are tested."""
    named = [hop for hop in task.walk.hops if hop.source.document_id is not None]
    if len(named) == 1:
        node = small_world.entities.column("id").to_pylist().index(named[0].source.id)
        yield len(ends_of(small_world.proposer().view, node, named[0].relation, named[0].forward))


def test_long_chains(small_world: SmallWorld, auditor: Auditor) -> None:
    config = {"shapes": {"composition": 1.0}, "hops": {6: 0.5, 8: 0.5}, "obfuscation": {0: 1.0}}
    found = accepted(small_world.proposer(**config).propose(range(160), 2))
    assert {len(task.walk.hops) for task in found} == {6, 8}
    assert auditor.audit(found) == []
    assert [task.question for task in found if faults(task.question)] == []


def test_the_same_question_in_other_words_has_the_same_key(tasks: list[Task]) -> None:
    keys = Counter(same_question(task) for task in tasks)
    assert len(keys) > 0.8 * len(tasks)
    twice = [key for key, count in keys.items() if count > 1]
    for key in twice[:20]:
        same = [task for task in tasks if same_question(task) == key]
        assert len({task.answer for task in same}) == 1


def test_without_search_nothing_is_accepted(small_world: SmallWorld) -> None:
    from synth.tasks.world.propose import WorldProposer

    blind = WorldProposer(
        small_world.graph,
        small_world.entities,
        small_world.documents,
        small_world.edges,
        None,
        WorldTasksConfig(),
    )
    found = blind.propose(range(40), 1)
    assert all(isinstance(outcome, Rejection) for outcome in found)
    assert {o.reason for o in found if isinstance(o, Rejection)} >= {Reason.NOT_RETRIEVABLE}


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"fractions": {"train": 0.5}}, "sum to 1"),
        ({"fractions": {"train": 0.5, "dev": 0.5}}, "'dev'"),
        ({"hops": {9: 1.0}}, "between 1 and 8"),
        ({"hops": {}}, "weights"),
        ({"constraints": {1: 1.0}}, "between 2 and 4"),
        ({"shapes": {}}, "shapes: weights"),
        ({"shapes": {"count": 0.0}}, "shapes: weights"),
        ({"members": (1, 3)}, "members"),
        ({"members": (5, 3)}, "members"),
        ({"constraints": {2: -1.0}}, "negative"),
        ({"surprise": 1}, "surprise"),
    ],
)
def test_bad_configs_are_refused(bad: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        WorldTasksConfig(**bad)
