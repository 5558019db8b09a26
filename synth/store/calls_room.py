"""What is left of an account's caps."""

from __future__ import annotations

from typing import Literal

from synth.store.calls_file import Attempt, CallFile
from synth.store.calls_format import CapReached

__all__ = ["Room"]


class Room:
    """What is left of an account's caps, during one transaction."""

    def __init__(self, caps: tuple[int | None, int | None], file: CallFile, account: str) -> None:
        self._account = account
        self._full = False
        booked = file.booked(account) if caps != (None, None) else {}
        units: tuple[Literal["cost", "tokens"], ...] = ("cost", "tokens")
        self._caps = [(unit, cap, *booked[unit]) for unit, cap in zip(units, caps, strict=True) if cap is not None]
        self._taken = {"cost": 0, "tokens": 0}

    def take(self, attempt: Attempt) -> bool:
        """Whether ``attempt`` fits now; if so, its room is taken. While one waits, none fits.

        Raises:
            CapReached: it can't ever fit: what is spent never becomes less.
        """
        wanted = {"cost": attempt.cost, "tokens": attempt.tokens}
        for unit, cap, spent, _, stop in self._caps:
            if stop is not None and cap <= stop:
                raise CapReached(self._account, unit, cap, spent, wanted[unit], overrun=True)
        if self._full:
            return False
        for unit, cap, spent, _, _ in self._caps:
            if spent + wanted[unit] > cap:
                raise CapReached(self._account, unit, cap, spent, wanted[unit])
        self._full = any(
            spent + reserved + self._taken[unit] + wanted[unit] > cap for unit, cap, spent, reserved, _ in self._caps
        )
        if not self._full:
            self._taken = {name: taken + wanted[name] for name, taken in self._taken.items()}
        return not self._full
