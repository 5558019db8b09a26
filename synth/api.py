"""The Python side of the command line: prepare a build, run it, load what it made.

import synth
result = synth.build("world-search", tasks=200)
dataset = synth.load(result.path)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from synth.errors import BuildError
from synth.places import refuse_remote

if TYPE_CHECKING:
    from synth.dataset.mixing import Mixed
    from synth.dataset.reader import Dataset
    from synth.engine import Engine, StageStatus
    from synth.export.exporting import Exported
    from synth.pipelines.annotate import Annotated
    from synth.pipelines.importing import Imported
    from synth.pipelines.pilot import Pilot
    from synth.publish import Pushed
    from synth.publish.rehydration import Rehydrated
    from synth.recipe.model import Recipe
    from synth.schemas.reports import BuildReport, StageReport
    from synth.store.calls_format import Account

__all__ = [
    "BuildRequest",
    "BuildResult",
    "Outlook",
    "Prepared",
    "annotate",
    "build",
    "export",
    "import_file",
    "load",
    "mix",
    "prepare",
    "push",
    "rehydrate",
]

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
    in_flight: int = 512
    """How many rows wait for a model at once; how many calls an endpoint gets is its role's ``concurrency``."""
    max_cost: float | None = None
    """What all model calls of this dataset in this store may cost at most, over all runs, in the currency of the
    recipe's prices. The worst case of a call is reserved before it is sent, so the cap is never exceeded."""
    max_tokens: int | None = None
    """The same for their tokens, prompt and completion together."""
    ledger: Path | str | None = None
    """A file that gets a line for every unit of work that begins: what the fault tests count."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Dotted recipe key -> value, laid over everything else."""

    def __post_init__(self) -> None:
        for name in ("recipe", "source", "tasks_file", "out", "store", "ledger"):
            refuse_remote(getattr(self, name), name)


@dataclass(frozen=True)
class BuildResult:
    path: Path
    report: BuildReport
    reused: bool
    """True when the store held all of it and nothing was run."""
    account: Account | None = None
    """What the dataset's model calls have used in this store, over all runs; None where it never made any."""


@dataclass(frozen=True)
class Outlook:
    """What a build would do."""

    recipe: Recipe
    stages: tuple[StageStatus, ...]
    account: Account | None = None
    """What the dataset's model calls have used in this store so far; None where it never made any."""
    pilot: Pilot | None = None
    """What the rest will take, from a few rows of each stage that calls a model; None when no pilot was run."""


class Prepared:
    """A build that is planned and checked, not run."""

    def __init__(self, recipe: Recipe, engine: Engine, out: Path) -> None:
        self.recipe = recipe
        self.engine = engine
        self.out = out
        self._remembered: set[str] = set()
        """Keys that the store has the hashes of."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the stage runs, each after those whose tables it reads."""
        return tuple(node.label for node in self.engine.plan.nodes)

    @property
    def account(self) -> Account | None:
        """What the dataset's model calls have used in this store so far; None where it never made any."""
        from synth.store.calls_format import CALLS_FILE

        models = self.engine.models
        if models is None or not (models.opened or (self.engine.store.root / CALLS_FILE).exists()):
            return None
        account = models.hub.account()
        return account if account.calls else None

    def outlook(self, pilot: int | None = None) -> Outlook:
        """What a build would do. With ``pilot``, stages that call models first run over the rows of so many tasks, as
        the build would: its calls are those that the build then finds in the store.

        Raises:
            SynthError: the pilot could not run.
        """
        from synth.pipelines.pilot import run_pilot

        found = None if pilot is None else run_pilot(self.engine, self.recipe.tasks, pilot)
        return Outlook(self.recipe, self.engine.status(), self.account, found)

    def run_stage(self, label: str) -> StageReport:
        """Run one stage, or find its complete shards in the store.

        Raises:
            InputError: a variable that is to hold a model's key is not set.
            BuildError: no document of the source can be used, or no run of the teacher succeeded: there is nothing to
                go on with.
        """
        from synth.dataset.key_hashes import remember
        from synth.recipe.roles import check_keys, keys_of

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
        if label == "teacher":
            from synth.pipelines.finishing import check_teacher

            check_teacher(self.recipe, self.engine)
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
        reused = all(s.reused_shards == s.shards for s in report.stages)
        return BuildResult(self.out, report, reused, self.account)


def prepare(request: BuildRequest, *, recipe: Recipe | None = None, progress: ProgressName = "auto") -> Prepared:
    """Check a request down to the source's content, and plan it.

    Args:
        recipe: What the request comes to, where the caller made it.

    Raises:
        InputError: something that the user gave can't be used.
        StoreError: the store or the output folder can't be used.
    """
    from synth.engine import Engine, Quiet, progress_for
    from synth.engine.options import executor_named, models_for
    from synth.pipelines import plan
    from synth.store import Store, check_destination

    recipe = recipe or resolve(request)
    executor = executor_named(request.executor, request.workers)
    out = Path(request.out) if request.out is not None else Path("out") / recipe.name
    check_destination(out)
    store = Store(
        Path(request.store) if request.store is not None else default_store(),
        ledger=Path(request.ledger) if request.ledger is not None else None,
    )
    planned = plan(recipe)
    shown = Quiet() if progress == "quiet" else progress_for()
    models = models_for(
        planned, store, in_flight=request.in_flight, max_cost=request.max_cost, max_tokens=request.max_tokens
    )
    engine = Engine(planned, store, executor, shown, models=models)
    return Prepared(recipe, engine, out)


def resolve(request: BuildRequest) -> Recipe:
    """The recipe that a request comes to.

    Raises:
        InputError: as :func:`synth.recipe.load.load_recipe`.
    """
    from synth.recipe.load import load_recipe
    from synth.recipe.requests import settings_of

    settings = settings_of(
        dataset=request.dataset,
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
    from synth.dataset.reader import load as open_dataset

    return open_dataset(path)


def annotate(trajectories: Any, tasks: Any, **options: Any) -> Annotated:
    """Label the steps of trajectories that you recorded yourself, and make pairs of them; with their environment and
    policy, verified critical steps too. Arguments: :func:`synth.pipelines.annotate.annotate`.

    Raises:
        InputError: a file can't be read or used.
    """
    from synth.pipelines.annotate import annotate as annotate_recorded

    return annotate_recorded(trajectories, tasks, **options)


def export(
    path: Path | str,
    to: str,
    out: Path | str,
    *,
    select: Iterable[str] = (),
    thoughts: bool = True,
    tokenizer: Path | str | None = None,
    max_length: int | None = None,
) -> Exported:
    """Write a dataset in the format of a trainer or of another project.

        synth.export("out/world-search", "trl-sft", "out/sft", select=["split=train"])

    Args:
        path: The dataset: a finished build, an import, or what ``annotate(...).save`` wrote.
        to: Name of the format (``synth.registry.choices("formats")``).
        out: A folder; an earlier export in it is replaced.
        select: Conditions ``KEY=VALUE`` (:class:`synth.export.selection.Selection`); they replace those that
            the format sets itself.
        thoughts: Whether the agent's thoughts are exported.
        tokenizer: A model's ``tokenizer.json``, or its folder, to count with; None = the counter that ships.
        max_length: Cut long observations so that a record has at most so many tokens; None = nothing is cut.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    from synth.export.exporting import export_dataset
    from synth.export.selection import parse_selection
    from synth.registry import find

    return export_dataset(
        load(path),
        find("formats", to),
        Path(out),
        selection=parse_selection(select),
        thoughts=thoughts,
        tokenizer=None if tokenizer is None else Path(tokenizer),
        max_length=max_length,
    )


def import_file(
    file: Path | str,
    from_: str,
    out: Path | str | None,
    *,
    tasks_file: Path | str | None = None,
    all_correct: bool = False,
    licence: str | None = None,
    benchmarks: Sequence[Path | str] = (),
    distinct: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Imported:
    """Read trajectories that somebody else recorded into a dataset of ours, which ``load`` opens and ``export`` takes.

        synth.import_file("runs.jsonl", "auto", "out/theirs", tasks_file="questions.jsonl")

    Args:
        file: JSON Lines, one object per line; one JSON file that is an object, or a list of them; or a folder of such.
        from_: Name of the format (``synth.registry.choices("importers")``); ``auto`` tells it by each object's keys.
        out: A folder; an earlier import in it is replaced. None = look only: what would be taken, and why not the rest.
        tasks_file: Questions with gold answers: then our rules judge runs that nobody did.
        all_correct: Treat runs without a verdict as correct.
        licence: SPDX id of what the observations quote, where the file does not say it.
        benchmarks: Files that no run's question or answer may overlap with: such runs are rejected.
        distinct: Of runs of one role that do the same on one question the first stays, and the others are rejected.
        progress: Called with the numbers of objects read and of runs taken, now and then.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    from synth.pipelines.importing import import_file as import_
    from synth.registry import find

    return import_(
        Path(file),
        find("importers", from_),
        None if out is None else Path(out),
        tasks=None if tasks_file is None else Path(tasks_file),
        all_correct=all_correct,
        licence=licence,
        benchmarks=[Path(one) for one in benchmarks],
        distinct=distinct,
        progress=progress,
    )


def rehydrate(path: Path | str, copy: Path | str, out: Path | str) -> Rehydrated:
    """Put text that was redacted from a published dataset back into it, from a copy that you may use.

        synth.rehydrate("downloaded", "docs/html", "out/whole")

    Args:
        path: The edition.
        copy: A dataset that holds the documents, or the source itself (what ``synth build --source`` takes): it is read
            as the dataset's recipe says.
        out: A new folder for the dataset with its text.

    Raises:
        SynthError: its line says what, where and how to mend it.
    """
    from synth.dataset.files import REPORT_FILE
    from synth.publish.rehydration import rehydrate as put_back

    refuse_remote(copy, "rehydrate")
    refuse_remote(out, "rehydrate")
    dataset, place = load(path), Path(copy)
    if (place / REPORT_FILE).is_file():
        return put_back(path, _documents(load(place).batches("documents", columns=["id", "text"])), out)
    import tempfile

    import yaml

    with tempfile.TemporaryDirectory(prefix="synth-rehydrate-") as scratch:
        recipe = Path(scratch) / "recipe.yaml"
        # Of its recipe, only how files are read: a dataset must not say what is imported or started here.
        source = dataset.report.recipe.get("source")
        given = source if isinstance(source, dict) else {}
        kept = {"name": "rehydrate", "source": given, "questions": {"kind": "docs"}, "tasks": 1}
        recipe.write_text(yaml.safe_dump(kept), encoding="utf-8")
        request = BuildRequest(recipe=recipe, source=place, store=Path(scratch) / "store", out=Path(scratch) / "out")
        prepared = prepare(request, progress="quiet")
        with prepared.engine:
            prepared.run_stage("documents")
            stored = prepared.engine.table("documents", "documents")
            texts = _documents(stored.arrow.select(["id", "text"]).to_batches())
    return put_back(path, texts, out)


def _documents(batches: Iterable[Any]) -> dict[str, str]:
    """Id -> text."""
    return {
        name: text
        for batch in batches
        for name, text in zip(*(batch.column(key).to_pylist() for key in ("id", "text")), strict=True)
    }


def push(
    folder: Path | str,
    repo: str,
    *,
    public: bool = False,
    revision: str | None = None,
    dry_run: bool = False,
    announce: Callable[[str], None] | None = None,
) -> Pushed:
    """Publish a finished dataset on the Hugging Face Hub, in one commit: see :func:`synth.publish.push.push`.

    Raises:
        InputError: a bad name, no token, or a repository that the token does not open.
        DatasetError: the dataset is invalid, or holds what must not be published.
        PushFailed: the Hub did not take it; the repository is as it was before.
    """
    from synth.publish import push as push_to_hub

    return push_to_hub(folder, repo, public=public, revision=revision, dry_run=dry_run, announce=announce)


def mix(
    parts: Mapping[Path | str, float],
    out: Path | str,
    *,
    tasks: int | None = None,
    seed: int = 7,
    near: float | None = None,
    benchmarks: Sequence[Path | str] = (),
) -> Mixed:
    """Several datasets as one, by weights: tasks are drawn, and all that derives from them comes along.

        synth.mix({"out/world-search": 0.7, "out/graph-walk": 0.3}, "out/mix", tasks=1_000)

    Args:
        parts: Folder of a dataset -> its share of the tasks.
        out: A folder; an earlier mix in it is replaced.
        tasks: How many tasks; None = as many as the weights allow.
        seed: What the tasks are drawn with.
        near: Share of n-grams of words from which a question counts as one of an earlier dataset, and is not taken;
            None = only the same words do.
        benchmarks: Files that no task may overlap with: such tasks are not taken.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    from synth.dataset.mixing import mix_datasets

    return mix_datasets(
        {load(path): weight for path, weight in parts.items()},
        Path(out),
        tasks=tasks,
        seed=seed,
        near=near,
        benchmarks=[Path(one) for one in benchmarks],
    )
