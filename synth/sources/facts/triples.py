"""Triples read from files: TSV, CSV, JSONL, Parquet, N-Triples, Turtle, lines of Wikidata's dump."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from synth.errors import InputError
from synth.inputs import open_input
from synth.schemas.rejections import Reason, Rejection
from synth.sources.facts.columns import Use, use_of, with_unit
from synth.sources.facts.statements import LOCATION, FactsConfig, Statements, local_name
from synth.sources.facts.turtle import turtle_statements
from synth.sources.facts.wikidata import is_wikidata, wikidata_statements
from synth.sources.facts.words import names_its_object, plain_label

__all__ = ["TriplesConfig", "read_triples"]

_TRIPLES = "triples"
"""Column of documents that bring their facts."""
_COLUMNS = ("subject", "relation", "object")
_USUAL = {
    "subject": ("s", "head", "source"),
    "relation": ("predicate", "property", "p"),
    "object": ("o", "tail", "value"),
}
_SUFFIXES = (".tsv", ".csv", ".jsonl", ".ndjson", ".json", ".parquet", ".nt", ".ttl")
_MEND = "give a file of triples with --source: TSV, CSV, JSONL, Parquet, N-Triples, Turtle or lines of Wikidata's dump"
_STATEMENT = re.compile(
    r"<(?P<s>[^<>\s]+)>\s+<(?P<p>[^<>\s]+)>\s+(?:<(?P<o>[^<>\s]+)>|\"(?P<text>(?:[^\"\\]|\\.)*)\""
    r"(?:@(?P<language>[A-Za-z-]+)|\^\^<[^<>\s]+>)?)\s*\.\s*(?:#.*)?$"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_LABELS = frozenset(
    (
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://www.w3.org/2004/02/skos/core#altLabel",
    )
)


class TriplesConfig(FactsConfig):
    """A file of facts."""

    source: ClassVar[str] = "triples"
    unhashed: ClassVar[Mapping[str, str]] = dict.fromkeys(("path", "labels", "words"), LOCATION)
    path: str = ""
    """File of triples: TSV, CSV, JSONL or Parquet with the columns subject, relation and object, N-Triples, Turtle, or
    lines of Wikidata's JSON dump, which bring labels and aliases. JSONL or Parquet documents with the column triples
    do as well: a document's text ends the page of the thing that is its title."""
    labels: str | None = None
    """File of the same formats with the columns id and label (more rows of an id are aliases). Without it ids are
    labels, and of an IRI what follows the last ``/`` or ``#``."""
    columns: Mapping[str, str] = {}
    """Our column -> the file's column, where the names differ: ``{"relation": "predicate"}``."""
    qualifiers: tuple[str, ...] = ()
    """Columns that say more of a row's statement: ``[start, end]``. Wikidata's lines bring their own. A statement that
    has any is a thing of its own, "Ada Lum (position held: mayor)", of which they are facts."""
    types: tuple[str, ...] = ("instance of", "instanceof", "type", "is a", "isa", "class", "kind", "p31")
    """Relations that say what kind of thing an entity is, whatever their capitals and underscores."""
    untyped: str = ""
    """Type of every entity whose type no fact gives: ``country``. Empty: inferred from its relations (an entity with a
    date of birth is a person), else ``thing``."""

    def content_digest(self) -> str:
        _file(self.path, "path")
        return self.digest_of([path for path in (self.path, self.labels) if path is not None], _MEND)

    def read(self) -> Statements:
        return read_triples(self)


def _file(path: str, key: str) -> Path:
    if not path:
        raise InputError("no file was given", where=f"source.{key}", mend=_MEND)
    file = Path(path).expanduser()
    open_input(file, mend=_MEND).close()
    if file.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"{file.name} ends in none of {', '.join(_SUFFIXES)}", where=f"source.{key}", mend="rename or convert it"
        )
    return file


def read_triples(config: TriplesConfig) -> Statements:
    """The facts of the file. Rows without one of the three parts are rejected, repeated ones left out.

    Raises:
        InputError: no such file, a format or column that is not known, or no fact at all.
    """
    file = _file(config.path, "path")
    labels: dict[str, dict[str, None]] = {}
    if config.labels is not None:
        for row in _rows(_file(config.labels, "labels"), ("id", "label"), {}):
            if row[0] and row[1]:
                labels.setdefault(row[0], {})[row[1]] = None
    found: dict[tuple[str, str, str], None] = {}
    rejected: list[Rejection] = []
    iris: set[str] = set()
    prose: dict[str, str] = {}
    count = 0
    rdf = file.suffix.lower() in (".nt", ".ttl")
    qualified: dict[tuple[str, str, str], dict[tuple[str, str], None]] = {}
    wikidata = is_wikidata(file, _MEND)
    if wikidata:
        rows: Iterator[Any] = wikidata_statements(file, _MEND, iris, labels)
    else:
        rows = _statements(file, iris) if rdf else _rows(file, _COLUMNS, config.columns, config.qualifiers, prose)
    for number, row in enumerate(rows, start=1):
        count += 1
        if row is None or not all(row[:3]):
            missing = "no statement" if row is None else f"no {_COLUMNS[[bool(part) for part in row].index(False)]}"
            rejected.append(_rejection(f"{file.name}#{number}", f"{missing} in row {number}"))
        elif rdf and row[1] in _LABELS:
            labels.setdefault(row[0], {})[row[2]] = None
        else:
            fact, more = row[:3], row[3] if wikidata else zip(config.qualifiers, row[3:], strict=False)
            found[fact] = None
            said = {(name, value): None for name, value in more if value}
            if said:
                qualified.setdefault(fact, {}).update(said)
    if wikidata:  # what a part of the dump leaves out has no name that a question could call it by
        bare = iris - labels.keys()
        unnamed = [fact for fact in found if not labels.keys() >= {fact[0], fact[1]} or fact[2] in bare]
        for fact in unnamed:
            del found[fact]
            qualified.pop(fact, None)
        if unnamed:
            rejected.append(_rejection(file.name, f"{len(unnamed):,} statements of what has no label in the file"))
    if not found:
        raise InputError(f"{file.name} holds no fact", where="source.path", mend=_MEND)
    names = {key: tuple(each) for key, each in labels.items()}
    typing = {plain_label(name) for name in config.types}
    typed = {relation for _, relation, _ in found if plain_label(local_name(relation, names)) in typing}
    types: dict[str, str] = {}
    for subject, relation, kind in found:
        if relation in typed:
            types.setdefault(subject, local_name(kind, names))
    things = {*names, *iris}
    for (subject, relation, target), said in qualified.items():
        known = [
            fact for fact in said if not wikidata or (fact[0] in names and (fact[1] in names or fact[1] not in iris))
        ]
        if relation in typed or not known:
            continue
        thing, label = f"{subject}|{relation}|{target}", plain_label(local_name(relation, names))
        names[thing] = (f"{local_name(subject, names)} ({label}: {local_name(target, names)})",)
        types[thing] = label if names_its_object(label) else "statement"
        things.add(thing)
        found.update({(thing, name, value): None for name, value in known})
    facts = [fact for fact in found if fact[1] not in typed]
    return Statements(
        facts=facts if rdf or wikidata else _with_units(facts, names),
        labels=names,
        types=types,
        untyped=config.untyped,
        things=frozenset(things),
        rejected=rejected,
        rows=count,
        prose=prose,
    )


def _with_units(facts: list[tuple[str, str, str]], names: dict[str, tuple[str, ...]]) -> list[tuple[str, str, str]]:
    """Moves a unit from a relation's label, "area (km2)", to its numbers."""
    objects: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for _, relation, found in facts:
        objects[relation].append((found,))
    units: dict[str, str] = {}
    for relation, cells in objects.items():
        if relation not in names and use_of(relation, cells) is Use.MEASURE:
            label, unit = with_unit(relation, cells)
            if unit:
                names[relation], units[relation] = (label,), unit
    return [(subject, name, f"{found} {units[name]}" if name in units else found) for subject, name, found in facts]


def _rejection(row: str, detail: str) -> Rejection:
    return Rejection(stage="read_triples", row_id=row, reason=Reason.MALFORMED, detail=detail)


def _rows(
    file: Path,
    wanted: tuple[str, ...],
    columns: Mapping[str, str],
    qualifiers: tuple[str, ...] = (),
    prose: dict[str, str] | None = None,
) -> Iterator[Any]:
    """The wanted columns of each row and then its qualifiers, as trimmed text, empty where there is none. Of documents
    that bring triples those are the rows, and ``prose`` gets the texts by title."""
    suffix = file.suffix.lower()
    headed = True
    try:
        if suffix == ".parquet":
            frame = pl.read_parquet(file)
        elif suffix in (".jsonl", ".ndjson", ".json"):
            frame = pl.read_ndjson(file, infer_schema_length=None)
        elif suffix in (".tsv", ".csv"):
            separator = "\t" if suffix == ".tsv" else ","
            with open_input(file, mend=_MEND) as lines:
                first = lines.readline().decode("utf-8-sig", "replace").rstrip("\r\n").split(separator)
            named = {name.strip().strip('"').lower() for name in first}
            usual = {name for part in wanted for name in (part, *_USUAL.get(part, ()))} | {*columns.values()}
            headed = bool(named & usual)
            frame = pl.read_csv(
                file,
                separator=separator,
                has_header=headed,
                infer_schema=False,
                quote_char=None if suffix == ".tsv" else '"',
            )
        else:
            raise InputError(f"{file.name}: N-Triples hold statements, not columns", where="source", mend=_MEND)
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        what = " ".join(str(error).split())[:160]
        raise InputError(f"{file.name} can't be read: {what}", where="source", mend=_MEND) from None
    if prose is not None and isinstance(frame.schema.get(_TRIPLES), pl.List):
        if {"title", "text"} <= {*frame.columns}:
            prose.update({title: text for title, text in frame.select("title", "text").iter_rows() if title and text})
        frame = frame.select(_TRIPLES).explode(_TRIPLES).drop_nulls()
        if isinstance(frame.schema[_TRIPLES], pl.List):  # rows of three, without names
            frame = frame.select(pl.col(_TRIPLES).list.to_struct(fields=_COLUMNS))
        frame = frame.unnest(_TRIPLES)
    by_name = {name.strip().lower(): name for name in frame.columns}
    found = []
    for at, part in enumerate((*wanted, *qualifiers)):
        names = (columns[part],) if part in columns else (part, *_USUAL.get(part, ()))
        name = next((by_name[one.lower()] for one in names if one.lower() in by_name), None)
        if name is None and part not in columns and not headed and at < min(frame.width, len(wanted)):
            name = frame.columns[at]  # a file without a line of headings: the columns stand in this order
        if name is None:
            raise InputError(
                f"{file.name} has no column {names[0]!r}; it has {', '.join(frame.columns)[:120]}",
                where="source.columns",
                mend=f"name it: --set 'source.columns={{{part}: <column>}}'",
            )
        found.append(pl.col(name).cast(pl.String, strict=False).fill_null("").str.strip_chars().alias(part))
    yield from frame.select(found).iter_rows()


def _statements(file: Path, iris: set[str]) -> Iterator[tuple[str, str, str] | None]:
    """Statements of N-Triples or Turtle; None for a line that is none. English literals alone are kept."""
    if file.suffix.lower() == ".ttl":
        yield from turtle_statements(file, _MEND, iris)
        return
    with open_input(file, mend=_MEND) as lines:
        for line in lines:
            text = line.decode("utf-8", "replace").strip()
            if not text or text.startswith("#"):
                continue
            match = _STATEMENT.match(text)
            if match is None:
                yield None
            elif match["o"] is not None:
                iris.add(match["o"])
                yield match["s"], match["p"], match["o"]
            elif match["language"] is None or match["language"].lower().startswith("en"):
                yield match["s"], match["p"], _ESCAPE.sub(_unescape, match["text"]).strip()


def _unescape(match: re.Match[str]) -> str:
    if match[3] is not None:
        return {"n": "\n", "t": "\t", "r": "\r"}.get(match[3], match[3])
    return chr(int(match[1] or match[2], 16))
