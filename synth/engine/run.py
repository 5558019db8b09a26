"""The engine: runs the missing stages of a plan, and reads the finished ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from synth.engine.executors.contract import Executor
from synth.engine.fingerprint import Fingerprint, fingerprints
from synth.engine.lanes import Lanes
from synth.engine.model_executor import ModelExecutor
from synth.engine.plan import Plan
from synth.engine.progress import Progress, Quiet
from synth.engine.signals import interruptible
from synth.engine.stage_run import StageRun, StageStatus, capped
from synth.engine.supply import Supply
from synth.engine.usage import is_model_bound, model_uses, plain_numbers
from synth.engine.views import StageView
from synth.errors import Interrupted
from synth.schemas.rejections import Rejection
from synth.schemas.reports import ModelUse, StageReport
from synth.stages.contract import RowStage
from synth.store.locks import FileLock
from synth.store.store import Store
from synth.store.tables import StoredTable, open_array

__all__ = ["Engine"]


class Engine:
    """Runs a plan over a store. Also a context manager: it keeps what it read from being pruned until it is closed.

    Args:
        models: What stages that call models run on; None = no stage of the plan calls one.

    Raises:
        InputError: a source is missing or can't be read.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        executor: Executor,
        progress: Progress | None = None,
        *,
        models: ModelExecutor | None = None,
    ) -> None:
        self.plan = plan
        self.store = store
        self.executor = executor
        self.progress: Progress = progress if progress is not None else Quiet()
        self.progress.plan([node.label for node in plan.nodes])
        self.models = models
        self._fingerprints = fingerprints(plan)
        self._views: dict[str, StageView] = {}
        self._reports: dict[str, StageReport] = {}
        self._locks: dict[str, FileLock] = {}
        self._lanes: Lanes | None = None

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def release(self) -> None:
        """Let what was read be pruned. For an engine that shares executor, models and progress with another."""
        for lock in self._locks.values():
            lock.release()
        self._locks.clear()

    def close(self) -> None:
        """Let go of the store, and of what it runs on."""
        self.release()
        self.executor.close()
        if self.models is not None:
            self.models.close()
        self.progress.close()

    # --- running -----------------------------------------------------------------------------------------------------

    def run(
        self, run_stage: Callable[[str], StageReport] | None = None, *, gates: Collection[str] = ()
    ) -> tuple[StageReport, ...]:
        """Run whatever is missing; one report per stage run, in the order of the plan. Those that call models run
        beside those that call none, each as soon as what it reads is there.

        Args:
            run_stage: What runs each; None = :meth:`run_stage`.
            gates: Labels that all that stands behind them in the plan waits for, whether it reads of them or not.

        Raises:
            BuildError: N can't be reached.
            StoreError: the store can't be used.
            Interrupted: someone stopped it; the same command continues.
        """
        stop = self.models.stop if self.models is not None else lambda: False
        self._lanes = lanes = Lanes(self.plan, run_stage or self.run_stage, gates=gates, stop=stop)
        with interruptible(lanes.stopped):
            return lanes.run()

    def run_stage(self, label: str) -> StageReport:
        """Run one stage run if it is missing, and what it reads before it. Calling it again does nothing."""
        node = self.plan.node(label)
        if label in self._reports:
            return self._reports[label]
        for name in node.reads:
            self.run_stage(node.source_of(name)[0])
        began = time.monotonic()
        used = self.models.use() if self.models is not None else None
        run = StageRun(self, node)
        folder = run.folder
        folder.create(run.identity())
        if label not in self._locks:
            self._locks[label] = folder.using()
        with interruptible(f"stopped in stage {label!r}"):
            view = run.load()
            reused = view.shards if view is not None else 0
            if view is None:
                told: list[str] = []
                with folder.writing(lambda: self._waiting(label, told)):
                    folder.remove_unfinished()
                    # Another build may have finished it while we waited for the lock, and may be reading it.
                    view = run.load()
                    made = 0
                    if view is None:
                        view, made = run.make()
                    reused = max(0, view.shards - made)
        folder.mark_used(self.plan.dataset)
        self._views[label] = view
        report = _report(run.fingerprint, view, reused, time.monotonic() - began)
        if used is not None and self.models is not None and is_model_bound(node.config):
            report = report.model_copy(update={"run": self.models.use().since(used)})
        self._reports[label] = report
        self.progress.end(report)
        return report

    def supply(self, label: str) -> Supply:
        """What the candidate stage ``label`` could accept in all, judged by its first candidates. What it reads is run
        before it; a build finds all of it in the store."""
        node = self.plan.node(label)
        for name in node.reads:
            self.run_stage(node.source_of(name)[0])
        run, told = StageRun(self, node), list[str]()
        run.folder.create(run.identity())
        if label not in self._locks:
            self._locks[label] = run.folder.using()
        with interruptible(f"stopped in stage {label!r}"), run.folder.writing(lambda: self._waiting(label, told)):
            run.folder.remove_unfinished()
            return run.supply()

    def _waiting(self, label: str, told: list[str]) -> None:
        if self._lanes is not None and self._lanes.ending:
            raise Interrupted("the build ends", where=f"stopped in stage {label!r}")
        if not told:
            told.append(f"{label}: another build is working on this stage in the same store; waiting for it")
            self.progress.note(told[0])

    # --- reading -----------------------------------------------------------------------------------------------------

    def view(self, label: str) -> StageView:
        """A finished stage run.

        Raises:
            LookupError: it has not run yet.
        """
        self.plan.node(label)
        if label not in self._views:
            raise LookupError(f"stage run {label!r} has not run yet: call run() or run_stage({label!r})")
        return self._views[label]

    def table(self, label: str, name: str) -> StoredTable:
        """A finished table, sealed ones too."""
        tables = self.view(label).tables
        if name not in tables:
            raise KeyError(f"{label!r} writes no table {name!r}; it writes {', '.join(tables) or 'none'}")
        return tables[name]

    def arrays(self, label: str) -> Mapping[str, np.ndarray[Any, Any]]:
        """Arrays of a finished stage run, memory-mapped read-only."""
        return {name: open_array(path) for name, path in self.view(label).arrays.items()}

    def rejected(self) -> StoredTable:
        """Everything that was rejected, in the order of the plan and of the rows."""
        return StoredTable(
            Rejection, [part for node in self.plan.nodes for part in self.view(node.label).rejected.parts]
        )

    def row_uses(self, label: str) -> list[tuple[ModelUse, ...]]:
        """What the model calls of each row of a finished row stage used, by role and model, in the order of the rows.

        Raises:
            LookupError: it has not run yet.
        """
        self.view(label)
        return StageRun(self, self.plan.node(label)).row_uses()

    def fingerprint(self, label: str) -> Fingerprint:
        self.plan.node(label)
        return self._fingerprints[label]

    # --- planning ----------------------------------------------------------------------------------------------------

    def status(self) -> tuple[StageStatus, ...]:
        """What each stage run would do now, from manifests alone: nothing is run, hashed or written."""
        views: dict[str, StageView | None] = {}
        found: list[StageStatus] = []
        for node in self.plan.nodes:
            run = StageRun(self, node)
            length = None
            if issubclass(node.stage, RowStage):
                label, table = node.source_of(node.stage.over)
                over = views.get(label)
                length = capped(node, len(over.tables[table])) if over is not None else None
            view = run.load(quick=True, length=length)
            views[node.label] = view
            found.append(run.status(view, length))
        return tuple(found)


def _report(fingerprint: Fingerprint, view: StageView, reused: int, seconds: float) -> StageReport:
    node = fingerprint.node
    return StageReport(
        label=node.label,
        stage=node.stage.name,
        version=node.stage.version,
        fingerprint=fingerprint.value,
        rows_in=view.counts.rows_in,
        kept=view.counts.kept,
        rejected=dict(view.counts.rejected),
        rows=dict(view.counts.rows),
        shards=view.shards,
        reused_shards=reused,
        numbers=plain_numbers(view.counts.numbers),
        models=model_uses(view.counts.numbers, node.config),
        seconds=seconds,
    )
