"""Entities and facts in SQLite, and questions over them as one join.

Nothing is shared with the proposers' evaluator. A bridge is a variable, so two constraints on one bridge hold of the
*same* node. The database is a private temporary file of SQLite's that stays in memory while it is small.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from synth.dataset.audit.values import Span, measure, said_forms, span_of
from synth.schemas.row import Split
from synth.schemas.tasks import Node

__all__ = [
    "VALUE_KINDS",
    "Constraint",
    "Entity",
    "Facts",
    "Key",
    "Term",
    "Undecided",
    "Variable",
    "forms",
    "is_value",
    "key_of",
    "text_of",
    "value_key",
]

Key: TypeAlias = str
"""A node: an entity's id, or a value's text behind a control character."""

VALUE_KINDS = frozenset(("date", "year", "number", "quantity", "text"))
_VALUE = "\x1f"
_BUDGET = 20_000_000
"""Instructions of SQLite's machine that one query may take: about a second."""
_TICK = 10_000
_SCHEMA = """
CREATE TABLE node (key TEXT PRIMARY KEY, kind TEXT, name TEXT, aliases TEXT, document_id TEXT, partition TEXT)
    WITHOUT ROWID;
CREATE TABLE fact (relation TEXT, source TEXT, target TEXT, PRIMARY KEY (relation, source, target)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class Entity:
    """An entity, as the audit needs it."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    document_id: str | None
    partition: Split


@dataclass(frozen=True)
class Variable:
    """A node that the question does not name."""

    name: str


Term: TypeAlias = Key | Variable | Span
"""A node that is named, one that is not, or any value that lies in a span."""


@dataclass(frozen=True)
class Constraint:
    """``relation`` leads from ``source`` to ``target``; against its direction where ``forward`` is False."""

    source: Term
    relation: str
    forward: bool
    target: Variable

    @property
    def variables(self) -> list[Variable]:
        return [term for term in (self.source, self.target) if isinstance(term, Variable)]


class Undecided(Exception):
    """The query took too long: no verdict, and so no pass."""


def value_key(value: str) -> Key:
    return _VALUE + value


def text_of(key: Key) -> str:
    """The text of a value."""
    return key.removeprefix(_VALUE)


def is_value(key: Key) -> bool:
    return key[:1] == _VALUE


def key_of(node: Node) -> Key:
    return value_key(node.id) if node.kind in VALUE_KINDS and node.document_id is None else node.id


class Facts:
    """Rows go in with :meth:`add_entities` and :meth:`add_facts`; queries come after :meth:`freeze`."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._sql.executescript(_SCHEMA)
        self._sql.create_function("within", 2, _within, deterministic=True)
        self._inverses: dict[str, str | None] = {}
        self.entity = lru_cache(100_000)(self._entity)
        self.step = lru_cache(100_000)(self._step)

    def add_entities(self, entities: Iterable[Entity]) -> None:
        rows = ((e.id, e.kind, e.name, json.dumps(e.aliases), e.document_id, e.partition) for e in entities)
        self._sql.execute("BEGIN")
        self._sql.executemany("INSERT OR REPLACE INTO node VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._sql.execute("COMMIT")

    def add_facts(self, facts: Iterable[tuple[str, str, Key, str, str | None]]) -> None:
        """(subject, relation, target, kind of value, inverse). The inverse is the relation that reads the fact from its
        other end, or the relation itself."""
        edges: list[tuple[str, str, str]] = []
        values: dict[Key, str] = {}
        for subject, relation, target, kind, inverse in facts:
            edges.append((relation, subject, target))
            inverse = self._inverses.setdefault(relation, inverse)
            if inverse is not None:
                self._inverses.setdefault(inverse, relation)
                edges.append((inverse, target, subject))
            if is_value(target):
                values[target] = kind
        self._sql.execute("BEGIN")
        self._sql.executemany("INSERT OR IGNORE INTO fact VALUES (?, ?, ?)", edges)
        self._sql.executemany("INSERT OR IGNORE INTO node (key, kind) VALUES (?, ?)", values.items())
        self._sql.execute("COMMIT")

    def freeze(self) -> None:
        """All facts are there: index them from their other end too."""
        self._sql.executescript("CREATE INDEX back ON fact (relation, target, source); ANALYZE;")

    # -- nodes and relations -----------------------------------------------------------------------------------------

    @property
    def relations(self) -> Collection[str]:
        """Every name by which a fact is read."""
        return self._inverses.keys()

    def same(self, one: str, two: str) -> bool:
        """Whether two names are readings of one relation, from the same or from opposite ends."""
        return one == two or self._inverses.get(one) == two

    def entities(self) -> Iterator[Entity]:
        for row in self._sql.execute(f"SELECT {_ENTITY} FROM node WHERE name IS NOT NULL"):
            yield _entity(row)

    def _entity(self, key: Key) -> Entity | None:
        row = self._sql.execute(f"SELECT {_ENTITY} FROM node WHERE key = ? AND name IS NOT NULL", (key,)).fetchone()
        return None if row is None else _entity(row)

    def kind(self, key: Key) -> str:
        """Type of an entity, kind of a value; empty for what the facts do not know."""
        row = self._sql.execute("SELECT kind FROM node WHERE key = ?", (key,)).fetchone()
        return "" if row is None else str(row[0])

    def name(self, key: Key) -> str:
        """As a message calls it."""
        entity = self.entity(key)
        return repr(entity.name if entity is not None else text_of(key))

    # -- queries -----------------------------------------------------------------------------------------------------

    def _step(self, start: Key, relation: str, forward: bool) -> tuple[Key, ...]:
        """All ends of ``relation`` from ``start``, each once."""
        one, two = ("source", "target") if forward else ("target", "source")
        rows = self._sql.execute(f"SELECT {two} FROM fact WHERE relation = ? AND {one} = ?", (relation, start))
        return tuple(row[0] for row in rows)

    def starts(self, relation: str) -> Iterator[Key]:
        """All subjects of a relation."""
        for row in self._sql.execute("SELECT DISTINCT source FROM fact WHERE relation = ?", (relation,)):
            yield row[0]

    def joining(self, left: Key, right: Key) -> Iterator[str]:
        """Relations by which one fact joins the two, in either direction."""
        for relation in self._inverses:
            if right in self.step(left, relation, True) or right in self.step(left, relation, False):
                yield relation

    def ends(
        self,
        constraints: Sequence[Constraint],
        wanted: Variable,
        *,
        kinds: Collection[str] | None = None,
        limit: int,
        budget: int = _BUDGET,
    ) -> list[Key]:
        """Every node that ``wanted`` can be, as long as there are no more than ``limit``; some of them otherwise.

        Args:
            kinds: types that ``wanted`` may have; None for any.
            budget: instructions that the query may take.

        Raises:
            Undecided: so many did not settle it.
            ValueError: no constraint holds ``wanted``.
        """
        columns: dict[Variable, str] = {}
        tables: list[str] = []
        where: list[str] = []
        given: list[object] = []
        for number, constraint in enumerate(connected(constraints, wanted)):
            tables.append(f"fact f{number}")
            where.append(f"f{number}.relation = ?")
            given.append(constraint.relation)
            names = ("source", "target") if constraint.forward else ("target", "source")
            for term, name in zip((constraint.source, constraint.target), names, strict=True):
                column = f"f{number}.{name}"
                if isinstance(term, Variable):
                    if columns.setdefault(term, column) != column:
                        where.append(f"{column} = {columns[term]}")
                else:
                    where.append(f"within({column}, ?)" if isinstance(term, Span) else f"{column} = ?")
                    given.append(str(term))
        if wanted not in columns:
            raise ValueError(f"no constraint holds {wanted.name!r}")
        if kinds is not None:
            marks = ", ".join("?" * len(kinds))
            where.append(f"coalesce((SELECT kind FROM node WHERE key = {columns[wanted]}), '') IN ({marks})")
            given += kinds
        sql = f"SELECT DISTINCT {columns[wanted]} FROM {', '.join(tables)} WHERE {' AND '.join(where)} LIMIT ?"
        return self._limited(sql, [*given, limit], budget)

    def _limited(self, sql: str, given: Sequence[object], budget: int) -> list[Key]:
        ticks = iter(range(budget // _TICK))
        self._sql.set_progress_handler(lambda: next(ticks, None) is None, min(_TICK, budget))
        try:
            return [row[0] for row in self._sql.execute(sql, given)]
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            raise Undecided from None
        finally:
            self._sql.set_progress_handler(None, 0)


_ENTITY = "key, name, kind, aliases, document_id, partition"


def _entity(row: tuple[str, str, str, str, str | None, Split]) -> Entity:
    return Entity(row[0], row[1], row[2], tuple(json.loads(row[3])), row[4], row[5])


@lru_cache(100_000)
def _within(key: Key, bounds: str) -> bool:
    """Whether a value lies in a span. What can't be told counts as inside: one more rival, never one less."""
    value, span = measure(text_of(key)), span_of(bounds)
    return value is not None and span is not None and span.holds(value) is not False


def connected(constraints: Sequence[Constraint], wanted: Variable) -> list[Constraint]:
    """Those that share a variable with ``wanted``, directly or not: the others say nothing about it."""
    reach, kept = {wanted}, []
    left = list(constraints)
    while near := [item for item in left if reach & set(item.variables)]:
        kept += near
        left = [item for item in left if item not in near]
        reach |= {variable for item in near for variable in item.variables}
    return [item for item in constraints if item in kept]


def forms(node: Node) -> list[str]:
    """Every way in which a text may write a node."""
    if node.kind in VALUE_KINDS and node.document_id is None:
        return [*said_forms(node.id, node.kind, node.name), *node.aliases]
    return [node.name, node.id, *node.aliases]
