"""What a build has to do to run a model on the tasks of a finished dataset: the recipe of an evaluation.

The environment is that of the dataset's recipe. Everything else is left out: no pairs, no search, no contexts.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from synth.dataset.reader import Dataset
from synth.environments.contract import STATEFUL
from synth.errors import InputError
from synth.inputs import open_input
from synth.pipelines.reopen import trusted_environment
from synth.recipe.load import lay_settings, parse_recipe
from synth.recipe.model import Recipe
from synth.schemas.facts import FactRow
from synth.sources.dataset import inverses_of, read_table

__all__ = ["candidate_names", "chosen_splits", "evaluation_recipe"]

SPLITS = ("train", "validation", "test")
_KEPT = ("limits", "management", "prompts")
"""Parts of the dataset's recipe that say how agents act."""
_WORDINGS = ("world", "docs", "given", "reverse")


def candidate_names(models: Sequence[str]) -> list[str]:
    """A short name for each model, unique: what its figures and its folder are called."""
    found: list[str] = []
    for text in models:
        model = text if "@http" not in text else text.rpartition("@http")[0]
        plain = re.sub(r"[^\w.-]+", "-", Path(model).name).strip("-.") or "model"
        name, number = plain, 2
        while name in found:
            name, number = f"{plain}-{number}", number + 1
        found.append(name)
    return found


def chosen_splits(named: Sequence[str]) -> tuple[str, ...]:
    """The splits that are meant by ``named``, of which ``all`` means each.

    Raises:
        InputError: there is no such split.
    """
    for split in named:
        if split not in (*SPLITS, "all"):
            choice = ", ".join((*SPLITS, "all"))
            raise InputError(f"there is no split {split!r}", where="--split", mend=f"choose of {choice}")
    return SPLITS if "all" in named else tuple(named)


def evaluation_recipe(
    dataset: Dataset,
    model: str,
    name: str,
    *,
    splits: Sequence[str] = ("test",),
    tasks: int | None = None,
    runs: int = 1,
    seed: int = 7,
    settings: Mapping[str, Any] | None = None,
    trust: bool = False,
) -> Recipe:
    """The recipe that runs ``model`` on the tasks of ``dataset``.

    Args:
        model: ``scripted``; ``NAME@URL``, a model of a server of the chat completions protocol; or a folder or a name
            that a vLLM is started with (extra ``vllm``).
        name: What the candidate is called.
        splits: Whose tasks.
        tasks: How many of them, from the first; None = all.
        runs: Of each task.
        settings: Dotted recipe keys laid over it.
        trust: Run the programs, read the files and reach the servers that the dataset names.

    Raises:
        InputError: the dataset can't be opened again, or a key or a model is wrong.
    """
    given: Mapping[str, Any] = dataset.report.recipe
    environment, source = trusted_environment(dataset, trust=trust)
    asked = given.get("questions") or {}
    wording = asked.get("wording") or asked.get("kind")
    path = str(dataset.path)
    data: dict[str, Any] = {
        "name": re.sub(r"[^a-z0-9._-]+", "-", f"{dataset.report.dataset}-{name}".lower())[:96],
        "description": f"Runs of {name} on tasks of {dataset.report.dataset}.",
        "seed": seed,
        "tasks": tasks,
        "source": source if source.get("kind") in STATEFUL else _published(dataset),
        "questions": {
            "kind": "dataset",
            "path": path,
            "splits": list(splits),
            "wording": wording if wording in _WORDINGS else "world",
        },
        "environment": environment,
        **{key: given[key] for key in _KEPT if given.get(key) is not None},
        **dict.fromkeys(("dedup", "difficulty", "critical", "preferences", "ratings", "distractors", "contexts")),
        "rl": False,
        "roles": {"policy": {**_role(model), "rollouts": runs}},
    }
    lay_settings(data, settings or {})
    return parse_recipe(data, f"evaluation of {name}")


def _published(dataset: Dataset) -> dict[str, Any]:
    path = str(dataset.path)
    if dataset.redacted:
        mend = "put the texts back with `synth rehydrate`"
        raise InputError("the dataset's documents hold no text, so there is nothing to act in", where=path, mend=mend)
    facts: pa.Table = read_table(path, FactRow)
    report = dataset.report
    inverses = inverses_of(facts, report.inverses)
    return {"kind": "dataset", "path": path, "name": report.source.name, "inverses": inverses}


def _role(model: str) -> dict[str, Any]:
    if model == "scripted":
        return {"backend": "scripted"}
    if re.match(r"https?://", model):
        raise InputError(
            f"{model!r} does not name the model",
            where="--model",
            mend="write NAME@URL, as Qwen3-8B@http://host:8000/v1",
        )
    name, at, address = model.rpartition("@")
    if at and re.match(r"https?://", address):
        return {"backend": "openai", "model": name, "base_url": address}
    if not Path(model).is_dir() and not re.fullmatch(r"[\w.-]+/[\w.-]+", model):
        raise InputError(
            f"{model!r} is not a model",
            where="--model",
            mend="give scripted, NAME@URL of a server, a folder of weights, or OWNER/NAME of the Hub",
        )
    if Path(model).is_dir():
        return {
            "backend": "vllm",
            "model": f"{Path(model).resolve().name}@{_weights(Path(model))}",
            "serve": {"model": model},
        }
    return {"backend": "vllm", "model": model, "serve": {}}


def _weights(folder: Path) -> str:
    """Hash of the files of a model folder. Replies are stored by model name, and a folder may be trained again."""
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and not path.name.startswith("."):
            with open_input(path, mend="give a folder whose files can be read", most=None) as file:
                whole.update(f"{path.name}\n{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return whole.hexdigest()[:12]
