"""Who failed a run: what was measured comes before what was labelled, and that before what the record shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synth.agents.imported import import_trajectory
from synth.annotate.failures.attribution import Attribution, agents_of, attribute
from synth.annotate.labels import label
from synth.registry import find
from synth.schemas.steps import Criticality, FailureClass, StepRow
from synth.schemas.tasks import Walk
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

CODE = "```python\nprint(find('Atlas'))\n```"
TASK = small_tasks()[0].model_copy(
    update={"walk": Walk(shape="given", hops=()), "question": "Who wrote the Atlas?", "answer": "Jon Maak"}
)


def log(*said: tuple[str, str], **more: Any) -> TrajectoryRow:
    """A failed run of several agents on the task."""
    history = [{"role": "assistant", "name": name, "content": text} for name, text in said]
    read = find("importers", "auto").read({"question": TASK.question, "history": history, "is_correct": False, **more})
    return import_trajectory(read, None, provenance=PROVENANCE)


PLAN = ("Planner", "Let us look the author up in the catalogue of the library, one of you please.")
END = ("Checker", "Agreed, we are finished here and can close the whole discussion now.")
LOGS: dict[str, tuple[tuple[tuple[str, str], ...], int, str, FailureClass | None]] = {
    "what it runs fails": (
        (PLAN, ("Coder", CODE), ("Computer_terminal", "exitcode: 1\nTraceback"), END),
        1,
        "fails",
        FailureClass.ACTING_INVALID_CALL,
    ),
    "what it runs brings nothing": (
        (PLAN, ("Reader", CODE), ("Computer_terminal", "no results"), END),
        1,
        "brings nothing",
        FailureClass.FINDING_BAD_QUERY,
    ),
    "claims what nobody had shown": (
        (PLAN, ("Reader", 'It was **Ada Torrin**, in 1702, in "Nemira".'), END),
        1,
        "nothing shown to it had",
        FailureClass.REASONING_UNSUPPORTED,
    ),
    "the same, read in a result": (
        (
            PLAN,
            ("Coder", CODE),
            ("Computer_terminal", "**Ada Torrin** 1702"),
            ("Reader", "So **Ada Torrin**, 1702."),
            END,
        ),
        1,
        "runs or calls",
        None,
    ),
    "makes data up": (
        (PLAN, ("Reader", "For the sake of it, assume that the catalogue names Ada."), END),
        1,
        "made-up data",
        FailureClass.REASONING_UNSUPPORTED,
    ),
    "nothing speaks for a step": (
        (PLAN, ("Reader", "We go on then, one after the other, as was said."), END),
        0,
        "nothing",
        None,
    ),
}


@pytest.mark.parametrize("case", LOGS)
def test_what_the_record_shows(case: str) -> None:
    said, step, why, failure = LOGS[case]
    found = attribute(log(*said))
    speaking = [name for name, _ in said if name != "Computer_terminal"]
    assert (found.step, found.agent, found.basis, found.failure) == (step, speaking[step], "record", failure)
    assert why in found.why
    assert 0 < found.share <= 1
    assert found.step not in found.others


def test_to_whom_an_agent_speaks_is_no_part_of_its_name() -> None:
    row = log(("Orchestrator (thought)", "Hm."), ("Orchestrator (-> Surfer)", "Go."), ("Surfer", "I went."))
    assert agents_of(row) == ("Orchestrator", "Orchestrator", "Surfer")


def test_in_the_log_of_an_orchestrator_the_first_report_is_suspected() -> None:
    row = log(
        ("Orchestrator (thought)", "We need the length of the river."),
        ("Orchestrator (-> Surfer)", "Look for the length of the river."),
        ("Surfer", "I typed the length of the river into a search engine."),
        ("Orchestrator (thought)", "That is enough."),
        ("Surfer", "I scrolled down the page of results once more."),
    )
    found = attribute(row)
    assert (found.step, found.agent) == (2, "Surfer")
    assert "brings back to the orchestrator" in found.why


def test_the_agent_is_who_has_most_against_all_its_steps_together() -> None:
    ran = [("Coder", CODE), ("Computer_terminal", "Nothing about it, as far as can be seen.")]
    guess = "It was **Ada Torrin**, **Jon Maak**, **Bela Roth** or **Ines Vale**, 1702 to 1745."
    row = log(PLAN, ("Guesser", guess), *ran, *ran, *ran, END)
    found = attribute(row)
    assert (found.agent, agents_of(row)[found.step]) == ("Coder", "Coder")
    assert found.others[0] == 1, "more speaks for the guess than for any single run of code"
    assert 0.1 < found.share < 0.4, "four steps are about equally suspect"


def run_of_one(*results: str) -> tuple[TrajectoryRow, list[StepRow]]:
    """A failed run of one agent, with its labels."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK.question}]
    for number, result in enumerate(results):
        function = {"name": "look", "arguments": f'{{"page": {number}}}'}
        messages.append({"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
    value = {"messages": [*messages, {"role": "assistant", "content": "Ada Torrin"}]}
    row = import_trajectory(find("importers", "openai").read(value), TASK, provenance=PROVENANCE)
    return row, [step.row(PROVENANCE) for step in label(row, TASK)]


def measured(steps: Sequence[StepRow], number: int, difference: float) -> list[StepRow]:
    """The same, with what continuations showed of a step."""
    found = Criticality(
        alternative=0,
        difference=difference,
        low=difference - 0.1,
        high=difference + 0.1,
        confidence=0.97,
        alternative_successes=9,
        alternative_n=10,
        original_successes=1,
        original_n=10,
        verified=True,
    )
    return [step.model_copy(update={"criticality": found}) if step.step == number else step for step in steps]


def test_labels_come_before_the_record_and_continuations_before_labels() -> None:
    row, steps = run_of_one("Jon Maak wrote the Atlas.", "Error: not found")
    assert [step.first_error for step in steps] == [False, False, True]
    by_labels = attribute(row, steps)
    assert (by_labels.step, by_labels.basis, by_labels.agent) == (2, "labels", None)
    assert by_labels.why.startswith("unsupported_answer: ")
    by_record = attribute(row)
    assert (by_record.step, by_record.basis) == (1, "record"), "its call failed"
    by_continuations: Attribution = attribute(row, measured(steps, 0, 0.8))
    assert (by_continuations.step, by_continuations.basis, by_continuations.share) == (0, "continuations", 0.97)
    assert "9 of 10 with another action, and in 1 of 10" in by_continuations.why
    assert attribute(row, measured(steps, 0, -0.8)).basis == "labels", "the recorded action was the better one"
