"""More tasks for a finished dataset: ``synth append``.

A larger build of one recipe in one store makes the rows of a smaller one again, from the store, and more behind them.
What is added here is the certainty: nothing is run unless every stage is the one that made the dataset, and nothing is
moved in unless each of its rows is there as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from synth.dataset.files import RECIPE_FILE, REPORT_FILE, stated_files
from synth.dataset.reader import Dataset, load
from synth.engine.fingerprint import fingerprints
from synth.engine.usage import is_model_bound
from synth.errors import DatasetError, InputError
from synth.identity import digest
from synth.own_code import beside
from synth.pipelines.building import Prepared, default_store, prepare, resolve
from synth.pipelines.remembered import recall, remembered_file
from synth.pipelines.request import BuildRequest, BuildResult, ProgressName
from synth.places import is_remote
from synth.recipe.model import Recipe
from synth.schemas.reports import BuildReport
from synth.store import Store
from synth.store.files import store_errors, write_file
from synth.store.locks import FileLock
from synth.store.remote import url_of

__all__ = ["Appended", "append"]

_NO_BUILD = "`synth build` makes what can be appended to"


@dataclass(frozen=True)
class Appended:
    """What became of an append."""

    result: BuildResult | None
    """None where an earlier run, killed at its very end, had added the tasks already."""
    path: Path
    before: int
    """Tasks that the dataset had."""
    after: int


def append(
    folder: Path | str, tasks: int, *, request: BuildRequest | None = None, progress: ProgressName = "quiet"
) -> Appended:
    """Add exactly ``tasks`` tasks, and all that is made of them, to the finished build in ``folder``.

    Every row that was there stays as and where it was, but for tables about all tasks (difficulty, duplicates,
    rejections), which are written anew. The folder is as it was until the larger dataset is whole.

    Args:
        request: Where it runs (store, workers, caps), and ``out``, another folder for the larger dataset. ``recipe``
            stays empty; ``source`` and ``settings`` are for a store that did not make the dataset.

    Raises:
        InputError: it is no build, questions were given, or its source, recipe or the code of a stage has changed.
        SynthError: as a build; the folder is then as it was, and the same call goes on.
    """
    request = request or BuildRequest()
    if tasks < 1:
        raise InputError(f"{tasks} tasks can't be appended", where="--tasks", mend="give 1 or more")
    dataset = load(folder)
    report = _appendable(dataset)
    before = dataset.count("tasks")
    out = request.out if request.out is not None else folder
    store = Store(Path(request.store) if request.store is not None else default_store())
    with _pending(store, dataset, out, before, tasks) as done:
        if done:
            return Appended(None, Path(out), before - tasks, before)
        recipe = _recipe(dataset, report, store, before + tasks, request)
        prepared = prepare(replace(request, out=out, recipe=None), recipe=recipe, progress=progress, grows=dataset)
        try:
            known = remembered_file(store.root, _hash(dataset)).is_file()
            _check_stages(prepared, report, paid=known or request.calls is not None)
        except InputError:
            prepared.engine.close()
            raise
        return Appended(prepared.run(), Path(out), before, before + tasks)


def _appendable(dataset: Dataset) -> BuildReport:
    where = str(dataset.path)
    if dataset.mix is not None:
        raise InputError("a mix has no recipe that could make more of it", where=where, mend=_NO_BUILD)
    report = dataset.report
    if report.redacted is not None:
        raise InputError(
            "text was redacted from this edition", where=where, mend="append to the dataset that it was made of"
        )
    if report.wanted is None:
        raise InputError(
            "its questions or runs were given, not made",
            where=where,
            mend="add to what was given and build it again: what is in the store is not made again",
        )
    tables = [name for name in report.files if name.endswith(".parquet")]
    there = [name for name in tables if (dataset.path / name).is_file()]
    changed = stated_files(dataset.path, there) != {name: report.files[name] for name in tables}
    if changed:
        raise DatasetError(
            "its files are not those that its report states",
            where=where,
            mend="`synth validate` says what is wrong with them",
        )
    return report


def _recipe(dataset: Dataset, report: BuildReport, store: Store, tasks: int, request: BuildRequest) -> Recipe:
    """The recipe that made the dataset, with more tasks: as the store remembers it, or as the dataset publishes it."""
    known = recall(store.root, _hash(dataset))
    if known is not None:
        if request.source is not None or request.settings:
            raise InputError(
                "the store knows the recipe that made the dataset",
                where=str(dataset.path),
                mend="leave out --source and --set: another recipe makes another dataset (`synth build`)",
            )
        beside(Path.cwd())  # where code lies that the recipe names
        return known.model_copy(update={"tasks": tasks})
    if not (dataset.path / RECIPE_FILE).is_file():
        raise InputError("it has no recipe", where=str(dataset.path), mend=_NO_BUILD)
    laid = {} if request.source is None else {"source.path": str(request.source)}
    settings = {**laid, **request.settings}
    try:
        return resolve(BuildRequest(recipe=dataset.path / RECIPE_FILE, tasks=tasks, settings=settings))
    except InputError as error:
        raise InputError(
            f"this store did not make the dataset, and what its recipe says does not suffice: {error.what}",
            where=str(store.root),
            mend="name its store with --store; or say with --source and --set what a published recipe leaves out",
        ) from None


def _check_stages(prepared: Prepared, report: BuildReport, *, paid: bool) -> None:
    """Every stage is the one that made the dataset: only then are its rows made again.

    Args:
        paid: The replies of its models are kept where this build looks for them.
    """
    engine = prepared.engine
    where = report.dataset
    source = engine.fingerprint("tasks").provenance(engine.plan).source_sha256
    if source != report.source.sha256:
        raise InputError(
            "its source is not the one that it was made of, and its rows are proven against that one",
            where=where,
            mend="`synth build` makes all rows anew of the source as it is; a dataset of what is new can be joined "
            "with this one by `synth mix`",
        )
    before = {stage.label: stage for stage in report.stages}
    labels = [node.label for node in engine.plan.nodes]
    # With its own number of tasks: stages over all of them have it in their fingerprints.
    same = fingerprints(replace(engine.plan, wanted=report.wanted))
    for node in engine.plan.nodes:
        label = node.label
        old, new = before.get(label), same[label]
        if old is not None and old.fingerprint == new.value:
            continue
        changed = old is not None and old.version != node.stage.version
        what = "this version of synth computes" if changed else "its recipe or a part that it names now makes"
        raise InputError(
            f"{what} stage {label} otherwise than when the dataset was made ({report.synth_version or 'no version'})",
            where=where,
            mend=f"append with the version and the recipe that made it, or make it anew: `synth build --tasks "
            f"{engine.plan.wanted}`",
        )
    if missing := sorted(set(before) - set(labels)):
        raise InputError(f"its recipe has no stage {', '.join(missing)} any more", where=where, mend=_NO_BUILD)
    if not paid and any(is_model_bound(node.config) for node in engine.plan.nodes):
        raise InputError(
            "this store made none of the dataset's model calls, which would be paid again",
            where=str(engine.store.root),
            mend="name its store with --store, or where its calls are kept with --calls",
        )


def _hash(dataset: Dataset) -> str:
    return hashlib.sha256((dataset.path / REPORT_FILE).read_bytes()).hexdigest()


@contextmanager
def _pending(store: Store, dataset: Dataset, out: Path | str, before: int, tasks: int) -> Iterator[bool]:
    """A note beside the store for as long as the append is not through, so that the command of a run that was killed
    after the dataset was moved in adds nothing more. Yields whether that is the case.

    Raises:
        InputError: another append to the same folder is under way.
    """
    place = url_of(out) if is_remote(out) else os.path.abspath(out)
    note = store.folder("appends") / f"{digest(place)}.json"
    lock = FileLock(note.with_suffix(".lock"))
    with store_errors(note):
        free = lock.try_acquire()
    if not free:
        raise InputError("another append to it is under way", where=place, mend="wait for it")
    now = _hash(dataset)
    try:
        try:
            said = json.loads(note.read_text("utf-8"))
        except (OSError, ValueError):
            said = {}
        editions = dataset.report.editions
        done = bool(editions) and said == {"from": editions[-1].report_sha256, "tasks": tasks}
        if not done:
            with store_errors(note):
                write_file(note, json.dumps({"from": now, "tasks": tasks}).encode())
        yield done
        note.unlink(missing_ok=True)
    finally:
        lock.release()
