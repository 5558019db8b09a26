"""The person who wrote the request, scripted: asked for what the request left open, they say it (InfoPO, tau2).

What they know is in the task's plan (:class:`synth.schemas.plans.UserFact`). They answer by the words of the question,
the same every time, and are not part of the state. A user who is asked something they were not told says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from synth.environments.contract import ToolError, ToolSchema, text_argument
from synth.identity import digest
from synth.lexicon.reading import phrases
from synth.schemas.plans import Persona, Planned, Request, UserFact
from synth.schemas.tasks import Task
from synth.text.words import words

__all__ = ["ASK_USER", "ASK_USER_TOOL", "answer_of", "asked", "facts_of"]

ASK_USER = "ask_user"
"""Name of the tool."""
ASK_USER_TOOL = ToolSchema.of(
    ASK_USER,
    "Ask the person who wrote to you for something that only they can know.",
    {"question": text_argument("One question, in words.", 600)},
)
_WORDS = phrases("users")
_CONFIRM = re.compile(
    r"^(?:shall|should|may|can) i\b|\b(?:confirm|proceed|go ahead|do you want me)\b|\bis (?:that|this) right",
    re.I,
)


def facts_of(task: Task) -> tuple[UserFact, ...]:
    """What the person of ``task`` says when asked."""
    return Planned.of(task.details).plan.user if Planned.stand_in(task.details) else ()


def answer_of(facts: Sequence[UserFact], question: str, persona: Persona = "plain") -> str:
    """Their yes where the question names a sum that they agree to; else the fact that most words of the question ask
    for, the first of those that share the place; else that they do not know, or (where the question asks for leave)
    what they have changed their mind about, or that they have said what they want."""
    agreed = UserFact.put_by(facts, question)
    if agreed is not None:
        return agreed.says
    facts = [fact for fact in facts if not fact.amount]
    asked = words(question)
    hits = [sum(any(word.startswith(key.casefold()) for word in asked) for key in fact.keywords) for fact in facts]
    if hits and max(hits) > 0:
        return facts[hits.index(max(hits))].says
    leave = _CONFIRM.search(question.strip()) is not None
    changed = [fact.says for fact in facts if fact.changes and leave]
    options = changed or _WORDS[f"{'confirmed' if leave else 'unknown'}_{persona}"]
    return options[int(digest("user", question)[:8], 16) % len(options)]


def asked(task: Task, arguments: dict[str, Any]) -> tuple[str, ToolError | None]:
    """What the person says to a call of the tool; words that say what is wrong with it where something is."""
    question = arguments.get("question")
    if set(arguments) != {"question"} or not isinstance(question, str) or not question.strip() or len(question) > 600:
        return f"Wrong arguments for {ASK_USER}: give one question, a text of at most 600 characters.", "bad_arguments"
    return answer_of(facts_of(task), question, Request.of(task.details).persona), None
