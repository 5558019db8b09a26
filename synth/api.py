"""The Python side of the command line: prepare a build, run it, load what it made.

import synth
result = synth.build("world-search", tasks=200)
dataset = synth.load(result.path)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from synth.errors import BuildError, InputError

if TYPE_CHECKING:
    from synth.engine import Engine, Executor, StageStatus
    from synth.exporters.reader import Dataset
    from synth.recipe.model import Recipe
    from synth.schemas.reports import BuildReport, StageReport

__all__ = ["BuildRequest", "BuildResult", "Outlook", "Prepared", "build", "load", "prepare"]

ProgressName = Literal["auto", "quiet"]


@dataclass(frozen=True)
class BuildRequest:
    """What a user asks for: a recipe, what to change in it, and where things go. None = as the recipe says."""

    dataset: str | None = None
    """A builtin dataset, or with ``recipe`` the name to give it."""
    recipe: Path | str | None = None
    """A recipe file."""
    source: Path | str | None = None
    """Folder or file of documents."""
    tasks: int | None = None
    """Exactly how many tasks."""
    tasks_file: Path | str | None = None
    """The user's own questions and answers."""
    seed: int | None = None
    out: Path | str | None = None
    """Default ``out/<dataset>``."""
    store: Path | str | None = None
    """Default: the user's cache folder."""
    workers: int = 1
    executor: str = "local"
    ledger: Path | str | None = None
    """A file that gets a line for every unit of work that begins: what the fault tests count."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Dotted recipe key -> value, laid over everything else."""


@dataclass(frozen=True)
class BuildResult:
    path: Path
    report: BuildReport
    reused: bool
    """True when the store held all of it and nothing was run."""


@dataclass(frozen=True)
class Outlook:
    """What a build would do."""

    recipe: Recipe
    stages: tuple[StageStatus, ...]


class Prepared:
    """A build that is planned and checked, not run."""

    def __init__(self, recipe: Recipe, engine: Engine, out: Path) -> None:
        self.recipe = recipe
        self.engine = engine
        self.out = out

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the stage runs, each after those whose tables it reads."""
        return tuple(node.label for node in self.engine.plan.nodes)

    def outlook(self) -> Outlook:
        return Outlook(self.recipe, self.engine.status())

    def run_stage(self, label: str) -> StageReport:
        """Run one stage, or find its complete shards in the store.

        Raises:
            BuildError: no document of the source can be used, so there is nothing to go on with.
        """
        report = self.engine.run_stage(label)
        if label == "documents" and not report.kept:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.rejected.items()))
            raise BuildError(
                f"no document of {report.rows_in:,} can be used: {reasons or 'the source is empty'}",
                where="source",
                mend="look at the files, or set source.pattern to those that hold text",
            )
        return report

    def run(self) -> BuildResult:
        """Run what is missing, write the dataset, move it to its place."""
        with self.engine:
            for label in self.labels:
                self.run_stage(label)
            return self.finish()

    def finish(self) -> BuildResult:
        """Write the dataset from finished stages and move it in.

        Raises:
            SynthError: a stage has not run, or the output folder can't be written.
        """
        from synth.pipelines import finish

        report = finish(self.recipe, self.engine, self.out)
        return BuildResult(self.out, report, reused=all(s.reused_shards == s.shards for s in report.stages))


def prepare(request: BuildRequest, *, progress: ProgressName = "auto") -> Prepared:
    """Check a request down to the source's content, and plan it.

    Raises:
        InputError: something that the user gave can't be used.
        StoreError: the store or the output folder can't be used.
    """
    from synth.engine import Engine, Quiet, progress_for
    from synth.pipelines import plan
    from synth.store import Store, check_destination

    recipe = resolve(request)
    executor = _executor(request)
    out = Path(request.out) if request.out is not None else Path("out") / recipe.name
    check_destination(out)
    store = Store(
        Path(request.store) if request.store is not None else default_store(),
        ledger=Path(request.ledger) if request.ledger is not None else None,
    )
    engine = Engine(plan(recipe), store, executor, Quiet() if progress == "quiet" else progress_for())
    return Prepared(recipe, engine, out)


def _executor(request: BuildRequest) -> Executor:
    from synth.engine import LocalExecutor, ProcessesExecutor, RayExecutor

    if request.workers < 1:
        raise InputError(f"{request.workers} workers can do no work", where="--workers", mend="give 1 or more")
    kinds: dict[str, Callable[[int], Executor]] = {
        "local": LocalExecutor,
        "processes": ProcessesExecutor,
        "ray": RayExecutor,
    }
    if request.executor not in kinds:
        raise InputError(
            f"there is no executor {request.executor!r}", where="--executor", mend=f"choose one of {', '.join(kinds)}"
        )
    return kinds[request.executor](request.workers)


def resolve(request: BuildRequest) -> Recipe:
    """The recipe that a request comes to.

    Raises:
        InputError: as :func:`synth.recipe.load.load_recipe`.
    """
    from synth.recipe.load import load_recipe
    from synth.recipe.requests import settings_of

    settings = settings_of(
        source=request.source,
        tasks=request.tasks,
        tasks_file=request.tasks_file,
        seed=request.seed,
        settings=request.settings,
    )
    return load_recipe(request.dataset, file=request.recipe, settings=settings)


def default_store() -> Path:
    """``synth`` in the user's cache folder."""
    from platformdirs import user_cache_path

    return user_cache_path("synth")


def build(dataset: str | None = None, *, progress: ProgressName = "quiet", **options: Any) -> BuildResult:
    """Build a dataset: ``options`` are the fields of :class:`BuildRequest`.

    Raises:
        SynthError: its line says what, where and how to mend it; what was finished stays in the store.
        TypeError: an option that there is not.
    """
    return prepare(BuildRequest(dataset=dataset, **options), progress=progress).run()


def load(path: Path | str) -> Dataset:
    """Open a finished dataset.

    Raises:
        DatasetError: there is no dataset of ours at ``path``.
    """
    from synth.exporters.reader import load as open_dataset

    return open_dataset(path)
