"""What a run says it did on web pages: that, and no more."""

from __future__ import annotations

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.scripted.tool_agent.page_deeds import page_deeds
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.outline import Outline, render

FORM = """\
[e1] link "Tags"
[e2] textbox "Name *"
[e3] combobox "Size"
[e4] checkbox "Public"
[e5] button "Save\""""


def step(name: str, refused: bool = False, body: str = FORM, **arguments: str) -> Step:
    shown = render(Outline((), "Edit", "http://site.test/edit", 1, 1, body))
    call = ToolCall(id="c", name=name, arguments=arguments)
    result = ToolResult(call_id="c", name=name, content=shown, error="refused" if refused else None)
    return Step(turn=Turn(calls=(call,)), results=(result,))


START = step("open", url="/")


def test_what_was_typed_chosen_and_pressed_is_told_in_order() -> None:
    run = (
        START,
        step("click", ref="e1"),
        step("type", ref="e2", text="Robin Tate"),
        step("select", ref="e3", option="Large"),
        step("click", ref="e4"),
        step("click", ref="e5"),
    )
    told = "I wrote “Robin Tate” into “Name”, chose “Large” for “Size”, clicked “Public” and pressed “Save”."
    assert page_deeds(run) == told


def test_what_was_refused_or_stood_on_no_page_is_not_told() -> None:
    assert page_deeds((START, step("click", refused=True, ref="e5"), step("click", ref="e9"))) == ""
    assert page_deeds((START, step("type", ref="e2", text=""))) == "I cleared “Name”."
    assert page_deeds(()) == ""


def test_an_element_is_one_of_the_page_before() -> None:
    other = '[e5] button "Delete"'
    assert page_deeds((START, step("click", ref="e5", body=other), step("click", ref="e5"))) == (
        "I pressed “Save” and pressed “Delete”."
    )


def test_a_long_run_is_not_told_step_by_step() -> None:
    assert page_deeds((START, *(step("click", ref="e5") for _ in range(7)))) == ""


def test_what_is_told_is_grounded() -> None:
    asked = "Please put “Robin Tate” into “Name”, choose “Large” for “Size” and save."
    run = (
        START,
        step("type", ref="e2", text=""),
        step("type", ref="e2", text="Robin Tate"),
        step("select", ref="e3", option="Large"),
        step("click", ref="e4"),
        step("click", ref="e5"),
    )
    end = Step(turn=Turn(answer=f"Done. {page_deeds(run)}"), results=())
    assert ungrounded(Prompt(system="", question=asked, tools=()), (*run, end)) == []
