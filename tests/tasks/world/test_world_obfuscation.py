"""Levels of obfuscation over a real small world: what is named, what is proved, what is kept."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from english_faults import faults
from small_world import SmallWorld
from stand_ins.row_audit import Auditor

from synth.identity import derive_generator
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Hop, Task
from synth.sources.world.schema import HUB_TYPES
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.ranges import stated_forms
from synth.tasks.text import mentions
from synth.tasks.values import MEASURED_KINDS
from synth.tasks.world.obfuscate import describe, obfuscated
from synth.tasks.world.words import world_words

pytestmark = pytest.mark.thorough

PROVENANCE = Provenance(
    dataset="d", stage="world_tasks", stage_version=1, fingerprint="f", seed=0, source="world", source_sha256="0"
)
LEVELS = (1, 2, 3)


@pytest.fixture(scope="module")
def by_level(small_world: SmallWorld) -> dict[int, list[Task]]:
    def made(level: int) -> list[Task]:
        config = {"shapes": {"composition": 0.4, "conjunction": 0.6}, "obfuscation": {level: 1.0}}
        outcomes = small_world.proposer(**config).propose(range(80), 4)
        return [
            finish(outcome.draft, outcome.checks, PROVENANCE, index)
            for index, outcome in enumerate(outcomes)
            if isinstance(outcome, Checked)
        ]

    return {level: made(level) for level in LEVELS}


def named(task: Task) -> list[Hop]:
    """Hops that start from an entity that the question names."""
    return [hop for hop in task.walk.hops if not hop.needs and hop.source.document_id is not None]


def ranged(task: Task) -> list[Hop]:
    return [hop for hop in task.walk.hops if hop.source.kind == "range"]


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_gives_tasks_that_say_so(by_level: dict[int, list[Task]], level: int) -> None:
    tasks = by_level[level]
    assert len(tasks) >= 6
    assert {task.obfuscation for task in tasks} == {level}
    assert all(check.outcome == "passed" for task in tasks for check in task.checks)
    assert {task.question: faults(task.question) for task in tasks if faults(task.question)} == {}
    assert {task.shape for task in tasks} == ({"conjunction"} if level == 1 else {"composition", "conjunction"})


def test_no_range_has_to_decide_on_more_than_can_be_read_one_by_one(
    by_level: dict[int, list[Task]], small_world: SmallWorld
) -> None:
    ids = small_world.entities.column("id").to_pylist()
    edges = [edge for edge in small_world.edges.to_pylist() if edge["object"] >= 0]
    fanout = Counter((edge["relation"], ids[edge["object"]]) for edge in edges)
    alone = [task for task in by_level[1] if len(named(task)) == 1 and len(ranged(task)) == len(task.walk.hops) - 1]
    pools = [fanout[hop.relation, hop.source.id] for task in alone for hop in named(task) if not hop.forward]
    assert pools
    assert max(pools) <= 8, pools


def test_an_independent_audit_finds_nothing(by_level: dict[int, list[Task]], small_world: SmallWorld) -> None:
    auditor = Auditor(
        from_arrow(small_world.documents, Document),
        from_arrow(small_world.entities, Entity),
        from_arrow(small_world.edges, Edge),
        inverses=world_words().inverses,
        hub_kinds=HUB_TYPES,
    )
    tasks = [task for level in LEVELS for task in by_level[level]]
    assert auditor.audit(tasks) == []
    spoilt = [task.model_copy(update={"answer": f"{task.answer} II"}) for task in tasks]
    assert {problem.task_id for problem in auditor.audit(spoilt)} == {task.id for task in tasks}


def test_level_1_blurs_every_value_that_has_an_order(by_level: dict[int, list[Task]]) -> None:
    for task in by_level[1]:
        assert ranged(task)
        assert named(task), "a search needs a name to start from"
        exact = [hop for hop in task.walk.hops if hop.source.kind in MEASURED_KINDS]
        assert exact == []


def test_level_2_describes_one_source(by_level: dict[int, list[Task]]) -> None:
    for task in by_level[2]:
        described = [hop for hop in task.walk.hops if hop.needs]
        assert described, task.question
        if task.shape == "conjunction":
            assert len(described) == 1
            met = [hop for hop in task.walk.hops if hop.target.id == task.walk.hops[-1].target.id]
            assert len(met) >= 2
            # A solver starts from what is named, and would never need the description.
            assert not [hop for hop in met if not hop.needs and hop.source.document_id is not None], task.question


def test_level_3_names_one_anchor_at_most(by_level: dict[int, list[Task]]) -> None:
    for task in by_level[3]:
        assert len({hop.source.id for hop in named(task)}) == 1, task.question
        assert not [hop for hop in task.walk.hops if hop.source.kind in MEASURED_KINDS]
        assert ranged(task)


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_described_is_not_named(by_level: dict[int, list[Task]], level: int) -> None:
    for task in by_level[level]:
        for hop in task.walk.hops:
            assert hop.cue in task.question
            assert mentions(task.question, [hop.target.name]) is None
            if hop.needs:
                assert mentions(task.question, [hop.source.name]) is None
            else:
                assert mentions(task.question, [hop.source.name]), (hop.source.name, task.question)


@pytest.mark.parametrize("level", LEVELS)
def test_the_evidence_of_a_range_states_a_value_in_it(
    by_level: dict[int, list[Task]], small_world: SmallWorld, level: int
) -> None:
    facts = small_world.proposer().surroundings.facts
    assert facts is not None
    seen = 0
    for task in by_level[level]:
        for hop in ranged(task):
            forms = stated_forms(hop, facts)
            assert mentions(hop.evidence.quote, forms), (hop.source, hop.evidence.quote)
            moved = hop.model_copy(update={"source": hop.source.model_copy(update={"id": "1/2"})})
            assert stated_forms(moved, facts) == ()
            seen += 1
    assert seen


def test_a_range_that_another_answer_shares_is_refused(
    by_level: dict[int, list[Task]], small_world: SmallWorld
) -> None:
    """The checks prove the level again: with the range opened to everything the same walk fails."""
    facts = small_world.proposer().view.facts
    widened = 0
    for task in by_level[1]:
        hops = list(task.walk.hops)
        years = [i for i, hop in enumerate(hops) if re.fullmatch(r"\d{3,4}/\d{3,4}", hop.source.id)]
        for place in years:
            everything = hops[place].source.model_copy(update={"id": "0001/2100"})
            hops[place] = hops[place].model_copy(update={"source": everything})
        if years:
            walk = task.walk.model_copy(update={"hops": tuple(hops)})
            assert facts.results(task.walk).only((hops[-1].target.id,))
            assert not facts.results(walk).only((hops[-1].target.id,)), task.question
            widened += 1
    assert widened


def test_the_knob_is_a_distribution(small_world: SmallWorld) -> None:
    config = {"shapes": {"composition": 0.5, "conjunction": 0.5}, "obfuscation": {0: 0.5, 2: 0.5}}
    outcomes = small_world.proposer(**config).propose(range(60), 4)
    levels = Counter(outcome.draft.obfuscation for outcome in outcomes if isinstance(outcome, Checked))
    assert set(levels) == {0, 2}
    assert min(levels.values()) > 5


@pytest.mark.parametrize("level", [0, 4])
def test_other_levels_are_refused(small_world: SmallWorld, level: int) -> None:
    with pytest.raises(ValueError, match="no level"):
        obfuscated(small_world.proposer().view, [], "conjunction", "train", level, derive_generator(0, "x"))


def test_other_shapes_have_no_levels(small_world: SmallWorld) -> None:
    with pytest.raises(ValueError, match="no levels"):
        obfuscated(small_world.proposer().view, [], "count", "train", 1, derive_generator(0, "x"))


def test_order_of_candidates_does_not_matter(small_world: SmallWorld) -> None:
    config = {"shapes": {"composition": 0.5, "conjunction": 0.5}, "obfuscation": {1: 0.3, 2: 0.4, 3: 0.3}}
    together = small_world.proposer(**config).propose(range(20), 9)
    proposer = small_world.proposer(**config)
    assert [proposer.propose([index], 9)[0] for index in reversed(range(20))][::-1] == together


def test_a_value_that_is_the_answer_describes_nothing(small_world: SmallWorld) -> None:
    """The year that a question asks for may by chance be a year of what it starts from: no hint may say so."""
    view = small_world.proposer().view
    hints = 0
    for node in range(view.graph.n_entities):
        rng = derive_generator(0, "hint", node)
        found = describe(view, node, "train", {node}, set(), rng, other=lambda _: True)
        if found is None:
            continue
        hint = found[1].step.source
        again = describe(view, node, "train", {node, hint}, set(), derive_generator(0, "hint", node), lambda _: True)
        assert again is None or hint not in [thread.step.source for thread in again]
        hints += 1
    assert hints > 20
