"""What models are asked about tasks: one prompt and one form of answer for each job.

Every job of the roles ``writer`` and ``checker`` is an object with one method, ``ask(sample, **values)``; here they are
made of a model. A user's own function takes their place: it is called with ``prompt`` (the job's name, ``tasks/write``)
and the role's options, with ``model`` where the role names one, and gives an object with the same method.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import Field

from synth.identity import versioned
from synth.models.asking import AskConfig, Asker, answer_schema
from synth.models.contract import Model
from synth.prompting import load_prompt
from synth.schemas.row import Row
from synth.tasks.writing.proposing import HARDEN, PROPOSE, Proposal

__all__ = [
    "ALTERNATIVES",
    "ANSWERABLE",
    "CLOSED_BOOK",
    "CONFIRM",
    "CONFIRM_REQUEST",
    "CONFIRM_WORDS",
    "DESCRIBE",
    "DRAFT_WORDS",
    "JOBS",
    "WRITE",
    "WRITE_REQUEST",
    "Alternative",
    "Alternatives",
    "Answered",
    "Compared",
    "ComparedPart",
    "FromMemory",
    "NewDescription",
    "NewPart",
    "NewStatement",
    "NewWording",
    "NewWords",
    "PickedFacts",
    "ToldFact",
    "schema_of",
    "task_asker",
]

WRITE, CONFIRM, DESCRIBE = "tasks/write", "tasks/confirm", "tasks/describe"
WRITE_REQUEST, CONFIRM_REQUEST = "tasks/write_request", "tasks/confirm_request"
DRAFT_WORDS, CONFIRM_WORDS = "lexicon/draft", "lexicon/confirm"
CLOSED_BOOK, ALTERNATIVES, ANSWERABLE = "tasks/closed_book", "tasks/alternatives", "tasks/answerable"


class NewPart(Row):
    number: int = Field(description="number of the part of the old question")
    words: str = Field(description="words of the new question that state it, copied letter by letter")


class NewWording(Row):
    question: str | None = Field(description="the new question; null when it can not be reworded")
    parts: tuple[NewPart, ...] = Field(description="one entry for each part of the old question")


class ComparedPart(Row):
    number: int = Field(description="number of the part of the old question")
    words: str = Field(description="words of the new question that state it, copied letter by letter, or an empty one")
    verdict: Literal["same", "changed", "missing", "unsure"]


class Compared(Row):
    parts: tuple[ComparedPart, ...] = Field(description="one entry for each part of the old question")
    added: tuple[str, ...] = Field(description="what the new question states beyond the old one")


class ToldFact(Row):
    fact: int = Field(description="number of the fact")
    words: str = Field(description="words of the phrase that state it, copied letter by letter")


class NewDescription(Row):
    description: str | None = Field(description="the noun phrase; null when no fact can be put so")
    parts: tuple[ToldFact, ...] = Field(description="one entry for each fact that was chosen")


class NewStatement(Row):
    words: str = Field(description="the sentence, with {s} at one end and {o} at the other")
    base: str = Field(description="the dictionary form of its first verb")


class NewWords(Row):
    statements: tuple[NewStatement, ...]
    names: tuple[str, ...] = Field(description="noun phrases, each with {s} or {o}")
    questions: tuple[str, ...] = Field(description="questions for a value, each with {s}")


class PickedFacts(Row):
    facts: tuple[int, ...] = Field(description="numbers of the facts that the phrase speaks of; may be empty")


class FromMemory(Row):
    answer: str | None = Field(description="the answer alone; null when you do not know")


class Answered(Row):
    quote: str = Field(description="the stretch of an excerpt that settles it, letter by letter, or an empty one")
    answer: str | None = Field(description="the answer alone; null when the excerpts do not settle it")


class Alternative(Row):
    why: str = Field(description="how each condition of the question holds for it")
    quote: str = Field(description="the stretch of an excerpt that shows it, copied letter by letter")
    answer: str = Field(min_length=1, description="the second answer alone")


class Alternatives(Row):
    alternatives: tuple[Alternative, ...] = Field(description="empty when there is none")


JOBS: dict[str, type[Row]] = {
    WRITE: NewWording,
    CONFIRM: Compared,
    WRITE_REQUEST: NewWording,
    CONFIRM_REQUEST: Compared,
    DESCRIBE: NewDescription,
    DRAFT_WORDS: NewWords,
    CONFIRM_WORDS: PickedFacts,
    CLOSED_BOOK: FromMemory,
    ALTERNATIVES: Alternatives,
    ANSWERABLE: Answered,
    PROPOSE: Proposal,
    HARDEN: Proposal,
}
"""Prompt -> what its answer is."""


@versioned(38)
def task_asker(*, model: Model, prompt: str, prompt_version: int, **options: Any) -> Asker[Any]:
    """Asks ``model`` one of :data:`JOBS`; ``options`` are those of :class:`AskConfig`."""
    return Asker(model, load_prompt(prompt, prompt_version), JOBS[prompt], AskConfig(**options))


def schema_of(job: str) -> str:
    """The form of a job's answer, as its prompt shows it."""
    return json.dumps(answer_schema(JOBS[job]))
