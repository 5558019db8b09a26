"""A policy that is given a hint for some turns only."""

from __future__ import annotations

import numpy as np

from synth.agents.contract import Decision, History, Policy, Prompt

__all__ = ["HintedTurns"]


class HintedTurns:
    """A policy whose turns from ``start`` to ``stop - 1`` are taken by ``hinted``."""

    def __init__(self, policy: Policy, hinted: Policy, start: int, stop: int) -> None:
        self.privileged = policy.privileged
        self._policy, self._hinted, self._turns = policy, hinted, range(start, stop)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        who = self._hinted if len(history) in self._turns else self._policy
        return who.act(prompt, history, generator)
