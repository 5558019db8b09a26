"""Mistakes of a run with a plan: changes and failed calls that the plan does not have, until a thought names them."""

from __future__ import annotations

import re
from typing import Any

from synth.agents.contract import History
from synth.agents.grounding.said import says
from synth.agents.plan_view import ASK, Made, PlanView
from synth.environments.contract import ToolCall
from synth.schemas.plans import Injected, Policed, Request
from synth.schemas.tasks import Task

__all__ = ["NAMED", "guessed_id", "is_unasked", "passes_over", "unnamed_mistake"]

NAMED = (
    *("p_correct", "p_amiss", "p_amiss_right", "p_amiss_unseen", "p_amiss_guess", "p_amiss_untold"),
    *("p_unasked", "p_unasked_plain"),
)
"""How a mistake is named; one that was named is not named again."""


_ID = re.compile(r"^(?=.*[A-Z])(?=.*\d)\S+$")


def _is_meant(view: PlanView, tool: str, arguments: object) -> bool:
    """Whether the plan still makes or tries a call, as it would be made now."""
    calls = [(view.plan.calls[n].tool, view.arguments(n)) for n in range(len(view.plan.calls)) if n not in view.had]
    tries = [(view.plan.attempts[n].tool, view.arguments_of(view.plan.attempts[n])) for n in view.untried()]
    return (tool, arguments) in (*calls, *tries)


def _picks_another(view: PlanView, tool: str, arguments: dict[str, Any]) -> bool:
    """Whether a look-up is one that the plan still makes, but for what it takes."""
    waiting = [n for n, call in enumerate(view.plan.calls) if n not in view.had and call.tool == tool]
    wanted = [view.arguments(n) for n in waiting]
    return any(one is not None and one.keys() == arguments.keys() and one != arguments for one in wanted)


def unnamed_mistake(task: Task, view: PlanView, history: History) -> Made | None:
    """The latest change, failed call or look at a guessed id that no plan has, unless it was named or made right since.
    What the user asked for and the policy forbids is none: it is refused by its rule."""
    forbidden = Policed.of(task.details).forbidden
    strays = {id(one.call) for one in view.strays}
    tried = {id(one.call) for one in view.tried.values()}
    since: set[str] = set()
    for turn, call, result in reversed(view.made):
        meant = _is_meant(view, call.name, call.arguments)
        picked = call.name not in view.changing and _picks_another(view, call.name, call.arguments)
        faultless = result.error == "failure" and (meant or (call.name not in view.changing and not picked))
        wrong = (result.error is not None and not faultless and id(call) not in tried) or id(call) in strays
        wrong = wrong or bool(_guessed(task.question, history, call))
        if call.name == ASK or not wrong:
            continue
        if forbidden is not None and call.name == forbidden.tool and call.arguments == forbidden.arguments:
            since.add(call.name)  # what it was given before, it was given right now
            continue
        if call.name in since:
            return None
        done = (made.call for made in view.done.values() if made.turn > turn)
        if any(one.name == call.name and one.arguments.keys() == call.arguments.keys() for one in done):
            return None
        later = (step.turn.thought or "" for step in history[turn + 1 :])
        return None if any(says(NAMED, thought) for thought in later) else Made(turn, call, result)
    return None


def guessed_id(question: str, history: History, mistake: Made) -> str | None:
    """The id that a call was given before anything had shown it. Empty if nothing has shown it since either, so that no
    thought may name it; None if there is no such id."""
    now = [question, *(result.content for step in history for result in step.results)]
    guessed = _guessed(question, history, mistake.call)
    return next((one for one in guessed if any(one in text for text in now)), "" if guessed else None)


def _guessed(question: str, history: History, call: ToolCall) -> list[str]:
    """Ids that a call was given and that nothing had shown when one was given them for the first time."""
    ids = [str(value) for value in call.arguments.values() if _ID.search(str(value))]
    return [one for one in ids if not _was_shown(one, question, history)]


def _was_shown(value: str, question: str, history: History) -> bool:
    known = question
    for step in history:
        if value in known:
            return True
        if any(value == str(given) for call in step.turn.calls for given in call.arguments.values()):
            return False
        known += " ".join(result.content for result in step.results)
    return True


def is_unasked(task: Task, view: PlanView, tool: str) -> bool:
    """Whether a tool changes something that the user never asked for: not what the policy forbids, what a note asks
    for, what is meant to do harm, or what the user wanted before thinking again."""
    forbidden, note = Policed.of(task.details).forbidden, Injected.of(task.details).injection
    asked = {one.tool for one in (*view.plan.calls, *view.plan.attempts, *(one for one in (forbidden, note) if one))}
    rethought = any(fact.changes for fact in view.plan.user)
    harmful = Request.of(task.details).kind == "harmful"
    return tool in view.changing and tool not in asked and not rethought and not harmful


def passes_over(task: Task, history: History) -> str | None:
    """The mistake that the last turn moves on from without naming it: a guessed id, or a change the user never asked
    for. None where there is none, or the task has no plan."""
    before, thought = history[:-1], history[-1].turn.thought or ""
    view = PlanView.of(task, before)
    mistake = unnamed_mistake(task, view, before) if view is not None else None
    if view is None or mistake is None or says(NAMED, thought):
        return None
    guessed = guessed_id(task.question, before, mistake)
    if guessed is not None:
        return f"moves on from {mistake.call.name} without saying that {guessed or 'its id'} was a guess"
    if is_unasked(task, view, mistake.call.name):
        return f"moves on from {mistake.call.name} without saying that the user never asked for it"
    return None
