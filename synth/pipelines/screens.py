"""Who looks at tasks before they are accepted, as the recipe says."""

from __future__ import annotations

from importlib import metadata
from pathlib import PurePath
from typing import Any

from synth.errors import InputError
from synth.filtering.decontamination.benchmarks import file_digest
from synth.filtering.decontamination.config import Decontaminate, Rules
from synth.recipe.model import Recipe
from synth.registry import factory_of
from synth.stages.contract import Implementation

__all__ = ["benchmark_names", "task_screens"]


def task_screens(recipe: Recipe) -> tuple[Implementation, ...]:
    """The screens, in the order in which they look.

    Raises:
        InputError: a file of the recipe can't be read or used.
    """
    return () if recipe.decontaminate is None else (_benchmarks(recipe.decontaminate),)


def benchmark_names(wanted: Decontaminate) -> dict[str, str]:
    """What a benchmark is called in rows and reports -> its path: the file's name, no place on this machine.

    Raises:
        InputError: two files have one name.
    """
    found: dict[str, str] = {}
    for path in wanted.benchmarks:
        name = PurePath(path).name
        if name in found:
            raise InputError(
                f"two benchmarks are named {name}", where="decontaminate.benchmarks", mend="give one another name"
            )
        found[name] = path
    return found


def _benchmarks(wanted: Decontaminate) -> Implementation:
    files = benchmark_names(wanted)
    rules = Rules.model_validate(wanted.model_dump(exclude={"benchmarks"}))
    versions: dict[str, Any] = {}
    if wanted.similarity is not None:
        factory_of("encoders", wanted.encoder)  # an unknown name is said before anything runs
    if wanted.model is not None:
        versions["library"] = _installed("sentence-transformers")
    sha256 = {name: file_digest(path, rules) for name, path in files.items()}
    options = {**rules.model_dump(mode="json"), "sha256": sha256}
    return Implementation(
        kind="benchmarks", factory=factory_of("screens", "benchmarks"), options=options, versions=versions, files=files
    )


def _installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
