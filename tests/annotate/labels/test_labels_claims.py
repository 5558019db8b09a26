"""What a run says of a list or a value, against the walk: by hand, in the small collection."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from label_runs import DOCUMENTS, Move, history, row_of

from synth.agents.contract import Step
from synth.agents.scripted.phrases import PHRASES
from synth.annotate.labels import label
from synth.annotate.labels.claims import false_claims, list_hops
from synth.annotate.labels.thoughts import without_names
from synth.schemas.documents import Evidence
from synth.schemas.steps import LabelReason
from synth.schemas.tasks import Hop, Node, Operation, Task
from synth.testing.corpus import small_tasks
from synth.text.words import words_of

OFFICE, BORN, _, STUDENT, _ = small_tasks()
JON = STUDENT.walk.hops[0]
ILSE_NODE = BORN.walk.hops[1].target
EDDA_NODE = JON.target.model_copy(update={"id": "edda-torrin", "name": "Edda Torrin", "document_id": "edda-torrin"})


def _students(cue: str) -> tuple[Hop, ...]:
    nodes = (ILSE_NODE, JON.target, EDDA_NODE)
    return tuple(JON.model_copy(update={"target": node, "cue": cue}) for node in nodes)


def _set_task(question: str, answer: str, hops: Sequence[Hop], *operations: Operation, shape: str) -> Task:
    walk = OFFICE.walk.model_copy(update={"hops": tuple(hops), "operations": operations, "shape": shape})
    kind = "number" if answer.isdigit() else "entity"
    return OFFICE.model_copy(
        update={"question": question, "answer": answer, "answer_kind": kind, "walk": walk, "shape": shape}
    )


STUDENTS = "students of the Orl Academy"
COUNT = _set_task(
    f"How many {STUDENTS} are there?",
    "3",
    _students(STUDENTS),
    Operation(kind="count", over=(0, 1, 2), result=(Node(id="3", name="3", kind="number"),), cue="How many"),
    shape="count",
)


def _born(number: int, source: Node, value: str, written: str) -> Hop:
    quote = next(d.text for d in DOCUMENTS if d.id == source.document_id)
    start = quote.index(written)
    evidence = Evidence(document_id=source.document_id or "", start=start, end=start + len(written), quote=written)
    target = Node(id=value, name=written, kind="date")
    return Hop(
        source=source, target=target, relation="born", forward=True, needs=(number,), evidence=evidence, cue="was born"
    )


FIRST = _set_task(
    f"Which of the {STUDENTS} was born first?",
    "Ilse Brandt",
    (
        *_students(STUDENTS),
        _born(0, ILSE_NODE, "1868-01-30", "30 January 1868"),
        _born(2, EDDA_NODE, "1874-06-09", "9 June 1874"),
    ),
    Operation(kind="argmin", over=(3, 4), result=(ILSE_NODE,), cue="born first"),
    shape="superlative",
)

ACADEMY: tuple[Move, Move] = ("search", {"query": "Orl Academy"}), ("open", {"document": "orl-academy"})


def counting(thought: str, answer: str = "3") -> tuple[Step, ...]:
    """Reads the academy's page, thinks ``thought`` beside a further search, and answers."""
    more: Move = ("search", {"query": "Orl Academy students"})
    return history(COUNT, ("I search.", ACADEMY[0]), ("I open it.", ACADEMY[1]), (thought, more), ("Done.", answer))


ALL = "I add Ilse Brandt. One of them is Jon Maak. Edda Torrin belongs on the list."


@pytest.mark.parametrize(
    ("thought", "why"),
    [
        pytest.param(ALL, None, id="all members"),
        pytest.param(f"{ALL} That is all that I can find.", None, id="closed with all"),
        pytest.param("I add Ilse Brandt. I add Jon Maak. There may be more.", None, id="still open"),
        pytest.param(
            "I add Ilse Brandt. I add Jon Maak. Nothing else turns up.", "without Edda Torrin", id="closed early"
        ),
        pytest.param("Among them is Dessau Ferry.", "lists Dessau Ferry, which", id="none of them"),
        pytest.param("I add these: Ilse Brandt; Jon Maak; Edda Torrin. No more turn up.", None, id="all at once"),
        pytest.param(
            "I add these: Ilse Brandt; Dessau Ferry.", "lists Dessau Ferry, which", id="one of several is none"
        ),
        pytest.param("I add these: Ilse Brandt; Jon Maak. No more turn up.", "without Edda Torrin", id="two of three"),
        pytest.param("Let me see if something else on Jon Maak speaks against this.", None, id="to ask is no claim"),
        pytest.param("That puts Scholars on the list.", "Scholars", id="a word that is not a page"),
        pytest.param("Dessau Ferry could belong on the list, so I read on there.", None, id="to look is not a claim"),
        pytest.param('It says "Among them is Dessau Ferry." I go on.', None, id="quoted"),
        pytest.param("Dessau Ferry does not belong on the list.", None, id="rightly left out"),
        pytest.param("For each one on the list I need the year.", None, id="no name at all"),
        pytest.param("I can rule out Dessau Ferry.", None, id="rightly ruled out"),
        pytest.param("I can rule out Jon Maak.", "Jon Maak", id="wrongly ruled out"),
        pytest.param("I can't find it for Jon Maak.", None, id="not found is not ruled out"),
    ],
)
def test_claims_about_a_list(thought: str, why: str | None) -> None:
    found = false_claims(COUNT, counting(thought), None)
    assert [claim.step for claim in found] == ([] if why is None else [2])
    assert why is None or why in found[0].why


def test_lists_are_followed_in_every_wording_of_the_scripted_agents() -> None:
    """Labels read what is put on a list, what closes it and what leaves it open."""
    names = "Ilse Brandt; Jon Maak; Edda Torrin"
    for phrase in PHRASES["members"]:
        claims = false_claims(COUNT, counting(f"{phrase.format(found=names)} Nothing else turns up."), None)
        assert claims == (), phrase
    for phrase in PHRASES["member"]:
        said = " ".join(phrase.format(found=name) for name in names.split("; "))
        assert false_claims(COUNT, counting(f"{said} Nothing else turns up."), None) == (), phrase
    for phrase in PHRASES["complete"]:
        claims = false_claims(COUNT, counting(f"I add Jon Maak. {phrase.format(found='Orl Academy')}"), None)
        assert [claim.why for claim in claims] == ["closes the list without Ilse Brandt, Edda Torrin"], phrase
    for intent in ("search_list", "search_rest", "hit_first", "quote", "each", "silent"):
        for phrase in PHRASES[intent]:
            said = phrase.format(name="Orl Academy", title="Orl Academy", quote="It is old.", cue="was born")
            assert false_claims(COUNT, counting(f"I add Jon Maak. {said}"), None) == (), phrase


def test_the_first_error_is_where_the_list_went_wrong_not_where_the_number_is_said() -> None:
    steps = counting("I add Ilse Brandt. I add Jon Maak. Nothing else turns up.", "2")
    labels = label(row_of(COUNT, steps), COUNT)
    assert [step.step for step in labels if step.first_error] == [2]
    assert labels[2].label_reason is LabelReason.WRONG_TURN
    assert [step.train for step in labels] == [True, True, False, False]
    right = label(row_of(COUNT, counting(ALL)), COUNT)
    assert not any(step.first_error for step in right)
    slip = label(row_of(COUNT, counting(f"{ALL} That is all.", "4")), COUNT)
    assert [step.step for step in slip if step.first_error] == [3]


def test_to_look_at_a_page_while_collecting_is_no_error() -> None:
    steps = history(
        COUNT,
        ("I search.", ACADEMY[0]),
        ("I open it.", ACADEMY[1]),
        ("I look whether this is one.", ("open", {"document": "dessau-ferry"})),
        (f"I can rule out Dessau Ferry. {ALL}", "3"),
    )
    assert not any(step.label < 0 for step in label(row_of(COUNT, steps), COUNT))


@pytest.mark.parametrize(
    ("thought", "wrong"),
    [
        pytest.param("So it is 30 January 1868.", False, id="the value"),
        pytest.param("So it is 3 May 1777.", False, id="no value that was read"),
        pytest.param("The entry here is 80,000.", True, id="another value of the page"),
        pytest.param("It is not 80,000.", False, id="denied"),
        pytest.param('It says "Its library holds 80,000 books."', False, id="quoted"),
    ],
)
def test_claims_about_a_value(thought: str, wrong: bool) -> None:
    steps = history(FIRST, ("I search.", ACADEMY[0]), ("I open it.", ACADEMY[1]), (thought, "Ilse Brandt"))
    assert [claim.step for claim in false_claims(FIRST, steps, None)] == ([2] if wrong else [])


def test_words_of_a_title_are_not_read_as_what_is_said_of_it() -> None:
    """A member called "No More Open Roads" can be put on a list."""
    title = "No More Open Roads"
    assert without_names(f"I add {title}.", {words_of(title)}) == "I add –."
    assert without_names("I add Ilse Brandt's book.", {" ilse brandt "}) == "I add – book."


def test_what_leads_to_the_members_of_a_set() -> None:
    assert [hop.target.name for hop in list_hops(COUNT)] == ["Ilse Brandt", "Jon Maak", "Edda Torrin"]
    assert list_hops(FIRST) == FIRST.walk.hops[:3]
    assert list_hops(OFFICE) == ()


def test_a_small_count_that_is_wrong_masks_no_thought_that_names_the_number() -> None:
    """An answer like "2" says nothing about which thoughts rest on it; a name does."""
    steps = history(
        COUNT,
        ("I search.", ACADEMY[0]),
        ("There are 2 results to read.", ACADEMY[1]),
        ("Counting gives 2.", "2"),
    )
    assert [step.train for step in label(row_of(COUNT, steps), COUNT)] == [True, True, False]
