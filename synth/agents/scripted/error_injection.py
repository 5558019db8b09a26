"""Mistakes of the scripted policies of every environment: how they are drawn and logged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.matching import Lexicon
from synth.agents.scripted.operations import extreme_of
from synth.agents.scripted.seen import SeenDocument
from synth.agents.scripted.state import State, Value
from synth.environments.contract import ToolCall
from synth.schemas.injected import InjectedError
from synth.tasks.values import Measure

__all__ = ["ErrorInjection"]


class ErrorInjection(ABC):
    """Chooses for a planner, and errs. Every mistake is in ``injected``."""

    def __init__(self, state: State, lexicon: Lexicon, config: PolicyConfig, generator: np.random.Generator) -> None:
        self._state = state
        self._seen = state.seen
        self._lexicon = lexicon
        self._config = config
        self._generator = generator
        self.injected: list[InjectedError] = []

    def _draw(self, rate: float) -> bool:
        return float(self._generator.random()) < min(0.95, rate * 2 * (1 - self._config.skill))

    def _log(self, mode: str, detail: str) -> None:
        error = InjectedError(trajectory_id="unassigned", turn=self._seen.turns, mode=mode, detail=detail)
        self.injected.append(error)

    def look_at(  # noqa: B027
        self, clue: int, member: Value | None, document: SeenDocument | None = None
    ) -> None:
        """What it reads is the same whichever member it reads for."""

    def extreme(self, measures: Sequence[Measure], least: bool) -> tuple[int, bool]:
        if self._draw(self._config.wrong_extreme):
            self._log("wrong_extreme", "took the last for the first" if least else "took the first for the last")
            least = not least
        return extreme_of(measures, least), least

    def result(self, number: int) -> int:
        if number < 1 or not self._draw(self._config.arithmetic_slip):
            return number
        slipped = number + (1 if number < 2 or float(self._generator.random()) < 0.5 else -1)
        self._log("arithmetic_slip", f"made it {slipped} instead of {number}")
        return slipped

    def corrupt(self, turn: Turn) -> Turn:
        """Now and then one call goes wrong on the way out. The next turn sees the error and can mend it."""
        if not turn.calls or self._seen.last_failure is not None or not self._draw(self._config.bad_argument):
            return turn
        call = turn.calls[0]
        corrupted = self._corrupted(call)
        self._log("bad_argument", f"{call.name} with {corrupted.arguments} instead of {call.arguments}")
        return turn.model_copy(update={"calls": (corrupted, *turn.calls[1:])})

    def early_answer(self) -> str | None:
        reading, number = self._state.reading, self._state.open_clue()
        if number is None or self._seen.turns < 2:
            return None
        value = self._state.values.get(reading.answer)
        if value is None or reading.answer < 0:
            return self._early_guess(number)
        if not self._draw(self._config.skipped_check / 2):
            return None
        self._log("skipped_check", f"answered {value.name!r} before clue {number} was tested")
        return value.name

    def verifies(self, value: Value) -> bool:
        return float(self._generator.random()) < 0.4 * self._config.skill

    @abstractmethod
    def _early_guess(self, number: int) -> str | None:
        """An answer from what is in view, given with clue ``number`` still open."""

    @abstractmethod
    def _corrupted(self, call: ToolCall) -> ToolCall:
        """``call`` with a mistake that its tool refuses."""
