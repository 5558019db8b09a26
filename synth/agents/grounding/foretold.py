"""What a run goes by before the user has said it: the gold that shows through where a request leaves something open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from synth.agents.contract import History
from synth.agents.plan_view import PlanView
from synth.agents.scripted.tool_agent.details import answers, untold_given
from synth.schemas.tasks import Task

__all__ = ["foretold"]

_QUOTED = re.compile(r'"([^"]+)"')


def foretold(task: Task, history: History) -> Iterator[str]:
    """Lines that a thought quotes and planned calls that a run makes although only the answer to a question not yet
    asked tells that they are the ones that are meant. Nothing without a plan that leaves something open."""
    view = PlanView.of(task)
    if view is None or not view.plan.user:
        return
    for step in history:
        open_ = [fact for n, fact in enumerate(view.plan.user) if n not in view.told and not fact.amount]
        for quote in _QUOTED.findall(step.turn.thought or "") if open_ else ():
            line = quote.rstrip(".")
            given = untold_given(view, line)
            fact = next((one for one in open_ if answers(one, line, task.question)), None)
            if given is not None or fact is not None:
                yield f"goes by {line!r} before the user has said {(fact or open_[0]).topic}"
        for call in step.turn.calls:
            number = view.match(call)
            if number is not None and not all(map(view.is_told, view.plan.calls[number].given.values())):
                yield f"{view.name_of(number)!r} before the user has said what it is to be"
        view.take(step)
