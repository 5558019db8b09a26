"""Another row that is looked at first: only where there will be something to say, and then that is said."""

from __future__ import annotations

import pytest
from tool_tasks import bags, opened

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.plan_view import PlanView
from synth.agents.scripted.config import ToolTeacherConfig
from synth.agents.scripted.phrases import PHRASES
from synth.agents.scripted.tool_agent.teacher import next_turn
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.identity import derive_generator
from synth.schemas.plans import Given, Plan, PlannedCall

QUESTION = "I am C1234. On my Vienna trip, Wanda Elm should be Vanda Elm."
LIST = "C1234 has 2 reservations:\nR1AA: booked, VIE to OSL, 2 passengers\nR2BB: booked, VIE to BCN, 2 passengers"
RIGHT = "Reservation R2BB\nPassenger 1: Bo Elm\nPassenger 2: Wanda Elm"
WRONG = "Reservation R1AA\nPassenger 1: Bo Elm\nPassenger 2: Ida Elm"


def _call(tool: str, arguments: dict[str, object], given: dict[str, Given], *, changes: bool = False) -> PlannedCall:
    return PlannedCall(tool=tool, arguments=arguments, changes=changes, instruction="Do it.", given=given)


def _plan(passenger: str, *more: PlannedCall) -> Plan:
    row = Given(source="observation", words=LIST.split("\n")[2], call=0)
    return Plan(
        outcome="done",
        calls=(
            _call("list_reservations", {"customer_id": "C1234"}, {}),
            _call("get_reservation", {"reservation_id": "R2BB"}, {"reservation_id": row}),
            _call(
                "correct_name",
                {"reservation_id": "R2BB", "passenger": 2},
                {"reservation_id": row, "passenger": Given(source="observation", words=passenger, call=1)},
                changes=True,
            ),
            *more,
        ),
    )


def _step(tool: str, content: str, **arguments: str) -> Step:
    call = ToolCall(id="c", name=tool, arguments=arguments)
    return Step(turn=Turn(calls=(call,)), results=(ToolResult(call_id="c", name=tool, content=content),))


LISTED = _step("list_reservations", LIST, customer_id="C1234")


def _turn(
    history: History, passenger: str = "Passenger 2: Wanda Elm", sample: int = 0, more: tuple[PlannedCall, ...] = ()
) -> tuple[Turn, Prompt]:
    schema = {"type": "object", "properties": {}}
    names = ("list_reservations", "get_reservation", "correct_name")
    prompt = Prompt(
        system="", question=QUESTION, tools=tuple(ToolSchema(name=n, description="-", parameters=schema) for n in names)
    )
    plan = _plan(passenger, *more)
    task = bags(opened("airline"), 0)
    task = task.model_copy(
        update={"question": QUESTION, "details": {**task.details, "plan": plan.model_dump(mode="json")}}
    )
    view = PlanView(plan, QUESTION, ("correct_name",), history)
    builder = TurnBuilder(task, prompt, history, derive_generator(7, "astray", sample), view)
    return next_turn(builder, ToolTeacherConfig(detour=1.0, verify=0.0, parallel=0.0)), prompt


@pytest.mark.parametrize("sample", range(6))
def test_the_one_that_lacks_what_the_request_names_is_left_for_that(sample: int) -> None:
    first, _ = _turn((LISTED,), sample=sample)
    assert [call.arguments for call in first.calls] == [{"reservation_id": "R1AA"}]
    history = (LISTED, _step("get_reservation", WRONG, reservation_id="R1AA"))
    second, prompt = _turn(history, sample=sample)
    assert [call.arguments for call in second.calls] == [{"reservation_id": "R2BB"}]
    assert "Wanda Elm" in (second.thought or "")
    assert not ungrounded(prompt, (*history, Step(turn=second)), start=len(history))


def test_where_nothing_tells_them_apart_yet_neither_is_dismissed() -> None:
    history = (LISTED, _step("get_reservation", WRONG.replace("Ida", "Wanda"), reservation_id="R1AA"))
    thought = _turn(history)[0].thought or ""
    assert any(phrase in thought for phrase in PHRASES["p_maybe_this"])


def test_no_detour_is_made_of_which_nothing_could_be_said() -> None:
    turn, _ = _turn((LISTED,), passenger="Passenger 2: Kim Oak")
    assert [call.arguments for call in turn.calls] == [{"reservation_id": "R2BB"}]


def test_what_another_part_of_the_request_is_about_is_no_detour() -> None:
    row = Given(source="observation", words=LIST.split("\n")[1], call=0)
    other = _call("get_reservation", {"reservation_id": "R1AA"}, {"reservation_id": row})
    turn, _ = _turn((LISTED,), more=(other,))
    assert [call.arguments for call in turn.calls] == [{"reservation_id": "R2BB"}]
