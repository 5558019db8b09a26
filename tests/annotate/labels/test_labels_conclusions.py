"""What a run concludes, against the walk: by hand, in the small collection."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from label_runs import Move, history

from synth.agents.contract import Step, Turn
from synth.annotate.evidence.view import EvidenceView
from synth.annotate.labels.conclusions import false_conclusions
from synth.annotate.labels.thoughts import sentences_of
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.tasks import Node, Task
from synth.testing.corpus import small_tasks

OFFICE, _, _, STUDENT, _ = small_tasks()

ARVEL: tuple[Move, Move] = ("search", {"query": "Arvel Torrin"}), ("open", {"document": "arvel-torrin"})
PRESS: Move = ("open", {"document": "lume-press"})
WORKS: Move = ("open", {"document": "korvan-works"})


def steps_of(task: Task, steps: Sequence[Step], answer: str | None = None) -> list[int]:
    return [one.step for one in false_conclusions(task, tuple(steps), answer)]


@pytest.mark.parametrize(
    "thought",
    [
        "So it must be Lume Press.",
        "Therefore the company is Lume Press.",
        "That leaves me with Lume Press.",
        "I conclude Lume Press.",
        'It reads "He wrote for Lume Press." Which means Lume Press. On I go.',
        "I start with Lume Press.",
    ],
)
def test_a_wrong_thing_that_is_concluded_and_opened(thought: str) -> None:
    steps = history(OFFICE, ("", ARVEL[0]), ("", ARVEL[1]), (thought, PRESS), ("", "Velden"))
    (found,) = false_conclusions(OFFICE, steps, "Velden")
    assert (found.step, found.about) == (2, "lume-press")
    assert 2 in found.acts
    assert found.why == "concludes Lume Press, where the walk leads to Korvan Works"


@pytest.mark.parametrize(
    "thought",
    [
        pytest.param("So it must be Korvan Works.", id="the right one"),
        pytest.param("So it might be Lume Press.", id="in doubt"),
        pytest.param("So it is not Lume Press.", id="denied"),
        pytest.param('It says "So it must be Lume Press."', id="quoted"),
        pytest.param("I open Lume Press.", id="no conclusion"),
        pytest.param("So it is Arvel Torrin.", id="named by the question"),
        pytest.param("So it must be the second of them.", id="no name"),
    ],
)
def test_what_is_no_false_conclusion(thought: str) -> None:
    steps = history(OFFICE, ("", ARVEL[0]), ("", ARVEL[1]), (thought, PRESS), ("", "Velden"))
    assert steps_of(OFFICE, steps, "Velden") == []


def test_a_conclusion_that_nothing_follows_from() -> None:
    thought = "So it must be Lume Press."
    asides = history(OFFICE, ("", ARVEL[0]), ("", ARVEL[1]), (thought, WORKS), ("", "Dessau Ferry"))
    assert steps_of(OFFICE, asides) == []
    later = history(OFFICE, ("", ARVEL[0]), ("", ARVEL[1]), (thought, WORKS), ("", PRESS), ("", "Velden"))
    (found,) = false_conclusions(OFFICE, later, "Velden")
    assert (found.step, found.acts) == (2, frozenset({3}))


def test_a_further_condition_leaves_open_which_of_several_it_is() -> None:
    academy: Move = ("open", {"document": "orl-academy"})
    steps = history(
        STUDENT, ("", ("search", {"query": "Orl Academy"})), ("", academy), ("So it is Dessau Ferry.", PRESS), ("", "x")
    )
    assert len({hop.target.id for hop in STUDENT.walk.hops}) < len(STUDENT.walk.hops), "two conditions on one thing"
    assert steps_of(STUDENT, steps, "x") == []


def _dotted(name: str, document: str) -> Task:
    """The office question with a dotted name for the company."""
    first, last = OFFICE.walk.hops
    target = Node(id=name, name=name, kind="method", document_id=document)
    hops = (first.model_copy(update={"target": target}), last.model_copy(update={"source": target}))
    return OFFICE.model_copy(update={"walk": OFFICE.walk.model_copy(update={"hops": hops})})


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        pytest.param("net.Client.open_all", False, id="in full"),
        pytest.param("Client.open_all", False, id="the end of it"),
        pytest.param("net.Client", True, id="what it belongs to"),
        pytest.param("Client.close", True, id="another one"),
    ],
)
def test_dotted_names(said: str, wrong: bool) -> None:
    task = _dotted("net.Client.open_all", "net")
    call = ToolCall(id="a", name="search", arguments={"query": "x"})
    text = "The class net.Client has net.Client.open_all and Client.close."
    read = Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id="a", name="search", content=text),))
    ask = ToolCall(id="b", name="find", arguments={"pattern": said})
    steps = (read, Step(turn=Turn(thought=f"So this is {said}.", calls=(ask,)), results=()))
    assert steps_of(task, steps) == ([1] if wrong else [])


def test_the_number_of_a_chapter_ends_no_sentence() -> None:
    view = EvidenceView(OFFICE)
    view.named[" 9 classes "] = {"classes"}
    assert [s.text for s in sentences_of(view, "I open 9. Classes. It was 9. That is all.")] == [
        "I open 9. Classes.",
        "It was 9.",
        "That is all.",
    ]
    quoted = sentences_of(view, 'It says "Nine. Ten." So it is ten. "Eleven." Done.')
    assert [(s.text, s.quoted) for s in quoted] == [
        ("It says", ""),
        ("So it is ten.", "Nine. Ten."),
        ("Done.", "Eleven."),
    ]
