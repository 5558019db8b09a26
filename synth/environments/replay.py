"""Episodes whose state stands outside this process and can't be saved: a server's, a browser's.

Their snapshots are the calls that were made, with a mark of what came of each. Going back means making them again on a
fresh beginning, and every mark must be the one that it was. So it is done only where calls may be made again; where
they may not, an episode that a snapshot was taken of makes no further call: whoever branches from a recorded run gets
``refused`` where the run has an observation, and nothing is sent twice.

An episode that can say in values where it stands (:meth:`ReplayedEpisode.remember`) keeps a tree of all that it has
done. Going back to a place in the tree, and making calls from there that it has made there before, costs nothing and
sends nothing; the first call that is new there is made behind a real replay of all before it, mark for mark. So what
an episode shows is always something that came of exactly these calls, and nothing is built on a place that did not
come out again.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from synth.environments.contract import Environment, Episode, Snapshot, ToolCall, ToolResult
from synth.identity import canonical_json, digest
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["NOT_MADE", "ReplayedEpisode"]

NOT_MADE = "The call is not made: the recipe does not say that calls may be made again."


@dataclass
class _Place:
    """What came of a sequence of calls."""

    result: ToolResult | None
    """Of the last of them; None at the beginning."""
    mark: str
    memory: Any
    noted: JsonObject
    further: dict[str, _Place] = field(default_factory=dict)
    """By the next call."""


class ReplayedEpisode(Episode):
    """State: the calls that got through to what the episode runs on, in order."""

    remembers: ClassVar[bool] = False
    """Whether :meth:`remember` says where it stands, so that it need not be there to be asked."""

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
        self._behind: list[list[Any]] | None = []
        """The same of the calls behind which the outside stands: others than ``_made`` after going back in the tree.
        None = it is gone, and begun anew when it is needed."""
        self._tree = _Place(None, "", None, {})
        self._at: _Place | None = self._tree
        """Where in the tree ``_made`` is; None = nowhere."""
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

    def foretold(self, call: ToolCall) -> ToolResult | None:
        """The answer to a call that changes nothing, where it follows from where this episode stands. None = only the
        outside can tell."""
        return None

    def remember(self) -> Any:
        """Where it stands now, as values that nothing changes later: all that snapshots, checks and facts are made of.
        None = it can't say: it comes here again by making the calls."""
        return None

    def recall(self, memory: Any) -> None:
        """Stand where :meth:`remember` gave ``memory``; None = at the beginning. What it runs on stays where it is."""

    def adrift(self) -> None:
        """What it runs on is gone."""
        self._behind = None

    def suffices(self, result: ToolResult) -> bool:
        """Whether ``result``, seen before, has all that is wanted of one now."""
        return True

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
            return call.answered(NOT_MADE, "refused")
        return self._make(call)

    def _make(self, call: ToolCall) -> ToolResult:
        known = self._at.further.get(_key(call.name, call.arguments)) if self._at is not None else None
        if known is not None and known.result is not None and self.suffices(known.result):
            self._made.append([call.name, call.arguments, known.mark])
            self._at = known
            self.recall(known.memory)
            return known.result.model_copy(update={"call_id": call.id})
        foretold = self.foretold(call)
        if foretold is not None:
            self._note(call, foretold)
            return foretold
        self._catch_up()
        return self._send(call)

    def _send(self, call: ToolCall) -> ToolResult:
        """Make a call where all before it were made."""
        result = self.answer(call)
        made = self._note(call, result)
        if self._behind is not None:
            self._behind.append(made)
        return result

    def _note(self, call: ToolCall, result: ToolResult) -> list[Any]:
        """Stand behind ``call``, which gave ``result``."""
        mark = self.mark(result)
        made = [call.name, call.arguments, mark]
        self._made.append(made)
        memory, before = self.remember(), self._at
        self._at = None
        if memory is not None and before is not None:
            key = _key(call.name, call.arguments)
            old = before.further.get(key)
            if old is None or old.mark != mark:
                self._at = before.further[key] = _Place(result, mark, memory, self.noted())
            else:
                self._at = old
                if not self.replaying:
                    old.result = result
        return made

    def _catch_up(self) -> None:
        """Make the calls that it stands behind only in the tree.

        Raises:
            ValueError: one comes out otherwise than it did.
        """
        if self._behind == self._made:
            return
        wanted, place = self._made, self._at
        if self._behind is None or self._behind != wanted[: len(self._behind)]:
            self.begin_anew()
            self._behind = []
        self._made = list(self._behind)
        self._at = self._place_of(self._made)
        self.replaying = True
        try:
            for number, (name, arguments, mark) in enumerate(wanted[len(self._made) :], start=len(self._made)):
                self._send(ToolCall(id=f"replay_{number}", name=name, arguments=arguments))
                if self._made[-1][2] != mark:
                    raise ValueError(f"call {number} ({name}) comes out otherwise than it did when it was made")
        finally:
            self.replaying = False
        if place is not None and wanted and self.noted() != place.noted:
            raise ValueError(f"what stands behind {len(wanted)} calls is not what stood there when they were made")

    def _place_of(self, calls: Sequence[Sequence[Any]]) -> _Place | None:
        """Where in the tree ``calls`` led, each to its mark; None where they were not made in this episode."""
        place: _Place | None = self._tree
        for name, arguments, mark in calls:
            place = place.further.get(_key(name, arguments)) if place is not None else None
            if place is None or place.mark != mark:
                return None
        return place

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
        place = self._place_of(wanted)
        self._made, self._at = list(wanted), place
        if place is not None and self.remembers:
            self.recall(place.memory)
        else:
            self._catch_up()


def _key(name: str, arguments: JsonObject) -> str:
    return canonical_json([name, arguments])
