"""``synth list``, ``synth init``, ``synth recipe``: what can be built and how to say it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from synth.cli.options import (
    LOCAL_ENDPOINT,
    Dataset,
    EndpointOption,
    JsonOption,
    KeyOption,
    ModelOption,
    RecipeOption,
    SetOption,
    SourceOption,
    TasksOption,
)
from synth.errors import InputError
from synth.inputs import parse_setting
from synth.late import late
from synth.registry import TABLES, choices

if TYPE_CHECKING:
    from synth.prompting import own as own_prompts
    from synth.recipe import load, requests, template
    from synth.recipe import model as recipes
else:
    own_prompts = late("synth.prompting.own")
    load = late("synth.recipe.load")
    recipes = late("synth.recipe.model")
    requests = late("synth.recipe.requests")
    template = late("synth.recipe.template")

__all__ = ["init", "list_datasets", "recipe"]


def list_datasets(as_json: JsonOption = False) -> None:
    """List the datasets that ship with synth, and what there is to choose from."""

    recipes = {
        group: [load.load_recipe(name) for name in names]
        for group, names in (("datasets", load.builtin_names()), ("gallery", load.gallery_names()))
    }
    if as_json:
        shown = {
            group: [{"name": r.name, "description": r.description, "tasks": r.tasks} for r in of]
            for group, of in recipes.items()
        }
        print(json.dumps({**shown, **{table: choices(table) for table in sorted(TABLES)}}, indent=2))
        return
    width = max(len(r.name) for of in recipes.values() for r in of)
    for heading, of in zip(("", "With the settings of a paper:\n"), recipes.values(), strict=True):
        print(heading + "\n".join(f"{r.name:<{width}}  {' '.join(r.description.split())}" for r in of) + "\n")
    for table in ("backends", "environments", "formats", "label_rules", "rewards", "shapes", "sources", "stages"):
        if names := choices(table):
            print(f"{table.replace('_', ' ')}: {', '.join(names)}")
    print("`synth init FILE` writes a recipe to change; `synth plan DATASET` says what a build would do.")


def init(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it.")] = Path("recipe.yaml"),
    dataset: Annotated[
        str | None,
        typer.Option("--from", help="The builtin dataset to begin with; else the one that suits the source."),
    ] = None,
    source: SourceOption = None,
    tasks: TasksOption = None,
    model: ModelOption = None,
    endpoint: EndpointOption = None,
    key: KeyOption = None,
    full: Annotated[bool, typer.Option("--full", help="Write every key with its default and its meaning.")] = False,
) -> None:
    """Write a commented recipe to change."""

    if model is None and (endpoint or key):
        raise InputError("no model is named", where="--endpoint" if endpoint else "--key", mend="give --model as well")
    laid = requests.settings_of(dataset=dataset, source=source, tasks=tasks, tasks_file=None, seed=None, settings={})
    if model is not None:
        who = {"backend": "openai", "model": model, "endpoints": [endpoint or LOCAL_ENDPOINT], "api_key_env": key}
        who = {name: value for name, value in who.items() if value is not None}
        laid |= {"roles": {"teacher": who, "policy": {**who, "rollouts": 4}}}
    called = "" if source is None else source.expanduser().absolute().name
    if called:
        laid["description"] = f"Questions over {called}."
    name = file.stem if file.stem != "recipe" else called.partition(".")[0]
    if name := re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"):
        laid["name"] = name[:96]
    graph = laid.get("source.kind") in ("triples", "tables")
    dataset = dataset or ("world-search" if source is None else "graph-search" if graph else "docs-search")
    text = (template.commented_recipe if full else template.short_recipe)(dataset, laid)
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        raise InputError("exists already", where=str(file), mend="name another file") from None
    except OSError as error:
        raise InputError(f"can't be written ({error.strerror})", where=str(file), mend="name another place") from None
    print(f"wrote {file}; next: synth preview --recipe {file}; synth plan --recipe {file}; synth build --recipe {file}")


def recipe(
    dataset: Dataset = None,
    recipe_file: RecipeOption = None,
    settings: SetOption = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of recipes.")] = False,
    write_prompts: Annotated[
        Path | None,
        typer.Option(
            "--write-prompts", metavar="DIR", help="Write the prompts that ship into a new folder, to be changed."
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of recipes, or a recipe with every default filled in."""
    import yaml

    if write_prompts is not None:
        count, to = own_prompts.write_prompts(write_prompts), write_prompts
        print(f"wrote {count} prompts to {to}; change some; next: synth build DATASET --prompts {to}")
        return
    if schema:
        print(json.dumps(recipes.Recipe.model_json_schema(), indent=2))
        return
    loaded = load.load_recipe(dataset, file=recipe_file, settings=dict(parse_setting(s) for s in settings or []))
    print(yaml.safe_dump(loaded.model_dump(mode="json"), sort_keys=False, allow_unicode=True), end="")
