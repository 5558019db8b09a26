"""How long a push waits, and how often it tries."""

from __future__ import annotations

import os
from dataclasses import dataclass

from synth.identity import derive_generator

__all__ = ["Patience"]


@dataclass(frozen=True)
class Patience:
    """Waits of a push. They change no byte of what is published."""

    timeout: float = 60.0
    """Seconds without a byte after which a request counts as hung."""
    attempts: int = 4
    """How often the whole exchange is tried. Within one, uploads of single files have retries of their own."""
    first_wait: float = 2.0
    """Seconds before the second attempt; each further wait is twice as long."""
    longest_wait: float = 900.0
    """Seconds; the Hub's ``Retry-After`` beyond this ends the push, and the same command goes on later."""
    jitter: float = 1.0
    """Seconds that a wait within an attempt is stretched by at most, so that clients refused together do not come back
    together."""

    def wait(self, attempt: int, name: str, asked: float | None) -> float:
        """Seconds to wait after attempt number ``attempt`` (from 0): what the Hub asked for, or doubling, and up to
        half as much again."""
        base = asked if asked is not None else self.first_wait * 2**attempt
        return base + self._drawn(name, attempt) * 0.5 * max(base, self.first_wait)

    def stretch(self, number: int, name: str) -> float:
        """Seconds that the ``number``-th refusal within an attempt is answered later."""
        return self._drawn(f"{name}/inside", number) * self.jitter

    @staticmethod
    def _drawn(name: str, number: int) -> float:
        # The process takes part, because two machines that push the same dataset are those that should not meet.
        return float(derive_generator(0, "push", name, os.getpid(), number).random())
