"""Rules of rows as values: a name, a table, the columns that are proven, and the function that proves them.

``synth validate`` runs all of them while rows stream past; ``--coverage`` lists the columns from them. A rule asks the
report, the row itself, or what earlier tables said (:class:`Known`), never the hash of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.schemas.mixes import MixOrigin, MixReport
from synth.schemas.reports import BuildReport

__all__ = ["Known", "Rule", "RuleCheck", "TaskFacts", "known_of"]


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """What rows that derive from a task repeat of it."""

    candidate_index: int
    shape: str
    obfuscation: int
    licence: str | None
    environment: str
    answer: str


@dataclass
class Known:
    """What rules ask: the report's words on where rows come from, and what rows before said."""

    origins: Mapping[str, MixOrigin]
    """Dataset -> what its report says; empty where there is no report."""
    recipe: Mapping[str, Any]
    world: bool
    """All documents are of a generated world: pages, entities and facts fit each other word for word."""
    redacted: bool
    tasks: dict[str, TaskFacts] = field(default_factory=dict)
    settings: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    """What rows of one kind have in common, as the first of them says."""
    titles: dict[str, tuple[str, str, tuple[str, ...], str]] = field(default_factory=dict)
    """Document -> title, kind, aliases, partition, of a world."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Entity -> its names, of a world."""

    def same(self, key: tuple[Any, ...], value: Any) -> bool:
        """Whether ``value`` is what the first row of this kind had."""
        return bool(self.settings.setdefault(key, value) == value)


def known_of(report: BuildReport | None, mix: MixReport | None) -> Known:
    """Before the first row."""
    origins: dict[str, MixOrigin] = {}
    if report is not None:
        origins = {report.dataset: MixOrigin.of(report)}
    elif mix is not None and all(part.origin is not None for part in mix.parts):
        origins = {part.dataset: part.origin for part in mix.parts if part.origin is not None}
    return Known(
        origins=origins,
        recipe=report.recipe if report is not None else {},
        world=report is not None and report.source.kind == "world" and report.redacted is None,
        redacted=report is not None and report.redacted is not None,
    )


Find = Callable[[Any, Known], Iterator[str]]


@dataclass(frozen=True)
class Rule:
    """What holds of every row of a table."""

    name: str
    table: str
    columns: tuple[str, ...]
    """Those in which a single wrong value is told."""
    says: str
    """What holds, in one sentence."""
    find: Find
    """Each way in which a row breaks it."""
    world: bool = False
    """It holds of generated worlds alone."""
    text: bool = True
    """It reads words, so that it can't be asked where text is redacted."""

    def applies(self, known: Known) -> bool:
        return (known.world or not self.world) and not (known.redacted and self.text)


class RuleCheck:
    """All rules of one table."""

    def __init__(self, found: Problems, rules: tuple[Rule, ...], known: Known) -> None:
        self.found = found
        self.known = known
        self.rules = tuple(rule for rule in rules if rule.applies(known))

    def see(self, file: DataFile, row: int, value: Any) -> None:
        for what in chain.from_iterable(rule.find(value, self.known) for rule in self.rules):
            self.found.add(file.label, row, what)

    def finish(self) -> None:
        """Rows are judged one by one."""
