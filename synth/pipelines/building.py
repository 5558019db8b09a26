"""From a request to a finished dataset: plan it, run its stages, write it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from platformdirs import user_cache_path

from synth.dataset.key_hashes import remember
from synth.dataset.reader import Dataset
from synth.engine import Engine, Progress, Quiet, progress_for
from synth.engine.json_log import JsonLines
from synth.engine.metrics import Metrics
from synth.engine.notebook import Notebook, kernel
from synth.engine.options import executor_named, models_for
from synth.engine.record import Recorded
from synth.engine.supply import LARGE, Supply
from synth.engine.traces import Traces
from synth.engine.usage import is_model_bound
from synth.errors import BuildError, InputError, SynthError
from synth.pipelines.finishing import check_teacher, finish
from synth.pipelines.pilot import run_pilot
from synth.pipelines.planner import plan
from synth.pipelines.request import BuildRequest, BuildResult, Outlook, Preview, ProgressName
from synth.pipelines.words import write_words
from synth.places import hub_dataset
from synth.recipe.load import load_recipe
from synth.recipe.model import Recipe
from synth.recipe.requests import settings_of
from synth.recipe.roles import check_keys, keys_of
from synth.schemas.rejections import Reason
from synth.schemas.reports import StageReport
from synth.stages.contract import CandidateStage
from synth.store import Store, check_destination
from synth.store.calls_format import CALLS_FILE, Account
from synth.store.remote import local_copy, url_of

__all__ = ["Prepared", "default_store", "prepare", "resolve"]


_GATES = ("documents", "read", "runs", "teacher")
"""Stage runs after which :meth:`Prepared.run_stage` may find that there is nothing to go on with."""


class Prepared:
    """A build that is planned and checked, not run."""

    def __init__(
        self, recipe: Recipe, engine: Engine, out: Path, record: Recorded, *, grows: Dataset | None = None
    ) -> None:
        self.recipe = recipe
        self.engine = engine
        self.out = out
        self.grows = grows
        """A finished dataset whose rows stay as and where they are."""
        self._record = record
        self._remembered: set[str] = set()
        """Keys that the store has the hashes of."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the stage runs, each after those whose tables it reads."""
        return tuple(node.label for node in self.engine.plan.nodes)

    @property
    def account(self) -> Account | None:
        """What the dataset's model calls have used in this store so far; None where it never made any."""
        models = self.engine.models
        if models is None or not (models.opened or (self.engine.store.root / CALLS_FILE).exists()):
            return None
        account = models.hub.account()
        return account if account.calls else None

    def outlook(self, pilot: int | None = None, *, sample: bool = True) -> Outlook:
        """What a build would do. With ``pilot``, stages that call models first run over the rows of so many tasks, as
        the build would: its calls are those that the build then finds in the store. With ``sample``, the first
        candidates of many tasks are tried, where no model is called for them: do they suffice?

        Raises:
            SynthError: the pilot or the sample could not run.
        """
        found = None if pilot is None else run_pilot(self.engine, self.recipe.tasks, pilot)
        supply = self._supply() if sample else None
        return Outlook(self.recipe, self.engine.status(), self.account, found, supply, self._prompts())

    def _prompts(self) -> dict[str, tuple[str, ...]]:
        nodes = self.engine.plan.nodes
        return {name: tuple(one.label for one in nodes if one.prompts.get(name)) for name in self.recipe.prompts}

    def _supply(self) -> Supply | None:
        """None where it is not worth it, or would cost money."""
        if (self.recipe.tasks or 0) < LARGE:
            return None
        for node in self.engine.plan.nodes:
            if is_model_bound(node.config):
                return None
            if issubclass(node.stage, CandidateStage):
                return self.engine.supply(node.label)
        return None

    def preview(self, tasks: int) -> Preview:
        """The first tasks of the build and a run of the first of them, by the teacher where there is one. Only what
        they need is run, and the build finds it in the store.

        Raises:
            InputError: a preview of no task.
            SynthError: a stage could not run.
        """
        if tasks < 1:
            raise InputError(f"a preview of {tasks} tasks shows nothing", where="--tasks", mend="give 1 or more")
        wanted = tasks if self.recipe.tasks is None else min(tasks, self.recipe.tasks)
        engine = self.engine
        small = Engine(
            replace(engine.plan, wanted=wanted), engine.store, engine.executor, engine.progress, models=engine.models
        )
        check_keys(self.recipe.roles, os.environ)
        role = self.recipe.acting[0]
        ran = self.labels[: self.labels.index(role) + 1]
        try:
            for label in ran:
                small.run_stage(label)
            made = tuple(small.table("tasks", "tasks").rows())[:wanted] if self.recipe.has_tasks else ()
            if run := next(iter(small.table(role, "trajectories").rows()), None):
                return Preview(made, run)
            label = f"{role}-rollouts"
            if label not in ran:
                return Preview(made, None, next(iter(small.view(role).rejected.rows()), None))
            run = next(iter(small.table(label, "rollouts").rows()), None)
            return Preview(made, run, next(iter(small.view(label if run is None else role).rejected.rows()), None))
        finally:
            small.release()

    def run_stage(self, label: str) -> StageReport:
        """Run one stage, or find its complete shards in the store.

        Raises:
            InputError: a variable that is to hold a model's key is not set.
            BuildError: no document of the source can be used, or no run of the teacher succeeded: there is nothing to
                go on with.
        """
        check_keys(self.recipe.roles, os.environ)
        if keys := keys_of(self.recipe.roles, os.environ) - self._remembered:
            remember(self.engine.store.root, keys)
            self._remembered |= keys
        report = self.engine.run_stage(label)
        if label in ("documents", "read") and not report.kept:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.rejected.items()))
            raise BuildError(
                f"no document of {report.rows_in:,} can be used: {reasons or 'the source is empty'}",
                where="source",
                mend="look at the files, or set source.pattern to those that hold text",
            )
        if label == "runs" and set(report.rejected) <= {Reason.MALFORMED} and not report.kept:
            raise InputError(
                "there is no run in the files" if not report.rows_in else f"none of {report.rows_in:,} lines is JSON",
                where="source.path",
                mend="one JSON object per line",
            )
        if label == "teacher" and not self.recipe.source_spec.is_recorded:
            check_teacher(self.recipe, self.engine)
        return report

    def run_stages(self, run_stage: Callable[[str], StageReport] | None = None) -> None:
        """Run whatever is missing, by ``run_stage`` (None = :meth:`run_stage`). What calls models runs beside the rest,
        but nothing is asked of a model before it is known that there is something to go on with."""
        self.engine.run(run_stage or self.run_stage, gates=_GATES)

    def run(self) -> BuildResult:
        """Run what is missing, write the dataset, move it to its place."""
        with self.engine:
            try:
                self.run_stages()
                return self.finish()
            except (SynthError, KeyboardInterrupt) as error:
                self._record.ended(f"failed: {error or 'interrupted'}")
                raise

    def finish(self) -> BuildResult:
        """Write the dataset from finished stages and move it in.

        Raises:
            SynthError: a stage has not run, or the output folder can't be written.
        """
        report = finish(self.recipe, self.engine, self.out, grows=self.grows)
        self._record.ended(f"finished: {url_of(self.out)}")
        reused = all(s.reused_shards == s.shards for s in report.stages)
        return BuildResult(self.out, report, reused, self.account, write_words(self.recipe, self.engine, self.out))


def prepare(
    request: BuildRequest,
    *,
    recipe: Recipe | None = None,
    progress: ProgressName = "auto",
    grows: Dataset | None = None,
) -> Prepared:
    """Check a request down to the source's content, and plan it.

    Args:
        recipe: What the request comes to, where the caller made it.
        grows: A finished dataset of the same recipe whose rows stay as and where they are.

    Raises:
        InputError: something that the user gave can't be used.
        StoreError: the store or the output folder can't be used.
    """
    recipe = recipe or resolve(request)
    executor = executor_named(request.executor, request.workers, request.slurm)
    out = Path(request.out) if request.out is not None else Path("out") / recipe.name
    check_destination(out)
    store = Store(
        Path(request.store) if request.store is not None else default_store(),
        ledger=Path(request.ledger) if request.ledger is not None else None,
    )
    planned = plan(recipe)
    beside: Progress = Quiet() if progress == "quiet" else JsonLines() if progress == "json" else _shown()
    if place := os.environ.get("SYNTH_METRICS"):
        beside = Metrics(beside, recipe.name, place)
    if place := os.environ.get("SYNTH_TRACES"):
        beside = Traces(beside, recipe.name, place)
    shown = Recorded(beside, store, recipe.name)
    models = models_for(
        planned,
        store,
        in_flight=request.in_flight,
        max_cost=request.max_cost,
        max_tokens=request.max_tokens,
        calls=request.calls,
    )
    engine = Engine(planned, store, executor, shown, models=models)
    return Prepared(recipe, engine, out, shown, grows=grows)


def _shown() -> Progress:
    """Where the user looks: a notebook's cell, a terminal, or a log."""
    display = kernel()
    return progress_for() if display is None else Notebook(display)


def resolve(request: BuildRequest) -> Recipe:
    """The recipe that a request comes to.

    Raises:
        InputError: as :func:`synth.recipe.load.load_recipe`.
    """
    source = request.source
    settings = settings_of(
        dataset=request.dataset,
        source=source if source is None or hub_dataset(source) else local_copy(source),
        tasks=request.tasks,
        tasks_file=request.tasks_file,
        seed=request.seed,
        prompts=request.prompts,
        settings=request.settings,
    )
    return load_recipe(request.dataset, file=request.recipe, settings=settings)


def default_store() -> Path:
    """What ``SYNTH_STORE`` names, else ``synth`` in the user's cache folder."""
    return Path(os.environ.get("SYNTH_STORE") or user_cache_path("synth"))
