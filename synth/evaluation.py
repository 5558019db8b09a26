"""Models on the tasks of a finished dataset, in its environment, compared task by task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from synth.api import BuildRequest, load, prepare
from synth.errors import InputError
from synth.late import late
from synth.pipelines.request import ProgressName
from synth.places import refuse_remote

if TYPE_CHECKING:
    from synth import store as stores
    from synth.dataset import evaluation as comparing
    from synth.dataset import evaluation_page
    from synth.dataset.evaluation import Evaluation
    from synth.pipelines import evaluation as planning
    from synth.store.calls_format import Account
else:
    comparing = late("synth.dataset.evaluation")
    evaluation_page = late("synth.dataset.evaluation_page")
    planning = late("synth.pipelines.evaluation")
    stores = late("synth.store")

__all__ = ["Evaluated", "evaluate"]


@dataclass(frozen=True)
class Evaluated:
    path: Path
    """The folder: ``evaluation.json``, ``index.html``, and a dataset of runs per candidate in ``runs``."""
    figures: Evaluation
    accounts: Mapping[str, Account | None]
    """Candidate -> what its calls have used in this store, over all evaluations of it."""


def evaluate(
    path: Path | str,
    models: Sequence[str],
    *,
    splits: Sequence[str] = ("test",),
    tasks: int | None = None,
    runs: int = 1,
    out: Path | str | None = None,
    store: Path | str | None = None,
    seed: int = 7,
    workers: int = 1,
    in_flight: int = 512,
    max_cost: float | None = None,
    settings: Mapping[str, Any] | None = None,
    trust: bool = False,
    progress: ProgressName = "quiet",
) -> Evaluated:
    """Run models on the tasks of a finished dataset, in its environment, and compare them task by task.

        synth.evaluate("out/world-search", ["Qwen3-8B@http://gpu1:8000/v1", "scripted"])

    Repeat an interrupted call to resume it: finished runs and model calls stay in the store.

    Args:
        path: The dataset.
        models: ``NAME@URL`` of a server of the chat completions protocol, a folder or name that a vLLM is started with,
            or ``scripted``. The others are compared with the first.
        splits: Whose tasks: train, validation, test; ``all`` = each, for a dataset that no model has learned from.
        tasks: How many of them, from the first; None = all.
        runs: Of each task: with two or more, best of k and majority are reported as well.
        out: A folder; default ``out/<dataset>-evaluation``.
        max_cost: What the calls of one candidate may cost at most.
        settings: Dotted recipe keys for all candidates (``roles.policy.sampling.temperature``, ``limits.max_turns``).
        trust: Run the programs, read the files and reach the servers that the dataset names.

    Raises:
        SynthError: its line says what, where and how to mend it; what was finished stays in the store.
    """
    if not models:
        raise InputError("no model is named", where="evaluate", mend="name one with --model")
    refuse_remote(out, "out")
    splits = planning.chosen_splits(splits)
    dataset = load(path)
    folder = Path(out) if out is not None else Path("out") / f"{dataset.report.dataset}-evaluation"
    names = planning.candidate_names(models)
    recipes = [
        planning.evaluation_recipe(
            dataset, model, name, splits=splits, tasks=tasks, runs=runs, seed=seed, settings=settings, trust=trust
        )
        for model, name in zip(models, names, strict=True)
    ]
    if not any(dataset.count("tasks", split) for split in splits):
        has = ", ".join(dataset.splits("tasks"))
        what = f"it has no tasks in {' or '.join(splits)}" + (f", but in {has}" if has else "")
        raise InputError(what, where=str(path), mend="name other splits with --split (all: each of them)")
    for name in names:
        stores.check_destination(folder / "runs" / name)
    found, accounts = [], {}
    for name, recipe in zip(names, recipes, strict=True):
        request = BuildRequest(
            out=folder / "runs" / name, store=store, workers=workers, in_flight=in_flight, max_cost=max_cost
        )
        result = prepare(request, recipe=recipe, progress=progress).run()
        found.append(comparing.read_runs(load(result.path), name, recipe.roles["policy"].rollouts))
        accounts[name] = result.account
    figures = comparing.evaluate_runs(dataset.report.dataset, splits, found)
    evaluation_page.write_evaluation(folder, figures)
    return Evaluated(folder, figures, accounts)
