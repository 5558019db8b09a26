"""Documents as records: JSON Lines (plain, ``.gz``, ``.zst``) and Parquet.

Columns, by default under these names (``RecordsConfig.columns`` maps others):

    id       string, optional: the id of the document; else ``<file>#<number of the record, from 1>``
    title    string, optional: else the first line of the text
    text     string
    url, licence, date      strings, optional; the date is ISO 8601
    links    list, optional: {start, end, target} in code points of the text, or {anchor, target}: the first place
             where the anchor stands as whole words. ``target`` is the id of another record, perhaps with ``#fragment``
    triples  list, optional: {subject, relation, object, quote?}: what the text states. A ``quote`` must stand in it;
             without one, a sentence that names both ends is looked for

The loop is our own: datatrove's readers log a line that they can't parse and go on, so what was wrong, and where, would
be lost. A bad record costs that record only, and each goes to ``rejected`` with the file and its number.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import Field

from synth.errors import InputError
from synth.identity import split_of
from synth.inputs import LINE_BYTES, open_input, parse_json
from synth.schemas.described import Described
from synth.schemas.documents import Document, Link
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.sources.files import refusal
from synth.sources.private import PrivateData, PrivateKind, handled
from synth.sources.records.triples import Triple, TripleError, locate

__all__ = ["COLUMNS", "RecordKeys", "RecordReader", "Records", "RecordsConfig", "RecordsSource"]

COLUMNS = ("id", "title", "text", "url", "licence", "date", "links", "triples")
_SPACES = re.compile(r"[ \t\f\v]+")
_ISO_DATE = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?:[T ].*)?$")


class RecordKeys(Described):
    """How records become documents, wherever they are."""

    name: str = Field(default="records", min_length=1)
    """Name of the source, on every document."""
    columns: Mapping[str, str] = {}
    """Our column -> the records' own, where the names differ: ``{"text": "content"}``."""
    licence: str | None = None
    """SPDX id of the licence of records that state none. Empty: the card says that none was stated."""
    max_bytes: int = Field(default=16_000_000, gt=0)
    """Records whose text is above this size (UTF-8 bytes) are rejected."""
    private: PrivateData = "keep"
    """What becomes of documents that hold e-mail addresses, telephone or account numbers, cards, addresses on the
    Internet, keys or tokens: ``keep`` them, ``mask`` what was found, or ``reject`` the document."""
    fractions: Mapping[Split, float] = {"train": 0.8, "validation": 0.1, "test": 0.1}
    """Share of documents that each split owns as gold."""


class RecordsConfig(RecordKeys):
    """Which files to read."""

    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """A file, or a folder of files."""
    pattern: tuple[str, ...] = ("*.jsonl", "*.jsonl.gz", "*.jsonl.zst", "*.ndjson", "*.parquet")
    """Shell patterns of the files to read in a folder, matched against names."""


@dataclass(frozen=True)
class Records:
    documents: list[Document]
    triples: list[Triple]
    rejected: list[Rejection]
    """Of records, each of which ended as a document or here, and of single triples beside their document."""


class RecordReader(ABC):
    """Documents from records. Holds no content but, after the first ``read``, ids and hashes of the records.

    Raises:
        InputError: ``columns`` names a column that we do not know.
    """

    files: Sequence[str]
    """What the records are parted into, in order."""

    def __init__(self, config: RecordKeys) -> None:
        self.config = config
        unknown = sorted(set(config.columns) - set(COLUMNS))
        if unknown:
            mend = f"the columns are {', '.join(COLUMNS)}"
            raise InputError(f"no column {unknown[0]!r}", where="source.columns", mend=mend)
        self._owners: dict[str, str] | None = None
        self._texts: dict[str, str] = {}
        self.private: Counter[PrivateKind] = Counter()
        """What was masked or rejected so far as private."""

    @abstractmethod
    def digest(self) -> str:
        """sha256 (64 hex) over what is read."""

    @abstractmethod
    def _records(self, path: str) -> Iterator[tuple[str, dict[str, Any] | Rejection]]:
        """(place, record or why there is none) of a member of ``files``: the place is ``<file>#<number>``."""

    def read(self, paths: Sequence[str]) -> Records:
        """The records of ``paths`` (members of ``files``). Of equal ids or equal texts the first in order stays."""
        if self._owners is None:
            self._owners = {}
            for path in self.files:
                for place, record in self._records(path):
                    if isinstance(record, dict) and isinstance(text := self._get(record, "text"), str):
                        self._owners.setdefault(self._id(record, place), place)
                        self._texts.setdefault(_text_hash(text), place)
        documents: list[Document] = []
        triples: list[Triple] = []
        rejected: list[Rejection] = []
        for path in paths:
            for place, record in self._records(path):
                if isinstance(record, Rejection):
                    rejected.append(record)
                    continue
                outcome = self._document(place, record)
                if isinstance(outcome, Rejection):
                    rejected.append(outcome)
                    continue
                documents.append(outcome)
                good, bad = self._triples(outcome, record, place)
                triples += good
                rejected += bad
        return Records(documents, triples, rejected)

    def brings_triples(self) -> bool:
        """Whether the first record comes with facts."""
        first = next((record for path in self.files for _, record in self._records(path)), None)
        return isinstance(first, dict) and bool(_items(self._get(first, "triples")))

    def _get(self, record: Mapping[str, Any], column: str) -> Any:
        return record.get(self.config.columns.get(column, column))

    def _id(self, record: Mapping[str, Any], place: str) -> str:
        value = self._get(record, "id")
        return str(value) if value is not None and str(value).strip() else place

    def _document(self, place: str, record: Mapping[str, Any]) -> Document | Rejection:
        text = self._get(record, "text")
        if not isinstance(text, str):
            what = "no text" if text is None else f"a text of type {type(text).__name__}"
            return self._rejection(place, Reason.MALFORMED, f"the record has {what}")
        if not text.strip():
            return self._rejection(place, Reason.EMPTY, "the text is empty")
        size = len(text.encode("utf-8", errors="surrogatepass"))
        if size > self.config.max_bytes:
            detail = f"{size} bytes, more than max_bytes = {self.config.max_bytes}"
            return self._rejection(place, Reason.TOO_LARGE, detail)
        if any(c in text for c in "\0\x01") or any("\ud800" <= c <= "\udfff" for c in text):
            return self._rejection(place, Reason.NOT_TEXT, "NUL, control or surrogate characters in the text")
        name = self._id(record, place)
        assert self._owners is not None
        if (owner := self._owners.get(name, place)) != place:
            return self._rejection(place, Reason.DUPLICATE_ID, f"{owner} has the same id {name[:100]!r}")
        if (twin := self._texts.get(_text_hash(text), place)) != place:
            return self._rejection(place, Reason.DUPLICATE_CONTENT, f"{twin} has the same text")
        strings: dict[str, str | None] = {}
        for column in ("title", "url", "licence", "date"):
            value = self._get(record, column)
            value = value.isoformat() if hasattr(value, "isoformat") else value
            if value is not None and not isinstance(value, str):
                return self._rejection(
                    place, Reason.MALFORMED, f"{column} is of type {type(value).__name__}, not a string"
                )
            strings[column] = (value or "").strip() or None
        if (date := strings["date"]) and not _ISO_DATE.match(date):
            return self._rejection(place, Reason.MALFORMED, f"date {date[:40]!r} is not ISO 8601")
        links = self._links(self._get(record, "links"), text)
        if isinstance(links, str):
            return self._rejection(place, Reason.MALFORMED, links)
        first_line = _SPACES.sub(" ", text.strip().split("\n", 1)[0])[:120].strip()
        document = Document(
            id=name,
            title=strings["title"] or first_line,
            text=text,
            kind="page",
            links=links,
            source=self.config.name,
            path=place.rsplit("#", 1)[0],
            url=strings["url"],
            licence=strings["licence"] or self.config.licence,
            date=date,
            partition=split_of(name, self.config.fractions),  # type: ignore[arg-type]
        )
        kept, found = handled(document, self.config.private)
        self.private += found
        return kept or self._rejection(place, Reason.PRIVATE_DATA, ", ".join(sorted(found)))

    def _links(self, value: Any, text: str) -> tuple[Link, ...] | str:
        """The links, or what is wrong with them."""
        items = _items(value)
        if items is None:
            return "links are not a list of objects"
        links = []
        for item in items:
            target = item.get("target")
            if not isinstance(target, str) or not target:
                return "a link has no target"
            page, _, fragment = target.partition("#")
            if self._owners is not None and target in self._owners:
                page, fragment = target, ""  # ids may hold a number sign themselves
            start, end, anchor = item.get("start"), item.get("end"), item.get("anchor")
            if isinstance(anchor, str) and anchor.strip() and start is None:
                match = re.search(rf"(?<!\w){re.escape(anchor)}(?!\w)", text)
                if not match:
                    return f"the anchor {anchor[:60]!r} is not in the text"
                start, end = match.span()
            if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text)):
                return f"a link stands at {start}:{end}, outside of the text"
            if self._owners is None or page in self._owners:
                links.append(Link(start=start, end=end, target=page, fragment=fragment or None))
        return tuple(sorted(links, key=lambda link: (link.start, link.end)))

    def _triples(
        self, document: Document, record: Mapping[str, Any], place: str
    ) -> tuple[list[Triple], list[Rejection]]:
        items = _items(self._get(record, "triples"))
        if items is None:
            what = "triples are no list of objects or of rows of three"
            return [], [self._rejection(f"{place}/triples", Reason.MALFORMED, what)]
        good, bad = [], []
        for number, item in enumerate(items):
            try:
                good.append(locate(document, item))
            except TripleError as error:
                bad.append(self._rejection(f"{place}/triples/{number}", error.reason, str(error)))
        return good, bad

    def _rejection(self, place: str, reason: Reason, detail: str, preview: str = "") -> Rejection:
        row = place.encode("utf-8", errors="backslashreplace").decode()
        return Rejection(stage=self.config.name, row_id=row, reason=reason, detail=detail, preview=preview)


class RecordsSource(RecordReader):
    """The files, listed once.

    Raises:
        InputError: nothing there, no file of the pattern, or ``columns`` names a column that we do not know.
    """

    def __init__(self, config: RecordsConfig) -> None:
        super().__init__(config)
        where = "records source"
        if not config.path:
            raise InputError("no file was given", where=where, mend="give a file or folder of records with --source")
        path = os.path.abspath(os.path.expanduser(config.path))
        self._listed = os.path.isdir(path)
        """Whether the files were found in a folder, and not given by name."""
        if self._listed:
            self._root = path
            found = [
                os.path.relpath(os.path.join(folder, name), path).replace(os.sep, "/")
                for folder, _, names in os.walk(path)
                for name in names
                if any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in config.pattern)
            ]
        elif os.path.exists(path):
            open_input(path, mend="give a file or folder of records with --source", most=None).close()
            self._root, name = os.path.split(path)
            found = [name]
        else:
            raise InputError(f"there is no file or folder {config.path!r}", where=where, mend="give an existing one")
        if not found:
            raise InputError(f"no file under {config.path!r} matches {' '.join(config.pattern)}", where=where)
        self.files = sorted(found)
        """Paths relative to the folder, '/'-separated, sorted."""

    def digest(self) -> str:
        """sha256 (64 hex) over names and contents of the files; one that can't be read counts as such."""
        total = hashlib.sha256()
        for path in self.files:
            try:
                if self._refusal(path) is not None:
                    raise OSError
                with open(self._full(path), "rb") as file:
                    content = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError:
                content = "unreadable"
            total.update(f"{path}\0{content}\n".encode("utf-8", errors="backslashreplace"))
        return total.hexdigest()

    def _refusal(self, path: str) -> tuple[Reason, str] | None:
        return refusal(self._root, path) if self._listed else None

    def _full(self, path: str) -> str:
        return os.path.join(self._root, path)

    def _records(self, path: str) -> Iterator[tuple[str, dict[str, Any] | Rejection]]:
        if (refused := self._refusal(path)) is not None:
            yield path, self._rejection(path, *refused)
            return
        try:
            yield from self._parquet(path) if path.lower().endswith(".parquet") else self._lines(path)
        except (OSError, ValueError) as error:  # Arrow's errors are subclasses of these
            detail = " ".join(str(error).split())[:300]
            yield path, self._rejection(path, Reason.UNREADABLE, detail)

    def _lines(self, path: str) -> Iterator[tuple[str, dict[str, Any] | Rejection]]:
        import pyarrow as pa

        number = 0
        with pa.input_stream(self._full(path), compression=_compression(path)) as stream:
            for number, line in enumerate(_split_lines(stream), start=1):
                if not line.strip():
                    continue
                place = f"{path}#{number}"
                try:
                    record = parse_json(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                except UnicodeDecodeError as error:
                    yield (
                        place,
                        self._rejection(place, Reason.NOT_TEXT, f"line {number} is not UTF-8 at byte {error.start}"),
                    )
                except ValueError as error:
                    preview = line[:500].decode("utf-8", errors="replace")
                    yield place, self._rejection(place, Reason.MALFORMED, f"line {number}: {error}", preview)
                else:
                    if isinstance(record, dict):
                        yield place, record
                    else:
                        detail = f"line {number} is a JSON {type(record).__name__}, not an object"
                        yield place, self._rejection(place, Reason.MALFORMED, detail)
        if not number:
            yield path, self._rejection(path, Reason.EMPTY, "the file is empty")

    def _parquet(self, path: str) -> Iterator[tuple[str, dict[str, Any] | Rejection]]:
        import pyarrow.parquet as pq

        number = 0
        with pq.ParquetFile(self._full(path)) as file:
            names = [self.config.columns.get(column, column) for column in COLUMNS]
            wanted = [name for name in names if name in file.schema_arrow.names]
            if self.config.columns.get("text", "text") not in wanted:
                yield path, self._rejection(path, Reason.MALFORMED, f"no column {names[2]!r} in the file")
                return
            for batch in file.iter_batches(batch_size=1024, columns=wanted):
                for record in batch.to_pylist():
                    number += 1
                    yield f"{path}#{number}", record
        if not number:
            yield path, self._rejection(path, Reason.EMPTY, "the file has no rows")


def _items(value: Any) -> list[dict[str, Any]] | None:
    if value is None:
        return []
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return None
    if not isinstance(value, list):
        return None
    items = [_named(item) for item in value]
    return items if all(isinstance(item, dict) for item in items) else None


def _named(item: Any) -> Any:
    """``["Peru", "capital", "Lima"]`` by the names of its parts."""
    is_row = isinstance(item, list) and len(item) == 3
    return dict(zip(("subject", "relation", "object"), item, strict=True)) if is_row else item


def _compression(path: str) -> str | None:
    return {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}.get(os.path.splitext(path)[1].lower())


def _split_lines(stream: Any) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(1 << 20):
        if len(rest) > LINE_BYTES:
            raise ValueError(f"a line has more than {LINE_BYTES:,} bytes")
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
    if rest:
        yield rest


def _text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
