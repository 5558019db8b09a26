"""Commented recipes, written from the model's own documentation, so that they can not go stale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, get_args

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from synth.recipe.load import builtin_text, lay_settings, load_recipe
from synth.recipe.model import Recipe
from synth.schemas.described import description_of

__all__ = ["OPTIONAL", "commented_recipe", "short_recipe"]

_WIDTH = 110


OPTIONAL = {
    "difficulty": "null",
    "contexts": "{budgets: [8192, 65536]}",
    "rl": "false",
    "ratings": "{}",
}
"""Keys that the short recipe shows behind a number sign, and a value that differs from the default."""


def short_recipe(dataset: str, settings: Mapping[str, Any]) -> str:
    """The builtin recipe ``dataset`` with ``settings`` (dotted key -> value), a sentence above each key, and a few keys
    more to try.

    Raises:
        InputError: there is no such builtin dataset, or a setting that does not fit.
    """
    load_recipe(dataset, settings=settings)
    text = builtin_text(dataset)
    data = yaml.safe_load(text)
    lay_settings(data, settings)
    lines = [f"# A recipe of synth, begun from {dataset}. `synth init --full` shows every key with its default."]
    lines += [line for line in text.splitlines() if line.startswith("#")]
    for key, value in data.items():
        lines += [f"# {_sentence(key)}", *_short(key, value)]
    lines += ["", "# Remove the number sign to change one of these."]
    lines += [f"# {key}: {value}  # {_sentence(key)}" for key, value in OPTIONAL.items()]
    return "\n".join(lines) + "\n"


def _short(key: str, value: Any) -> Iterator[str]:
    """A key and its value, what is below it on lines of their own where it holds more than values."""
    if isinstance(value, Mapping) and any(isinstance(below, Mapping) for below in value.values()):
        yield f"{key}:"
        yield from (f"  {name}: {_scalar(below)}" for name, below in value.items())
    else:
        yield f"{key}: {_scalar(value)}"


def _sentence(key: str) -> str:
    """The first clause of what a key of recipes means."""
    text = " ".join((description_of(Recipe, key) or "").split())
    return re.split(r"(?<=\.)\s|: |; ", text, maxsplit=1)[0].rstrip(".") + "."


def commented_recipe(dataset: str, settings: Mapping[str, Any]) -> str:
    """The same with every key: its value and, above it, what it means.

    Raises:
        InputError: there is no such builtin dataset, or a setting that does not fit.
    """
    recipe = load_recipe(dataset, settings=settings)
    head = [
        f"# A recipe of synth, begun from {dataset}. Every key is shown with its value; what you leave out keeps it.",
        "# synth plan --recipe FILE says what a build would do; synth build --recipe FILE does it.",
        "",
    ]
    return "\n".join([*head, *_lines(recipe, "")]) + "\n"


def _lines(part: BaseModel, indent: str) -> Iterator[str]:
    for name, field in type(part).model_fields.items():
        value = getattr(part, name)
        yield from _comment(field, description_of(type(part), name) or "", indent)
        yield from _entry(name, value, indent)


def _entry(name: str, value: Any, indent: str) -> Iterator[str]:
    if isinstance(value, BaseModel):
        yield f"{indent}{name}:"
        yield from _lines(value, indent + "  ")
    elif isinstance(value, Mapping) and any(isinstance(item, BaseModel) for item in value.values()):
        yield f"{indent}{name}:"
        for key, item in value.items():
            yield from _entry(str(key), item, indent + "  ")
    else:
        yield f"{indent}{name}: {_scalar(value)}"


def _comment(field: FieldInfo, description: str, indent: str) -> Iterator[str]:
    import textwrap

    text = " ".join(description.split())
    choices = [str(choice) for choice in get_args(field.annotation) if isinstance(choice, str)]
    if len(choices) > 1:
        text += f" One of: {', '.join(choices)}."
    for line in textwrap.wrap(text, _WIDTH - len(indent) - 2):
        yield f"{indent}# {line}"


def _scalar(value: Any) -> str:
    plain = _plain(value)
    text = yaml.safe_dump(plain, default_flow_style=True, width=10_000, allow_unicode=True, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value
