"""The audit accepts sound tasks and sees every kind of damage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from stand_ins.row_audit import Auditor
from task_examples import PAGES, TRIPLES, VALUES, HandPages, chain, pair

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import CheckResult, Task
from synth.tasks.draft import Draft, finish

PROVENANCE = Provenance(
    dataset="d", stage="tasks", stage_version=1, fingerprint="f", seed=0, source="hand", source_sha256="0"
)
NAMES = list(PAGES)


def tables(
    triples: list[tuple[str, str, str]] = TRIPLES, partitions: dict[str, Any] | None = None
) -> tuple[list[Document], list[Entity], list[Edge]]:
    owners = partitions or {}
    pages = HandPages(partitions=owners)
    documents = [document for name in NAMES if (document := pages.document(name)) is not None]
    entities = [
        Entity(
            ordinal=i,
            id=name,
            name=PAGES[name][1],
            kind=PAGES[name][0],
            document=i,
            partition=owners.get(name, "train"),
        )
        for i, name in enumerate(NAMES)
    ]
    edges = [
        Edge(
            subject=NAMES.index(subject),
            relation=relation,
            object=-1 if target in VALUES else NAMES.index(target),
            value=target if target in VALUES else None,
            value_kind=VALUES[target][0] if target in VALUES else "entity",  # type: ignore[arg-type]
            document=NAMES.index(subject),
            start=0,
            end=1,
        )
        for subject, relation, target in triples
    ]
    return documents, entities, edges


def task(draft: Draft) -> Task:
    return finish(draft, [CheckResult(check="all", outcome="passed")], PROVENANCE, 0)


def audit(row: Task, **given: Any) -> list[tuple[str, str]]:
    hub_kinds = given.pop("hub_kinds", ())
    inverses = given.pop("inverses", None)
    found = Auditor(*tables(**given), hub_kinds=hub_kinds, inverses=inverses).audit([row])
    return [(one.rule, one.what) for one in found]


@pytest.mark.parametrize("draft", [chain(), pair()], ids=["chain", "pair"])
def test_sound_tasks_have_no_problem(draft: Draft) -> None:
    assert audit(task(draft)) == []


def put(row: Task, **changes: Any) -> Task:
    return row.model_copy(update=changes)


def hop(row: Task, number: int, **changes: Any) -> Task:
    hops = list(row.walk.hops)
    hops[number] = hops[number].model_copy(update=changes)
    return put(row, walk=row.walk.model_copy(update={"hops": tuple(hops)}))


def evidence(row: Task, number: int, **changes: Any) -> Task:
    return hop(row, number, evidence=row.walk.hops[number].evidence.model_copy(update=changes))


OTHER_WAY = [("molde", "on_river", "bo"), ("bo", "flows_into", "ida")]
OTHER_PUPIL = [("ida", "mentor", "bo"), ("ida", "born_in", "molde")]
NATIVE = ("bo", "born_in", "molde")
MUTATIONS: list[tuple[str, Draft, Callable[[Task], Task], dict[str, Any], str]] = [
    ("answer replaced", chain(), lambda t: put(t, answer="Lake Senn"), {}, "answer"),
    ("cue not in question", chain(), lambda t: hop(t, 0, cue="the harbour"), {}, "cue"),
    ("cue empty", chain(), lambda t: hop(t, 0, cue=""), {}, "cue"),
    ("answer in question", chain(), lambda t: put(t, question=t.question + " Lake Brun?"), {}, "leak"),
    ("alias in question", chain(), lambda t: put(t, answer_aliases=("boat trip",)), {}, "leak"),
    ("bridge in question", chain(), lambda t: put(t, question=t.question + " The River Senn's?"), {}, "leak"),
    ("quote changed", chain(), lambda t: evidence(t, 1, quote="It empties into Lake Orr."), {}, "evidence"),
    ("span moved", chain(), lambda t: evidence(t, 1, start=0), {}, "evidence"),
    ("no such page", chain(), lambda t: evidence(t, 1, document_id="gone"), {}, "evidence"),
    ("gold page dropped", chain(), lambda t: put(t, gold_documents=("senn",)), {}, "gold"),
    ("fact turned round", chain(), lambda t: hop(t, 1, forward=False), {}, "evidence"),
    ("edge gone", chain(), lambda t: t, {"triples": [x for x in TRIPLES if x[1] != "flows_into"]}, "evidence"),
    ("second answer", chain(), lambda t: t, {"triples": [*TRIPLES, ("senn", "flows_into", "orrin")]}, "unique"),
    ("second bridge", chain(), lambda t: t, {"triples": [*TRIPLES, *OTHER_WAY]}, "unique"),
    ("second match", pair(), lambda t: t, {"triples": [*TRIPLES, *OTHER_PUPIL]}, "unique"),
    ("constraint idle", pair(), lambda t: t, {"triples": [x for x in TRIPLES if x != NATIVE]}, "shortcut"),
    ("direct edge", chain(), lambda t: t, {"triples": [*TRIPLES, ("brun", "near", "molde")]}, "shortcut"),
    ("bridge of another split", chain(), lambda t: t, {"partitions": {"senn": "test"}}, "split"),
    ("page of another split", chain(), lambda t: t, {"partitions": {"molde": "test"}}, "split"),
    ("task of another split", chain(), lambda t: put(t, split="validation"), {}, "split"),
    ("bridge not gold", chain(), lambda t: put(t, gold_entities=("brun",)), {}, "gold"),
    ("hop needs itself", chain(), lambda t: hop(t, 1, needs=(1,)), {}, "walk"),
    ("chain cut", chain(), lambda t: hop(t, 1, needs=()), {}, "walk"),
    ("failed check kept", chain(), lambda t: put(t, checks=(CheckResult(check="x", outcome="failed"),)), {}, "walk"),
    ("no checks", chain(), lambda t: put(t, checks=()), {}, "walk"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("draft", "damage", "given", "rule"), [row[1:] for row in MUTATIONS], ids=[row[0] for row in MUTATIONS]
)
def test_damage_is_seen(draft: Draft, damage: Callable[[Task], Task], given: dict[str, Any], rule: str) -> None:
    problems = audit(damage(task(draft)), **given)
    assert rule in {rule for rule, _ in problems}, problems


def test_hubs_are_exempt_from_the_split_rule() -> None:
    assert audit(task(chain()), partitions={"senn": "test"}, hub_kinds=("river",)) == []


def test_inverse_readings_are_one_fact() -> None:
    """A fact that is only stated in its inverse wording still makes a second answer."""
    triples = [*TRIPLES, ("orrin", "receives", "senn")]
    inverses = {"receives": "flows_into"}
    assert audit(task(chain()), triples=triples) == []
    assert {rule for rule, _ in audit(task(chain()), triples=triples, inverses=inverses)} == {"unique"}
