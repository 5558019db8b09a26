"""What every source of facts gives: statements about things, and what the source itself knows of them."""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Self

from synth.inputs import open_input
from synth.schemas.described import Described
from synth.schemas.documents import ValueKind
from synth.schemas.rejections import Rejection
from synth.schemas.row import Split

__all__ = ["LOCATION", "FactsConfig", "Statements", "local_name"]

LOCATION = "a location; the hash of the content stands in for it"
"""Why a path is in no fingerprint."""


@dataclass(frozen=True)
class Statements:
    """What was read, in the source's order, each fact once."""

    facts: list[tuple[str, str, str]]
    """(subject, relation, object) as ids; an object that is not a subject, has no label and no type may be a value."""
    labels: Mapping[str, tuple[str, ...]]
    """Id -> its label and aliases, where the source gives them."""
    types: Mapping[str, str]
    """Id -> the label of its type, where the source gives one."""
    things: frozenset[str]
    """Objects that the source itself says are things."""
    rejected: list[Rejection]
    rows: int
    untyped: str = ""
    """Type of entities that have none. Empty: inferred from their relations, else "thing"."""
    values: Mapping[str, ValueKind] = field(default_factory=dict)
    """Relation -> what its objects are, where the source knows it; of the others it is derived."""
    prose: Mapping[str, str] = field(default_factory=dict)
    """Id -> text that its page ends with. It is read like any page and nothing is asked of it."""


class FactsConfig(Described, ABC):
    """What sources of facts share. Each says how it is read and which bytes it rests on."""

    source: ClassVar[str]
    """What documents of the source say that they come from."""
    words: str | None = None
    """YAML file of words (``synth/lexicon/model.py``) that replace or add to those derived from the labels."""
    licence: str | None = None
    """SPDX id of the licence of the facts. Empty: the card says that none was stated."""
    fractions: Mapping[Split, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of the entities that each split owns as gold."""

    @abstractmethod
    def read(self) -> Statements:
        """The facts.

        Raises:
            InputError: what was given can't be read, or holds no fact.
        """

    @abstractmethod
    def content_digest(self) -> str:
        """sha256 (64 hex) over all that is read. Raises InputError: there is nothing to read."""

    def digest_of(self, paths: Sequence[str], mend: str) -> str:
        """sha256 (64 hex) over files, whose names tables and rejected rows bear, and the file of words."""
        total = hashlib.sha256()
        named = [(Path(path).name, path) for path in paths]
        for name, path in [*named, ("/words", self.words)] if self.words is not None else named:
            total.update(name.encode())
            with open_input(Path(path).expanduser(), mend=mend) as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
        return total.hexdigest()

    def own(self) -> Self:
        """The keys of the source alone, without those of a recipe or a stage that were added to them."""
        kind = next(each for each in type(self).__mro__ if "read" in vars(each))
        return kind(**{name: getattr(self, name) for name in kind.model_fields})  # type: ignore[attr-defined, no-any-return]


def local_name(name: str, labels: Mapping[str, tuple[str, ...]]) -> str:
    """What a person reads of an id: its label, or of an IRI its last part."""
    if name in labels:
        return labels[name][0]
    return re.split(r"[/#]", name.rstrip("/#"))[-1].replace("_", " ") if "://" in name else name
