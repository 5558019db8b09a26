"""What a plan says of a source that is explored: how its environment is made, and what its tasks are derived from.

One entry per kind of source. Everything behind the tasks (rollouts, steps, pairs) is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from synth.environments.app.environment import open_app
from synth.environments.app.reading import load_definition, source_text
from synth.recipe.model import Recipe
from synth.recipe.reverse import Application, AppSource

__all__ = ["acting", "made_of", "published_source", "task_values"]


def made_of(recipe: Recipe) -> tuple[dict[str, Any], str]:
    """Options of the factory of the recipe's environment, and that environment's version.

    Raises:
        InputError: there is no such source, or something in it is wrong.
    """
    return _MADE[recipe.source.kind](recipe)


def task_values(recipe: Recipe) -> dict[str, Any]:
    """Config of the stage that derives the tasks.

    Raises:
        InputError: the source can't be read.
    """
    options, version = made_of(recipe)
    explored = {name: value for name, value in options.items() if name not in _ACTING[recipe.source.kind]}
    return {**recipe.questions.model_dump(exclude={"kind"}), **explored, "environment_version": version}


def published_source(recipe: Recipe) -> dict[str, Any]:
    """The source as a dataset states it: no place on this machine, and all that is needed to open it again.

    Raises:
        InputError: the source can't be read.
    """
    plain = recipe.source.model_dump(mode="json")
    if isinstance(recipe.source, AppSource):
        plain["application"] = source_text(recipe.source.application)
    return plain


def _app(recipe: Recipe) -> tuple[dict[str, Any], str]:
    source, place = recipe.source, recipe.environment
    assert isinstance(source, AppSource)
    assert isinstance(place, Application)
    load_definition(source.application)  # a mistake in a file is told with the file's name
    options: dict[str, Any] = {
        "application": source_text(source.application),
        "variant": source.variant,
        "size": source.size,
        **acting({"kind": "app"}),
        "failures": None if place.failures is None else place.failures.model_dump(mode="json"),
    }
    return options, open_app(**options).version


def acting(source: Mapping[str, Any]) -> dict[str, Any]:
    """Options of the environment that every dataset of that kind of source has, and no recipe says."""
    return {"user": True} if source.get("kind") == "app" else {}


_MADE: Mapping[str, Callable[[Recipe], tuple[dict[str, Any], str]]] = {"app": _app}
_ACTING: Mapping[str, frozenset[str]] = {"app": frozenset({"failures"})}
"""Options that say how agents fare in the environment, and nothing about the tasks."""
