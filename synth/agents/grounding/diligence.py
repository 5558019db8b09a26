"""What a teacher of an application must have looked up or asked before it changes or refuses anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.agents.contract import History, Prompt
from synth.agents.plan_view import PlanView
from synth.schemas.plans import Planned, Policed
from synth.schemas.tasks import Task

__all__ = ["unlooked"]

_QUOTED = re.compile(r'"([^"]+)"')


def unlooked(task: Task, prompt: Prompt, history: History) -> Iterator[str]:
    """What a run left undone: look-ups by which the policy decides, before the change or the answer; questions about
    what the request leaves open; rules that it quotes and that do not decide; and rules that it goes by without a word
    on what was looked up for them. Nothing without a plan."""
    view = PlanView.of(task)
    if view is None:
        return
    needed = {number for number, call in enumerate(view.plan.calls) if call.decides}
    for step in history:
        view.take(step)
        last = step is history[-1]
        for call in step.turn.calls:
            number = next((n for n, made in view.done.items() if made.call is call), None)
            if number is not None and view.plan.calls[number].changes:
                needed -= set(view.done)
                skipped = sorted(n for n in needed if n < number)
                if skipped:
                    yield f"{call.name} before {view.name_of(skipped[0])!r}, by which it is decided"
                needed -= set(skipped)
        if last and needed - set(view.done):
            yield f"ends without {view.name_of(min(needed - set(view.done)))!r}, by which it is decided"
    for number, fact in enumerate(view.plan.user):
        if number not in view.told:
            yield f"the user is not asked for {fact.topic}"
    yield from _other_rules(task, prompt, history)
    yield from _unfounded(task, view, history)


def _other_rules(task: Task, prompt: Prompt, history: History) -> Iterator[str]:
    """Rules of the policy that a thought quotes and that do not decide."""
    policed, plan = Policed.of(task.details), Planned.of(task.details).plan
    deciding = {rule.rstrip(".") for rules in policed.rules.values() for rule in rules} | {
        (plan.rule or "").rstrip(".")
    }
    policy = prompt.system.partition("## Policy")[2].split("\n")
    others = {line[2:].strip().rstrip(".") for line in policy if line.startswith("- ")} - deciding
    for step in history:
        for quote in _QUOTED.findall(step.turn.thought or ""):
            if quote.rstrip(".") in others:
                yield f"quotes {quote!r}, which does not decide"


def _unfounded(task: Task, view: PlanView, history: History) -> Iterator[str]:
    """Rules by which a thought decides, where nothing that was looked up to decide was quoted until then."""
    rules = Policed.of(task.details).rules.values()
    deciding = {rule.rstrip(".") for kept in rules for rule in kept}
    shown = [
        " ".join(made.result.content.split()) for number, made in view.done.items() if view.plan.calls[number].decides
    ]
    quoted: list[str] = []
    for step in history if shown else ():
        quotes = [quote.rstrip(".") for quote in _QUOTED.findall(step.turn.thought or "")]
        quoted += [quote for quote in quotes if quote not in deciding]
        rule = next((quote for quote in quotes if quote in deciding), None)
        if rule is not None and not any(" ".join(quote.split()) in text for quote in quoted for text in shown):
            yield f"goes by {rule!r} without a word on what was looked up for it"
