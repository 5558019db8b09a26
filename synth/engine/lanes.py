"""Two lanes through a plan: stage runs that call models in a thread of their own, all others in the caller's.

So a stage that waits for a model holds up none that could run. In each lane the first of the plan that is ready runs
next, so models are asked in the same order as without lanes, and caps are reached at the same stage.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context

from synth.engine.plan import Plan
from synth.engine.signals import LOOK_SECONDS, end, held_back
from synth.engine.usage import is_model_bound
from synth.schemas.reports import StageReport

__all__ = ["Lanes"]


class Lanes:
    """Runs all of ``plan`` by ``run_stage``, once.

    Args:
        gates: Labels that all that stands behind them in the plan waits for, whether it reads of them or not.
        stop: Asks the model-bound stage run under way to end; whether there was one to ask.
    """

    def __init__(
        self,
        plan: Plan,
        run_stage: Callable[[str], StageReport],
        *,
        gates: Collection[str],
        stop: Callable[[], bool],
    ) -> None:
        self._run_stage = run_stage
        self._stop = stop
        self._left = {node.label: is_model_bound(node.config) for node in plan.nodes}
        self._needs: dict[str, set[str]] = {}
        passed: set[str] = set()
        for node in plan.nodes:
            self._needs[node.label] = passed | {node.source_of(name)[0] for name in node.reads}
            passed |= {node.label} & set(gates)
        self._reports: dict[str, StageReport] = {}
        self._changed = threading.Condition()
        self._beside: str | None = None
        """The model-bound stage run under way."""
        self.ending = False
        """Nothing more begins."""

    def run(self) -> tuple[StageReport, ...]:
        """One report per stage run, in the order of the plan.

        Raises:
            BaseException: what ended a lane. The other's stage run under way was asked to end when it calls models, and
                ran to its end when it calls none.
        """
        order = tuple(self._left)
        if not any(self._left.values()):
            return tuple(self._run_stage(label) for label in order)
        pool = ThreadPoolExecutor(1, "synth-model-stages")
        beside: Future[None] | None = None
        try:
            with held_back():
                beside = pool.submit(copy_context().run, self._walk, True)
            self._walk(False)
            beside.result()
        except BaseException:
            self._end()
            if beside is not None:
                end(beside, self._stop)
            raise
        finally:
            pool.shutdown(wait=False)
        return tuple(self._reports[label] for label in order)

    def stopped(self) -> str:
        """Where a signal found the build that none of the caller's own stage runs took."""
        return "stopped between two stages" if self._beside is None else f"stopped in stage {self._beside!r}"

    def _walk(self, bound: bool) -> None:
        """Run what is ready of one lane until nothing is left of it."""
        while (label := self._next(bound)) is not None:
            try:
                report = self._run_stage(label)
            except BaseException:
                self._end()
                raise
            with self._changed:
                self._reports[label] = report
                self._changed.notify_all()

    def _next(self, bound: bool) -> str | None:
        with self._changed:
            while not self.ending:
                mine = [label for label, its in self._left.items() if its is bound]
                ready = next((label for label in mine if self._needs[label] <= self._reports.keys()), None)
                if bound and ready != self._beside:
                    self._beside = ready
                    self._changed.notify_all()
                if ready is not None:
                    del self._left[ready]
                    return ready
                # The caller's thread stays for Ctrl-C until the other one is through.
                if not mine and (bound or len(self._reports) == len(self._needs)):
                    return None
                self._changed.wait(LOOK_SECONDS)
            return None

    def _end(self) -> None:
        with self._changed:
            self.ending = True
            self._changed.notify_all()
