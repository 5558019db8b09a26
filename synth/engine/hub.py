"""The models of a build, their store of calls and their account, opened together."""

from __future__ import annotations

from decimal import Decimal

from synth.models.client import ModelHub
from synth.store import Store
from synth.store.calls import CallStore
from synth.store.calls_format import CALLS_FILE, nano_units

__all__ = ["StoreHub"]


class StoreHub(ModelHub):
    """A hub over the calls of ``store``, which it closes with itself.

    Args:
        account: What the calls are booked under: the dataset's name.
        max_cost: What the account may have cost at most, over all runs; None = no cap.
        max_tokens: Prompt and completion tokens that it may have used at most.

    Raises:
        StoreError: the store of calls can't be opened.
    """

    def __init__(
        self, store: Store, account: str, *, max_cost: Decimal | float | None = None, max_tokens: int | None = None
    ) -> None:
        calls = CallStore(store.root / CALLS_FILE)
        cap = None if max_cost is None else nano_units(max_cost)
        super().__init__(calls, account=account, max_cost=cap, max_tokens=max_tokens)
        self._own_calls: CallStore | None = calls

    def close(self) -> None:
        """Close connections and the store of calls. May be called twice."""
        super().close()
        calls, self._own_calls = self._own_calls, None
        if calls is not None:
            calls.close()
