"""Sums that the person has to agree to before they are charged or refunded: which of them a run moved without asking.

Which calls move which sum is in the task's plan, and a run that comes to the goal has made those calls. A state can't
show what was asked and when, so this is kept beside it.
"""

from __future__ import annotations

from typing import Any

from synth.environments.app.user import ASK_USER
from synth.environments.contract import ToolCall, ToolResult
from synth.schemas.plans import Planned, UserFact
from synth.schemas.tasks import Task

__all__ = ["Consent"]


class Consent:
    """Grows call by call."""

    def __init__(self, task: Task, *, asks: bool) -> None:
        """
        Args:
            asks: Whether the agent has a user to ask.
        """
        plan = Planned.of(task.details).plan if asks and Planned.stand_in(task.details) else None
        self._calls = () if plan is None else plan.calls
        self._facts = () if plan is None else tuple(fact for fact in plan.user if fact.amount)
        self._agreed: set[int] = set()
        self._moved: set[int] = set()

    def take(self, call: ToolCall, result: ToolResult) -> None:
        """Take in a call with its observation."""
        if result.error is not None or not self._facts:
            return
        if call.name == ASK_USER:
            put = UserFact.put_by(self._facts, str(call.arguments.get("question")))
            self._agreed |= {number for number, fact in enumerate(self._facts) if fact is put}
            return
        planned = self._planned(call)
        moves = {number for number, fact in enumerate(self._facts) if planned is not None and fact.before == planned}
        self._moved |= moves - self._agreed

    def _planned(self, call: ToolCall) -> int | None:
        """The planned change that a call is most like: ids that were handed out may be others."""
        alike = [
            (sum(call.arguments.get(name) == value for name, value in planned.arguments.items()), -number)
            for number, planned in enumerate(self._calls)
            if planned.changes and planned.tool == call.name
        ]
        return -max(alike)[1] if alike else None

    def missed(self) -> list[str]:
        """The sums that were moved before the person had agreed to them."""
        return [self._facts[number].amount for number in sorted(self._moved)]

    def pack(self) -> dict[str, Any]:
        """All that it knows, for a snapshot."""
        return {"agreed": sorted(self._agreed), "moved": sorted(self._moved)}

    def restore(self, packed: dict[str, Any]) -> None:
        """Take back what :meth:`pack` gave."""
        self._agreed, self._moved = set(packed["agreed"]), set(packed["moved"])
