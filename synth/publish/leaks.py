"""The last look before a dataset leaves the machine: nothing in it names this machine or opens a door.

Card and report are searched for any absolute path and any private host; rows, which may well quote such things from
their sources, for keys and for what is this machine"s own. What is found is never shown, only where it stands.
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from synth.dataset.files import CARD_FILE, REPORT_FILE, Problem, Problems, data_files
from synth.dataset.key_hashes import KeyHashes, hashes_in
from synth.dataset.reader import batches_in, load
from synth.errors import DatasetError
from synth.publish.contents import LocalFile
from synth.redaction import SHORTEST, secrets_of
from synth.schemas.row import Row
from synth.sources.keys import PEM, issued
from synth.sources.private import PrivateKind, find_private

__all__ = ["Held", "Machine", "Scan", "leaks", "scan", "this_machine", "without_licence"]


_KEYS = rf"(?:^|[^A-Za-z0-9])(?:{issued()})|{PEM}"
"""Keys that say themselves what they are. In RE2's dialect."""
_TOPS = "home|root|Users|tmp|var|mnt|media|data|opt|srv|scratch|work|workspace|private"
_PATH = rf"(?<![\w.:/~-])/(?:{_TOPS})/[\w.-]+|(?<!\w)[A-Za-z]:\\\\?(?:Users|Documents)\b"
_HOST = (
    r"https?://(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[::1\]"
    r"|[\w-]+(?=[:/\s\"'`]|$)|[\w.-]+\.(?:local|internal|lan|corp|intra)\b)"
)
_SHORTEST = 12
"""Characters of a value of the environment that is taken for a secret: a shorter one would be found by chance."""
_BUILT_WITH = "a key that it was built with"
_BATCH = 1_000


@dataclass(frozen=True)
class Machine:
    """What must not leave it."""

    secrets: tuple[str, ...] = ()
    """Values of the environment and of the Hub's login."""
    paths: tuple[str, ...] = ()
    """Absolute folders that are this machine's own."""
    host: str | None = None
    """Its name, unless it is an everyday word."""
    keys: KeyHashes | None = None
    """What the dataset was built with, whether it is set any more or not."""


def this_machine(folder: Path, token: str | None, environment: Mapping[str, str] | None = None) -> Machine:
    """What this process knows of its machine: secrets in its environment, the folders it works in, its host name."""
    values = dict(os.environ) if environment is None else environment
    secrets = secrets_of(values, _SHORTEST)
    if token and len(token) >= SHORTEST:
        secrets.add(token)
    places = {Path.cwd(), Path.home(), folder.absolute().parent, folder.resolve().parent}
    host = socket.gethostname().split(".")[0]
    return Machine(
        secrets=tuple(sorted(secrets)),
        paths=tuple(sorted(str(place) for place in places if len(place.parts) > 2)),
        host=host if len(host) >= 6 and re.search(r"[\d-]", host) else None,
        keys=hashes_in(folder),
    )


def leaks(files: Iterable[LocalFile], machine: Machine, *, limit: int = 20) -> list[Problem]:
    """Where something must not leave the machine; empty when nothing must not. Rows stream.

    Raises:
        DatasetError: a file can't be read.
    """
    found = Problems(limit)
    own = [*machine.paths, *([machine.host] if machine.host else [])]
    wanted = {
        "a key or token": _KEYS,
        **({"a secret of this machine's environment": _any(machine.secrets)} if machine.secrets else {}),
        **({"a folder or the name of this machine": rf"(?:^|[^\w.-])(?:{_any(own)})(?:$|[^\w-])"} if own else {}),
    }
    for file in files:
        if file.path.suffix == ".parquet":
            _rows(file, wanted, machine.keys, found)
            continue
        text = _text(file)
        if machine.keys is not None:
            place = next(machine.keys.places(text.encode()), None)
            if place is not None:
                number = text.encode()[:place].count(b"\n") + 1
                found.add(file.name, None, f"line {number} holds {_BUILT_WITH}")
        for what, pattern in {**wanted, "an absolute path": _PATH, "a private host": _HOST}.items():
            for number, line in enumerate(text.splitlines(), start=1):
                if re.search(pattern, line):
                    found.add(file.name, None, f"line {number} holds {what}")
    return found.listed()


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in words)


def _text(file: LocalFile) -> str:
    try:
        return file.path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DatasetError(f"can't be read: {error}", where=str(file.path)) from error


def _rows(file: LocalFile, wanted: Mapping[str, str], keys: KeyHashes | None, found: Problems) -> None:
    try:
        opened = pq.ParquetFile(file.path)
        for name, value in (opened.metadata.metadata or {}).items():
            for what, pattern in wanted.items():
                if re.search(pattern.encode(), value):
                    found.add(file.name, None, f"the footer's {name.decode(errors='replace')} holds {what}")
            if keys is not None and keys.holds(value):
                found.add(file.name, None, f"the footer's {name.decode(errors='replace')} holds {_BUILT_WITH}")
        place = 0
        either = "|".join(f"(?:{pattern})" for pattern in wanted.values())
        for batch in opened.iter_batches(batch_size=_BATCH):
            for column in batch.schema.names:
                texts = list(_texts(batch.column(column), pa.array(range(batch.num_rows), pa.int64())))
                if _first(texts, either) is not None:
                    for what, pattern in wanted.items():
                        row = _first(texts, pattern)
                        if row is not None:
                            found.add(file.name, place + row, f"{column} holds {what}")
                row = None if keys is None else _first_key(texts, keys)
                if row is not None:
                    found.add(file.name, place + row, f"{column} holds {_BUILT_WITH}")
            place += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise DatasetError(f"can't be read: {error}", where=str(file.path)) from error


def _first(leaves: Iterable[tuple[pa.Array, pa.Array]], pattern: str) -> int | None:
    """The first row of a column's ``leaves`` that holds a text with ``pattern``."""
    for texts, rows in leaves:
        hits = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(texts, pattern), False))
        if len(hits):
            return int(rows[hits[0].as_py()].as_py())
    return None


def _first_key(leaves: Iterable[tuple[pa.Array, pa.Array]], keys: KeyHashes) -> int | None:
    """The first row of a column's ``leaves`` in which one of ``keys`` stands."""
    for texts, rows in leaves:
        values = [text.encode() for text in pc.fill_null(texts, "").to_pylist()]
        ends = np.cumsum([len(value) + 1 for value in values], dtype=np.int64)
        for place in keys.places(b"\0".join(values)):
            return int(rows[int(np.searchsorted(ends, place, side="right"))].as_py())
    return None


def _texts(array: pa.Array, rows: pa.Array) -> Iterator[tuple[pa.Array, pa.Array]]:
    """The text leaves of a column of structs and lists, each with the row that every value belongs to."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        yield array, rows
    elif pa.types.is_struct(kind):
        for place in range(kind.num_fields):
            yield from _texts(pc.struct_field(array, [place]), rows)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        parents = pc.list_parent_indices(array)
        yield from _texts(pc.list_flatten(array), rows.take(parents))


def without_licence(files: Iterable[LocalFile]) -> dict[str, int]:
    """Config -> rows without a stated licence. Only that column is read."""
    counts: dict[str, int] = {}
    for file in files:
        if file.path.suffix != ".parquet":
            continue
        opened = pq.ParquetFile(file.path)
        if opened.schema_arrow.get_field_index("licence") < 0:
            continue
        config = file.name.split("/")[0]
        nulls = sum(batch.column(0).null_count for batch in opened.iter_batches(columns=["licence"]))
        counts[config] = counts.get(config, 0) + nulls
    return {config: count for config, count in counts.items() if count}


_BATCH = 500


class Held(Row):
    """What one column holds of one kind."""

    config: str
    """Name of the config, or of a file beside the tables."""
    column: str
    """Dotted path, through lists and structs; empty for a file."""
    kind: PrivateKind
    rows: int
    """Rows that hold some (lines, for a file)."""
    file: str
    """Where the first of them is. What it says is not repeated here."""
    row: int
    """Its number in that file, from 0."""


class Scan(Row):
    """What was found, and in how much."""

    held: tuple[Held, ...]
    """By config, column and kind."""
    rows: int
    """Rows that were looked at."""


def scan(folder: str | Path) -> Scan:
    """Look at every text of every table, at the card and at the report. Rows stream.

    Raises:
        InputError: there is no dataset in the folder.
        DatasetError: a file is damaged.
    """
    dataset = load(folder)
    first: dict[tuple[str, str, PrivateKind], tuple[str, int]] = {}
    rows: Counter[tuple[str, str, PrivateKind]] = Counter()
    total = 0
    files, _ = data_files(dataset.path)
    for file in files:
        at = 0
        for batch in batches_in(file.path, size=_BATCH):
            seen: dict[tuple[str, str, PrivateKind], set[int]] = {}
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                for column, row, text in _values(name, array):
                    for one in find_private(text):
                        seen.setdefault((file.config, column, one.kind), set()).add(row)
            for key, places in seen.items():
                first.setdefault(key, (file.label, at + min(places)))
                rows[key] += len(places)
            at += batch.num_rows
        total += at
    for name in (CARD_FILE, REPORT_FILE):
        path = dataset.path / name
        for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n") if path.is_file() else ()):
            for kind in {one.kind for one in find_private(line)}:
                first.setdefault((name, "", kind), (name, number))
                rows[name, "", kind] += 1
    held = (
        Held(config=key[0], column=key[1], kind=key[2], rows=rows[key], file=first[key][0], row=first[key][1])
        for key in sorted(rows)
    )
    return Scan(held=tuple(held), rows=total)


def _values(path: str, array: pa.Array) -> Iterator[tuple[str, int, str]]:
    """Dotted path, row and text of every string in a column, however deep it stands."""
    yield from _leaves(path, array, list(range(len(array))))


def _leaves(path: str, array: pa.Array, owners: list[int]) -> Iterator[tuple[str, int, str]]:
    """``owners``: the row that each element belongs to."""
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        for row, text in zip(owners, array.to_pylist(), strict=True):
            if text:
                yield path, row, text
    elif pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        lengths = array.value_lengths().fill_null(0).to_pylist()
        inner = [row for row, length in zip(owners, lengths, strict=True) for _ in range(length)]
        yield from _leaves(path, array.flatten(), inner)
    elif pa.types.is_struct(array.type):
        for field, values in zip(array.type, array.flatten(), strict=True):
            yield from _leaves(f"{path}.{field.name}", values, owners)
