"""What the names of tools and parameters say: verbs, nouns, types of values, and texts that fit a name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal

import yaml

from synth.text.inflection import plural, singular

__all__ = [
    "CREATES",
    "FINAL",
    "ROWS",
    "Kind",
    "is_id",
    "kind_of_verb",
    "nouns",
    "plural_of",
    "pool",
    "spaced",
    "stem",
    "words",
]

Kind = Literal["list", "read", "create", "update", "delete", "state"]
_IRREGULAR = {"child": "children", "person": "people"}


@cache
def words(name: str) -> Any:
    """An entry of the vocabulary."""
    folder = resources.files("synth.environments.app") / "from_tools"
    return yaml.safe_load((folder / "vocabulary.yaml").read_text(encoding="utf-8"))[name]


ROWS: int = words("rows")
FINAL = frozenset(words("final"))
CREATES = frozenset(words("verbs")["create"])


@cache
def kind_of_verb(word: str) -> Kind | None:
    """What a verb does to a row; None for any other word."""
    verbs: Mapping[Kind, Sequence[str]] = words("verbs")
    return next((kind for kind, listed in verbs.items() if word in listed), None)


def spaced(name: str) -> str:
    """``due_date`` is "due date", and so is ``due_on``."""
    return (f"{name[:-3]}_date" if name.endswith("_on") else name).replace("_", " ").strip()


def plural_of(noun: str) -> str:
    """The plural of a noun, in snake case or with spaces."""
    *first, last = re.split(r"([_ ])", noun)
    return "".join([*first, _IRREGULAR.get(last) or plural(last)])


def nouns(tokens: Sequence[str]) -> str:
    """The noun of some words of a name in the singular, in snake case; empty where they hold none."""
    left = list(tokens)
    fillers = set(words("fillers"))
    while left and left[0] in fillers:
        left = left[1:]
    while len(left) > 1 and left[-1] in fillers:
        left = left[:-1]
    if left and left[-1] in fillers and len(left) == 1 and left[0] not in ("list", "item", "items"):
        return ""
    last = left[-1] if left else ""
    one = last[:-2] if last.endswith("uses") else singular(last)
    return "_".join([*left[:-1], one])


def is_id(name: str) -> bool:
    """Whether a parameter is an id by its last word."""
    return name.split("_")[-1] in words("ids")


def stem(name: str) -> str:
    """``assignee_id`` is of an "assignee", ``id`` of nothing."""
    *first, last = name.split("_")
    return "_".join(first) if last in words("ids") else name


def pool(*names: str) -> tuple[str, ...] | None:
    """Texts that fit the first of ``names`` of which any are known, whole or by its last words."""
    pools: Mapping[str, Mapping[str, Sequence[str]]] = words("pools")
    for name in names:
        tails = [name, *(name[match.end() :] for match in re.finditer("_", name))]
        for tail in tails:
            found = next((one["is"] for one in pools.values() if tail in one["of"]), None)
            if found is not None:
                return tuple(found)
    return None
