"""What names the rows of a table, and which of its columns lead to rows of another: found by headings and cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from synth.lexicon.reading import usual_labels
from synth.schemas.described import Described
from synth.sources.facts.columns import Use, heading, plain_cells, use_of
from synth.sources.facts.table_files import Cells, Table
from synth.sources.facts.words import names_its_object, plain_label
from synth.text.inflection import singular

__all__ = ["Rows", "TableKeys", "understood"]

_NAMES = ("name", "label", "title", "full name", "common name", "display name")
_USUALLY = 0.9
"""Share of the rows that a column of names must name, and of the names that must differ."""
_COVERED = 0.95
"""Share of a column's different values that are keys of a table from which the column is read as leading there."""
_CODE = 3
"""Keys up to so many characters are met by chance: a column of them leads to a table that its heading speaks of, or
has at least ``_MANY`` different values."""
_MANY = 20
_OF_FILES = frozenset("all data dataset table list export sample full raw clean cleaned final info records csv".split())
"""Last words of file names that say nothing of the rows."""
_OF_ANIMALS = frozenset(("sex", "gender"))
_TITLED = re.compile(r"\b(?:Mr|Mrs|Ms|Miss|Dr|Prof|Sir|Rev|Capt|Col|Master|Herr|Frau|Mme|Mlle)\b\.?")
_A_PERSON = re.compile(r"(?:er|or|ee|ist|ian|ant|ent|man|woman|person|mate|ete|child|pupil|guest|king|queen)$")


class TableKeys(Described):
    """What is known of a table and can't be read off it."""

    kind: str = ""
    """What its rows are, in the singular. Empty: the table's name in the singular: ``countries`` -> country."""
    name: tuple[str, ...] = ()
    """Columns that name a row, joined by a blank. Empty: found by their headings, else by their cells."""
    references: Mapping[str, str] = {}
    """Column -> the table of whose rows it holds a key or the name; ``""``: of none."""
    leave_out: tuple[str, ...] = ()
    """Columns that are not read."""


@dataclass
class Rows:
    """A table with what was found out about it."""

    table: Table
    keys: TableKeys
    kind: str
    named_by: tuple[str, ...] = ()
    """Columns that name the rows."""
    names: list[str] = field(default_factory=list)
    """(n_rows,) what each row is about; empty where it has no name."""
    leads: dict[str, tuple[Rows, str]] = field(default_factory=dict)
    """Column -> the table that it leads to, and the column there that holds the keys; ``""`` stands for the names."""
    _held: dict[str, dict[str, int]] = field(default_factory=dict)

    def at(self, column: str) -> dict[str, int]:
        """The rows by what is in a column of unique cells."""
        if column not in self._held:
            cells = [(name,) for name in self.names] if column == "" else self.table.columns[column]
            self._held[column] = {each[0]: row for row, each in enumerate(cells) if each and each[0]}
        return self._held[column]

    def led(self, column: str, row: int) -> list[tuple[str, str]]:
        """(kind, name) of what a cell leads to."""
        to, key = self.leads[column]
        held = to.at(key)
        cell = self.lists[column][row]
        return [(to.kind, name) for value in cell if value in held and (name := to.names[held[value]])]

    @cached_property
    def lists(self) -> dict[str, Cells]:
        """The columns, lists in one cell taken apart."""
        return {column: plain_cells(column, cells) for column, cells in self.table.columns.items()}

    @property
    def columns(self) -> list[str]:
        """Those that say something of a row."""
        return [name for name in self.table.columns if name not in (*self.keys.leave_out, *self.named_by)]


def understood(tables: Sequence[Table], keys: Mapping[str, TableKeys]) -> list[Rows]:
    """The tables with the names of their rows and what their columns lead to. A table without names of its own, or with
    the names of another's rows, says more about these."""
    own = [Rows(table, keys.get(table.name, TableKeys()), "") for table in tables]
    for rows in own:
        rows.kind = plain_label(rows.keys.kind) or singular(_called(rows.table.name))
        rows.named_by = _named_by(rows)
        rows.names = _names(rows)
        if not rows.keys.kind and rows.kind == _called(rows.table.name) and _are_people(rows):
            rows.kind = "person"  # "titanic.csv" is not called as its rows; "passengers.csv" is
        coded = len(rows.named_by) == 1 and _codes_rows(rows.table, rows.named_by[0])
        if not rows.keys.kind and len(rows.named_by) == 1 and not coded and names_its_object(noun := _noun(rows)):
            rows.kind = noun
    for rows in own:
        rows.leads = {
            column: found
            for column in rows.table.columns
            if column not in rows.keys.leave_out and (found := _lead(rows, column, own)) is not None
        }
    for rows in own:
        owner = _owner(rows)
        if owner is not None:
            led = [rows.led(owner, row) for row in range(rows.table.rows)]
            rows.kind, rows.named_by = rows.leads.pop(owner)[0].kind, (owner,)
            rows.names = [each[0][1] if each else "" for each in led]
    return own


def _called(name: str) -> str:
    """A table's name without what is said of the file: "titanic_all" and "titanic-2024" are "titanic"."""
    words = re.sub(r"(?<=[a-z])(?=\d)", " ", plain_label(name)).split()
    while len(words) > 1 and (words[-1].lower() in _OF_FILES or words[-1].isdecimal()):
        words.pop()
    while len(words) > 1 and (words[0].lower() in ("all", "my", "the") or words[0].isdecimal()):
        words.pop(0)
    return "entry" if [word.lower() for word in words] in ([each] for each in _OF_FILES) else " ".join(words)


def _are_people(rows: Rows) -> bool:
    """Whether the rows are people, though they are called no such thing ("employee"): a column says what is only said
    of people, or most names have a title."""
    if _A_PERSON.search(rows.kind):
        return False
    headings = {plain_label(column).lower() for column in rows.table.columns}
    if headings & (usual_labels().people - _OF_ANIMALS):
        return True
    titled = sum(bool(_TITLED.search(name)) for name in rows.names)
    return 2 * titled > len(rows.names)


def _noun(rows: Rows) -> str:
    """What the heading of the names calls the rows: "species_name" -> "species"; the table's name says it where that
    says nothing ("name", "title") or the same."""
    label = plain_label(rows.named_by[0])
    said = singular(label.removesuffix(" name"))
    return rows.kind if label in _NAMES or rows.kind in label else said


def _owner(rows: Rows) -> str | None:
    """The column that says which rows of another table the rows are about, where they are nothing of their own."""
    if rows.named_by:
        return rows.named_by[0] if len(rows.named_by) == 1 and rows.named_by[0] in rows.leads else None
    if len(rows.leads) != 1:
        return None
    (owner,) = rows.leads
    others = [name for name in rows.columns if name != owner and (name,) != rows.table.key]
    return owner if _unique(rows.table.columns[owner]) or len(others) == 1 else None


# -- what names a row --------------------------------------------------------------------------------------------------


def _named_by(rows: Rows) -> tuple[str, ...]:
    """The columns that name the rows; empty: none does."""
    if rows.keys.name:
        return rows.keys.name
    plain = {plain_label(column): column for column in rows.table.columns if column not in rows.keys.leave_out}
    usual = (rows.kind, f"{rows.kind} name", *_NAMES)
    found = [plain[name] for name in usual if name in plain and _names_rows(rows.table, plain[name], least=0.6)]
    if found:
        return (found[0],)
    if {"first name", "last name"} <= set(plain):
        return plain["first name"], plain["last name"]
    worded = (column for column in plain.values() if _names_rows(rows.table, column, least=_USUALLY))
    coded = (column for column in plain.values() if _codes_rows(rows.table, column))
    return next(((column,) for column in (*worded, *coded)), ())


def _codes_rows(table: Table, column: str) -> bool:
    """Whether every row has a code of its own with letters and digits, as "N10156"."""
    cells = [each[0] for each in table.columns[column] if len(each) == 1]
    return (
        column not in table.references
        and len(cells) == table.rows == len(set(cells))
        and not re.search(r"\b(uuid|guid|hash|url)\b", plain_label(column))
        and all(re.fullmatch(r"(?=.*\d)(?=.*[^\W\d_])[\w./-]{2,20}", cell) for cell in cells)
    )


def _names_rows(table: Table, column: str, *, least: float) -> bool:
    """Whether a column may name the rows: words, in almost every row, ``least`` of them different."""
    cells = [each[0] for each in table.columns[column] if len(each) == 1]
    wordy = sum(bool(re.search(r"[^\W\d_]{2}", cell)) and len(cell) <= 80 and "://" not in cell for cell in cells)
    return (
        column not in table.references
        and len(cells) >= _USUALLY * table.rows
        and wordy >= _USUALLY * len(cells)
        and len(set(cells)) >= least * len(cells)
        and not re.search(r"\b(id|code|uuid|key)\b", plain_label(column))
    )


def _names(rows: Rows) -> list[str]:
    """(n_rows,) each different: rows of one name are told apart by what else is known of them, as "Paris (Texas)", and
    in the end by a code; those that nothing tells apart have none."""
    if not rows.named_by:
        return [""] * rows.table.rows
    parts = [[" ".join(each) for each in rows.table.columns[column]] for column in rows.named_by]
    plain = [" ".join(filter(None, each)) for each in zip(*parts, strict=True)]
    names, used = list(plain), set(rows.named_by)
    for may_tell in (_tells_apart, _is_code):
        while True:
            count = Counter(names)
            shared = [row for row, name in enumerate(names) if name and count[name] > 1]
            best, left = names, len(shared)
            for column, cells in rows.lists.items() if shared else ():
                if column in used or not may_tell(column, cells):
                    continue
                told = list(names)
                for row in shared:
                    told[row] = _qualified(names[row], plain[row], ", ".join(cells[row]))
                again = Counter(told)
                if (still := sum(again[told[row]] > 1 for row in shared)) < left:
                    best, left, by = told, still, column
            if best is names:
                break
            names = best
            used.add(by)
    count = Counter(names)
    return ["" if count[name] > 1 else name for name in names]


def _qualified(name: str, plain: str, by: str) -> str:
    """ "Paris", then "Paris (Texas)", then "Paris (Texas, 1844)"."""
    if not by:
        return name
    return f"{plain} ({by})" if name == plain else f"{name[:-1]}, {by})"


def _is_code(column: str, cells: Cells) -> bool:
    """Whether a column holds short words that are all different."""
    texts = [text for each in cells for text in each]
    return (
        len(set(texts)) == len(texts)
        and all(re.fullmatch(r"[\w./-]{2,20}", text) for text in texts)
        and use_of(column, [cell for cell in cells if cell]) is Use.TEXT
    )


def _tells_apart(column: str, cells: Cells) -> bool:
    """Whether a column says something by which people tell things of one name apart: a place, a maker, a year."""
    texts = [text for each in cells for text in each]
    if use_of(column, [cell for cell in cells if cell]) is Use.MEASURE:
        return "year" in column.lower() and all(re.fullmatch(r"\d{4}", text) for text in texts)
    return use_of(column, [cell for cell in cells if cell]) is Use.THING and max(map(len, texts), default=0) <= 30


# -- what leads to another table ---------------------------------------------------------------------------------------


def _lead(rows: Rows, column: str, own: Sequence[Rows]) -> tuple[Rows, str] | None:
    """The table whose rows a column names, and by which of its columns: as declared, else as its cells show."""
    targets = [to for to in own if any(to.names)]
    if column in rows.keys.references:
        targets = [to for to in targets if to.table.name == rows.keys.references[column]]
    elif column in rows.table.references:
        table, key = rows.table.references[column]
        to = next((each for each in targets if each.table.name.lower() == table.lower()), None)
        key = key or (to.table.key[0] if to is not None and to.table.key else "")
        return (to, key) if to is not None and key in to.table.columns else None
    elif (column,) == rows.named_by:
        # Names of another table's rows: of the larger, or of the earlier of two that are alike.
        at = own.index(rows)
        targets = [to for to in targets if to.named_by and (own.index(to) < at or to.table.rows > rows.table.rows)]
        found = [(to, "") for to in targets if to is not rows and set(rows.names) <= set(to.names)]
        return next(iter(found), None)
    found = [(to, key) for to in targets for key in _key_columns(rows, column, to)]
    spoken = [each for each in found if _speaks_of(column, each[0])]
    return next(iter(spoken or found), None)


def _key_columns(rows: Rows, column: str, to: Rows) -> Iterator[str]:
    """Columns of ``to`` whose cells tell its rows apart and hold those of ``column``."""
    values = {value for each in rows.lists[column] for value in each}
    if to is rows and _unique(rows.lists[column]):
        return
    for key in ("", *to.table.columns):
        if (to is rows and key == column) or (key and not _unique(to.table.columns[key])):
            continue
        covered = len(values & to.at(key).keys())
        if column in rows.keys.references:
            if covered:
                yield key
        elif values and covered >= _COVERED * len(values) and _is_meant(rows, column, values, to, key):
            yield key


def _is_meant(rows: Rows, column: str, values: set[str], to: Rows, key: str) -> bool:
    """Whether cells that are all keys of another table are so on purpose: short codes and counts are so by chance."""
    if all(re.fullmatch(r"-?\d+(\.\d+)?", value) for value in values):
        keyed = heading(column).lower().endswith((" id", " key"))
        same = to is not rows and (key,) == to.table.key and key.lower() == column.lower() not in ("id", "key", "code")
        return same or (keyed and bool(key) and _speaks_of(column, to))
    short = max(map(len, values)) <= _CODE
    return len(values) >= 2 and (not short or len(values) >= _MANY or _speaks_of(column, to))


def _speaks_of(column: str, to: Rows) -> bool:
    words = plain_label(column)
    return to.kind in words or singular(words) == to.kind


def _unique(cells: Cells) -> bool:
    told = [each[0] for each in cells if len(each) == 1]
    return len(told) >= 2 and len(set(told)) == len(told) >= _USUALLY * len(cells)
