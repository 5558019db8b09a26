"""Which task a recorded run was made on: by id, by the question, or by a prompt that holds it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from synth.errors import InputError
from synth.schemas.tasks import QuestionId, Task

__all__ = ["Questions"]

_START = 20
"""Characters that tell questions apart in a prompt; a shorter question may stand in another one by chance."""


class Questions:
    """Tasks by id and by question."""

    def __init__(self, tasks: Iterable[Task]) -> None:
        """
        Raises:
            InputError: two of them ask the same, so that a run would not know its gold answer.
        """
        self._by_id: dict[str, Task] = {}
        self._by_question: dict[str, Task] = {}
        names: dict[str, Task] = {}
        for task in tasks:
            self._by_id[task.id] = task
            name = QuestionId.of(task.details).question_id
            if name is not None:
                names.setdefault(name, task)
            if self._by_question.setdefault(_letters(task.question), task) is not task:
                mend = "keep one: a run must know its gold answer"
                raise InputError(f"two tasks ask {task.question!r}"[:300], mend=mend)
        self._by_id = {**names, **self._by_id}
        self._by_start: dict[str, list[str]] = {}
        for asked in self._by_question:
            if len(asked) >= _START:
                self._by_start.setdefault(asked[:_START], []).append(asked)

    def find(self, given: Any, question: str) -> Task:
        """The task of that id, where it is one of ours or of the file of questions; else the one that asks
        ``question``, or the longest whose question stands in it: a prompt may wrap what is asked in instructions.

        Raises:
            ValueError: there is none.
        """
        if isinstance(given, str) and given in self._by_id:
            return self._by_id[given]
        wanted = _letters(question)
        if wanted not in self._by_question:
            wanted = self._wrapped(wanted)
        if wanted not in self._by_question:
            named = f"there is no task {given!r}, and " if given is not None else ""
            raise ValueError(f"{named}no task asks {question!r}"[:300])
        return self._by_question[wanted]

    def _wrapped(self, prompt: str) -> str:
        """The longest question that stands in the prompt; empty where none does."""
        found = [
            asked
            for at in range(len(prompt) - _START + 1)
            for asked in self._by_start.get(prompt[at : at + _START], ())
            if prompt.startswith(asked, at)
        ]
        return max(found, key=len, default="")


def _letters(question: str) -> str:
    """Equal for questions in the same words: case, blanks and punctuation apart."""
    return "".join(sign for sign in question.casefold() if sign.isalnum())
