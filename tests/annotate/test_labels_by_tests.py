"""Labels of repairs: by what the tests say before and after each change."""

from __future__ import annotations

from typing import Any

from synth.agents.contract import Step, Turn
from synth.annotate.labels.tested import measured_by_tests
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.pipeline import blank_task
from synth.schemas.code import Mutated, Mutation
from synth.schemas.details import details_with
from synth.schemas.steps import LabelReason

FAULT = Mutation(path="pocket/clamp.py", start=0, old="<", new="<=", operator="boundary", scope="clamp")
TASK = blank_task("t", "code", details_with(Mutated(mutation=FAULT, failing=("a", "b"), passing=3)))


def did(name: str, content: str, **arguments: Any) -> Step:
    call = ToolCall(id="c", name=name, arguments=arguments)
    return Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id="c", name=name, content=content),))


def told(*failing: str) -> Step:
    lines = "\n".join(f"\nFAILED {name}\n  AssertionError" for name in failing)
    return did("run_tests", f"{len(failing)} failed, 3 passed\n{lines}" if failing else "5 passed")


def edit(new: str) -> Step:
    return did("edit_file", "Changed.", path="pocket/clamp.py", old="x", replacement=new)


def labels(*steps: Step, answer: str | None = "Done.", correct: bool) -> list[tuple[int | None, LabelReason]]:
    history = (*steps, Step(turn=Turn(answer=answer)))
    given = [(None, LabelReason.UNMEASURED, "")] * len(history)
    return [one[:2] for one in measured_by_tests(TASK, history, given, correct=correct)]  # type: ignore[arg-type]


def test_a_change_is_what_the_tests_say_behind_it() -> None:
    found = labels(told("a", "b"), edit("1"), told("a"), edit("2"), told("a", "c"), edit("3"), told(), correct=True)
    assert found == [
        (1, LabelReason.PROGRESS),
        (1, LabelReason.PROGRESS),
        (1, LabelReason.VERIFIED),
        (-1, LabelReason.WRONG_TURN),
        (1, LabelReason.VERIFIED),
        (1, LabelReason.PROGRESS),
        (1, LabelReason.VERIFIED),
        (1, LabelReason.PROGRESS),
    ]


def test_the_same_failures_are_neutral_and_a_change_that_was_not_tested_is_not_measured() -> None:
    found = labels(told("a"), edit("1"), told("a"), told("a"), edit("2"), correct=False)
    assert found[1] == (0, LabelReason.NEUTRAL)
    assert found[3] == (-1, LabelReason.REDUNDANT)
    assert found[4] == (None, LabelReason.UNMEASURED)
    assert found[5] == (-1, LabelReason.UNSUPPORTED_ANSWER)
    assert labels(told("a"), edit("1"), correct=True)[1] == (1, LabelReason.PROGRESS)


def test_a_look_helps_where_the_fault_is() -> None:
    here = did("read_file", "pocket/clamp.py, lines 1 to 2 of 2\n   1  def clamp(x):", path="pocket/clamp.py")
    there = did("read_file", "pocket/text.py, lines 1 to 2 of 2\n   1  def wrap(x):", path="pocket/text.py")
    found = labels(told("a"), here, there, here, answer=None, correct=False)
    assert found[1:] == [
        (1, LabelReason.PROGRESS),
        (0, LabelReason.NEUTRAL),
        (-1, LabelReason.REDUNDANT),
        (-1, LabelReason.PREMATURE),
    ]
