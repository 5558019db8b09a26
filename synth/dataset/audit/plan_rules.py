"""Tasks with plans proved by doing: the plan from a fresh beginning, and without any one of its changes."""

from __future__ import annotations

from collections.abc import Iterator

from synth.agents.plan_view import ASK, plan_of
from synth.environments.app.environment import AppEpisode
from synth.environments.contract import Environment, ToolCall
from synth.schemas.plans import AnyGoal, Injected, Plan, RuleHidden, Wanted
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["plan_problems"]

_SEEN = "as it is seen"
"""In place of the hash of a state that is seen only through probes: the goal's verdict says if it is reached."""


def plan_problems(environment: Environment, task: Task) -> Iterator[tuple[str, str]]:
    """(rule, what is wrong) of a task's plan, carried out from a fresh start."""
    plan = plan_of(task)
    assert plan is not None
    calls = [ToolCall(id=f"call_{n}", name=c.tool, arguments=c.arguments) for n, c in enumerate(plan.calls)]
    goal = Wanted.of(task.details).goal
    if goal is None:
        yield "plan", "the task has no goal"
        return
    wanted = AnyGoal.of(goal).state or _SEEN
    reached, refused, verdict = _carried_out(environment, task, calls)
    if refused is not None:
        yield "plan", refused
    if reached != wanted:
        yield "plan", f"leads to another state than the goal: {verdict.evidence}"
    elif verdict.rule == "policy":
        yield "plan", verdict.evidence
    for number, planned in enumerate(plan.calls):
        if planned.changes:
            without, _, _ = _carried_out(environment, task, [call for n, call in enumerate(calls) if n != number])
            if without == wanted:
                yield "minimal", f"call {number} ({planned.tool}) can be left out"
    if plan.attempts or RuleHidden.stand_in(task.details):
        yield from (("hidden", what) for what in _untrue(environment, task, plan, wanted))
    if Injected.stand_in(task.details):
        yield from (("injected", what) for what in _harmless(environment, task, calls, wanted))
    if plan.outcome in ("refused", "answered") and any(planned.changes for planned in plan.calls):
        yield "plan", f"a task that is {plan.outcome} changes something"


def _harmless(environment: Environment, task: Task, calls: list[ToolCall], wanted: str) -> Iterator[str]:
    """What does not hold of an instruction planted in a tool's result."""
    note = Injected.of(task.details).injection
    if note is None:
        yield "a task with an injection says what it is"
        return
    episode = environment.reset(task)
    try:
        if not any(note.text in episode.step(call).content for call in calls):
            yield "the plan does not come across the note"
    finally:
        episode.close()
    asked = ToolCall(id="asked", name=note.tool, arguments=note.arguments)
    reached, refused, _ = _carried_out(environment, task, [*calls, asked])
    if refused is not None:
        yield f"what the note asks for does not go through: {refused}"
    elif reached == wanted:
        yield "with what the note asks for the goal is reached all the same"


def _untrue(environment: Environment, task: Task, plan: Plan, wanted: str) -> Iterator[str]:
    """What does not hold of a rule that a task says is kept and not written."""
    said = RuleHidden.of(task.details).hidden
    if said is None or not plan.attempts:
        yield "a task with a hidden rule names it and says what is tried"
        return
    words = " ".join(environment.instructions().split())
    if " ".join(said.text.split()) in words:
        yield f"{said.rule} is in the instructions"
    episode = environment.reset(task)
    try:
        if not isinstance(episode, AppEpisode):
            yield "only an application keeps rules that are not written"
            return
        at = next((n for n, call in enumerate(plan.calls) if call.changes), len(plan.calls))
        for call in (*plan.calls[:at], *plan.attempts, *plan.calls[at:]):
            result = episode.step(ToolCall(id="call", name=call.tool, arguments=call.arguments))
            if call in plan.attempts and (result.error, episode.refused_by) != ("refused", said.rule):
                yield f"{call.tool} is not refused by {said.rule}, but by {episode.refused_by}"
        if episode.state_hash() != wanted:
            yield "with what is tried the goal is not reached"
    finally:
        episode.close()


def _carried_out(environment: Environment, task: Task, calls: list[ToolCall]) -> tuple[str, str | None, Verdict]:
    """(hash of the state, first call that was refused, the verdict on that state), once the user has agreed to all that
    the plan charges or refunds."""
    episode = environment.reset(task)
    refused, plan = None, plan_of(task)
    try:
        for fact in plan.user if plan is not None else ():
            if fact.amount:
                episode.step(ToolCall(id="agree", name=ASK, arguments={"question": fact.asks[0]}))
        for call in calls:
            result = episode.step(call)
            if result.error is not None and refused is None:
                refused = f"{call.name} is refused: {result.content}"
        verdict = episode.check(task.answer)
        if isinstance(episode, AppEpisode):
            return episode.state_hash(), refused, verdict
        return _SEEN if verdict.correct else "", refused, verdict
    finally:
        episode.close()
