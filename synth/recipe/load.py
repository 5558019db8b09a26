"""From a file, a name and ``--set`` options to a checked ``Recipe``; every mistake is one clear line."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from synth.errors import InputError
from synth.inputs import parse_yaml, read_text
from synth.own_code import beside
from synth.places import is_remote, refuse_remote
from synth.prompting.own import read_prompts
from synth.recipe.model import Recipe
from synth.registry import choices
from synth.store.remote import local_copy

__all__ = [
    "builtin_names",
    "builtin_text",
    "gallery_names",
    "lay_settings",
    "load_recipe",
    "parse_recipe",
    "with_whole_paths",
]

_SUFFIX = ".yaml"


def builtin_names() -> tuple[str, ...]:
    """Names of the recipes that ship with the package, sorted; those of published systems go by themselves."""
    return _names("builtin")


def gallery_names() -> tuple[str, ...]:
    """Names of the recipes that set what a paper published, sorted."""
    return _names("gallery")


def _names(folder: str) -> tuple[str, ...]:
    files = (resources.files("synth.recipe") / folder).iterdir()
    return tuple(sorted(f.name.removesuffix(_SUFFIX) for f in files if f.name.endswith(_SUFFIX)))


def builtin_text(name: str) -> str:
    """The YAML of a builtin recipe.

    Raises:
        InputError: no builtin recipe has that name; the line names those that there are.
    """
    folder = "gallery" if name in gallery_names() else "builtin"
    if folder == "builtin" and name not in builtin_names():
        nearest = _nearest(name, (*builtin_names(), *gallery_names()))
        raise InputError(
            f"there is no dataset {name!r}",
            mend=f"{nearest}builtin datasets: {', '.join(builtin_names())}; `synth list` shows those of papers, too; "
            "or give a recipe of your own with --recipe FILE",
        )
    return (resources.files("synth.recipe") / folder / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def load_recipe(
    dataset: str | None = None,
    *,
    file: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Recipe:
    """The recipe of a builtin ``dataset``, or of ``file``, with ``settings`` (dotted key -> value) laid over it.
    Modules of the user's that it names may lie beside the file, or in the folder at hand.

    Raises:
        InputError: unknown dataset, unreadable file, YAML that does not parse, a key or value that a recipe has not.
    """
    if file is not None:
        text = read_text(file, mend="give a recipe, a UTF-8 YAML file; `synth init FILE` writes one to begin with")
        where = str(file)
    elif dataset is not None:
        text, where = builtin_text(dataset), f"recipe {dataset}"
    else:
        raise InputError("no dataset was named", mend=f"name one of {', '.join(builtin_names())} or give --recipe FILE")
    data = _mapping(text, where)
    if file is not None and dataset is not None:
        data["name"] = dataset
    if file is not None:
        _look_beside(data, Path(file).parent)
    beside(Path.cwd())
    if file is not None:
        beside(Path(file).parent)
    lay_settings(data, settings or {})
    _fetch(data)
    if isinstance(data.get("prompts"), str):
        data["prompts"] = read_prompts(Path(data["prompts"]).expanduser())
    return parse_recipe(data, where)


def _look_beside(data: dict[str, Any], folder: Path) -> None:
    """Prompts lie beside the recipe; so do files of source and questions that are not in the folder at hand."""
    prompts = data.get("prompts")
    if isinstance(prompts, str) and not is_remote(prompts):
        data["prompts"] = str(folder / Path(prompts).expanduser())
    for part in ("source", "questions"):
        for key, value in data[part].items() if isinstance(data.get(part), dict) else ():
            if key in _PATHS and isinstance(value, str) and _lies_there(value, folder):
                data[part] = {**data[part], key: str(folder / value)}


def _lies_there(path: str, folder: Path) -> bool:
    """And not in the folder at hand. What is no path at all (a text, a name, an address) is in neither."""
    return len(path) < 1_000 and "\n" not in path and not Path(path).exists() and (folder / path).exists()


def lay_settings(data: dict[str, Any], settings: Mapping[str, Any]) -> None:
    """Lay dotted keys over plain data, in their order.

    Raises:
        InputError: a key goes below a value.
    """
    for key, value in settings.items():
        if key == "source.kind":
            _turn(data, value)
        _lay(data, key, deepcopy(value))  # keys below it may be laid over it, and it is the caller's


def parse_recipe(data: Mapping[str, Any], where: str) -> Recipe:
    """A checked recipe from plain data.

    Raises:
        InputError: the first thing that is wrong, with its dotted key.
    """
    for key, value in _places(data):
        refuse_remote(value, f"{where}: {key}")
    try:
        return Recipe.model_validate(data)
    except ValidationError as error:
        raise InputError(_explain(error, data), where=where, mend=_mend(error, data)) from None


_PATHS = frozenset(
    {
        "application",
        "benchmarks",
        "book",
        "definition",
        "folder",
        "labels",
        "path",
        "prompts",
        "state_path",
        "tokenizer",
        "words",
    }
)
"""Keys whose values are files or folders, wherever in a recipe they stand."""


def _places(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Dotted key and value of every path of a recipe."""
    if isinstance(value, Mapping):
        for name, below in value.items():
            yield from _places(below, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _places(below, key)
    elif isinstance(value, str | Path) and key.rpartition(".")[2] in _PATHS:
        yield key, str(value)


def with_whole_paths(value: Any, key: str = "") -> Any:
    """Plain data of a recipe that reads the same from every folder: paths that lead to something are absolute."""
    if isinstance(value, Mapping):
        return {name: with_whole_paths(below, str(name)) for name, below in value.items()}
    if isinstance(value, list | tuple):
        return [with_whole_paths(below, key) for below in value]
    if isinstance(value, str) and key in {*_PATHS, "after"} and not is_remote(value) and Path(value).exists():
        return str(Path(value).absolute())
    return value


def _fetch(data: Any) -> None:
    """Put a copy on this machine in the place of each path in storage elsewhere: of a recipe of the user's own alone,
    for one that came with a dataset must reach nothing."""
    if isinstance(data, list):
        for below in data:
            _fetch(below)
    if isinstance(data, dict):
        for key, value in data.items():
            if key not in _PATHS or isinstance(value, dict):
                _fetch(value)
            elif isinstance(value, list):
                data[key] = [str(local_copy(one)) if isinstance(one, str) else one for one in value]
            elif isinstance(value, str | Path) and is_remote(value):
                data[key] = str(local_copy(value))


def _mapping(text: str, where: str) -> dict[str, Any]:
    data = parse_yaml(text, where, mend="mend the line or start from `synth init`")
    if not isinstance(data, dict):
        raise InputError("a recipe is a mapping of keys to values", where=where, mend="start from `synth init`")
    return data


def _lay(data: dict[str, Any], dotted: str, value: Any) -> None:
    at = data
    *path, last = dotted.split(".")
    for part in path:
        below = at.get(part)
        if below is None:
            below = at[part] = {}
        if not isinstance(below, dict):
            raise InputError(
                f"{dotted!r} goes below {part!r}, which holds a value, not keys", where="--set", mend="check the key"
            )
        at = below
    at[last] = value


def _turn(data: dict[str, Any], kind: Any) -> None:
    """A source of another kind has other keys: those of the first would only be refused."""
    source = data.get("source")
    if isinstance(source, dict) and source.get("kind") != kind:
        data["source"] = {}


_UNIONS = {"source": "sources", "questions": "questions", "environment": "environments"}
"""Keys whose value is told apart by ``kind`` -> the table of the kinds."""


def _keys(location: Sequence[int | str]) -> list[int | str]:
    """An error's location without the kind of a union, which is not a key of the recipe."""
    return [
        part
        for before, part in zip((None, *location), location, strict=False)
        if not (before in _UNIONS and part in choices(_UNIONS[str(before)]))
    ]


def _location(location: Sequence[int | str]) -> str:
    return ".".join(str(part) for part in _keys(location))


def _explain(error: ValidationError, data: Mapping[str, Any]) -> str:
    first = error.errors()[0]
    key, kind = _location(first["loc"]), first["type"]
    if kind == "extra_forbidden":
        return f"unknown key {key!r}"
    if kind == "missing":
        return f"key {key!r} is missing"
    given = first.get("input")
    shown = f" (it is {given!r})" if isinstance(given, str | int | float | bool) or given is None else ""
    message = first["msg"].removeprefix("Value error, ")
    return f"{key}: {message[0].lower()}{message[1:]}{shown}" if key else message


def _mend(error: ValidationError, data: Mapping[str, Any]) -> str:
    first = error.errors()[0]
    if first["type"] == "extra_forbidden":
        *path, name = map(str, _keys(first["loc"]))
        known, others = _siblings(path, data)
        if name in others:
            return f"it is a key of {path[-1]} of kind {others[name]}; `synth recipe --schema` lists every key"
        return f"{_nearest(name, known)}`synth recipe --schema` lists every key"
    return "`synth recipe --schema` says what each key takes"


def _siblings(path: Sequence[str], data: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Keys that the schema knows at ``path``; and those that only values of another kind than the one at hand have
    there, each with those kinds."""
    schema = Recipe.model_json_schema()
    nodes, here = [schema], data
    for part in path:
        nodes = [below for node in nodes for below in _below(schema, node, part)]
        here = here.get(part, {}) if isinstance(here, Mapping) else {}
    kind = here.get("kind") if isinstance(here, Mapping) else None
    kinds = {
        str(node["properties"]["kind"].get("const")): node for node in nodes if "kind" in node.get("properties", {})
    }
    chosen = [kinds[kind]] if kind in kinds else nodes
    known = sorted({key for node in chosen for key in node.get("properties", {})})
    others: dict[str, list[str]] = {}
    for of, node in kinds.items():
        for key in node["properties"].keys() - {*known}:
            others.setdefault(key, []).append(of)
    return known, {key: " or ".join(of) for key, of in others.items()}


def _below(schema: dict[str, Any], node: dict[str, Any], part: str) -> list[dict[str, Any]]:
    child = node.get("properties", {}).get(part, node.get("additionalProperties"))
    if not isinstance(child, dict):
        return []
    found = [child, *child.get("oneOf", []), *child.get("anyOf", [])]
    return [schema["$defs"][c["$ref"].rsplit("/", 1)[1]] if "$ref" in c else c for c in found]


def _nearest(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]!r}? " if close else ""
