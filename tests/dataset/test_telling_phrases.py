"""A phrase that stands in one class of runs alone is named, however rare; one that is the evidence is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from synth.agents.scripted.phrases import PHRASES
from synth.dataset.files import Problems
from synth.dataset.phrasing import Said, TellingPhrase, Wording, telling
from synth.dataset.reader import load
from synth.dataset.rules.rules import known_of
from synth.dataset.rules.thoughts import THOUGHT_RULES
from synth.schemas.adp import MessageAction
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import DISTRACTOR, Document
from synth.schemas.plans import HiddenRule, Plan
from synth.schemas.preferences import PairKind
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow, Verdict

WORDS = "look up page name list find open read next other part question answer know long short".split()


def runs(count: int, seed: int, told: str = "", share: float = 0.0) -> list[list[str]]:
    generator = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        said = [" ".join(generator.choice(WORDS, 6)) for _ in range(8)]
        made.append([*said, told] if generator.random() < share else said)
    return made


def collected(runs: list[list[str]]) -> Said:
    said = Said()
    for number, texts in enumerate(runs):
        said.add(f"task-{number}", texts)
    return said


def found(one: list[list[str]], other: list[list[str]]) -> list[TellingPhrase]:
    return list(telling(collected(one), collected(other), "one against other"))


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_what_one_class_alone_says_is_named_whole(share: float) -> None:
    (one,) = found(runs(100, 1, "By the way this went well.", share), runs(100, 2))
    assert one.phrase == "by the way this went well"
    assert one.ratio > 5
    assert (one.others, one.of, one.of_others) == (0, 100, 100)


@pytest.mark.parametrize(
    ("told", "other"),
    [
        ("", ""),
        ("By the way this went well.", "By the way this went well."),
        ('It says "by the way this went well" at 12.', 'It says "that was a failure" at 7.'),
        ("By the way it is Anna Berg.", "By the way it is Carl Dorn."),
        (PHRASES["give_up"][0], ""),
    ],
    ids=["nothing", "both classes", "quotations and numbers", "names", "evidence"],
)
def test_what_tells_nothing_or_is_evidence_is_not_named(told: str, other: str) -> None:
    assert found(runs(100, 1, told, 0.5), runs(100, 2, other, 0.5)) == []


def test_a_few_runs_prove_nothing() -> None:
    assert found(runs(6, 1, "By the way this went well.", 0.5), runs(6, 2)) == []


def test_many_runs_of_one_task_say_what_one_says() -> None:
    one = Said()
    for texts in runs(100, 1, "It is about a beetle.", 1.0):
        one.add("task-1", texts)
    assert (one.runs, one.holding["beetle"]) == (1, 1)
    assert list(telling(one, collected(runs(100, 2)), "one against other")) == []


STEP, SAME_STEP = "The connection may be stated from the other side.", "It may be stated elsewhere. I search for it."
"""Beginnings of two wordings of one intention (``search_reverse``)."""


@pytest.mark.parametrize(
    ("told", "other", "named"),
    [(STEP, "", [False, True]), (STEP, SAME_STEP, [True, True]), ("By the way this went well.", "", [True, True])],
    ids=["a step", "its wording", "no wording of ours"],
)
def test_of_many_runs_a_step_that_one_class_takes_is_not_named(told: str, other: str, named: list[bool]) -> None:
    pair = collected(runs(300, 1, told, 0.3)), collected(runs(300, 2, other, 0.3))
    found = [[one.phrase for one in telling(*pair, "a", occasion=occasion)] for occasion in (True, False)]
    assert [any("stated from the other side" in one or "by the way" in one for one in each) for each in found] == named


def test_a_number_in_an_old_edition_is_evidence() -> None:
    assert found(runs(100, 1, "Know Besusk is home to 66,941 people.", 0.3), runs(100, 2)) == []


def test_what_fills_a_slot_hides_no_wording() -> None:
    """`fits_none` has "None is left {bound}", and nothing that fits is evidence."""
    assert found(runs(100, 1, "None is left by now.", 0.3), runs(100, 2)) == []
    assert found(runs(100, 1, "None is seen by now.", 0.3), runs(100, 2)) != []


SAYS = "By the way this went well."


def test_what_a_class_says_more_often_only_because_its_runs_are_long_tells_nothing() -> None:
    """One thought in 64 in both classes; the runs of one are ten times as long."""
    short = [[*texts, SAYS] if number % 8 == 0 else texts for number, texts in enumerate(runs(200, 1))]
    long = [[text for one in runs(10, number) for text in one] for number in range(200, 260)]
    told = [found([[*texts, SAYS] for texts in long], short), found([[*texts, *[SAYS] * 40] for texts in long], short)]
    assert [SAYS.casefold().rstrip(".") in [one.phrase for one in named] for named in told] == [False, True]


PLAIN = "I look up the page and read it."


def run_of(row: TrajectoryRow, thought: str, number: int, **changes: Any) -> TrajectoryRow:
    action = MessageAction(content="x", reasoning_content=thought)
    own = {"id": f"run-{number}", "task_id": f"task-{number}", "content": (row.content[0], action), "model": None}
    return row.model_copy(update={**own, **changes})


def asked(task: Task, question: str, number: int, outcome: str, hidden: bool) -> Task:
    details: dict[str, Any] = {"plan": Plan(calls=(), outcome="refused", rule="r").model_dump(mode="json")}
    details["plan"]["outcome"] = outcome
    if outcome != "refused":
        call = {"tool": "t", "arguments": {}, "changes": True, "instruction": "Do.", "given": {}}
        details["plan"] |= {"calls": [call], "rule": None}
    if hidden:
        details["hidden"] = HiddenRule(rule="r", text="t", refusal="no").model_dump(mode="json")
    return task.model_copy(update={"id": f"task-{number}", "question": question, "details": details})


def written_page(name: str, text: str, false: bool) -> Iterator[Any]:
    if false:
        yield PlantedMisinformation.model_construct(document_id=name)
    yield Document.model_construct(id=name, title=name, text=text, kind=DISTRACTOR)


def planted(finished: Path, kind: str) -> Iterator[Any]:
    """Sixty rows of each of two classes; those of the first say something that the others do not."""
    dataset = load(finished)
    task, row = next(dataset.rows("tasks")), next(dataset.rows("trajectories"))
    pair = next(dataset.rows("preferences"))
    good, bad = Verdict(correct=True, rule="exact"), Verdict(correct=False, rule="exact")
    for number in range(60):
        for first in (True, False):
            at, text = 2 * number + first, SAYS if first else PLAIN
            if kind == "success":
                yield run_of(row, text, at, role="policy", success=first, verdict=good if first else bad)
            elif kind == "role":
                yield run_of(row, text, at, role="teacher" if first else "policy", success=True, verdict=good)
            elif kind == "false page":
                page = f"# {'Overheard' if first else 'Talk'}: it\n\n{PLAIN}{SAYS if first else ''}"
                yield from written_page(f"page-{at}", page, first)
            elif kind == "refused":
                yield asked(task, text, at, "refused" if first else "done", False)
            elif kind == "hidden rule":
                yield asked(task, PLAIN, at, "refused", first)
                yield run_of(row, text, at, role="teacher", success=True, verdict=good)
            else:
                side = (MessageAction(content="x", reasoning_content=text),)
                which = PairKind.PERTURBATION if first else PairKind.VERIFIED_STEP
                own = {"id": f"pair-{at}", "task_id": f"task-{at}"}
                yield pair.model_copy(update={**own, "kind": which, "rejected": side})


def test_the_name_of_a_page_is_no_wording(finished: Path) -> None:
    """Commands are written small; a word that agents have of their own counts, whatever a page is called."""
    row = next(load(finished).rows("trajectories"))
    for name, named in (("foldd", False), ("answer", True)):
        wording = Wording()
        wording.see(Document.model_construct(id=name, title=f"The {name} manual", text="", kind="page"))
        for number in range(60):
            first, verdict = bool(number % 2), Verdict(correct=bool(number % 2), rule="exact")
            said = f"{PLAIN} It is {name} again." if first else PLAIN
            wording.see(run_of(row, said, number, role="policy", success=first, verdict=verdict))
        assert any(name in one.phrase for one in wording.telling()) == named


@pytest.mark.parametrize("asked_of", [False, True])
def test_what_a_question_asks_of_is_no_wording(finished: Path, asked_of: bool) -> None:
    dataset = load(finished)
    row, task = next(dataset.rows("trajectories")), next(dataset.rows("tasks"))
    wording = Wording()
    wording.see(task.model_copy(update={"question": "How many beetles are there?" if asked_of else "How many?"}))
    for number in range(60):
        first, verdict = bool(number % 2), Verdict(correct=bool(number % 2), rule="exact")
        said = f"{PLAIN} Beetles: that is what I look for." if first else PLAIN
        wording.see(run_of(row, said, number, role="policy", success=first, verdict=verdict))
    assert any("beetles" in one.phrase for one in wording.telling()) != asked_of


@pytest.mark.parametrize("kind", ["success", "role", "refused", "hidden rule", "planted", "false page"])
def test_a_phrase_of_one_class_of_rows_is_named_by_the_rule(finished: Path, kind: str) -> None:
    known = known_of(None, None, (), Problems(100))
    for row in planted(finished, kind):
        for one in THOUGHT_RULES:
            table = type(row).table
            if table in one.tables and one.name.startswith("phrases"):
                assert list(one.find(row, known)) == []
    found = [what for one in THOUGHT_RULES if one.close is not None for _, what in one.close(known)]
    assert any("by the way this went well" in what for what in found), found
    assert all(kind.partition(" ")[0] in what or kind == "role" for what in found)
