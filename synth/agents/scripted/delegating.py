"""How the scripted teacher gives the parts of a question to helpers (SearchSwarm, arXiv 2606.09730), and the parts of
the whole when they answered."""

from __future__ import annotations

import numpy as np

from synth.agents.actions import DELEGATE, answer_told
from synth.agents.contract import History, Turn
from synth.agents.scripted.phrases import Thoughts
from synth.agents.subquestions import sub_questions, whole_answer
from synth.environments.contract import ToolCall
from synth.schemas.tasks import Task
from synth.text.lists import listed

__all__ = ["delegates", "delegating_turn"]


def delegates(history: History) -> bool:
    """Whether a run gave its parts to helpers from the first turn on."""
    return bool(history) and any(call.name == DELEGATE.name for call in history[0].turn.calls)


def delegating_turn(task: Task, history: History, generator: np.random.Generator) -> Turn | None:
    """Ask at once for every part that needs no open one, and answer once all parts are. None where the question
    does not come apart or a helper found nothing: the agent then searches by itself."""
    parts = sub_questions(task)
    if not parts:
        return None
    told = {
        str(call.arguments.get("question")): answer_told(result)
        for step in history
        for call, result in zip(step.turn.calls, step.results, strict=True)
        if call.name == DELEGATE.name
    }
    answers: dict[int, str] = {}
    asked: list[str] = []
    for number, part in enumerate(parts, 1):
        if not set(part.needs) <= set(answers):
            continue
        question = part.asked(answers)
        if question not in told:
            asked.append(question)
        elif (answer := told[question]) is None:
            return None
        else:
            answers[number] = answer
    thoughts = Thoughts(task.question, generator)
    if asked:
        known = listed(list(answers.values()))
        intent = "d_split" if not answers else "d_next" if len(asked) == 1 else "d_next_each"
        thoughts.add(intent, parts=len(parts), answers=known)
        calls = [ToolCall(id="x", name=DELEGATE.name, arguments={"question": question}) for question in asked]
        return Turn(thought=thoughts.text(), calls=tuple(calls))
    whole = whole_answer(task, answers)
    if whole is None:
        return None
    thoughts.add("d_whole", answer=whole)
    return Turn(thought=thoughts.text(), answer=whole)
