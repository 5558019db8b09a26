"""Constrained navigation: the teacher meets pages that mislead, says what is wrong with them, and checks."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import pyarrow as pa

from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.consistency import inconsistencies
from synth.agents.grounding.said import says
from synth.agents.loop import Limits, rollout
from synth.agents.scripted.config import TeacherConfig
from synth.agents.scripted.credibility import CredibilityCheck, doubt_about
from synth.agents.scripted.pages.narration import PageNarration
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.players import ScriptedTeacher, world_lexicon
from synth.agents.scripted.seen import SeenDocument
from synth.agents.trajectory import history_of, to_row
from synth.environments.passages import passages_of
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.schemas.tasks import CheckResult, Difficulty, Hop, Node, Task, Walk
from synth.schemas.trajectories import TrajectoryRow
from synth.sources.world.config import DistractorMix, WorldConfig
from synth.sources.world.distract_pages import distractor_shard
from synth.sources.world.source import shard_tables
from synth.testing.corpus import PROVENANCE, ListTable

_CONFIG = WorldConfig(entities=400, seed=5, distractors=DistractorMix(stale=4, contradiction=12, lookalike=6))


@cache
def _world() -> tuple[SearchEnvironment, tuple[Task, ...]]:
    """The environment, and for every false statement a question of one hop that it answers wrongly."""
    own, entities, _ = shard_tables(_CONFIG, 0)
    written, falsehoods = distractor_shard(_CONFIG, 0)
    table = pa.concat_tables([own, to_arrow(written, Document).cast(own.schema)])
    documents = from_arrow(table, Document)
    names = dict(zip(entities["id"].to_pylist(), entities["name"].to_pylist(), strict=True))
    tasks = []
    for number, item in enumerate(falsehoods):
        if item.stated_object is None or item.kind not in ("stale", "contradiction", "lookalike"):
            continue
        if item.value_kind != "entity" or names[item.subject] not in item.truth.quote + names[item.subject]:
            continue
        cue = item.relation.replace("_", " ")
        source = Node(id=item.subject, name=names[item.subject], kind="x", document_id=item.subject)
        target = Node(id=item.true_object, name=names[item.true_object], kind="x", document_id=item.true_object)
        hop = Hop(source=source, target=target, relation=item.relation, forward=True, evidence=item.truth, cue=cue)
        tasks.append(
            Task(
                id=f"task-{number}",
                question=f"{cue} of {source.name}?",
                answer=target.name,
                answer_kind="entity",
                shape="composition",
                walk=Walk(shape="composition", hops=(hop,)),
                gold_entities=(target.id,),
                gold_documents=(item.subject,),
                difficulty=Difficulty(hops=1, constraints=1, branching=1.0, documents=1),
                checks=(CheckResult(check="by_hand", outcome="passed"),),
                split="train",
                candidate_index=number,
                provenance=PROVENANCE,
            )
        )
    return SearchEnvironment(Bm25Index(Bm25Index.build(table)), ListTable(documents)), tuple(tasks)


def _runs(**options: Any) -> list[TrajectoryRow]:
    from synth.agents.scripted.players import world_lexicon
    from synth.sources.world.statements import says

    where, tasks = _world()
    rows = []
    for task in tasks:
        done = rollout(
            ScriptedTeacher(task, TeacherConfig(**({"detour": 0, "crosscheck": 0} | options)), world_lexicon(), says),
            where,
            task,
            system="s",
            limits=Limits(),
            generator_for_turn=lambda turn, task=task: derive_generator(2, task.id, turn),
        )
        rows.append(to_row(done, where, role="teacher", number=0, privileged=True, provenance=PROVENANCE))
    return rows


def _opened(row: TrajectoryRow) -> list[str]:
    _, history = history_of(row)
    return [str(call.arguments["document"]) for step in history for call in step.turn.calls if call.name == "open"]


def test_a_teacher_that_must_meet_distractors_does_and_says_why_it_rejects_them() -> None:
    falsehoods = {item.document_id: item for item in distractor_shard(_CONFIG, 0)[1]}
    free, steered = _runs(), _runs(meets=1)
    assert len(steered) > 20
    met = [row for row in steered if set(_opened(row)) & set(falsehoods)]
    assert not any(set(_opened(row)) & set(falsehoods) for row in free)
    assert len(met) >= 0.8 * len(steered)
    reasoned = 0
    for row in met:
        thoughts = " ".join(step.turn.thought or "" for step in history_of(row)[1])
        cues = [falsehoods[name].cue_words.quote for name in _opened(row) if name in falsehoods]
        reasoned += any(cue.replace('"', "”") in thoughts for cue in cues)
    assert reasoned >= 0.9 * len(met)
    # It is as right as before, and nothing that it says was not seen.
    assert sum(row.success for row in steered) >= sum(row.success for row in free) - 1
    for row in steered:
        assert not ungrounded(*history_of(row))
    # It corrects what contradicts the page itself: the stated value was seen, the true one is taken.
    assert any("says something else" in t or "and not what" in t or "does not match" in t for t in map(_thoughts, met))


def test_a_second_source_that_misleads_is_read_and_doubted() -> None:
    falsehoods = {item.document_id: item for item in distractor_shard(_CONFIG, 0)[1]}
    rows = _runs(crosscheck=1)
    met = [row for row in rows if set(_opened(row)) & set(falsehoods)]
    assert len(met) > 5
    for row in met:
        cues = [falsehoods[name].cue_words.quote for name in _opened(row) if name in falsehoods]
        assert any(cue.replace('"', "”") in _thoughts(row) for cue in cues)
        assert inconsistencies(*history_of(row)) == []
    assert sum(row.success for row in rows) == sum(row.success for row in _runs())


def _thoughts(row: TrajectoryRow) -> str:
    return " ".join(step.turn.thought or "" for step in history_of(row)[1])


def _document(text: str) -> SeenDocument:
    seen = SeenDocument("d", "Recollections: Keld", 1)
    seen.pages[1] = passages_of(text, "d", "", 1)
    return seen


def test_doubt_is_read_off_the_page() -> None:
    page = _document("Old times.\n\nThe mayor of Keld is Orla Venn. He quotes nobody, and tells it from memory.")
    found = doubt_about(page, "mayor", "Keld", {})
    assert found is not None
    assert found.claim.text == "The mayor of Keld is Orla Venn."
    assert found.mark.text == "He quotes nobody, and tells it from memory."
    other = doubt_about(page, "height", "Keld", {})
    assert other is not None
    assert other.claim.text == "The mayor of Keld is Orla Venn."  # what the mark speaks of
    assert doubt_about(_document("The mayor of Keld is Orla Venn. She is well liked."), "mayor", "Keld", {}) is None
    alone = doubt_about(_document("The mayor of Keld is [illegible]. It rains."), "height", "Keld", {})
    assert alone is not None
    assert alone.claim == alone.mark


def test_the_opening_of_a_page_is_not_its_claim() -> None:
    page = _document(
        "A wall chart about the city of Keld. It says that Keld lies in Orl. The teacher asks for a correction."
    )
    found = doubt_about(page, "the city of Keld", "", {})
    assert found is not None
    assert found.claim.text == "It says that Keld lies in Orl."


def test_the_line_that_states_what_is_asked_for_is_the_claim() -> None:
    page = _document("From the edition of 1923. Scholarships for students are few. It had 14,026 of them.")
    found = doubt_about(page, "students", "", {}, lambda line: "14,026" in line.text)
    assert found is not None
    assert found.claim.text == "It had 14,026 of them."


def test_what_a_text_takes_as_known_is_not_what_it_doubts() -> None:
    page = _document(
        "A theory. It starts from what is known: Ada was born in Keld. So Ada knew Cy. The essay calls it a conjecture."
    )
    found = doubt_about(page, "born in Keld", "Keld", {}, lambda line: "born in" in line.text)
    assert found is not None
    assert found.claim.text == "So Ada knew Cy."


def test_a_page_that_keeps_to_what_it_says_is_said_to() -> None:
    state: Any = SimpleNamespace(
        reading=SimpleNamespace(clues=[SimpleNamespace(cue="lies in")], question="Where?"),
        seen=SimpleNamespace(documents={}),
    )
    told = {
        "The first half was challenged by readers, and the editors stand by it.": "doubt_upheld",
        "The first half was withdrawn.": "doubt_mark",
    }
    for mark, intent in told.items():
        thoughts = Thoughts("Where?", derive_generator(1, mark), terse=False)
        page = _document(f"The paper returns to Keld. Keld lies in Orl. {mark}")
        assert CredibilityCheck(state, {}).rejects(0, "", page, thoughts)
        assert says((intent,), thoughts.text()), thoughts.text()


def test_every_cue_of_a_written_page_raises_a_doubt() -> None:
    documents, falsehoods = distractor_shard(_CONFIG, 0)
    pages = {document.id: document for document in documents}
    for falsehood in falsehoods:
        document = pages[falsehood.document_id]
        page = SeenDocument(document.id, document.title, 1)
        page.pages[1] = passages_of(document.text, document.id, document.title, 1)
        found = doubt_about(page, "none of it", "", {})
        assert found is not None, document.text
        assert found.mark.text in falsehood.cue_words.quote or falsehood.cue_words.quote in found.mark.text


def test_a_sentence_that_says_what_is_asked_for_is_no_reason_against_a_page() -> None:
    clue = SimpleNamespace(cue="studied at Keld Academy")
    state: Any = SimpleNamespace(reading=SimpleNamespace(clues=[clue]))
    chooser = SimpleNamespace(denies=lambda clue, sentence, name: False)
    narration: Any = SimpleNamespace(chooser=chooser, credibility=CredibilityCheck(state, world_lexicon()))
    graduate = _document("He is counted among the graduates of Keld Academy. He directed a film.")
    rector = _document("From 1950 he led Keld Academy as rector. He is counted among the graduates of Keld Academy.")
    said = [[s for s in page.sentences() if "Academy" in s.text] for page in (graduate, rector)]
    assert PageNarration._other_than(narration, 0, "Keld Academy", said[0]) is None
    other = PageNarration._other_than(narration, 0, "Keld Academy", said[1])
    assert other is not None
    assert "rector" in other.text
