"""Rules as values: tables, the columns that are proven, a sentence, and the function that proves them.

``synth validate`` runs all of them while rows stream past; ``--coverage`` lists the columns from them. A rule asks the
report, the row itself, or what earlier tables said (:class:`Known`), never the hash of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from synth.dataset.files import Problems
from synth.dataset.references import holds_reference
from synth.schemas.mixes import MixOrigin, MixReport
from synth.schemas.reports import BuildReport

__all__ = ["Close", "Find", "Known", "Place", "Rule", "TaskFacts", "known_of", "rule"]

Place = tuple[str, int]
"""File and row."""
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What rows that derive from a task are compared with."""

    candidate_index: int
    shape: str
    obfuscation: int
    licence: str | None
    environment: str
    answer: str
    question: str
    split: str
    hops: int
    gold_documents: tuple[str, ...]
    truth: str
    """Hash of what responses are judged by; empty where no table holds that."""


@dataclass
class Known:
    """What rules ask: the report, and what the rows before said."""

    found: Problems
    report: BuildReport | None
    there: Collection[str]
    """Names of the tables that there are."""
    origins: Mapping[str, MixOrigin]
    """Dataset -> what its report says; empty where there is no report."""
    tasks: dict[str, TaskFacts] = field(default_factory=dict)
    place: Place = ("", 0)
    """Of the row that is judged."""
    _settings: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    _states: dict[type[Any], Any] = field(default_factory=dict)

    @cached_property
    def recipe(self) -> Mapping[str, Any]:
        return self.report.recipe if self.report is not None else {}

    @cached_property
    def redacted(self) -> bool:
        return self.report is not None and self.report.redacted is not None

    @cached_property
    def exempt(self) -> frozenset[str]:
        """Entities that no split owns."""
        return frozenset(self.report.exempt_entities) if self.report is not None else frozenset()

    @cached_property
    def world(self) -> bool:
        """Whether all documents are of a generated world: pages, entities and facts fit each other word for word."""
        return self.report is not None and self.report.source.kind == "world" and not self.redacted

    def of(self, state: type[S]) -> S:
        """What the rules of one table keep for those of later ones; empty at first."""
        if state not in self._states:
            self._states[state] = state()
        kept: S = self._states[state]
        return kept

    def same(self, key: tuple[Any, ...], value: Any) -> bool:
        """Whether ``value`` is what the first row of this kind had."""
        return bool(self._settings.setdefault(key, value) == value)

    def first(self, key: tuple[Any, ...]) -> Any:
        """What the first row of this kind had."""
        return self._settings.get(key)

    def unread(self, text: str) -> bool:
        """Whether ``text`` can't be compared, since references stand in it for what is redacted."""
        return self.redacted and holds_reference(text)


def known_of(report: BuildReport | None, mix: MixReport | None, there: Collection[str], found: Problems) -> Known:
    """Before the first row."""
    origins: dict[str, MixOrigin] = {}
    if report is not None:
        origins = {report.dataset: MixOrigin.of(report)}
    elif mix is not None and all(part.origin is not None for part in mix.parts):
        origins = {part.dataset: part.origin for part in mix.parts if part.origin is not None}
    return Known(found, report, there, origins)


Find = Callable[[Any, Known], Iterator[str]]
"""Each way in which a row breaks a rule."""
Close = Callable[[Known], Iterator[tuple[Place, str]]]
"""The same where it takes all rows of the table."""


@dataclass(frozen=True)
class Rule:
    """What holds of every row of a table."""

    name: str
    tables: tuple[str, ...]
    columns: tuple[str, ...]
    """Those in which a single wrong value is found."""
    says: str
    """What holds, in one sentence."""
    find: Find
    close: Close | None = None
    world: bool = False
    """It holds of generated worlds alone."""
    text: bool = False
    """It reads words, so it is not asked where text is redacted."""

    def applies(self, known: Known) -> bool:
        return (known.world or not self.world) and not (known.redacted and self.text)


def rule(
    tables: str, columns: str = "", *, close: Close | None = None, world: bool = False, text: bool = False
) -> Callable[[Find], Rule]:
    """Make a rule of a function: its name and docstring are those of the rule; names are separated by spaces."""

    def made(find: Find) -> Rule:
        name, says = find.__name__.replace("_", " ").strip(), " ".join((find.__doc__ or "").split())
        return Rule(name, tuple(tables.split()), tuple(columns.split()), says, find, close, world=world, text=text)

    return made
