"""What an application is made of, as its YAML file says it: tables, data, a policy, tools. Frozen data, no behaviour.

The parts of a file, in the order in which a reader wants them:

* ``tables``: typed columns and keys; which keys the application itself hands out (``generated``), which columns say
  nothing about the state (``volatile``).
* ``data``: SQL statements that fill the tables at any ``:size`` from a seed; ``boundaries`` that move a few rows to the
  very edge of a rule (LOGIGEN, arXiv 2603.00540). SQL may call what :mod:`synth.environments.app.functions` lists:
  ``add_days``, ``contains``, ...; in ``data`` also ``code(table, i)`` (the key of row i), ``word(list, i)`` and
  ``roll(what, i, n)`` (a number below n).
* ``policy``: what the agent reads, rule by rule, and beside each rule how it is kept: a precondition of tools, a
  constraint, a trigger that forbids, or a trigger that records.
* ``tools``: arguments, steps, words. No tool takes SQL, and none builds it: arguments are bound parameters.
* ``variants``: the same application with rules that are enforced and not written.
* ``requests``: what people ask of it, and how they put it (:mod:`synth.environments.app.requests`).

A file that says ``extends`` adds to another application (:mod:`synth.environments.app.extending`).
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from synth.environments.app.requests import Requests
from synth.schemas.described import Described

__all__ = [
    "Argument",
    "Boundary",
    "Clock",
    "Column",
    "Definition",
    "Invariant",
    "Listing",
    "Rule",
    "Section",
    "Step",
    "Table",
    "Tool",
    "Variant",
]

_NAME = r"^[a-z][a-z0-9_]{0,47}$"
ColumnType = Literal["text", "integer", "money", "boolean", "date", "datetime"]
ArgumentType = Literal["text", "note", "integer", "money", "boolean", "date", "datetime", "list"]


class _Part(Described):
    model_config = ConfigDict(populate_by_name=True)


class Column(_Part):
    """A column. Columns hold text or whole numbers, never fractions: states are compared exactly."""

    type: ColumnType
    """``money`` is a whole number of cents; ``date`` is ``YYYY-MM-DD``, ``datetime`` ``YYYY-MM-DD HH:MM``."""
    key: bool = False
    """Part of the primary key."""
    generated: bool = False
    """The application hands it out: of a row that is new, its value says nothing about the state."""
    volatile: bool = False
    """Says nothing about the state (when a row was written)."""
    optional: bool = False
    """May be empty."""
    unique: bool = False
    references: str | None = None
    """A table with a key of one column."""
    among: tuple[str, ...] = Field(default=(), alias="in")
    """The only values there are."""
    least: int | None = None
    most: int | None = None


class Table(_Part):
    noun: str = Field(min_length=1)
    """What a row is, in one or two words: "reservation"."""
    columns: dict[str, Column]
    code: str | None = None
    """How keys that the application hands out look: ``#`` is a digit, ``@`` a letter, anything else itself."""
    label: str | None = None
    """A row in words, as a template over its columns; the noun and the key where there is none."""

    @property
    def key(self) -> tuple[str, ...]:
        return tuple(name for name, column in self.columns.items() if column.key)


class Boundary(_Part):
    """Rows that are moved to the edge of a rule, so that tasks meet the cases on both sides of it."""

    rule: str
    """The rule whose edge it is."""
    pick: str
    """SELECT of keys that may be moved (one column)."""
    values: tuple[int | str, ...] = Field(min_length=1)
    """Each is given, as ``:value``, to rows of its own."""
    rows: int = Field(default=1, ge=1)
    """Rows per value at size 1; larger data have as many times more, as far as there are any."""
    set: tuple[str, ...] = Field(min_length=1)
    """Statements over ``:key`` and ``:value``."""


class Invariant(_Part):
    """What holds in every state that tools can reach: the query finds the rows where it does not."""

    name: str
    none: str
    """SELECT that must find nothing."""


class Rule(_Part):
    """One rule of the policy and how it is kept. Exactly one of ``require``, ``check``, ``forbid``, ``record``."""

    name: str = Field(pattern=_NAME)
    text: str = Field(min_length=1)
    """What the agent reads (in a variant: what it is not told)."""
    require: str | None = None
    """SQL expression that must hold before the tools in ``before`` write; over their arguments and variables."""
    before: tuple[str, ...] = ()
    table: str | None = None
    """Of ``check``, ``forbid`` and ``record``."""
    check: str | None = None
    """SQL expression over the columns of a row of ``table``: a constraint."""
    forbid: str | None = None
    """SQL expression over OLD and NEW: a write that makes it true is undone."""
    record: str | None = None
    """SQL expression over OLD and NEW: a write that makes it true goes through and is a violation on record."""
    on: tuple[Literal["insert", "update", "delete"], ...] = ()
    refusal: str | None = Field(default=None, alias="else")
    """What the agent sees when the rule stops it; a template over the tool's variables where it is a ``require``."""

    @model_validator(mode="after")
    def _one_way(self) -> Rule:
        ways = [way for way in ("require", "check", "forbid", "record") if getattr(self, way) is not None]
        if len(ways) != 1:
            raise ValueError("a rule is kept in exactly one way: require, check, forbid or record")
        if (ways[0] == "require") == (not self.before):
            raise ValueError("`before` names the tools of a `require`, and only of that")
        if (ways[0] != "require") == (self.table is None):
            raise ValueError("`table` belongs to check, forbid and record, and only to them")
        if (ways[0] in ("forbid", "record")) == (not self.on):
            raise ValueError("`on` (insert, update, delete) belongs to forbid and record, and only to them")
        if (ways[0] == "record") == (self.refusal is not None):
            raise ValueError("`else` says what the agent sees when the rule stops it; a `record` stops nothing")
        return self


class Section(_Part):
    title: str
    text: str = ""
    """What helps to understand the rules and is none."""
    rules: tuple[Rule, ...] = ()


class Argument(_Part):
    type: ArgumentType = "text"
    """``text`` is one line; ``note`` may have several; ``money`` is in cents; ``list`` holds ``of`` or ``fields``."""
    about: str = Field(min_length=1)
    optional: bool = False
    among: tuple[str, ...] = Field(default=(), alias="in")
    pattern: str | None = None
    """Regular expression that the whole text must match."""
    least: int | None = None
    most: int | None = None
    """Bounds of a number; of a text or a list, of its length."""
    refers: str | None = None
    """The table whose key it is, where its name does not say so (:meth:`Definition.table_of`)."""
    of: Argument | None = None
    fields: dict[str, Argument] = {}

    @model_validator(mode="after")
    def _items(self) -> Argument:
        if (self.type == "list") != (self.of is not None or bool(self.fields)) or (self.of and self.fields):
            raise ValueError("a list, and only a list, has either `of` or `fields`")
        inner = [*self.fields.values(), *([self.of] if self.of else [])]
        if any(item.type == "list" for item in inner):
            raise ValueError("a list of lists is more than a tool may ask for")
        return self


class Step(_Part):
    """One step of a tool, told by its first key. Steps run in order; all of them or none take effect."""

    find: str | None = Field(default=None, pattern=_NAME)
    """``find: r`` with ``from: SELECT ...``: the one row, whose columns are then ``:r_<column>``. None = ``else``."""
    source: str | None = Field(default=None, alias="from")
    let: str | None = Field(default=None, pattern=_NAME)
    """``let: x`` with ``be: <SQL expression>``."""
    be: str | None = None
    new: str | None = Field(default=None, pattern=_NAME)
    """``new: x`` with ``of: <table>``: a key that the application hands out."""
    of: str | None = None
    require: str | None = None
    """SQL expression that must hold, else ``else``."""
    run: str | None = None
    """One INSERT, UPDATE or DELETE."""
    refusal: str | None = Field(default=None, alias="else")
    error: Literal["refused", "not_found", "bad_arguments"] | None = None
    """Kind of the refusal; ``not_found`` for a find and ``refused`` for a require when not given."""

    @model_validator(mode="after")
    def _one_kind(self) -> Step:
        given = {name for name in type(self).model_fields if getattr(self, name) is not None} - {"error"}
        forms = ({"find", "source", "refusal"}, {"let", "be"}, {"new", "of"}, {"require", "refusal"}, {"run"})
        if given not in forms:
            raise ValueError(
                "a step is find/from/else, let/be, new/of, require/else or run, "
                f"not {'/'.join(sorted(self._as_written(name) for name in given)) or 'empty'}"
            )
        return self

    @staticmethod
    def _as_written(name: str) -> str:
        return {"source": "from", "refusal": "else"}.get(name, name)


class Listing(_Part):
    """Rows that a tool shows."""

    source: str = Field(alias="from")
    """SELECT with an ORDER BY that leaves nothing to chance."""
    row: str
    """A line per row, as a template over its columns."""
    none: str
    """What is said when there is no row."""
    page: int = Field(default=10, ge=1, le=100)
    """Rows per page. A tool whose listing may be longer gets an argument ``page``."""
    paged: bool = True
    """False where the list is short by nature: then all of it is shown."""


class Tool(_Part):
    about: str = Field(min_length=1)
    writes: bool = False
    arguments: dict[str, Argument] = {}
    steps: tuple[Step, ...] = ()
    says: str | None = None
    """The observation, as a template over arguments and variables."""
    lists: tuple[Listing, ...] = ()
    """What is listed behind it, in order. ``{count}`` and ``{total}`` may stand in ``says`` of a tool with one list."""


class Clock(_Part):
    start: str = Field(pattern=r"^\d{4}-\d\d-\d\d \d\d:\d\d$")
    """The time in the application, ``YYYY-MM-DD HH:MM``. No other clock is read."""
    tick_minutes: int = Field(default=0, ge=0, le=1440)
    """By how much a call that changed something moves it."""


class Variant(_Part):
    """The application with rules that must be inferred (TTExplore): enforced, and not in the policy's text."""

    about: str
    hide: tuple[str, ...] = ()
    """Rules of the policy that are kept and not written."""
    rules: tuple[Rule, ...] = ()
    """Further rules, not written either."""


class Definition(_Part):
    name: str = Field(pattern=_NAME)
    title: str
    version: int = Field(default=1, ge=1)
    licence: str | None = None
    """SPDX id of the licence of what it holds. Empty: datasets made of it say that none was stated."""
    about: str
    """What the agent is told about the application and its own part in it."""
    clock: Clock
    tables: dict[str, Table] = Field(min_length=1)
    words: dict[str, tuple[str | int, ...] | dict[str | int, int]] = {}
    """Lists that ``word(list, ...)`` draws from in ``data``; a mapping gives weights."""
    data: tuple[str, ...] = ()
    """Statements that fill the tables. ``:size``, ``:now`` and ``:today`` are bound; the table ``numbers`` has a
    column ``i`` from 0 up."""
    boundaries: tuple[Boundary, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    policy: tuple[Section, ...] = ()
    tools: dict[str, Tool] = Field(min_length=1)
    variants: dict[str, Variant] = {}
    requests: Requests | None = None
    """What tasks are derived from; nothing that an episode depends on."""

    def table_of(self, name: str, argument: Argument) -> str | None:
        """The table whose key an argument is: by what it says, else by its name (``from_account_id`` is an
        ``account_id``; ``assignee_id`` is a column that refers to members)."""
        if argument.type != "text" or argument.among:
            return None
        if argument.refers is not None:
            return argument.refers
        keys = {table.key[0]: at for at, table in self.tables.items() if len(table.key) == 1}
        if name in keys:
            return keys[name]
        referring = {
            spec.references for table in self.tables.values() for at, spec in table.columns.items() if at == name
        }
        if len(referring) == 1:
            return next(iter(referring))
        return next((table for key, table in keys.items() if name.endswith(f"_{key}")), None)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Rules of the policy, in the order of the text."""
        return tuple(rule for section in self.policy for rule in section.rules)

    def without(self, rule: str) -> Definition:
        """The same application without one rule of the policy or of its variants, and without requests."""

        def kept(rules: tuple[Rule, ...]) -> dict[str, tuple[Rule, ...]]:
            return {"rules": tuple(one for one in rules if one.name != rule)}

        variants = {name: one.model_copy(update=kept(one.rules)) for name, one in self.variants.items()}
        policy = tuple(section.model_copy(update=kept(section.rules)) for section in self.policy)
        return self.model_copy(update={"policy": policy, "variants": variants, "requests": None})
