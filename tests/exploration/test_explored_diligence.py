"""Before anything is changed or refused, everything is looked up by which the policy decides."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

import pytest
from explored_apps import APPLICATIONS, environment, plan_of, run, tasks

from synth.agents.contract import Step
from synth.agents.grounding.weighed import brief, is_compared
from synth.agents.loop import Rollout
from synth.agents.plan_view import alike
from synth.agents.scripted.config import ToolPolicyConfig, ToolTeacherConfig
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.agents.trajectory import to_row
from synth.annotate.evidence.assessment import Effect, StepAssessment
from synth.annotate.evidence.calls import judge_call
from synth.annotate.evidence.view import EvidenceView
from synth.dataset.files import Problems
from synth.dataset.rules.rules import known_of
from synth.dataset.rules.thoughts import diligence
from synth.schemas.plans import Policed
from synth.schemas.tasks import Task
from synth.testing.corpus import PROVENANCE

pytestmark = pytest.mark.thorough

SCRIPTED = PROVENANCE.model_copy(update={"backend": "scripted"})
CALM = ToolTeacherConfig(detour=0, verify=0, parallel=0)


@cache
def taught(application: str) -> list[tuple[Task, Rollout]]:
    found = [task for task in tasks(application, 24) if any(call.decides for call in plan_of(task).calls)]
    runs = [(task, run(ToolTeacher(task, CALM), task)) for task in found]
    return [(task, rollout) for task, rollout in runs if rollout.verdict.correct]


def problems(task: Task, rollout: Rollout, steps: Sequence[Step]) -> list[str]:
    place, known = environment(task.details["app"]), known_of(None, None, (), Problems(10))
    row = to_row(
        replace(rollout, history=tuple(steps)), place, role="teacher", number=0, privileged=True, provenance=SCRIPTED
    )
    assert not list(diligence.find(task, known))
    return list(diligence.find(row, known))


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_look_that_is_left_out_is_seen(application: str) -> None:
    outcomes = set()
    for task, rollout in taught(application):
        plan = plan_of(task)
        assert not problems(task, rollout, rollout.history)
        looks = {(call.tool, str(call.arguments)) for call in plan.calls if call.decides}
        without = [
            step
            for step in rollout.history
            if not any((call.name, str(call.arguments)) in looks for call in step.turn.calls)
        ]
        assert len(without) < len(rollout.history)
        assert "by which it is decided" in problems(task, rollout, without)[0]
        outcomes.add(plan.outcome)
    # Looking tells nothing of how it ends.
    assert "done" in outcomes
    assert outcomes & {"refused", "offered"}


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_rule_without_what_was_looked_up_for_it_is_seen(application: str) -> None:
    seen = 0
    for task, rollout in taught(application)[:8]:
        rules = {rule.rstrip(".") for told in Policed.of(task.details).rules.values() for rule in told}
        bare = [_silent(step) for step in only_rules(rollout, rules - needing_no_look(task))]
        if any(step.turn.thought for step in bare):
            assert "without a word on what was looked up for it" in problems(task, rollout, bare)[0]
            seen += 1
    assert seen


def only_rules(rollout: Rollout, rules: Collection[str]) -> list[Step]:
    """The run with nothing in its thoughts but those of ``rules`` that they quote."""
    found = []
    for step in rollout.history:
        said = [rule for rule in sorted(rules) if rule in (step.turn.thought or "")]
        turn = step.turn.model_copy(update={"thought": f'The rule for this is "{said[0]}".' if said else None})
        found.append(step.model_copy(update={"turn": turn}))
    return found


def _silent(step: Step) -> Step:
    """A step whose message says nothing of what was read."""
    return step.model_copy(
        update={"turn": step.turn.model_copy(update={"answer": step.turn.answer and "That is all."})}
    )


def needing_no_look(task: Task) -> set[str]:
    """Rules that are kept before a change by what the request itself says."""
    grounds = [ground for call in plan_of(task).calls for ground in call.grounds]
    told = {ground.rule.rstrip(".") for ground in grounds if ground.lines or ground.nothing}
    return {ground.rule.rstrip(".") for ground in grounds} - told


def test_of_a_rule_that_needs_no_look_nothing_else_has_to_be_said() -> None:
    """ "Budgets are set for the present month and the next": what was looked up beside it belongs to another part."""
    runs = [(task, rollout, only_rules(rollout, needing_no_look(task))) for task, rollout in taught("ledger")]
    said = [run for run in runs if any(step.turn.thought for step in run[2])]
    assert said
    for task, rollout, bare in said:
        assert not [one for one in problems(task, rollout, bare) if "without a word" in one]


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_rule_that_does_not_decide_is_seen(application: str) -> None:
    policy = environment(application).instructions().partition("## Policy")[2]
    rules = [line[2:].rstrip(".") for line in policy.split("\n") if line.startswith("- ")]
    for task, rollout in taught(application)[:4]:
        own = {plan_of(task).rule, *(rule for told in Policed.of(task.details).rules.values() for rule in told)}
        own |= {ground.rule for call in plan_of(task).calls for ground in call.grounds}
        other = next(rule for rule in rules if f"{rule}." not in own and rule not in own and '"' not in rule)
        first = rollout.history[0]
        turn = first.turn.model_copy(update={"thought": f'The rule for this is "{other}".'})
        assert problems(task, rollout, [first.model_copy(update={"turn": turn}), *rollout.history[1:]]) == [
            f"content: quotes {other!r}, which does not decide"
        ]


def _amounts(task: Task) -> list[str]:
    return [fact.amount for fact in plan_of(task).user if fact.amount]


def test_the_amount_is_put_to_the_customer_before_money_is_moved_and_a_run_without_that_is_seen() -> None:
    moved = [(task, rollout) for task, rollout in taught("airline") if _amounts(task)]
    assert {fact.topic.split()[1] for task, _ in moved for fact in plan_of(task).user if fact.amount} >= {"charge"}
    for task, rollout in moved:
        for amount in _amounts(task):
            assert any(amount in str(call.arguments) for step in rollout.history for call in step.turn.calls)
        silent = [
            step
            for step in rollout.history
            if not any(amount in str(call.arguments) for amount in _amounts(task) for call in step.turn.calls)
        ]
        assert any("before the user has agreed" in found for found in problems(task, rollout, silent)), task.question
    assert len(moved) >= 3


def test_who_moves_money_unasked_is_logged_and_the_change_counts_as_an_error() -> None:
    none = ToolPolicyConfig.model_validate(
        {name: 0 for name, field in ToolPolicyConfig.model_fields.items() if field.annotation is float}
    )
    tools, seen = environment("airline").tools(), 0
    for task in [task for task, _ in taught("airline") if _amounts(task)][:6]:
        for rate in (0.0, 1.0):
            done = run(ToolPolicy(task, none.model_copy(update={"unconfirmed": rate})), task)
            view, effects = EvidenceView(task, (), tools), list[StepAssessment]()
            for step in done.history:
                effects += [judge_call(view, *pair) for pair in zip(step.turn.calls, step.results, strict=True)]
                view.take(step)
            unasked = [one for one in effects if "before the user has agreed" in one.why]
            logged = [error for error in done.injected if error.mode == "unconfirmed"]
            assert bool(unasked) is bool(logged)
            assert all(one.kind is Effect.CHANGED for one in unasked)
            assert rate or not logged
            seen += len(logged)
    assert seen


def test_a_refusal_gives_the_fact_that_decides_and_no_other() -> None:
    seen = 0
    for task, rollout in taught("airline"):
        forbidden = Policed.of(task.details).forbidden
        if forbidden is None or not forbidden.evidence or plan_of(task).outcome != "refused":
            continue
        *before, last = rollout.history
        answer = last.turn.answer or ""
        assert any(line in answer for line in forbidden.evidence) or is_compared(forbidden.weighed, answer)
        email = next(r.content for step in before for r in step.results if "fits:" in r.content).split("\n")[1]
        other = last.turn.model_copy(update={"answer": f'{last.turn.answer} The records say "{email}".'})
        told = problems(task, rollout, [*before, last.model_copy(update={"turn": other})])
        assert [f"content: gives {email!r} as a reason, which does not decide"] == told
        bare = [step.model_copy(update={"turn": step.turn.model_copy(update={"thought": None})}) for step in before]
        silent = last.turn.model_copy(update={"thought": None, "answer": "I'm sorry, that is not allowed."})
        told = problems(task, rollout, [*bare, last.model_copy(update={"turn": silent})])
        assert any("refuses without a word" in one for one in told)
        seen += 1
    assert seen


def _told(steps: Sequence[Step]) -> str:
    return " ".join(step.turn.thought or "" for step in steps)


def _without_words(rollout: Rollout, phrases: Sequence[str]) -> list[Step]:
    """The run without ``phrases`` in its thoughts, even sums of which are written without their cents, too."""
    found = []
    for step in rollout.history:
        thought = step.turn.thought or ""
        for phrase in phrases:
            thought = re.sub(re.escape(phrase).replace(r"\.00", r"(?:\.00)?"), "", thought)
        found.append(step.model_copy(update={"turn": step.turn.model_copy(update={"thought": thought})}))
    return found


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_rule_that_is_quoted_is_compared_with_what_was_read_and_a_run_without_that_is_seen(application: str) -> None:
    seen = 0
    for task, rollout in taught(application):
        forbidden, plan = Policed.of(task.details).forbidden, plan_of(task)
        every = [ground for call in (*plan.calls, *plan.attempts) for ground in call.grounds]
        weighed = [(one.rule, one.weighed) for one in every if one.weighed]
        if forbidden is not None and forbidden.weighed and plan.rule is not None:
            weighed.append((plan.rule, forbidden.weighed))
        told = _told(rollout.history)
        weighed = [(rule, forms) for rule, forms in weighed if brief(rule) in told and is_compared(forms, told)]
        if not weighed:
            continue
        _, forms = weighed[0]
        bare = _without_words(rollout, [form[1:] for form in forms])
        assert not is_compared(forms, _told(bare))
        assert any("never says how what was read compares" in one for one in problems(task, rollout, bare))
        seen += 1
    assert seen >= 5


@pytest.mark.parametrize("application", APPLICATIONS)
def test_a_row_that_is_opened_behind_the_line_of_another_is_seen(application: str) -> None:
    seen, airline = 0, application == "airline"
    for task, rollout in taught(application):
        for at, step in enumerate(rollout.history):
            calls = [
                call for call in step.turn.calls if call.name in ("get_reservation", "get_issue", "get_transaction")
            ]
            value = next((str(one) for call in calls[:1] for one in call.arguments.values()), "")
            looked = [
                result.content
                for old in rollout.history[:at]
                for call, result in zip(old.turn.calls, old.results, strict=True)
                if call.name.startswith(("list_", "search_"))
            ]
            shown = [line for text in looked for line in text.split("\n") if value not in line and '"' not in line]
            lines = [line for line in shown if any(one[:1] == value[:1] or airline for one in alike(value, line, ""))]
            if not lines or len(step.turn.calls) > 1:
                continue
            turn = step.turn.model_copy(update={"thought": f'I read "{lines[0].strip()}".'})
            steps = [*rollout.history[:at], step.model_copy(update={"turn": turn}), *rollout.history[at + 1 :]]
            assert any("quotes a line on" in one for one in problems(task, rollout, steps))
            seen += 1
    # An issue and a transaction are mostly opened by the only line there is.
    assert seen or not airline


def test_what_is_named_twice_in_one_breath_is_seen() -> None:
    task, rollout = taught("tracker")[0]
    assert problems(task, rollout, rollout.history) == []
    first = rollout.history[0]
    for said, seen in (("Asked for Payments and Payments, this is it.", 1), ("For Payments and Mobile I look.", 0)):
        turn = first.turn.model_copy(update={"thought": said})
        steps = [first.model_copy(update={"turn": turn}), *rollout.history[1:]]
        assert len([one for one in problems(task, rollout, steps) if "twice in one breath" in one]) == seen
