"""Facts out of tables: a row is a thing, a column a relation, a key of another table an edge.

Nothing of a table says which column names its rows, which holds keys, and which holds measures, codes or remarks: it is
read off the headings and the cells, and every decision can be overruled by a key of the recipe (``source.tables``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import ClassVar

from synth.errors import InputError
from synth.lexicon.reading import usual_labels
from synth.schemas.rejections import Reason, Rejection
from synth.sources.facts.columns import Use, heading, use_of, with_unit
from synth.sources.facts.statements import LOCATION, FactsConfig, Statements
from synth.sources.facts.table_files import MEND, Table, read_files, table_files
from synth.sources.facts.table_keys import Rows, TableKeys, understood
from synth.sources.facts.words import opens_with_verb, plain_label
from synth.text.inflection import capital, singular

__all__ = ["TablesConfig", "read_tables"]

_Thing = tuple[str, str]
"""(kind, name)."""
_Relation = tuple[str, str]
"""(label, what tells it from others of the label: whether it leads to things, or its unit)."""
_ENTITY = "entity"
_SENTENCE = 80
"""Longer cells stand on a page as they are, shorter ones behind their heading."""
_AMONG_ROWS = ("borders", "neighbours", "neighbors", "adjoins")
"""Verbs that lead to more of what the rows are."""
_NO_NAMES = "no column names its rows"
_TIMES = re.compile(r"(?i:year|month|day|date|week|quarter|season|round|episode|hour)")
_SOME, _FEW, _APART = 1000, 20, 0.6
"""Rows and columns that are looked at for two that name the rows together, and the share they must tell apart."""


class TablesConfig(FactsConfig):
    """Tables of things."""

    source: ClassVar[str] = "tables"
    unhashed: ClassVar[Mapping[str, str]] = dict.fromkeys(("path", "words"), LOCATION)
    path: str = ""
    """CSV, TSV, JSON, JSONL or Parquet file, SQLite database, or folder of such files."""
    tables: Mapping[str, TableKeys] = {}
    """What is known of a table, by its name: a file's name without its ending, or the table's name in its database."""

    def content_digest(self) -> str:
        return self.digest_of([str(file) for file in table_files(self.path)], MEND)

    def read(self) -> Statements:
        return read_tables(self)


def read_tables(config: TablesConfig) -> Statements:
    """The facts of the tables.

    Raises:
        InputError: a file that can't be read, a table or column that isn't there, or nothing that names its rows.
    """
    files = table_files(config.path)
    tables = [table for table in read_files(files) if table.rows]
    _known(config, tables)
    own = understood(tables, config.tables)
    facts = _Facts()
    for rows in own:
        facts.table(rows)
    if not facts.found:
        raise InputError(f"{files[0].name} holds no fact: {facts.why()}", where="source.path", mend=_mend(own))
    return facts.statements()


def _known(config: TablesConfig, tables: list[Table]) -> None:
    columns = {table.name: table.columns for table in tables}
    for name, keys in config.tables.items():
        if name not in columns:
            raise InputError(
                f"no table is called {name!r}: {', '.join(columns)[:200]}", where="source.tables", mend=MEND
            )
        for column in (*keys.name, *keys.references, *keys.leave_out):
            if column not in columns[name]:
                known = ", ".join(columns[name])[:200]
                raise InputError(f"{name} has no column {column!r}; it has {known}", where="source.tables", mend=MEND)
        for to in keys.references.values():
            if to and to not in columns:
                raise InputError(f"no table is called {to!r}", where=f"source.tables.{name}.references", mend=MEND)


def _mend(own: list[Rows]) -> str:
    table = own[0].table if own else None
    if table is None:
        return MEND
    told = (Use.THING, Use.TEXT)  # numbers tell rows apart, too, and nobody would call a college "1660 721"
    named = [name for name, each in table.columns.items() if use_of(name, each) in told or _TIMES.search(name)][:_FEW]
    cells = {name: [" ".join(each) for each in table.columns[name][:_SOME]] for name in named}
    apart = {pair: len(set(zip(*(cells[name] for name in pair), strict=True))) for pair in combinations(cells, 2)}
    best = max(apart, key=lambda pair: apart[pair], default=())
    if not best or apart[best] < _APART * min(_SOME, table.rows):
        return f"nothing tells the rows of {table.name} apart: give it a column of names"
    return f"say what names a row: --set 'source.tables={{{table.name}: {{name: [{', '.join(best)}]}}}}'"


class _Facts:
    """Collects the facts of all tables, and names each thing once."""

    def __init__(self) -> None:
        self._things: dict[_Thing, None] = {}
        self._aliases: dict[_Thing, list[str]] = {}
        self._prose: dict[_Thing, list[str]] = {}
        self.found: list[tuple[_Thing, _Relation, _Thing | str]] = []
        self._texts: set[_Relation] = set()
        self._rejected: list[Rejection] = []
        self._rows = 0

    def why(self) -> str:
        return self._rejected[0].detail if self._rejected else "its rows have names and nothing else"

    def table(self, rows: Rows) -> None:
        """All that a table states."""
        self._rows += rows.table.rows
        if not rows.named_by:
            leads = [column for column in rows.table.columns if column in rows.leads]
            if len(leads) >= 2:
                self._links(rows, *leads[:2])
            else:
                self._reject(rows.table.name, _NO_NAMES)
            return
        things = [(rows.kind, name) for name in rows.names]
        for row, thing in enumerate(things):
            if thing[1]:
                self._things.setdefault(thing)
            else:
                self._reject(f"{rows.table.name}#{row + 1}", "the row has no name, or that of another")
        for column in rows.columns:
            self._column(rows, column, things)

    def _links(self, rows: Rows, one: str, other: str) -> None:
        """A table that joins rows of two others: each of its rows is a fact."""
        name = plain_label(rows.table.name)
        label = name if opens_with_verb(name) else _leading(heading(other), rows.leads[other])
        for row in range(rows.table.rows):
            for subject in rows.led(one, row):
                self.found += [(subject, (label, _ENTITY), found) for found in rows.led(other, row)]

    def _column(self, rows: Rows, column: str, things: Sequence[_Thing]) -> None:
        label, cells = heading(column), rows.lists[column]
        use = use_of(column, [cell for cell in rows.table.columns[column] if cell])
        about = [(row, thing) for row, thing in enumerate(things) if thing[1] and cells[row]]
        if column in rows.leads:
            key = (
                _leading(label if cells == rows.table.columns[column] else _one(label), rows.leads[column]),
                _ENTITY,
            )
            self.found += [(thing, key, found) for row, thing in about for found in rows.led(column, row)]
        elif use is Use.REMARK:
            for row, thing in about:
                text = ", ".join(rows.table.columns[column][row])
                said = text if len(text) > _SENTENCE else f"{capital(label)}: {text}."
                self._prose.setdefault(thing, []).append(said)
        elif use is Use.THING:
            label = _one(label.removesuffix(" name"))
            wider = _wider(label, rows, column)
            kind = label if not opens_with_verb(label) else rows.kind if label in _AMONG_ROWS else "thing"
            if label.lower() in usual_labels().roles:
                kind = "person"  # who wrote one film has directed another
            for row, thing in about:
                known_as = [
                    f"{value} ({wider[value, row]})" if (value, row) in wider else value for value in cells[row]
                ]
                self.found += [(thing, (label, _ENTITY), (kind, value)) for value in known_as]
        elif use is not Use.KEY:
            named, unit = with_unit(column, cells) if use is Use.MEASURE else (label, "")
            if any(len(each) > 1 for each in cells):
                named = _one(named)
            key = named, f"{use} {unit}"
            if use is not Use.MEASURE:
                self._texts.add(key)
            for row, thing in about:
                self.found += [(thing, key, f"{value} {unit}".strip()) for value in cells[row]]
                if use is Use.ALIAS:
                    self._aliases.setdefault(thing, []).extend(cells[row])

    def _reject(self, row_id: str, detail: str) -> None:
        self._rejected.append(
            Rejection(stage="read_tables", row_id=row_id, reason=Reason.MALFORMED, detail=f"{row_id}: {detail}")
        )

    def statements(self) -> Statements:
        """The facts with an id for each thing: its name, with its kind where things of two kinds share it."""
        ends = [end for fact in self.found for end in fact[::2] if isinstance(end, tuple)]
        things = {**self._things, **dict.fromkeys(ends)}
        rows = Counter(name for _, name in self._things)
        count = Counter(name for _, name in things)

        def known_as(thing: _Thing) -> str:
            """Its name; with its kind where a row has the name, or several have."""
            kind, name = thing
            alone = rows[name] == 1 if thing in self._things else count[name] == 1
            return name if alone else f"{name} ({kind})"

        ids = {thing: known_as(thing) for thing in things}
        taken = set(ids.values())
        aliases = {
            ids[thing]: [text for text in dict.fromkeys(each) if text not in taken and text not in count]
            for thing, each in self._aliases.items()
            if thing in ids
        }
        shared = Counter(text for each in aliases.values() for text in each)
        first: dict[str, _Relation] = {}
        for _, relation, _ in self.found:
            first.setdefault(relation[0], relation)
        relations = {
            relation: relation[0] if first[relation[0]] == relation else f"{relation[0]} ({relation[1].split()[-1]})"
            for _, relation, _ in self.found
        }
        facts = [
            (ids[subject], relations[relation], ids[found] if isinstance(found, tuple) else found)
            for subject, relation, found in self.found
        ]
        return Statements(
            facts=list(dict.fromkeys(facts)),
            labels={
                ids[thing]: (ids[thing], *(text for text in aliases.get(ids[thing], ()) if shared[text] == 1))
                for thing in things
            },
            types={ids[thing]: thing[0] for thing in things},
            things=frozenset(ids.values()),
            rejected=self._rejected,
            rows=self._rows,
            # A measure is never a thing, though a thing of another column is called "150".
            values={
                name: "text" if key in self._texts else "entity" if key[1] == _ENTITY else "number"
                for key, name in relations.items()
            },
            prose={ids[thing]: "\n".join(texts) for thing, texts in self._prose.items() if thing in ids},
        )


def _wider(label: str, rows: Rows, column: str) -> dict[tuple[str, int], str]:
    """(place, row) -> what the place is in, where places of one name are in several: Tonopah is in two states."""
    usual = usual_labels()
    if label not in usual.settled:
        return {}
    headed = {heading(name): name for name in rows.columns if name != column}
    for wide in usual.wider:
        if wide not in headed or wide == label:
            continue
        inside = rows.lists[headed[wide]]
        pairs = [(value, row) for row, cells in enumerate(rows.lists[column]) for value in cells if inside[row]]
        found: dict[str, set[str]] = {}
        for value, row in pairs:
            found.setdefault(value, set()).add(inside[row][0])
        several = {value for value, places in found.items() if len(places) > 1}
        return {(value, row): inside[row][0] for value, row in pairs if value in several}
    return {}


def _one(label: str) -> str:
    """What a column of several is called where each is spoken of: "languages" -> "language", but "borders"."""
    return label if opens_with_verb(label) else singular(label)


def _leading(label: str, lead: tuple[Rows, str]) -> str:
    """What a column of keys is called: "country_id" and "countrycode" lead to a country."""
    to, key = lead
    plain = re.sub(r"[ -](?:id|code|key|no|fk|iso code)$", "", label, flags=re.IGNORECASE)
    says_nothing = plain.lower() in ("id", "code", "key", "name", "") or label == heading(key)
    return to.kind if says_nothing or plain.lower() == f"{to.kind}id" else plain
