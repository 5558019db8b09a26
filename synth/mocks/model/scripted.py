"""Scripted agents, played as if they were models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from synth.agents.contract import Policy, Turn
from synth.agents.model.wire import GAVE_UP, structured_action
from synth.environments.contract import ToolError
from synth.identity import canonical_json, derive_generator, digest, generator_of
from synth.mocks.model.conversation import read_conversation, search_error
from synth.mocks.model.replies import Call, Reply
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role

__all__ = ["ScriptedPlayer"]


class ScriptedPlayer:
    """Answers as a policy of ours would in that place, drawing from the generator that the sample names: a rollout
    through a server takes the very turns that it takes in process.

    A policy that reads its own earlier thoughts (both scripted agents do) needs them sent back with the conversation.

    Args:
        tasks: What may be asked; a conversation's task is the one whose question its first user message holds.
        make: Makes the policy for a task.
        error_of: Which error an observation tells of, None = of none.
    """

    def __init__(
        self,
        tasks: Iterable[Task],
        make: Callable[[Task], Policy],
        *,
        error_of: Callable[[str], ToolError | None] = search_error,
    ) -> None:
        self._tasks = {task.question: task for task in tasks}
        self._make = make
        self._error_of = error_of
        self._policies: dict[str, Policy] = {}

    @classmethod
    def scripted(cls, tasks: Iterable[Task], role: Role, *, language: str = "docs", **options: Any) -> ScriptedPlayer:
        """The scripted agent of ``role``; ``language`` and ``options`` as in a recipe."""
        from synth.agents.scripted.players import scripted_policy

        return cls(tasks, lambda task: scripted_policy(task=task, role=role, language=language, **options))

    def reply(self, request: Mapping[str, Any], sample: str | None) -> Reply:
        """
        Raises:
            LookupError: nobody gave a task with this question.
            ValueError: the conversation is none of an agent of ours.
        """
        conversation = read_conversation(request, self._error_of)
        policy = self._policy(conversation.prompt.question)
        generator = (
            generator_of(sample) if sample is not None else derive_generator(0, "unnamed sample", digest(dict(request)))
        )
        turn = policy.act(conversation.prompt, conversation.history, generator).turn
        return _structured(turn) if conversation.structured else _native(turn)

    def _policy(self, question: str) -> Policy:
        known = self._policies.get(question)
        if known is None:
            if question not in self._tasks:
                raise LookupError(f"no task asks {question[:200]!r}")
            known = self._policies[question] = self._make(self._tasks[question])
        return known


def _native(turn: Turn) -> Reply:
    if not turn.calls:
        return Reply(content=turn.answer if turn.answer is not None else GAVE_UP, reasoning=turn.thought)
    calls = tuple(Call(call.name, canonical_json(call.arguments)) for call in turn.calls)
    return Reply(content=turn.said, reasoning=turn.thought, calls=calls)


def _structured(turn: Turn) -> Reply:
    return Reply(content=structured_action(turn))
