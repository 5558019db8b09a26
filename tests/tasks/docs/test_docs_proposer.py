"""Questions over a small site of invented documentation: built, searched and questioned for real."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from synth.dataset.audit import facts as audit_facts
from synth.dataset.audit.documentation import Documentation
from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity, Evidence
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.tasks import Node, Task
from synth.sources.docs.graph import graph_tables
from synth.sources.docs.source import DocsConfig, DocsSource
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig, Proposed
from synth.tasks.docs.ranks import RANKS
from synth.tasks.draft import finish
from synth.tasks.text import mentions

NAMES = "quarn velib tosk mirad plune grath zephon ordix karsh wembly fennic dravo".split()
THINGS = [
    ("tide tables for harbours", "Read the hourly water level of a harbour from the almanac.", "brass lantern"),
    ("railway timetables", "Merge two seasonal timetables while keeping night trains apart.", "copper whistle"),
    ("birdsong recordings", "Classify a recording by the species whose call it most resembles.", "linen hood"),
    ("stained glass patterns", "Cut a pattern into panes that a lead strip can hold.", "lead strip"),
    ("mountain weather", "Predict fog on a summit from the valley temperature.", "wool cap"),
    ("library catalogues", "Sort shelf marks by the rules of the national library.", "oak ladder"),
    ("sheet music", "Transpose a score for a wind instrument in another key.", "ivory baton"),
    ("bread recipes", "Scale a recipe to the weight of flour at hand.", "iron oven"),
    ("sailing knots", "Render a knot as a diagram of crossings.", "hemp rope"),
    ("lighthouse signals", "Decode a light character into its flashes and eclipses.", "glass prism"),
    ("beehive sensors", "Detect swarming from the hum of a colony.", "straw hive"),
    ("postal routes", "Shorten a delivery round that must start at the depot.", "leather satchel"),
]


def site() -> dict[str, str]:
    """Twelve modules: each has a function with a version and a setting with a default, and speaks of the next one's."""
    files = {}
    for n, (name, (topic, task, thing)) in enumerate(zip(NAMES, THINGS, strict=True)):
        after = NAMES[(n + 1) % 12]
        plate = "<p>A lamp plate is the iron sheet that carries the lantern of a harbour.</p>" if n == 9 else ""
        files[f"lib/{name}.html"] = f"""<html><body><h1 id="module-{name}">{name} — Work with {topic}</h1>
<p>This module provides tools for {topic}.</p>
<dl class="py function"><dt class="sig" id="{name}.work_{name}">{name}.work_{name}(item)</dt>
<dd><p>{task}</p><p>New in version 2.{n + 1}.</p></dd></dl>
<p>Every {thing} of the old workshop has to pass through
<a href="{after}.html#{after}.work_{after}">{after}.work_{after}()</a> before the evening.</p>
<h2>Settings</h2><dl><dt>{name}_pace</dt><dd><p>Limits how often the {thing} is polished on a day.
The default is {n + 11} times.</p></dd></dl>
{plate}<p>Only the keeper of the {thing} may ask the office in karst_hall_{n} for money for {topic}.</p>
</body></html>"""
    return files


@dataclass
class Table:
    arrow: pa.Table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Any:
        return next(iter(from_arrow(self.arrow.slice(number, 1), Document)))


@dataclass
class World:
    documents: Table
    entities: list[Entity]
    edges: list[Edge]
    search: Callable[[str, int], Sequence[int]]

    def proposer(self, **config: Any) -> DocsProposer:
        wanted = DocsTasksConfig(**{"ranks": RANKS, **config})
        return DocsProposer(self.documents, self.entities, self.edges, self.search, wanted)


def build(root: Path, files: dict[str, str]) -> World:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    source = DocsSource(
        DocsConfig(path=str(root), licence="MIT", fractions={"train": 1.0, "validation": 0.0, "test": 0.0})
    )
    table = to_arrow(source.read(source.files)[0], Document)
    entities, edges = graph_tables(table)
    index = Bm25Index(Bm25Index.build(table))
    return World(
        Table(table),
        list(from_arrow(entities, Entity)),
        list(from_arrow(edges, Edge)),
        lambda query, k: [hit.document for hit in index.search(query, k)],
    )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return build(tmp_path_factory.mktemp("site"), site())


@pytest.fixture(scope="module")
def proposals(world: World) -> list[Proposed | Rejection]:
    proposer = world.proposer()
    # Each candidate is there once; other numbers word it otherwise.
    return [
        proposer.propose(i, "train", derive_generator(3, "docs", i, again))
        for again in range(12)
        for i in range(len(proposer.order))
    ]


@pytest.fixture(scope="module")
def accepted(proposals: list[Proposed | Rejection]) -> list[Proposed]:
    return [p for p in proposals if isinstance(p, Proposed)]


@pytest.fixture(scope="module")
def tasks(accepted: list[Proposed]) -> list[Task]:
    provenance = Provenance(
        dataset="d", stage="docs_tasks", stage_version=1, fingerprint="f", seed=1, source="s", source_sha256="0"
    )
    return [finish(p.draft, p.checks, provenance, n) for n, p in enumerate(accepted)]


@pytest.mark.parametrize(
    ("family", "question", "answer"),
    [
        ("identify", "Which function decodes a light character into its flashes and eclipses?", "wembly.work_wembly"),
        ("chain", "Do you happen to know since which version the velib.work_velib function has been available?", "2.2"),
        ("chain", "Are you able to tell me which function was introduced in version 2.10?", "wembly.work_wembly"),
        (
            "described",
            "In which version was the function that detects swarming from the hum of a colony added?",
            "2.11",
        ),
        (
            "described",
            "What is the default of the setting of the velib module that limits how often the copper whistle is "
            "polished on a day?",
            "12 times",
        ),
        (
            "holder",
            "Which module has a function that decodes a light character into its flashes and eclipses?",
            "wembly",
        ),
        (
            "subject",
            "What do you call the iron sheet that carries the lantern of a harbour?",
            "lamp plate",
        ),
    ],
)
def test_every_family_reads_as_it_should(accepted: list[Proposed], family: str, question: str, answer: str) -> None:
    found = {p.draft.question: p.draft for p in accepted if p.draft.surface.startswith(family)}
    assert question in found, sorted(found)
    assert found[question].answer == answer


def test_sentences_with_a_gap_are_asked_where_they_are_wanted(accepted: list[Proposed]) -> None:
    families = {p.draft.surface.partition("/")[0].partition("+")[0] for p in accepted}
    assert families == {"identify", "holder", "chain", "described", "subject", "told", "cloze"}
    gaps = [p.draft for p in accepted if p.draft.shape == "masked"]
    assert all(draft.question.count("____") == 1 for draft in gaps)
    assert {draft.answer for draft in gaps} & {f"karst_hall_{n}" for n in range(12)}


def test_what_an_accepted_question_promises(world: World, accepted: list[Proposed], tasks: list[Task]) -> None:
    rows = {document: row for row, document in enumerate(world.documents.arrow["id"].to_pylist())}
    for proposed in accepted:
        draft = proposed.draft
        assert re.fullmatch(r"[A-Z“\"].*[?.”]", draft.question)
        assert draft.question.count("“") == draft.question.count("”")
        assert not mentions(draft.question, [draft.answer, *draft.answer_aliases])
        for number, hop in enumerate(draft.walk.hops):
            assert hop.cue in draft.question
            assert all(need < number for need in hop.needs)
            text = world.documents.row(rows[hop.evidence.document_id]).text
            assert text[hop.evidence.start : hop.evidence.end] == hop.evidence.quote
        assert {check.outcome for check in proposed.checks} == {"passed"}
        shaped = {"no_rival", "one_passage"} if draft.surface.startswith("chain") else set()
        assert {check.check for check in proposed.checks} == {
            "answer_not_in_question", "split", "evidence", "no_shortcut", "retrievable", "unique_answer", *shaped,
        }  # fmt: skip
    assert {task.licence for task in tasks} == {"MIT"}
    assert len({task.id for task in tasks}) == len({(t.question, *(hop.cue for hop in t.walk.hops)) for t in tasks})


def test_a_candidate_depends_on_its_number_only(world: World, proposals: list[Proposed | Rejection]) -> None:
    again = world.proposer()
    for index in (17, 3, 50, 3):
        assert again.propose(index, "train", derive_generator(3, "docs", index, 0)) == proposals[index]


def test_a_split_without_pages_and_a_missing_search_give_rejections(world: World) -> None:
    found = world.proposer().propose(0, "test", derive_generator(3, "docs", 0))
    assert isinstance(found, Rejection)
    assert found.reason == Reason.NO_WALK
    blind = DocsProposer(world.documents, world.entities, world.edges, None, DocsTasksConfig())
    outcomes = [blind.propose(i, "train", derive_generator(3, "docs", i)) for i in range(30)]
    assert all(isinstance(o, Rejection) for o in outcomes)


@pytest.mark.parametrize("tagged", [False, True])
def test_whatever_else_says_the_same_counts_against_a_description(tmp_path: Path, tagged: bool) -> None:
    """Also where it is read as no fact: then the question names the page."""
    files = site()
    same = "Decode a light character into its flashes and eclipses."
    entry = f'<dl class="py function"><dt class="sig" id="x.imitate">x.imitate(item)</dt><dd><p>{same}</p></dd></dl>'
    files["lib/copy.html"] = f"<html><body><h1>Copies</h1>{entry if tagged else f'<p>{same}</p>'}</body></html>"
    proposer = build(tmp_path, files).proposer()
    found = [proposer.propose(index, "train", derive_generator(3, "docs", index)) for index in range(400)]
    asked = {p.draft.question for p in found if isinstance(p, Proposed) and "a light character" in p.draft.question}
    assert asked
    assert all("of the wembly module" in q or "in “Copies”" in q for q in asked)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        ("answer", Reason.ANSWER_IN_QUESTION),
        ("split", Reason.SPLIT_CONFLICT),
        ("quote", Reason.EVIDENCE_DOES_NOT_STATE),
        ("span", Reason.EVIDENCE_DOES_NOT_STATE),
        ("target", Reason.EVIDENCE_DOES_NOT_STATE),
        ("document", Reason.SPLIT_CONFLICT),
        ("one_sentence", Reason.SHORTCUT),
    ],
)
def test_every_check_can_fail(world: World, accepted: list[Proposed], spoil: str, reason: Reason) -> None:
    draft = next(p.draft for p in accepted if p.draft.surface == "described/since")
    judge = Judge(world.proposer().corpus, world.search, k=10, overlap=0.72)
    first, last = draft.walk.hops
    assert not isinstance(judge.run(draft), Failure)
    changes: dict[str, Any] = {}
    if spoil == "answer":
        changes["question"] = f"{draft.question} Is it {draft.answer}?"
    elif spoil == "split":
        changes["split"] = "test"
    elif spoil == "quote":
        last = last.model_copy(update={"evidence": last.evidence.model_copy(update={"quote": "Something else."})})
    elif spoil == "span":
        text = world.documents.row(world.documents.arrow["id"].to_pylist().index(last.evidence.document_id)).text
        at = last.evidence.model_copy(update={"start": 0, "end": 5, "quote": text[:5]})
        last = last.model_copy(update={"evidence": at})
    elif spoil == "target":
        last = last.model_copy(update={"target": last.target.model_copy(update={"id": "9.9", "name": "9.9"})})
    elif spoil == "document":
        changes["gold_documents"] = (*draft.gold_documents, "lib/none.html")
    else:
        last = first.model_copy(update={"needs": (0,)})
    walk = draft.walk.model_copy(update={"hops": (first, last)})
    found = judge.run(draft.model_copy(update=changes | {"walk": walk}))
    assert isinstance(found, Failure)
    assert found.reason == reason


def facts_of(world: World) -> audit_facts.Facts:
    facts = audit_facts.Facts()
    ids = world.documents.arrow["id"].to_pylist()
    entities = world.entities
    facts.add_entities(
        audit_facts.Entity(e.id, e.name, e.kind, e.aliases, ids[e.document], e.partition) for e in entities
    )
    facts.add_facts(
        (
            entities[edge.subject].id,
            edge.relation,
            entities[edge.object].id if edge.object >= 0 else audit_facts.value_key(edge.value or ""),
            edge.value_kind,
            None,
        )
        for edge in world.edges
    )
    facts.freeze()
    return facts


def audited(world: World, task: Task, extra: str = "") -> list[tuple[str, str]]:
    audit = Documentation(facts_of(world))
    for row, name in enumerate(world.documents.arrow["id"].to_pylist()):
        if name in audit.pages(task):
            audit.read(name, world.documents.row(row).text + extra)
    return audit.judge(task)


def test_the_audit_proves_every_question_from_the_tables(world: World, tasks: list[Task]) -> None:
    for task in tasks[::5]:
        assert audited(world, task) == []


def test_the_audit_sees_what_is_wrong(world: World, tasks: list[Task]) -> None:
    gap = next(task for task in tasks if task.shape == "masked")
    hop = gap.walk.hops[0]
    other = hop.source.name.replace("____", "barn_99")
    assert [rule for rule, _ in audited(world, gap, extra=f"\n{other}")] == ["unique"]
    wrong = hop.model_copy(update={"target": hop.target.model_copy(update={"id": "x", "name": "Hall_99"})})
    spoiled = gap.model_copy(update={"walk": gap.walk.model_copy(update={"hops": (wrong,)})})
    assert [rule for rule, _ in audited(world, spoiled)] == ["unique"]
    value = next(task for task in tasks if task.surface.startswith("chain") and task.walk.hops[0].forward)
    hop = value.walk.hops[0]
    wrong = hop.model_copy(update={"target": hop.target.model_copy(update={"id": "7.7", "name": "7.7"})})
    spoiled = value.model_copy(update={"walk": value.walk.model_copy(update={"hops": (wrong,)})})
    assert [rule for rule, _ in audited(world, spoiled)] == ["unique"]
    described = next(task for task in tasks if task.surface == "described/since")
    holder = next(task for task in tasks if task.surface.startswith("holder"))
    other = next(task for task in tasks if task.surface.startswith("holder") and task.answer != holder.answer)
    wrong = holder.walk.hops[0].model_copy(update={"target": other.walk.hops[0].target})
    spoiled = holder.model_copy(update={"walk": holder.walk.model_copy(update={"hops": (wrong,)})})
    assert [rule for rule, _ in audited(world, spoiled)] == ["unique"]
    twice = (described.walk.hops[0], described.walk.hops[0].model_copy(update={"needs": (0,)}))
    spoiled = described.model_copy(update={"walk": described.walk.model_copy(update={"hops": twice})})
    assert "shortcut" in [rule for rule, _ in audited(world, spoiled)]


@pytest.mark.parametrize(("kind", "problems"), [("parameter", []), ("command", ["unique"])])
def test_a_sentence_need_not_say_what_kind_of_thing_it_is_about(
    tasks: list[Task], kind: str, problems: list[str]
) -> None:
    facts = audit_facts.Facts()
    facts.add_entities([audit_facts.Entity("store", "Store", kind, (), "store.html", "train")])
    facts.freeze()
    quote = "Store controls how detailed the steps are that it records."
    hop = (
        tasks[0]
        .walk.hops[0]
        .model_copy(
            update={
                "source": Node(id="d", name="that controls how detailed the steps are", kind="description"),
                "target": Node(id="store", name="Store", kind=kind, document_id="store.html"),
                "relation": "states",
                "forward": False,
                "needs": (),
                "cue": "the parameter that controls how detailed the steps are",
                "evidence": Evidence(document_id="store.html", start=0, end=len(quote), quote=quote),
            }
        )
    )
    asked = tasks[0].model_copy(update={"walk": tasks[0].walk.model_copy(update={"hops": (hop,)})})
    assert [rule for rule, _ in Documentation(facts).judge(asked)] == problems


WICK = "Trim the wick of the lantern to the length that the keeper has noted."
HORN = "Predict the fog on the estuary from the temperature of the valley."


@pytest.mark.parametrize("repeated", [True, False])
def test_a_class_is_asked_for_by_what_its_functions_alone_do(tmp_path: Path, repeated: bool) -> None:
    """The pages open with signatures, which are no English; what two classes can do tells neither."""
    members = {"Lamp": ("trim", WICK), "Horn": ("blow", HORN), "Bell": ("trim", WICK if repeated else "Get the rope.")}
    files = {}
    for name, (function, said) in members.items():
        signatures = "".join(f"<p>std::{function}_{i} * sizeof(n_{i}) const</p>" for i in range(400))
        files[f"class{name}.html"] = (
            f"<html><head><title>Shore: {name} Class Reference</title></head><body><h1>{name} Class Reference</h1>"
            f"{signatures}<h2>Member Function Documentation</h2><h2 class='memtitle' id='a1'>◆{function}_{name}()</h2>"
            f"<p>{said}</p><p>Nobody who works with the lights of the coast would do without it on a winter night, and "
            "it has been there since the first release, so that it is known in all of the harbours.</p></body></html>"
        )
    proposer = build(tmp_path, files).proposer()
    found: dict[str, str] = {}
    for split in ("train", "validation", "test"):
        made = [proposer.propose(i, split, derive_generator(3, "docs", i)) for i in range(30)]
        found |= {p.draft.question: p.draft.answer for p in made if isinstance(p, Proposed)}
    horn = "Which class has a function that predicts the fog on the estuary from the temperature of the valley?"
    assert found[horn] == "Horn"
    trims = "Which class has a function that trims the wick of the lantern to the length that the keeper has noted?"
    assert found.get(trims) == (None if repeated else "Lamp")


def test_index_pages_are_hubs_that_no_split_owns(tmp_path: Path) -> None:
    files = site()
    items = "".join(f'<li><a href="lib/{name}.html">{name} — Tools</a></li>' for name in NAMES)
    files["index.html"] = f"<html><body><h1>All Tools</h1><ul>{items}</ul></body></html>"
    proposer = build(tmp_path, files).proposer()
    assert proposer.hubs == ["index.html"]
