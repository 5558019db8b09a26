"""Who scores and who proposes, played as if they were models: by the embedded stand-ins, or by what a test gives."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.model.wire import GAVE_UP, structured_action
from synth.annotate.critical.contract import Expert, Point, Score, Scorer
from synth.environments.contract import Environment, ToolCall, ToolError, ToolResult
from synth.identity import canonical_json, generator_of
from synth.mocks.model.conversation import read_conversation, search_error
from synth.mocks.model.replies import Call, Reply
from synth.schemas.tasks import Task

__all__ = ["ExpertPlayer", "ScorerPlayer", "Shown", "read_shown"]

_RULE = "\n----------\n"
"""Stands between what a role is told and the data, in prompts that judge."""
_WANTED = "[A second opinion is wanted on the next step.]"


@dataclass(frozen=True)
class Shown:
    """The data of a prompt that judges, read back."""

    question: str
    history: History
    lettered: Mapping[str, Turn]
    """Actions by letter, in the order in which they are shown."""
    other: tuple[Mapping[str, Any], ...] = ()
    """Further lines, as they are."""


def read_shown(request: Mapping[str, Any], error_of: Callable[[str], ToolError | None] = search_error) -> Shown:
    """The inverse of :mod:`synth.agents.model.shown`; observations must be shown whole.

    Raises:
        ValueError: the first message holds no data.
    """
    text = str(request["messages"][0]["content"])
    _, rule, data = text.rpartition(_RULE)
    if not rule:
        raise ValueError("the prompt holds no data")
    question = ""
    steps: list[Step] = []
    lettered: dict[str, Turn] = {}
    other: list[Mapping[str, Any]] = []
    for line in data.split("\n"):
        value = json.loads(line)
        if "action" in value:
            lettered[value["action"]] = _turn(value, len(steps))
        elif "step" in value:
            turn = _turn(value, len(steps))
            results = tuple(
                ToolResult(call_id=call.id, name=call.name, content=content, error=error_of(content))
                for call, content in zip(turn.calls, value.get("observations", ()), strict=False)
            )
            steps.append(Step(turn=turn, results=results))
        elif "question" in value:
            question = value["question"]
        elif "history" not in value:
            other.append(value)
    return Shown(question, tuple(steps), lettered, tuple(other))


def _turn(value: Mapping[str, Any], number: int) -> Turn:
    calls = tuple(
        ToolCall(id=f"call_{number}_{place}", name=call["tool"], arguments=call["arguments"])
        for place, call in enumerate(value.get("calls", ()))
    )
    return Turn(thought=value.get("thought"), said=value.get("said"), calls=calls, answer=value.get("answer"))


class ScorerPlayer:
    """Scores as a scorer of ours would in that place.

    Args:
        tasks: What may be asked; a prompt's task is the one with its question.
        environment: Where actions are carried out.
        scorer: Who scores.
        change: What becomes of a score on the way, given its letter: noise, for one.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        environment: Environment,
        scorer: Scorer,
        change: Callable[[str, Score], Score] | None = None,
    ) -> None:
        self._tasks = {task.question: task for task in tasks}
        self._environment = environment
        self._scorer = scorer
        self._change = change or (lambda letter, score: score)

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            KeyError: nobody gave a task with this question.
            ValueError: the prompt is none of a scorer of ours.
        """
        shown = read_shown(request)
        turns = list(shown.lettered.values())
        prompt = Prompt(system="", question=shown.question, tools=self._environment.tools())
        point = Point(self._tasks[shown.question], self._environment, prompt, shown.history, turns[0])
        scores = zip(shown.lettered, self._scorer.score(point, turns), strict=True)
        changed = [(letter, self._change(letter, score)) for letter, score in scores]
        entries = [{"action": letter, "reason": score.reason, "score": score.value} for letter, score in changed]
        return Reply(content=json.dumps({"scores": entries}, ensure_ascii=False))


class ExpertPlayer:
    """Proposes what an expert of ours would in that place, one suggestion a call, drawing from the generator that the
    sample names."""

    def __init__(self, tasks: Iterable[Task], environment: Environment, expert: Expert) -> None:
        self._tasks = {task.question: task for task in tasks}
        self._environment = environment
        self._expert = expert

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            KeyError: nobody gave a task with this question.
            ValueError: the conversation is none of an expert of ours.
        """
        *before, last = request["messages"]
        said, wanted, words = str(last["content"]).rpartition(_WANTED)
        if not wanted or sample is None:
            raise ValueError("nobody asks for another step, or not for which sample")
        rest = [{**last, "content": said.removesuffix("\n\n")}] if said else []
        conversation = read_conversation({**request, "messages": [*before, *rest]})
        deeds = [json.loads(line) for line in words.splitlines() if line.startswith("{")]
        recorded, proposed = _turn(deeds[0], len(conversation.history)), deeds[1:]
        task = self._tasks[conversation.prompt.question]
        point = Point(task, self._environment, conversation.prompt, conversation.history, recorded)
        turns = self._expert.propose(point, len(proposed) + 1, generator_of(sample))
        if len(turns) <= len(proposed):
            return Reply(content=structured_action(Turn()) if conversation.structured else GAVE_UP)
        turn = turns[len(proposed)]
        if conversation.structured:
            return Reply(content=structured_action(turn))
        if not turn.calls:
            return Reply(content=turn.answer, reasoning=turn.thought)
        calls = tuple(Call(call.name, canonical_json(call.arguments)) for call in turn.calls)
        return Reply(content=turn.said, reasoning=turn.thought, calls=calls)
