"""``synth new``: a package of the user's own that adds a part, to be changed."""

from __future__ import annotations

import re
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

import synth
from synth.errors import InputError
from synth.registry import names

__all__ = ["Part", "new"]

_STARTERS = Path(synth.__file__).parent / "starters"
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_PROJECT = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "starter"
version = "0.1.0"
description = "A {kind} for synth."
requires-python = ">=3.11"
dependencies = ["synth-posttrain"]

[project.optional-dependencies]
test = ["pytest"]

{entries}
[tool.hatch.build.targets.wheel]
only-include = ["starter.py"]
"""


class Part(StrEnum):
    """What another package can add."""

    SOURCE = "source"
    ENVIRONMENT = "environment"
    SHAPE = "shape"
    STAGE = "stage"
    RULE = "rule"
    REWARD = "reward"
    FORMAT = "format"


_ENTRIES = {
    Part.SOURCE: {"sources": ("starter", "SPEC"), "stages": ("read_starter", "ReadStarter")},
    Part.ENVIRONMENT: {"environments": ("starter", "SPEC")},
    Part.SHAPE: {"shapes": ("starter", "propose")},
    Part.STAGE: {"stages": ("starter", "Starter")},
    Part.RULE: {"label_rules": ("starter", "label")},
    Part.REWARD: {"rewards": ("starter", "reward")},
    Part.FORMAT: {"formats": ("starter", "FORMAT")},
}
"""Part -> table of the registry -> (what its entry is called, the attribute that it names)."""


def new(
    kind: Annotated[Part, typer.Argument(metavar="KIND", help=f"One of {', '.join(Part)}.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name in recipes; a Python name in lower case.")],
    out: Annotated[Path | None, typer.Option("--out", help="The folder to make; ./NAME if empty.")] = None,
) -> None:
    """Write a package that adds a part of your own: a working one to change, with a recipe and tests that pass."""

    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no Python name in lower case", where="NAME", mend="for example my_shop")
    for table, (entry, _) in _ENTRIES[kind].items():
        if (taken := entry.replace("starter", name)) in names(table):
            raise InputError(
                f"{taken} is taken: `synth list` shows it under {table}", where="NAME", mend="choose another"
            )
    if find_spec(name) is not None:
        raise InputError(f"there is a Python module {name} already", where="NAME", mend="choose another name")
    folder = out or Path(name)
    try:
        folder.mkdir(parents=True)
        for file in sorted((_STARTERS / kind).iterdir()):
            if file.is_file():
                (folder / file.name.replace("starter", name)).write_text(
                    _renamed(file.read_text("utf-8"), name), "utf-8"
                )
        (folder / "pyproject.toml").write_text(_renamed(_project(kind), name), "utf-8")
    except FileExistsError:
        raise InputError("exists already", where=str(folder), mend="name another folder with --out") from None
    except OSError as error:
        raise InputError(f"can't be written ({error.strerror})", where=str(folder), mend="name another place") from None
    print(f"wrote {folder}; next: cd {folder}; pip install -e '.[test]'; pytest; synth build --recipe recipe.yaml")


def _project(kind: Part) -> str:
    entries = (
        f'[project.entry-points."synth.{table}"]\n{entry} = "starter:{attribute}"\n'
        for table, (entry, attribute) in _ENTRIES[kind].items()
    )
    return _PROJECT.format(kind=kind, entries="\n".join(entries))


def _renamed(text: str, name: str) -> str:
    """The text of a starter, of a part of this name in a package of its own."""
    return (
        re.sub(r"synth\.starters\.\w+\.starter", "starter", text)
        .replace("starter", name)
        .replace("Starter", "".join(map(str.capitalize, name.split("_"))))
    )
