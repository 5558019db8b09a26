"""All continuations of one trajectory, drawn when they are asked for, each once.

Sample ``j`` of a place is the same whoever asks for it and whenever: tests that look at the same place share it. What
was finished before an interruption is handed in as ``done`` and counts like what is drawn now, so an interrupted search
ends as an undisturbed one does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from synth.agents.contract import Decision, Policy, Turn, TurnRejected, act
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.branching import Branching, BranchPoint, Continuation, Generators
from synth.identity import digest
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason

__all__ = ["ContinuationPool", "Record"]

Record = Callable[[str, Continuation], None]
"""``record(key, continuation)``: called once for every continuation that was carried out, as soon as it is finished."""


class ContinuationPool:
    """Draws and keeps the continuations of one trajectory."""

    def __init__(
        self,
        branching: Branching,
        policy: Policy,
        generator: Generators,
        done: Mapping[str, Continuation] | None = None,
        record: Record | None = None,
    ) -> None:
        self.branching = branching
        self.policy = policy
        self.generator = generator
        self._done = done or {}
        self._record = record
        self._turns: dict[BranchPoint, Turn | None] = {}
        self._proposals: dict[BranchPoint, ModelTurn | None] = {}
        self._drawn: dict[BranchPoint, list[Continuation]] = {}
        self._decided: dict[BranchPoint, list[bool]] = {}
        self._per_step: Counter[int] = Counter()
        self._own: dict[tuple[int, int], Decision | Reason] = {}

    def original(self, step: int) -> BranchPoint:
        """The place where step ``step`` is taken as recorded; -1 for the question alone."""
        place = BranchPoint(step, "original")
        self._turns[place] = self.branching.history[step].turn if step >= 0 else None
        return place

    def alternative(self, step: int, number: int, turn: Turn, proposal: ModelTurn | None = None) -> BranchPoint:
        """The place where ``turn`` is put at ``step``. A number stands for one action only. ``proposal`` says where it
        comes from, when a model proposed it.

        Raises:
            ValueError: another action has this number already.
        """
        place = BranchPoint(step, "alternative", number)
        known = self._turns.get(place)
        tools = self.branching.prompt.tools
        if known is not None and action_key(known, tools) != action_key(turn, tools):
            raise ValueError(f"{place} is another action already")
        self._turns.setdefault(place, turn)
        self._proposals.setdefault(place, proposal)
        return place

    def draw(self, place: BranchPoint) -> Continuation:
        """The next continuation from ``place``."""
        turn = self._turns[place]
        drawn = self._drawn.setdefault(place, [])
        sample = len(drawn)
        key = self._key(place, turn, sample)
        found = self._done.get(key)
        if found is None:
            found = self.branching.run(self.policy, place, turn, sample, self.generator, self._proposals.get(place))
            if self._record is not None:
                self._record(key, found)
        drawn.append(found)
        self._per_step[place.step] += 1
        if found.verdict.correct is not None:  # an abstention is neither a success nor a failure
            self._decided.setdefault(place, []).append(found.success)
        return found

    def outcomes(self, place: BranchPoint) -> tuple[bool, ...]:
        """Outcomes drawn so far from ``place``, in the order of the samples, abstentions left out."""
        return tuple(self._decided.get(place, ()))

    def tally(self, place: BranchPoint) -> tuple[int, int]:
        """Successes, and outcomes that are known."""
        known = self.outcomes(place)
        return sum(known), len(known)

    def drawn(self, place: BranchPoint) -> int:
        return len(self._drawn.get(place, ()))

    @property
    def spent(self) -> int:
        """Continuations so far, at all steps."""
        return sum(self._per_step.values())

    def spent_at(self, step: int) -> int:
        return self._per_step[step]

    def turn(self, place: BranchPoint) -> Turn | None:
        return self._turns[place]

    def originals(self) -> tuple[BranchPoint, ...]:
        """Original-side places that something was drawn from, by step."""
        return tuple(sorted(place for place, drawn in self._drawn.items() if place.side == "original" and drawn))

    def continuations(self) -> tuple[Continuation, ...]:
        """All that was drawn, by place and sample."""
        return tuple(one for place in sorted(self._drawn) for one in self._drawn[place])

    def own_turn(self, step: int, number: int) -> Decision | Reason:
        """Turn ``number`` of those that the policy itself takes at step ``step``; why it came to none. Drawn once."""
        if (step, number) not in self._own:
            point = self.branching.point(step)
            generator = self.generator("branch", self.branching.row.id, step, "again", number)
            try:
                self._own[step, number] = act(self.policy, point.prompt, point.history, generator)
            except TurnRejected as error:
                self._own[step, number] = error.reason
        return self._own[step, number]

    @property
    def policy_calls(self) -> int:
        """Turns that the policy was asked for, in continuations and by itself."""
        put = [(one.turns, self._turns[place]) for place, drawn in self._drawn.items() for one in drawn]
        return len(self._own) + sum(turns - (turn is not None) for turns, turn in put)

    def _key(self, place: BranchPoint, turn: Turn | None, sample: int) -> str:
        action = "" if turn is None else digest("action", turn.model_dump(mode="json"))[:12]
        return f"{self.branching.row.id}/{place.step}/{place.side}/{place.alternative}/{action}/{sample}"
