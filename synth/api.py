"""The Python side of the command line: prepare a build, run it, load what it made.

import synth
result = synth.build("world-search", tasks=200)
dataset = synth.load(result.path)
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import yaml

from synth.late import late
from synth.pipelines.request import BuildOptions, BuildRequest, BuildResult, Outlook, ProgressName
from synth.registry import find

if TYPE_CHECKING:
    from synth import publish
    from synth.dataset import mixing, reader
    from synth.dataset.mixing import Mixed
    from synth.dataset.reader import Dataset
    from synth.export import exporting
    from synth.export import selection as selections
    from synth.export.exporting import Exported
    from synth.pipelines import appending, building, importing
    from synth.pipelines.appending import Appended
    from synth.pipelines.building import Prepared
    from synth.pipelines.importing import Imported
    from synth.publish import Pushed, rehydration
    from synth.publish.rehydration import Rehydrated
    from synth.recipe.model import Recipe
    from synth.store import remote
else:
    appending = late("synth.pipelines.appending")
    building = late("synth.pipelines.building")
    exporting = late("synth.export.exporting")
    importing = late("synth.pipelines.importing")
    mixing = late("synth.dataset.mixing")
    publish = late("synth.publish")
    reader = late("synth.dataset.reader")
    rehydration = late("synth.publish.rehydration")
    remote = late("synth.store.remote")
    selections = late("synth.export.selection")

__all__ = [
    "BuildRequest",
    "BuildResult",
    "Outlook",
    "annotate",
    "append",
    "build",
    "export",
    "import_file",
    "load",
    "mix",
    "prepare",
    "push",
    "rehydrate",
]


def prepare(request: BuildRequest, *, recipe: Recipe | None = None, progress: ProgressName = "auto") -> Prepared:
    """Check a request down to the source's content, and plan it.

    Args:
        recipe: What the request comes to, where the caller made it.

    Raises:
        InputError: something that the user gave can't be used.
        StoreError: the store or the output folder can't be used.
    """
    return building.prepare(request, recipe=recipe, progress=progress)


def build(
    dataset: str | None = None, *, progress: ProgressName = "quiet", **options: Unpack[BuildOptions]
) -> BuildResult:
    """Build a dataset: ``options`` are the fields of :class:`BuildRequest`.

    Raises:
        SynthError: its line says what, where and how to mend it; what was finished stays in the store.
        TypeError: an option that does not exist.
    """
    return prepare(BuildRequest(dataset=dataset, **options), progress=progress).run()


def append(
    folder: Path | str,
    tasks: int,
    *,
    out: Path | str | None = None,
    store: Path | str | None = None,
    calls: Path | str | None = None,
    max_cost: float | None = None,
    max_tokens: int | None = None,
    request: BuildRequest | None = None,
    progress: ProgressName = "quiet",
) -> Appended:
    """Add exactly ``tasks`` tasks, and all that is made of them, to a finished build: every row stays as and where it
    was, but for difficulty, duplicates and rejections, which are about all tasks.

        synth.append("out/world-search", tasks=100)

    Args:
        out: Another folder for the larger dataset; None = in place of the smaller one, in one step.
        store, calls, max_cost, max_tokens: As of a build.
        request: What else a build may be told of where it runs: workers, an executor, rows in flight.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``folder`` then.
    """
    base = request or BuildRequest()
    asked = replace(
        base,
        out=base.out if out is None else out,
        store=base.store if store is None else store,
        calls=base.calls if calls is None else calls,
        max_cost=base.max_cost if max_cost is None else max_cost,
        max_tokens=base.max_tokens if max_tokens is None else max_tokens,
    )
    return appending.append(folder, tasks, request=asked, progress=progress)


def load(path: Path | str) -> Dataset:
    """Open a finished dataset.

    Raises:
        DatasetError: there is no synth dataset at ``path``.
    """
    return reader.load(path)


def annotate(trajectories: Any, tasks: Any, out: Path | str, **options: Any) -> BuildResult:
    """Label the steps of runs that you recorded yourself, and make pairs of them; with their environment and policy,
    verified critical steps too. Arguments: :func:`synth.pipelines.importing.annotate`.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    return importing.annotate(trajectories, tasks, out, **options)


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
        path: The dataset: a finished build, an import, or what ``annotate`` made.
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
    return exporting.export_dataset(
        load(path),
        find("formats", to),
        Path(out),
        selection=selections.parse_selection(select),
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
    store: Path | str | None = None,
    progress: ProgressName = "quiet",
) -> Imported:
    """Import trajectories recorded elsewhere as a dataset: a short way to a recipe whose source is of kind runs.

        synth.import_file("runs.jsonl", "auto", "out/theirs", tasks_file="questions.jsonl")

    Args:
        file: JSON Lines, one object per line; one JSON file that is an object, or a list of them; or a folder of such.
        from_: Name of the format (``synth.registry.choices("importers")``); ``auto`` tells it by each object's keys.
        out: A folder; an earlier dataset in it is replaced. None = look only: what would be taken, and why
            not the rest.
        tasks_file: Questions with gold answers: then our rules judge runs that have no verdict.
        all_correct: Treat runs without a verdict as correct.
        licence: SPDX id of what the observations quote, where the file does not say it.
        benchmarks: Files that no run's question or answer may overlap with: such runs are rejected.
        distinct: Of runs of one role that do the same, mark all but the first (``duplicate_of``): exports leave them
            out.
        store: Where finished work is kept, so that the same call goes on after an interruption; None = the user's
            cache folder.
        progress: ``auto`` shows how far it is.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    return importing.import_file(
        Path(file),
        from_,
        None if out is None else Path(out),
        tasks=None if tasks_file is None else Path(tasks_file),
        all_correct=all_correct,
        licence=licence,
        benchmarks=[Path(one) for one in benchmarks],
        distinct=distinct,
        store=store,
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
    dataset, place = load(path), remote.local_dataset(copy)
    if rehydration.is_dataset(place):
        return rehydration.rehydrate(path, _documents(load(place).batches("documents", columns=["id", "text"])), out)
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
    return rehydration.rehydrate(path, texts, out)


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
    return publish.push(folder, repo, public=public, revision=revision, dry_run=dry_run, announce=announce)


def mix(
    parts: Mapping[Path | str, float],
    out: Path | str,
    *,
    tasks: int | None = None,
    seed: int = 7,
    near: float | None = None,
    benchmarks: Sequence[Path | str] = (),
    refusals: float | None = None,
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
        refusals: Share of tasks whose right end is to refuse; None = as it comes.

    Raises:
        SynthError: its line says what, where and how to mend it; nothing has changed at ``out`` then.
    """
    return mixing.mix_datasets(
        {load(path): weight for path, weight in parts.items()},
        Path(out),
        tasks=tasks,
        seed=seed,
        near=near,
        benchmarks=[Path(one) for one in benchmarks],
        refusals=refusals,
    )
