"""A turn that goes on after a mistake names it, and one beside an early end says that something is left."""

from __future__ import annotations

import pytest
from tool_tasks import bags, opened

from synth.agents.contract import Prompt, Step, Turn
from synth.agents.grounding.mistakes import guessed_id, passes_over, unnamed_mistake
from synth.agents.grounding.said import says
from synth.agents.loop import Rollout
from synth.agents.plan_view import Made, PlanView, plan_of
from synth.agents.scripted.tool_agent.narration import GroundedNarration, shown_values
from synth.agents.scripted.tool_agent.turn_builder import TurnBuilder
from synth.agents.trajectory import step_items, to_row
from synth.annotate.critical.contract import Point
from synth.annotate.critical.plan_turns import plan_turns
from synth.annotate.preferences.sides import PairPosition, make_pair
from synth.dataset.files import Problems
from synth.dataset.rules.rules import known_of
from synth.dataset.rules.thoughts import corrections, diligence
from synth.environments.contract import ToolCall, ToolResult
from synth.identity import derive_generator
from synth.schemas.details import details_with
from synth.schemas.plans import ForbiddenCall, Policed
from synth.schemas.preferences import PairKind
from synth.schemas.reports import BuildReport, SourceReport, StageReport
from synth.schemas.trajectories import StopReason, Verdict
from synth.schemas.turns import bare_actions
from synth.testing.corpus import PROVENANCE

AIRLINE = opened("airline")
TASK = bags(AIRLINE, 0)
PLAN = plan_of(TASK)
assert PLAN is not None
LOOKS, CHANGE = [(call.tool, call.arguments) for call in PLAN.calls[:3]], PLAN.calls[3]


def history(*more: tuple[str, dict[str, object]], named: str = "", looks: int = 3) -> tuple[Step, ...]:
    """What the application says to the plan's look-ups and to ``more`` calls; the last thought says ``named``."""
    episode = AIRLINE.reset(TASK)
    steps = []
    for tool, arguments in [*LOOKS[:looks], *more]:
        call = ToolCall(id="c", name=tool, arguments=dict(arguments))
        steps.append(Step(turn=Turn(thought=None, calls=(call,)), results=(episode.step(call),)))
    episode.close()
    if named:
        steps[-1] = steps[-1].model_copy(update={"turn": steps[-1].turn.model_copy(update={"thought": named})})
    return tuple(steps)


def builder(steps: tuple[Step, ...], seed: int = 7) -> TurnBuilder:
    prompt = Prompt(system=AIRLINE.instructions(), question=TASK.question, tools=tuple(AIRLINE.tools()))
    view = PlanView.of(TASK, steps)
    assert view is not None
    made = TurnBuilder(TASK, prompt, steps, derive_generator(seed, "corrections"), view)
    made.thoughts = GroundedNarration(prompt, steps, made.generator, terse=False)
    made.explains = True
    return made


def thought(steps: tuple[Step, ...], seed: int = 7) -> str:
    return builder(steps, seed).call(3).thought or ""


@pytest.mark.parametrize("seed", range(4))
def test_another_value_is_named_beside_the_right_one(seed: int) -> None:
    said = thought(history((CHANGE.tool, {**CHANGE.arguments, "bags": 1})), seed)
    found = says(("p_correct", "p_amiss"), said)
    assert found is not None, said
    assert "bag" in found.group()
    assert "two" in found.group()


@pytest.mark.parametrize("seed", range(4))
def test_an_id_that_nothing_showed_is_called_so(seed: int) -> None:
    said = thought(history((CHANGE.tool, {**CHANGE.arguments, "reservation_id": "Z9ZZ9Z"})), seed)
    found = says(("p_amiss_unseen",), said)
    assert found is not None, said
    assert "Z9ZZ9Z" in found.group()


def test_an_id_is_known_by_its_form() -> None:
    """The key of an issue is called "issue", and no "issue_id"."""
    call = ToolCall(id="c", name="get_issue", arguments={"issue": "XFN-86"})
    refused = ToolResult(call_id="c", name="get_issue", content="There is no issue XFN-86.", error="not_found")
    steps = (Step(turn=Turn(calls=(call,)), results=(refused,)),)
    assert guessed_id("Please close the login bug.", steps, Made(0, call, refused)) == "XFN-86"
    assert guessed_id("Please close XFN-86.", steps, Made(0, call, refused)) is None


def test_what_nobody_asked_for_is_called_so() -> None:
    said = thought(history(("cancel_reservation", {"reservation_id": CHANGE.arguments["reservation_id"]})))
    found = says(("p_unasked",), said)
    assert found is not None, said
    assert "cancel a reservation" in found.group()


def test_a_mistake_is_named_once_and_none_where_there_was_none() -> None:
    wrong = (CHANGE.tool, {**CHANGE.arguments, "bags": 1})
    before = says(("p_correct",), thought(history(wrong)))
    assert before is not None
    again = thought((*history(wrong), *history(named=before.group())[-1:]))
    assert says(("p_correct", "p_amiss", "p_amiss_right"), again) is None
    assert says(("p_correct", "p_amiss", "p_amiss_right", "p_unasked", "p_amiss_unseen"), thought(history())) is None


def alternatives(recorded: Turn, looks: int = 3) -> list[str]:
    steps = history(looks=looks)
    prompt = Prompt(system=AIRLINE.instructions(), question=TASK.question, tools=tuple(AIRLINE.tools()))
    point = Point(task=TASK, environment=AIRLINE, prompt=prompt, history=steps, recorded=recorded)
    return [turn.thought or "" for turn in plan_turns(point, derive_generator(7, "beside"), patience=40)]


def test_beside_an_early_end_it_says_that_nothing_is_done() -> None:
    goes_on = alternatives(Turn(thought="-", answer="It is done."), looks=2)
    assert says(("p_none_yet",), goes_on[0]) is not None, goes_on[0]


def test_beside_another_value_it_says_what_the_request_has() -> None:
    call = ToolCall(id="c", name=CHANGE.tool, arguments={**CHANGE.arguments, "bags": 1})
    said = alternatives(Turn(thought="-", calls=(call,)))
    assert any((found := says(("p_words",), one)) is not None and "two" in found.group() for one in said), said


WRONG = Verdict(correct=False, rule="mismatch")
CANCELS = ("cancel_reservation", {"reservation_id": CHANGE.arguments["reservation_id"]})
GUESSES = (CHANGE.tool, {**CHANGE.arguments, "reservation_id": "Z9ZZ9Z"})


@pytest.mark.parametrize("mistake", [CANCELS, GUESSES], ids=["unasked", "guessed"])
def test_who_goes_on_without_a_word_passes_the_mistake_over(mistake: tuple[str, dict[str, object]]) -> None:
    steps = history(mistake)
    named = builder(steps).call(3)
    silent = named.model_copy(update={"thought": "I go on with the request."})
    assert passes_over(TASK, (*steps, Step(turn=named))) is None
    assert mistake[0] in (passes_over(TASK, (*steps, Step(turn=silent))) or "")
    assert passes_over(TASK, (*history(), Step(turn=silent))) is None


@pytest.mark.parametrize("expert", [None, "expert"])
def test_validate_sees_a_preferred_side_that_passes_a_mistake_over(expert: str | None) -> None:
    """A failed run cancels what nobody asked for; what a model says instead is in words of its own."""
    steps = history(CANCELS)
    named = builder(steps).call(3)
    silent = named.model_copy(update={"thought": "I go on with the request."})
    ends = Turn(thought="That is all.", answer="It is done.")
    wrong = Rollout(TASK, builder(steps).prompt, (*steps, Step(turn=ends)), StopReason.ANSWERED, WRONG)
    run = to_row(wrong, AIRLINE, role="policy", number=0, privileged=True, provenance=PROVENANCE)
    uses = [{"role": expert, "model": "m", "calls": 1, "prompt_tokens": 1, "completion_tokens": 1}] if expert else []
    stage = StageReport.model_validate(
        {
            "label": "s",
            "stage": "critical_steps",
            "version": 1,
            "fingerprint": "f",
            "rows_in": 0,
            "kept": 0,
            "models": uses,
        }
    )
    source = SourceReport(name="app", kind="app", sha256="a")
    known = known_of(BuildReport(dataset="d", seed=1, source=source, stages=(stage,)), None, (), Problems(10))
    assert not [*diligence.find(TASK, known), *corrections.find(run, known)]
    found = []
    for turn in (named, silent):
        pair = make_pair(
            PairPosition.at(run, len(steps)),
            kind=PairKind.VERIFIED_STEP,
            family="robust_recovery",
            chosen=bare_actions(step_items(Step(turn=turn))),
            rejected=bare_actions(step_items(Step(turn=ends))),
            difference="-",
            why="-",
            provenance=PROVENANCE,
        )
        found.append(list(corrections.find(pair, known)))
    assert not found[0]
    assert bool(found[1]) is (expert is None)


def test_what_the_policy_forbids_was_asked_for() -> None:
    forbidden = ForbiddenCall(tool="cancel_reservation", arguments=dict(CANCELS[1]), rule="late")
    asked = TASK.model_copy(update={"details": details_with(TASK.details, Policed(forbidden=forbidden))})
    silent = Turn(thought="I go on with the request.", answer="It can't be done.")
    assert passes_over(TASK, (*history(CANCELS), Step(turn=silent))) is not None
    assert passes_over(asked, (*history(CANCELS), Step(turn=silent))) is None


def test_what_the_user_asked_for_first_is_no_mistake_of_value() -> None:
    """What is forbidden was asked for: to try it is against the rule, and what is done instead is no other value."""
    tried = (CHANGE.tool, {**CHANGE.arguments, "bags": 9})
    forbidden = ForbiddenCall(tool=CHANGE.tool, arguments=dict(tried[1]), rule="three bags")
    asked = TASK.model_copy(update={"details": details_with(TASK.details, Policed(forbidden=forbidden))})
    steps = history(tried)
    view = PlanView.of(TASK, steps)
    assert view is not None
    assert unnamed_mistake(TASK, view, steps) is not None
    assert unnamed_mistake(asked, view, steps) is None


def test_first_is_no_number_of_bags() -> None:
    said = ["Is there room for one?", "Thank you for telling me first! Yes, it is fine."]
    assert shown_values({"bags": 1}, said) == ["one bag"]
    assert shown_values({"bags": 3, "leg": 1}, ["3 bags on the first flight"]) == ["3 bags", "leg 1"]


def test_a_guessed_id_is_one_however_often_it_was_refused_and_where_nothing_refused_it() -> None:
    guess = {**CHANGE.arguments, "reservation_id": "Z9ZZ9Z"}
    twice = history((CHANGE.tool, guess), (CHANGE.tool, guess))
    assert "without saying that Z9ZZ9Z was a guess" in str(passes_over(TASK, (*twice, Step(turn=Turn(thought="-")))))
    call = ToolCall(id="c", name="list_reservations", arguments={"customer_id": "C00000A"})
    empty = ToolResult(call_id="c", name=call.name, content="No reservation fits.")
    looked = (*history(), Step(turn=Turn(calls=(call,)), results=(empty,)))
    assert "without saying that its id was a guess" in str(passes_over(TASK, (*looked, Step(turn=Turn(thought="-")))))
    assert says(("p_amiss_guess",), thought(looked)) is not None


def test_what_was_put_right_in_a_call_that_the_policy_forbids_is_no_longer_named() -> None:
    wrong, right = {**CHANGE.arguments, "reservation_id": "Z9ZZ9Z"}, {**CHANGE.arguments, "bags": 9}
    task = TASK.model_copy(
        update={
            "details": details_with(
                TASK.details, Policed(forbidden=ForbiddenCall(tool=CHANGE.tool, arguments=right, rule="R"), rules={})
            )
        }
    )
    steps = history((CHANGE.tool, wrong), (CHANGE.tool, right))
    view = PlanView.of(task, steps)
    assert view is not None
    assert unnamed_mistake(task, view, steps) is None


def test_who_picks_another_row_and_gets_no_answer_has_made_a_mistake_all_the_same() -> None:
    tool, arguments = LOOKS[-1]
    name = next(name for name, value in arguments.items() if str(value)[:1].isupper())
    call = ToolCall(id="c", name=tool, arguments={**arguments, name: "Q1QQ1Q"})
    lost = ToolResult(call_id="c", name=tool, content="The connection was lost.", error="failure")
    seen = ToolResult(call_id="c", name=tool, content="Q1QQ1Q is there.")
    steps = (
        *history(looks=2),
        Step(turn=Turn(calls=(ToolCall(id="c", name="list_all", arguments={}),)), results=(seen,)),
        Step(turn=Turn(calls=(call,)), results=(lost,)),
    )
    view = PlanView.of(TASK, steps)
    assert view is not None
    mistake = unnamed_mistake(TASK, view, steps)
    assert mistake is not None
    assert mistake.call is call
