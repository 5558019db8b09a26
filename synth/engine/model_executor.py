"""Where stage runs that call models are executed: one event loop, one hub of models, in the engine's own process."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

from synth.engine.multiplex import BuildLoop, Multiplexer
from synth.engine.progress import CallsNow, money, short
from synth.engine.work import Observer, ShardTask, Work
from synth.errors import SynthError
from synth.models.contract import BudgetReached, EndpointDown, Models
from synth.models.statistics import HubStatistics
from synth.schemas.reports import RunUse
from synth.stages.contract import implementations
from synth.store.calls_format import Account, from_nano
from synth.store.claims import Claims

__all__ = ["GRACE", "Hub", "ModelExecutor"]

GRACE = 30.0
"""Seconds that rows in flight have to end when another one ended the run (a cap, an endpoint that is down), and calls
in flight when someone stopped it."""


class Hub(Models, Protocol):
    """All models of a build, behind one account."""

    def account(self) -> Account:
        """What the account has used over all runs."""

    def statistics(self) -> HubStatistics:
        """What the calls through this hub amount to so far."""

    @property
    def claims(self) -> Claims:
        """Which builds do which rows, of those that share them."""

    def ending(self, seconds: float) -> AbstractAsyncContextManager[None]:
        """Inside, no call begins; it is entered when those that were out have ended, or after so long."""

    def close(self) -> None:
        """No call comes any more."""


class ModelExecutor:
    """Executes stage runs that call models, whatever executes the others.

    Args:
        open_hub: Called once, when the first stage run needs a model.
        in_flight: Rows that are worked on at once; more where calls go in batches.
        grace: Seconds that rows in flight have to end when another one ended the run.
        shared: Other builds, here or elsewhere, may do some of the rows.
        max_cost: The caps that the hub keeps, for the progress to show; None = none.
        max_tokens: The same for tokens.

    Raises:
        ValueError: ``in_flight`` is less than 1.
    """

    def __init__(
        self,
        open_hub: Callable[[], Hub],
        *,
        in_flight: int = 512,
        grace: float = GRACE,
        shared: bool = False,
        max_cost: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        if in_flight < 1:
            raise ValueError(f"in_flight is {in_flight}: at least 1")
        self._open_hub = open_hub
        self.in_flight = in_flight
        self._grace = grace
        self._shared = shared
        self._max_cost = max_cost
        self._max_tokens = max_tokens
        self._hub: Hub | None = None
        self._loop: BuildLoop | None = None

    @property
    def hub(self) -> Hub:
        """Opened when first asked for."""
        if self._hub is None:
            self._hub = self._open_hub()
        return self._hub

    @property
    def opened(self) -> bool:
        """Whether any stage run has needed a model yet."""
        return self._hub is not None

    def use(self) -> RunUse:
        """What the calls of this run amount to so far."""
        if self._hub is None:
            return RunUse()
        roles = self._hub.statistics().roles
        return RunUse(
            calls=sum(role.calls for role in roles),
            from_store=sum(role.from_store + role.shared for role in roles),
            failed=sum(role.failed for role in roles),
            prompt_tokens=sum(role.prompt_tokens for role in roles),
            completion_tokens=sum(role.completion_tokens for role in roles),
            cost=float(from_nano(sum(role.cost for role in roles))),
        )

    def _spent(self) -> str:
        if self._hub is None:
            return ""
        batches = self._hub.statistics().batches
        done, calls = sum(batch.done for batch in batches), sum(batch.calls for batch in batches)
        waits = f"{done:,} of {calls:,} calls in batches are through" if batches else ""
        if self._max_cost is None and self._max_tokens is None:
            return waits
        account, words = self._hub.account(), []
        if self._max_cost is not None:
            words.append(f"{money(float(from_nano(account.cost_bound)))} of {money(self._max_cost)}")
        if self._max_tokens is not None:
            words.append(f"{short(account.tokens_spent)} of {short(self._max_tokens)} tokens")
        return f"spent {', '.join(words)}" + (f", {waits}" if waits else "")

    def latency(self) -> float | None:
        """Seconds from sending a call to its reply, the median by role, weighted by calls; None = none was sent."""
        sent = [] if self._hub is None else [role for role in self._hub.statistics().roles if role.p50 is not None]
        calls = sum(role.calls for role in sent)
        return sum(role.calls * (role.p50 or 0.0) for role in sent) / calls if calls else None

    def run(
        self,
        work: Work,
        tasks: Sequence[ShardTask],
        observer: Observer,
        tell: Callable[[CallsNow], None] = lambda now: None,
        note: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Do all ``tasks``; each is committed when this returns. ``tell`` hears about twice a second how it goes,
        ``note`` what else the user should know.

        Raises:
            SynthError: one line for the user; what was finished is kept.
            Exception: a bug, with a note that says where.
        """
        if not tasks:
            return
        if self._loop is None:
            self._loop = BuildLoop()
        counting = _Counting(observer)
        meter = _Meter(self.use, self._spent, tell)
        rows = Multiplexer(
            work,
            tasks,
            counting,
            in_flight=self._rows_of(work),
            grace=self._grace,
            tell=meter.tell,
            note=note,
            ending=self._ending,
            claims=self.hub.claims if self._shared else None,
        )
        try:
            self._loop.run(rows.run)
        except (BudgetReached, EndpointDown) as error:
            total = sum(task.units for task in tasks)
            raise _with_what_is_finished(error, work.label, counting.units_done, total) from error

    def _rows_of(self, work: Work) -> int:
        """Rows of ``work`` at once: as many as a batch takes, where its calls go in batches."""
        batches = [one.runtime.batch for _, one in implementations(work.config) if one.model is not None]
        return max([self.in_flight, *(batch.calls for batch in batches if batch is not None)])

    def stop(self) -> bool:
        """From another thread: ask what :meth:`run` does to end. At first calls that are out have the grace to end, the
        second time it ends at once. False when nothing runs."""
        return self._loop is not None and self._loop.stop()

    def _ending(self, seconds: float) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self._hub is None else self._hub.ending(seconds)

    def close(self) -> None:
        """Let go of the loop and the hub. May be called twice."""
        loop, self._loop = self._loop, None
        hub, self._hub = self._hub, None
        try:
            if loop is not None:
                loop.close()
        finally:
            if hub is not None:
                hub.close()


class _Counting:
    """Counts units on their way to the observer."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self.units_done = 0

    def units(self, count: int) -> None:
        self.units_done += count
        self._observer.units(count)


class _Meter:
    """Calls of one stage run, and how many per second over the last few."""

    def __init__(self, use: Callable[[], RunUse], spent: Callable[[], str], tell: Callable[[CallsNow], None]) -> None:
        self._use = use
        self._spent = spent
        self._tell = tell
        self._before = use()
        self._seen: deque[tuple[float, int]] = deque([(time.monotonic(), 0)], maxlen=_RATE_OVER)

    def tell(self, rows: int) -> None:
        use = self._use().since(self._before)
        now = time.monotonic()
        began, calls = self._seen[0]
        self._seen.append((now, use.calls))
        self._tell(CallsNow(rows, (use.calls - calls) / max(now - began, 1e-3), use, self._spent()))


_RATE_OVER = 20
"""Looks at the statistics that a rate is taken over."""


def _with_what_is_finished(error: SynthError, label: str, done: int, total: int) -> SynthError:
    what = f"{error.what.rstrip('.')}; {done:,} of the {total:,} rows that {label} had to do are finished"
    return type(error)(what, where=error.where, mend=error.mend)
