"""Assistants with several jobs, played by functions: one for each prompt that they may be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from synth.mocks.model.replies import Reply
from synth.prompting import load_prompt

__all__ = ["JobPlayer", "answered", "read_job"]

Answer = Mapping[str, Any] | str | Reply
Job = Callable[[Mapping[str, Any], str | None], Answer]
"""``job(data, sample)``: the data at the end of the prompt, and the name of the sample -> the answer: an object, text
that is not an object, or a whole reply."""


def read_job(text: str, jobs: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Which of ``jobs`` (names of prompt files) a prompt belongs to, by its first line, and the data in its last.

    Raises:
        LookupError: it is none of them.
    """
    first = text.split("\n", 1)[0]
    for name in jobs:
        if load_prompt(name).text.strip().split("\n", 1)[0] == first:
            return name, json.loads(text.rstrip().rsplit("\n", 1)[1])
    raise LookupError(f"no job begins with {first[:200]!r}; there are {', '.join(jobs)}")


def answered(answer: Answer) -> Reply:
    """The reply that gives it."""
    if isinstance(answer, Reply):
        return answer
    return Reply(content=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))


class JobPlayer:
    """Does each job (``tasks/write``) by its function; counts what it was asked in :attr:`asked`."""

    def __init__(self, jobs: Mapping[str, Job]) -> None:
        self._jobs = jobs
        self.asked: dict[str, int] = dict.fromkeys(jobs, 0)

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            LookupError: the prompt is none of its jobs'.
        """
        name, data = read_job(request["messages"][0]["content"], self._jobs)
        self.asked[name] += 1
        return answered(self._jobs[name](data, sample))
