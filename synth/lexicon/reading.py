"""Lexicons read from YAML, once per process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml
from pydantic import TypeAdapter

from synth.lexicon.model import Comparison, DocumentWords, Lexicon, MisleadingWords, UsualLabels

__all__ = [
    "WORLD",
    "comparison_frames",
    "document_words",
    "kinds_by_facts",
    "misleading_words",
    "order_frames",
    "phrases",
    "read_lexicon",
    "registers",
    "usual_labels",
    "world_lexicon",
]

_HERE = Path(__file__).parent
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

WORLD = ("types", "places", "people", "institutions", "structures", "works")
"""Files of the generated world's lexicon, in the order in which its relations are numbered."""


def _read(path: Path) -> Any:
    return yaml.load(path.read_text("utf-8"), Loader=_LOADER)


def read_lexicon(paths: tuple[Path, ...]) -> Lexicon:
    """The lexicon of several files; a relation or type stands in one of them.

    Raises:
        ValueError: an entry is not valid, or stands in two files.
    """
    parts = [Lexicon.model_validate(_read(path)) for path in paths]
    for of in ("types", "relations"):
        names = [name for part in parts for name in getattr(part, of)]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"{of} that stand in two files: {', '.join(twice)}")
    return Lexicon(
        types={name: entry for part in parts for name, entry in part.types.items()},
        relations={name: entry for part in parts for name, entry in part.relations.items()},
        joint=tuple(entry for part in parts for entry in part.joint),
        plurals={noun: plural for part in parts for noun, plural in part.plurals.items()},
    )


@cache
def world_lexicon() -> Lexicon:
    """The words of the generated world."""
    return read_lexicon(tuple(_HERE / "world" / f"{name}.yaml" for name in WORLD))


@cache
def document_words() -> DocumentWords:
    """The words of questions about documents."""
    return DocumentWords.model_validate(_read(_HERE / "documents.yaml"))


@cache
def kinds_by_facts(end: str) -> Mapping[str, str]:
    """Label of a relation -> the kind of thing at its ``end``, ``subject`` or ``object``; earlier kinds win."""
    read = TypeAdapter(dict[str, dict[str, list[list[str]]]]).validate_python(_read(_HERE / "kinds.yaml"))
    return MappingProxyType({label: kind for kind, rows in read[end].items() for row in rows for label in row})


@cache
def usual_labels() -> UsualLabels:
    """The words of relations that go by a usual name in the user's own facts."""
    return UsualLabels.model_validate(_read(_HERE / "labels.yaml"))


@cache
def misleading_words() -> MisleadingWords:
    """The words of pages that were written to mislead."""
    return MisleadingWords.model_validate(_read(_HERE / "misleading.yaml"))


@cache
def phrases(name: str) -> Mapping[str, tuple[str, ...]]:
    """A file of ``phrases``: what is said -> the ways to say it."""
    found = TypeAdapter(dict[str, tuple[str, ...]]).validate_python(_read(_HERE / "phrases" / f"{name}.yaml"))
    return MappingProxyType(found)


@cache
def _frames() -> Mapping[str, Any]:
    return MappingProxyType(_read(_HERE / "frames.yaml"))


@cache
def comparison_frames(kind: str) -> tuple[Comparison, ...]:
    """Frames of questions for a difference or sum: ``longer``, ``more``, ``combined``, ``altogether``."""
    return tuple(Comparison.model_validate(item) for item in _frames()["comparisons"][kind])


@cache
def order_frames(end: str) -> tuple[str, ...]:
    """Frames of clauses for an end of an order in time: ``less``, ``more``, ``least``, ``most``."""
    return tuple(_frames()["in_time"][end])


@cache
def registers() -> Mapping[str, Any]:
    """What surrounds a question in each register."""
    return MappingProxyType(_frames()["registers"])
