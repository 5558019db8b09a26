"""A toy environment as somebody outside the package writes it: a locker with a dial. It uses the contract alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

from synth.environments.contract import (
    Environment,
    EnvironmentSpec,
    Episode,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    validate_arguments,
)
from synth.identity import versioned
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["LOCKER", "Locker", "LockerEpisode", "open_locker"]

_NUMBER = {"type": "integer", "minimum": 0, "maximum": 9}


class Locker(Environment):
    """Turn the dial to two numbers, pull the handle. A wrong pull jams the handle for good."""

    name: ClassVar[str] = "locker"
    version: ClassVar[str] = "1"

    def tools(self) -> tuple[ToolSchema, ...]:
        return (
            ToolSchema.of("read_note", "Read the note on the door.", {}),
            ToolSchema.of("turn", "Turn the dial to a number.", {"to": _NUMBER}),
            ToolSchema.of("pull", "Pull the handle.", {}),
        )

    def instructions(self) -> str:
        return "A locker opens when its dial was turned to the right two numbers. A wrong pull jams it."

    def reset(self, task: Task) -> LockerEpisode:
        return LockerEpisode(task)


class LockerEpisode(Episode):
    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._turned: list[int] = []
        self._handle = "free"

    def step(self, call: ToolCall) -> ToolResult:
        tool = next((tool for tool in Locker().tools() if tool.name == call.name), None)
        if tool is None:
            return call.answered("There is a note, a dial and a handle: read_note, turn, pull.", "unknown_tool")
        wrong = validate_arguments(tool, call.arguments)
        if wrong is not None:
            return call.answered(f"That can't be done: {wrong}", "bad_arguments")
        if call.name == "read_note":
            return call.answered(f"The note says: {self.task.details['note']}")
        if call.name == "turn":
            self._turned = [*self._turned, int(call.arguments["to"])][-2:]
            return call.answered(f"The dial stands at {call.arguments['to']}.")
        if self._handle == "free":
            self._handle = "open" if self._turned == self.task.details["code"] else "jammed"
        words = "Inside lies a card: {}." if self._handle == "open" else "The handle is jammed."
        return call.answered(words.format(self.task.answer))

    def snapshot(self) -> Snapshot:
        state = json.dumps([self._turned, self._handle])
        return Snapshot(environment=Locker.name, version=Locker.version, task_id=self.task.id, state=state)

    def restore(self, snapshot: Snapshot) -> None:
        if (snapshot.environment, snapshot.version, snapshot.task_id) != (Locker.name, Locker.version, self.task.id):
            raise ValueError("that is a snapshot of something else")
        self._turned, self._handle = json.loads(snapshot.state)

    def check(self, answer: str | None) -> Verdict:
        if self._handle != "open":
            return Verdict(correct=False, rule="state", evidence=f"The handle is {self._handle}, not open.")
        return Verdict(correct=True, rule="state", evidence="The locker is open.")


@versioned(1)
def open_locker(*, inputs: Mapping[str, Any] | None = None) -> Locker:
    return Locker()


LOCKER = EnvironmentSpec(kind="locker", open=open_locker)
"""What the entry point names."""
