"""The recipes of finished builds, whole: a store remembers by the hash of a dataset's report what the dataset, which
may be published, leaves out (places of this machine, endpoints, prices)."""

from __future__ import annotations

import json
from pathlib import Path

from synth.inputs import parse_json
from synth.recipe.load import parse_recipe, with_whole_paths
from synth.recipe.model import Recipe
from synth.store.files import store_errors, write_file

__all__ = ["recall", "remember_recipe", "remembered_file"]


def remembered_file(store: Path, report_sha256: str) -> Path:
    return store / "finished" / f"{report_sha256}.json"


def remember_recipe(store: Path, report_sha256: str, recipe: Recipe) -> None:
    """Keep ``recipe`` for the dataset whose ``report.json`` has this hash. Keys are not in it, only the names of their
    variables.

    Raises:
        StoreError: the store can't be written.
    """
    file = remembered_file(store, report_sha256)
    with store_errors(file):
        file.parent.mkdir(exist_ok=True)
        write_file(file, json.dumps(with_whole_paths(recipe.model_dump(mode="json"))).encode())


def recall(store: Path, report_sha256: str) -> Recipe | None:
    """What the store remembers; None where it has not made the dataset.

    Raises:
        InputError: this version does not take the recipe, or a file of it is gone.
    """
    file = remembered_file(store, report_sha256)
    if not file.is_file():
        return None
    with store_errors(file):
        text = file.read_text("utf-8")
    return parse_recipe(parse_json(text), str(file))
