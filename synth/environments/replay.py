"""Episodes whose state stands outside this process and can't be saved: a server's, a browser's.

Their snapshots are the calls that were made, with a mark of what came of each. Going back means making them again on a
fresh beginning, and every mark must be the one that it was. So it is done only where calls may be made again; where
they may not, an episode that a snapshot was taken of makes no further call: whoever branches from a recorded run gets
``refused`` where the run has an observation, and nothing is sent twice.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolResult
from synth.identity import digest
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["NOT_MADE", "ReplayedEpisode"]

NOT_MADE = "The call is not made: the recipe does not say that calls may be made again."


class ReplayedEpisode(Episode):
    """State: the calls that got through to what the episode runs on, in order."""

    def __init__(self, environment: Environment, task: Task, *, identity: str, replay_safe: bool) -> None:
        """
        Args:
            identity: Hash of what answers the calls, and of the settings that change its answers.
            replay_safe: Whether calls may be made again.
        """
        super().__init__(task)
        self._environment = environment
        self._identity = identity
        self._replay_safe = replay_safe
        self._made: list[list[Any]] = []
        """[tool, arguments, mark] of each call."""
        self._kept = False
        self.replaying = False
        """Whether recorded calls are being made again now, for what they do and not for what they show."""

    @abstractmethod
    def refusal(self, call: ToolCall) -> ToolResult | None:
        """The answer to a call that gets nowhere: no such tool, wrong arguments. None for a call that is to be made."""

    @abstractmethod
    def answer(self, call: ToolCall) -> ToolResult:
        """Make a call that was not refused. Never raises for what an agent did."""

    @abstractmethod
    def begin_anew(self) -> None:
        """Drop all that calls have changed: the next call is the first."""

    def mark(self, result: ToolResult) -> str:
        """Hash of what came of a call."""
        return digest(f"{self._environment.name}-observation", result.content, result.error)

    def noted(self) -> JsonObject:
        """What a snapshot tells beside the calls. Usually nothing."""
        return {}

    def step(self, call: ToolCall) -> ToolResult:
        refused = self.refusal(call)
        if refused is not None:
            return refused
        if self._kept and not self._replay_safe:
            return ToolResult(call_id=call.id, name=call.name, content=NOT_MADE, error="refused")
        return self._make(call)

    def _make(self, call: ToolCall) -> ToolResult:
        result = self.answer(call)
        self._made.append([call.name, call.arguments, self.mark(result)])
        return result

    def snapshot(self) -> Snapshot:
        self._kept = True
        state = {**self.noted(), "calls": self._made, "identity": self._identity}
        return self._environment.pack(self.task, state)

    def restore(self, snapshot: Snapshot) -> None:
        """As the contract says; the calls are made again, those that this episode has not made already.

        Raises:
            ValueError: also when calls may not be made again, or one comes out otherwise than it did.
        """
        state = self._environment.unpack(self.task, snapshot)
        if state["identity"] != self._identity:
            raise ValueError(f"the snapshot was taken in another {self._environment.name}, or with other settings")
        wanted: list[list[Any]] = state["calls"]
        if self._made == wanted:
            return
        if not self._replay_safe:
            raise ValueError("the recipe does not say that calls may be made again (replay_safe)")
        if self._made != wanted[: len(self._made)]:
            self.begin_anew()
            self._made = []
        self.replaying = True
        try:
            for number, (name, arguments, mark) in enumerate(wanted[len(self._made) :], start=len(self._made)):
                self._make(ToolCall(id=f"replay_{number}", name=name, arguments=arguments))
                if self._made[-1][2] != mark:
                    raise ValueError(f"call {number} ({name}) comes out otherwise than it did when it was made")
        finally:
            self.replaying = False
