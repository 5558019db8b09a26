"""One stage run of an engine: what of it stands in the store, and how to make the rest."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

from synth.engine.acceptance import Acceptance, load_view, too_few
from synth.engine.executors.contract import Executor
from synth.engine.fingerprint import Fingerprint
from synth.engine.model_executor import ModelExecutor
from synth.engine.plan import Plan, StageNode
from synth.engine.progress import Progress
from synth.engine.supply import SAMPLE, Supply
from synth.engine.units import REJECTED, UNITS, exact
from synth.engine.usage import is_model_bound, model_uses
from synth.engine.views import StageView, batch_view, cut, total, view_of
from synth.engine.work import ShardTask, Work, covering
from synth.errors import SynthError
from synth.schemas.reports import ModelUse
from synth.stages.contract import CandidateStage, RowStage, ShardStage, Stage, implementations
from synth.store.failpoints import failpoint
from synth.store.files import remove_folder, store_errors
from synth.store.shards import Manifest, check_shard, read_manifest
from synth.store.store import StageFolder, Store
from synth.store.tables import StoredInputs, StoredTable

__all__ = ["StageRun", "StageStatus", "capped"]


class Surroundings(Protocol):
    """What a stage run knows of the engine that it belongs to."""

    plan: Plan
    store: Store
    executor: Executor
    progress: Progress
    models: ModelExecutor | None

    def fingerprint(self, label: str) -> Fingerprint: ...

    def view(self, label: str) -> StageView: ...

    def table(self, label: str, name: str) -> StoredTable: ...


@dataclass(frozen=True)
class StageStatus:
    """What a stage run would do now."""

    label: str
    stage: str
    version: int
    fingerprint: str
    state: Literal["cached", "partial", "pending"]
    shards: int
    """Committed shards in the store that it would use."""
    shards_total: int | None
    """None when that is known only once earlier stages have run."""
    rows: Mapping[str, int]
    """Rows by table, when complete."""
    bytes: int
    """Of those shards."""
    models: tuple[str, ...] = ()
    """Names of the models that it calls, sorted."""


class _Counting:
    """Passes finished units on to the progress."""

    def __init__(self, progress: Progress, label: str) -> None:
        self._progress = progress
        self._label = label

    def units(self, count: int) -> None:
        self._progress.advance(self._label, count)


class StageRun:
    """One stage run of an engine: what of it stands in the store, and how to make the rest."""

    def __init__(self, engine: Surroundings, node: StageNode) -> None:
        self._engine = engine
        self.node = node
        self.stage: type[Stage[Any]] = node.stage
        self.fingerprint = engine.fingerprint(node.label)
        self.folder: StageFolder = engine.store.stage(node.stage.name, self.fingerprint.value)
        self._sound: dict[Path, Manifest] = {}

    def identity(self) -> dict[str, Any]:
        return {"fingerprint": self.fingerprint.value, "material": dict(self.fingerprint.material)}

    def _inputs(self) -> StoredInputs:
        tables: dict[str, StoredTable] = {}
        arrays: dict[str, Any] = {}
        for name in self.node.reads:
            label, table = self.node.source_of(name)
            view = self._engine.view(label)
            if table in view.tables:
                tables[name] = view.tables[table]
            if view.arrays or table not in view.tables:
                arrays[name] = view.arrays
        return StoredInputs(tables, arrays)

    def _work(self) -> Work:
        models = self._models()
        return Work(
            label=self.node.label,
            stage=self.stage,
            config=self.node.config,
            seed=self._engine.plan.seed,
            provenance=self.fingerprint.provenance(self._engine.plan),
            inputs=self._inputs(),
            folder=self.folder,
            ledger=self._engine.store.ledger,
            models=None if models is None else models.hub,
            filters=self.node.filters,
            prompts=self.node.prompts,
        )

    def _models(self) -> ModelExecutor | None:
        """What the stage run's model calls run on; None when it makes none."""
        if not is_model_bound(self.node.config):
            return None
        if self._engine.models is None:
            raise ValueError(f"stage run {self.node.label!r} calls a model, and the engine was given none")
        return self._engine.models

    def _length(self) -> int:
        """Rows that a row stage works over."""
        assert issubclass(self.stage, RowStage)
        label, table = self.node.source_of(self.stage.over)
        return capped(self.node, len(self._engine.table(label, table)))

    # --- what stands -------------------------------------------------------------------------------------------------

    def load(self, *, quick: bool = False, length: int | None = None) -> StageView | None:
        """The finished stage run, or None when something of it is missing or damaged."""
        if issubclass(self.stage, CandidateStage):
            by = self.fingerprint.accepted_by
            return load_view(self.stage, self.folder, self._engine.plan.wanted, by, quick=quick)
        tasks = self._known_tasks(self._length() if length is None and not quick and self._is_rows else length)
        if tasks is None:
            return None
        found = self._survey(tasks, quick=quick)
        if len(found) < len(tasks):
            return None
        if not quick:
            self.folder.tidy(found)
        return self._view(tasks, [found[task.start] for task in tasks])

    @property
    def _is_rows(self) -> bool:
        return issubclass(self.stage, RowStage)

    def _known_tasks(self, length: int | None) -> list[ShardTask] | None:
        """All shards, as far as they can be known without a stage object."""
        if issubclass(self.stage, RowStage):
            if length is None:
                return None
            step = self.stage.rows_per_shard
            return [ShardTask(start, min(start + step, length)) for start in range(0, length, step)]
        complete = self.folder.complete()
        return None if complete is None else [ShardTask(shard, shard + 1) for shard in range(complete["shards"])]

    def _survey(self, tasks: list[ShardTask], *, quick: bool = False) -> dict[int, Manifest]:
        """First unit -> manifest of a sound committed shard that covers the task."""
        committed = self.folder.committed()
        found: dict[int, Manifest] = {}
        for task in tasks:
            for stop in covering(self.stage, task, committed.get(task.start, [])):
                manifest = self._manifest(self.folder.shard(task.start, stop), quick)
                if manifest is not None:
                    found[task.start] = manifest
                    break
        return found

    def _manifest(self, path: Path, quick: bool = False) -> Manifest | None:
        """The manifest of a sound shard. Files are hashed once per stage run of an engine."""
        if path not in self._sound:
            manifest = read_manifest(path) if quick else check_shard(path)
            if quick or manifest is None:
                return manifest
            self._sound[path] = manifest
        return self._sound[path]

    def _view(self, tasks: list[ShardTask], manifests: list[Manifest]) -> StageView:
        if not self._is_rows:
            return batch_view(self.stage, manifests)
        pairs = [cut(self.stage, manifest, task.units) for task, manifest in zip(tasks, manifests, strict=True)]
        parts = {name: [part[name] for part, _ in pairs] for name in (*self.stage.writes, REJECTED)}
        return view_of(self.stage, parts, total(counts for _, counts in pairs), manifests)

    def status(self, view: StageView | None, length: int | None) -> StageStatus:
        committed = self.folder.committed()
        tasks = self._known_tasks(length)
        usable = [stops[0] for start, stops in committed.items()]
        shards = view.shards if view is not None else len(usable)
        size = view.bytes if view is not None else self._bytes(committed)
        return StageStatus(
            label=self.node.label,
            stage=self.stage.name,
            version=self.stage.version,
            fingerprint=self.fingerprint.value,
            state="cached" if view is not None else "partial" if committed else "pending",
            shards=shards,
            shards_total=view.shards if view is not None else None if tasks is None else len(tasks),
            rows=dict(view.counts.rows) if view is not None else {},
            bytes=size,
            models=tuple(sorted({one.model for _, one in implementations(self.node.config) if one.model is not None})),
        )

    def _bytes(self, committed: Mapping[int, list[int]]) -> int:
        manifests = [read_manifest(self.folder.shard(start, stops[0])) for start, stops in committed.items()]
        return sum(manifest.bytes for manifest in manifests if manifest is not None)

    def row_uses(self) -> list[tuple[ModelUse, ...]]:
        """What the model calls of each row used, in order, once all rows are finished.

        Raises:
            LookupError: they are not.
        """
        tasks = self._known_tasks(self._length())
        found = self._survey(tasks or [])
        if tasks is None or len(found) != len(tasks):
            raise LookupError(f"stage run {self.node.label!r} has not run yet")
        uses: list[tuple[ModelUse, ...]] = []
        for task in tasks:
            column = found[task.start].open(UNITS).slice(0, task.units)["numbers"]
            numbers: list[dict[str, float]] = [json.loads(text or "{}") for text in column.to_pylist()]
            uses += [model_uses(exact(one), self.node.config) for one in numbers]
        return uses

    # --- making the rest ---------------------------------------------------------------------------------------------

    def make(self) -> tuple[StageView, int]:
        """Make what is missing; the view, and how many shards were made. Only for the holder of the write lock."""
        self._remove_damaged()
        if issubclass(self.stage, CandidateStage):
            return self._make_candidates()
        work = self._work()
        tasks = self._known_tasks(self._length() if self._is_rows else None)
        if tasks is None:
            tasks = [ShardTask(shard, shard + 1) for shard in range(self._count_shards(work))]
        found = self._survey(tasks)
        missing = [task for task in tasks if task.start not in found]
        todo = sum(task.units for task in missing)
        self._engine.progress.begin(self.node.label, todo, sum(task.units for task in tasks) - todo)
        self._execute(work, missing)
        failpoint("engine.stage.computed")
        found |= self._survey(missing)
        self._all_there(missing, found)
        self.folder.mark_complete({"shards": len(tasks)})
        self.folder.remove_journals(found)
        return self._view(tasks, [found[task.start] for task in tasks]), len(missing)

    def _count_shards(self, work: Work) -> int:
        stage = work.open()
        return stage.shards() if isinstance(stage, ShardStage) else 1

    def _remove_damaged(self) -> None:
        """Say and remove whatever is committed and not what its manifest says."""
        for start, stops in self.folder.committed().items():
            for stop in stops:
                path = self.folder.shard(start, stop)
                if self._manifest(path) is None:
                    self._engine.progress.note(
                        f"{self.node.label}: shard {path.name} in the store is damaged; it is made again"
                    )
                    with store_errors(path):
                        remove_folder(path)

    def _execute(self, work: Work, tasks: list[ShardTask]) -> None:
        if not tasks:
            return
        engine = self._engine
        observer = _Counting(engine.progress, self.node.label)
        models = self._models()
        if models is not None:
            models.run(work, tasks, observer, partial(engine.progress.calls, self.node.label), engine.progress.note)
            return
        with engine.store.scratch(self.node.label) as scratch:
            engine.executor.run(work, tasks, observer, scratch)

    def _all_there(self, tasks: list[ShardTask], found: Mapping[int, Manifest]) -> None:
        for task in tasks:
            if task.start not in found:
                raise SynthError(
                    f"shard {task.start} was not written, and no error was reported", where=f"stage {self.node.label!r}"
                )

    def _make_candidates(self) -> tuple[StageView, int]:
        acceptance, limit, exhausted = self._acceptance()
        made = self._accept(acceptance, limit, exhausted)
        if not acceptance.reached:
            stage = self._work().open()
            remedy = stage.remedy() if isinstance(stage, CandidateStage) else None
            raise too_few(self.node.label, acceptance, self._engine.plan.wanted, exhausted, remedy)
        failpoint("engine.stage.computed")
        view = acceptance.commit(self.folder, self.fingerprint.accepted_by)
        return view, made

    def supply(self) -> Supply:
        """What could be accepted in all, judged by the first candidates: they stand in the store afterwards. Only for
        the holder of the write lock."""
        acceptance, limit, exhausted = self._acceptance(SAMPLE)
        self._accept(acceptance, min(SAMPLE, limit), exhausted)
        return acceptance.supply(self.node.label, limit)

    def _acceptance(self, most: int | None = None) -> tuple[Acceptance, int, int | None]:
        """Nothing accepted yet; how many candidates may be tried (``most`` of them by it); how many there are."""
        assert issubclass(self.stage, CandidateStage)
        wanted = self._engine.plan.wanted
        stage = self._work().open()
        assert isinstance(stage, CandidateStage)
        exhausted = stage.exhausted()
        if wanted is None and exhausted is None:
            raise ValueError(f"stage {self.node.label!r} never runs out of candidates: say how many rows are wanted")
        limit = min(x for x in (exhausted, None if wanted is None else stage.ceiling(wanted)) if x is not None)
        looked_at = limit if most is None else min(most, limit)
        folder = self._engine.store.folder("scratch")
        return Acceptance(self.stage, wanted, looked_at, self.node.accepting, folder), limit, exhausted

    def _accept(self, acceptance: Acceptance, limit: int, exhausted: int | None) -> int:
        """Go on until ``acceptance`` is done; how many shards were made for it."""
        assert issubclass(self.stage, CandidateStage)
        work, step = self._work(), self.stage.candidates_per_shard
        made, start, told = 0, 0, False
        while not acceptance.done:
            tasks = self._wave(acceptance, start, step, limit, exhausted)
            found = self._survey(tasks)
            missing = [task for task in tasks if task.start not in found]
            if missing and not made:
                self._engine.progress.begin(self.node.label, None, acceptance.candidates)
            self._execute(work, missing)
            found |= self._survey(missing)
            self._all_there(missing, found)
            made += len(missing)
            for task in tasks:
                if not acceptance.done:
                    acceptance.take(found[task.start])
            start = tasks[-1].stop
            if self._engine.plan.wanted is not None and not acceptance.done and not told and start >= SAMPLE:
                told = True
                if (supply := acceptance.supply(self.node.label, limit)).short:
                    self._engine.progress.note(f"{supply.line}: give a larger source, or ask for fewer")
        return made

    def _wave(
        self, acceptance: Acceptance, start: int, step: int, limit: int, exhausted: int | None
    ) -> list[ShardTask]:
        """The next shards: about as many as are needed, by the yield so far."""
        wanted = self._engine.plan.wanted
        if wanted is None:
            need = limit - start
        elif acceptance.accepted:
            need = math.ceil((wanted - acceptance.accepted) * acceptance.candidates / acceptance.accepted)
        else:
            need = max(wanted, acceptance.candidates)
        estimate = math.ceil(need / step)
        # Where models are called, all that are needed wait for them at once.
        together = estimate if self._models() is not None else self._engine.executor.wave(estimate)
        number = max(1, min(together, math.ceil((limit - start) / step)))
        # Never cut at the limit, which depends on N: a shard holds the same candidates whatever N is.
        end = exhausted if exhausted is not None else start + number * step
        return [ShardTask(at, min(at + step, end)) for at in range(start, min(start + number * step, end), step)]


def capped(node: StageNode, rows: int) -> int:
    """Rows that a row stage works over, of so many that there are."""
    assert issubclass(node.stage, RowStage)
    first = node.stage.first_rows(node.config)
    return rows if first is None else min(rows, first)
