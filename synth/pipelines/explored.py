"""What a plan says of a source that is explored: how its environment is made, and what its tasks are derived from.

One entry per kind of source. Everything behind the tasks (rollouts, steps, pairs) is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from synth.environments.app.reading import load_definition, source_text
from synth.environments.contract import stateful_options
from synth.environments.web.definition import load_site
from synth.exploration.config import OPTIONS
from synth.inputs import read_text
from synth.recipe.model import Recipe
from synth.recipe.reverse import AppSource, McpSource, WebSource
from synth.registry import factory_of, find
from synth.stages.contract import Implementation

__all__ = ["made_of", "published_source", "task_values"]


def made_of(recipe: Recipe) -> tuple[dict[str, Any], str]:
    """Options of the factory of the recipe's environment, and what that environment shows of itself.

    What servers and sites show when they are started now stands in it: they can become other ones behind the same
    command.

    Raises:
        InputError: there is no such source, or something in it is wrong.
    """
    source = recipe.source
    options = stateful_options(source.model_dump(mode="json"), recipe.environment.model_dump(mode="json"))
    if isinstance(source, AppSource):
        load_definition(source.application)  # a mistake in a file is told with the file's name
        options["application"] = source_text(source.application)
    environment = find("environments", source.kind)(**options)
    identity = getattr(environment, "identity", None)
    return options, environment.version if identity is None else f"{environment.version}-{identity[:16]}"


def task_values(recipe: Recipe) -> dict[str, Any]:
    """Config of the stage that derives the tasks, but for the writer.

    Raises:
        InputError: the source can't be read.
    """
    kind = recipe.source.kind
    options, shown = made_of(recipe)
    options = {name: _EXPLORING.get(name, value) for name, value in options.items() if name not in _ACTING}
    asked = recipe.questions.model_dump(mode="json", include=set(OPTIONS[kind]))
    if asked.get("book") is not None:
        asked["book"] = _text_of(asked["book"])
    return {
        "environment": _named("environments", kind, options, shown=shown),
        "explorer": _named("explorers", kind, asked),
        "licence": _licence(recipe),
    }


def _named(table: str, kind: str, options: dict[str, Any], **versions: Any) -> Implementation:
    return Implementation(kind=kind, factory=factory_of(table, kind), options=options, versions=versions)


def _licence(recipe: Recipe) -> str | None:
    """What its file says, or else the recipe; of servers with several licences, none."""
    source = recipe.source
    if isinstance(source, AppSource):
        return load_definition(source.application).licence or source.licence
    if isinstance(source, McpSource):
        found = {server.get("licence") or source.licence for server in source.servers.values()}
        return found.pop() if len(found) == 1 else None
    if isinstance(source, WebSource):
        return load_site(source.site)[1].licence or source.licence
    return None


def published_source(recipe: Recipe) -> dict[str, Any]:
    """The source as a dataset states it: no place on this machine, and all that is needed to open it again.

    Raises:
        InputError: the source can't be read.
    """
    plain = recipe.source.model_dump(mode="json")
    if isinstance(recipe.source, AppSource):
        plain["application"] = source_text(recipe.source.application)
    if isinstance(recipe.source, McpSource):
        plain["servers"] = {name: _published(server) for name, server in plain["servers"].items()}
    if isinstance(recipe.source, WebSource):
        plain["site"] = Path(recipe.source.site).name
        plain = _published(plain)
    return plain


def _published(server: Mapping[str, Any]) -> dict[str, Any]:
    """A server without places on this machine: of a path, its last part."""
    plain = dict(server)
    if isinstance(plain.get("command"), list):
        plain["command"] = [Path(part).name if Path(part).is_absolute() else part for part in plain["command"]]
    if isinstance(plain.get("folder"), str):
        plain["folder"] = Path(plain["folder"]).name
    return plain


def _text_of(book: str) -> str:
    """
    Raises:
        InputError: there is no such file.
    """
    if "\n" in book:
        return book
    return read_text(book, mend="name a YAML file in questions.book")


_ACTING = frozenset({"failures", "screenshots"})
"""Options that say how agents fare in the environment, and nothing about the tasks."""
_EXPLORING = {"html": False}
"""Options that are always the same while tasks are derived."""
