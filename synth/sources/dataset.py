"""A finished dataset as a source: its documents and its graph, as the stages of a build read them.

A dataset names documents and entities by id; stages name them by row number. Nothing else differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from synth.errors import InputError
from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Edge, Entity
from synth.schemas.row import Row

__all__ = ["edges_of", "entities_of", "files_digest", "inverses_of", "read_table"]


def _files(folder: str, table: str, splits: Sequence[str]) -> list[Path]:
    """In the order of their rows; ``splits`` empty = all of them (a table without tasks has one)."""
    place = Path(folder) / table
    return [path for split in splits or ("*",) for path in sorted(place.glob(f"{split}-?????-of-?????.parquet"))]


def read_table(folder: str, row_type: type[Row], splits: Sequence[str] = ()) -> pa.Table:
    """A table of the dataset in ``folder``, its rows in order, with the schema of ``row_type``; no rows where it has
    none.

    Raises:
        InputError: a file can't be read, or its columns are not those of ``row_type``.
    """
    schema = arrow_schema(row_type)
    found = []
    for path in _files(folder, str(row_type.table), splits):
        try:
            found.append(pq.read_table(path, columns=schema.names).cast(schema))
        except (OSError, ValueError, KeyError, pa.ArrowException) as error:
            what = f"the file can't be read as {row_type.table}: {str(error).splitlines()[0][:200]}"
            raise InputError(what, where=str(path), mend="run `synth validate` on the dataset") from None
    return pa.concat_tables(found) if found else schema.empty_table()


def files_digest(folder: str, tables: Sequence[str], splits: Sequence[str] = ()) -> str:
    """sha256 over the files of ``tables``.

    Raises:
        InputError: there is no such folder, it has no file of the first of them, or one can't be read.
    """
    found = hashlib.sha256()
    for table in tables:
        paths = _files(folder, table, splits)
        if not paths and table == tables[0]:
            of = f" in {' or '.join(splits)}" if splits else ""
            raise InputError(f"the folder holds no {table}{of}", where=folder, mend="give a finished dataset")
        for path in paths:
            try:
                found.update(f"{table}/{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
            except OSError as error:
                raise InputError(f"the file can't be read: {error.strerror}", where=str(path)) from None
    return found.hexdigest()


def entities_of(entities: pa.Table, documents: pa.Array) -> pa.Table:
    """Rows of :class:`~synth.schemas.documents.Entity` of those of a dataset.

    Args:
        entities: Rows of :class:`~synth.schemas.facts.EntityRow`.
        documents: Ids of the documents, in their order.
    """
    columns = {name: entities.column(name) for name in ("id", "name", "kind", "aliases", "partition")}
    columns["ordinal"] = pa.array(range(len(entities)), pa.int64())
    columns["document"] = _places(entities.column("document_id"), documents)
    return _table(columns, Entity)


def edges_of(facts: pa.Table, entities: pa.Array, documents: pa.Array) -> pa.Table:
    """Rows of :class:`~synth.schemas.documents.Edge` of a dataset's facts (:class:`~synth.schemas.facts.FactRow`)."""
    columns = {name: facts.column(name) for name in ("relation", "value", "value_kind", "start", "end")}
    columns["subject"] = _places(facts.column("subject"), entities)
    columns["object"] = _places(facts.column("object"), entities)
    columns["document"] = _places(facts.column("document_id"), documents)
    return _table(columns, Edge)


def inverses_of(facts: pa.Table, stated: Mapping[str, str]) -> dict[str, str]:
    """Relation -> the one that it is read as, of facts that state their inverse relation.

    Args:
        stated: What the dataset's report says; a pair that it leaves out is read as the first of both by name.
    """
    pairs = facts.select(["relation", "inverse"]).group_by(["relation", "inverse"]).aggregate([])
    found = dict(stated)
    for relation, inverse in zip(
        pairs.column("relation").to_pylist(), pairs.column("inverse").to_pylist(), strict=True
    ):
        if inverse is not None and not {relation, inverse} & {*found, *found.values()}:
            found[max(relation, inverse)] = min(relation, inverse)
    return found


def _places(ids: pa.ChunkedArray, all_ids: pa.Array) -> pa.ChunkedArray:
    """Row number by id; -1 where there is none."""
    return pc.fill_null(pc.index_in(ids, value_set=all_ids), -1).cast(pa.int64())


def _table(columns: Mapping[str, pa.ChunkedArray | pa.Array], row_type: type[Row]) -> pa.Table:
    schema = arrow_schema(row_type)
    return pa.table([columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema)
