"""The graph of a build as the dataset publishes it: row numbers become ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from synth.engine import Engine
from synth.schemas.arrow import arrow_schema
from synth.schemas.facts import EntityRow, FactRow

__all__ = ["graph_tables", "inverses_in"]

_BATCH = 65_536


def graph_tables(engine: Engine) -> dict[str, Iterator[pa.RecordBatch]]:
    """``entities`` and ``facts`` of the finished stages of ``engine``; no table for a source without a graph.

    Batches come as they are asked for; memory holds the ids of documents and entities.
    """
    stages = {
        table: node for node in engine.plan.nodes for table in node.stage.writes if table in ("entities", "edges")
    }
    if set(stages) != {"entities", "edges"}:
        return {}
    documents = engine.table("documents", "documents").arrow.column("id").combine_chunks()
    entities = engine.table(stages["entities"].label, "entities").arrow
    edges = engine.table(stages["edges"].label, "edges").arrow
    if not len(edges):
        return {}
    return {
        "entities": _entities(entities, documents),
        "facts": _facts(edges, entities.column("id").combine_chunks(), documents, _inverses(engine)),
    }


def inverses_in(engine: Engine) -> dict[str, str]:
    """Relation -> the one that it is read as, in the graph of a build."""
    for node in engine.plan.nodes:
        if node.stage.arrays == "graph":
            return dict(node.config.inverses)  # type: ignore[attr-defined]
    return {}


def _inverses(engine: Engine) -> Mapping[str, str]:
    """Relation -> the one that reads the same fact from its other end, in both directions."""
    given = inverses_in(engine)
    return {**{primary: reading for reading, primary in given.items()}, **given}


def _taken(ids: pa.Array, rows: pa.Array) -> pa.Array:
    """Ids by row number; null where the number is negative."""
    return ids.take(pc.if_else(pc.greater_equal(rows, 0), rows, pa.scalar(None, rows.type)))


def _entities(entities: pa.Table, documents: pa.Array) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(EntityRow)
    for batch in entities.to_batches(max_chunksize=_BATCH):
        columns = {name: batch.column(name) for name in ("id", "name", "kind", "aliases", "partition")}
        columns["document_id"] = _taken(documents, batch.column("document"))
        yield pa.RecordBatch.from_arrays(
            [columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema
        )


def _facts(
    edges: pa.Table, entities: pa.Array, documents: pa.Array, inverses: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    schema = arrow_schema(FactRow)
    names = pa.array(list(inverses), pa.string())
    others = pa.array(list(inverses.values()), pa.string())
    for batch in edges.to_batches(max_chunksize=_BATCH):
        columns = {name: batch.column(name) for name in ("relation", "value", "value_kind", "start", "end")}
        columns["subject"] = entities.take(batch.column("subject"))
        columns["object"] = _taken(entities, batch.column("object"))
        columns["document_id"] = documents.take(batch.column("document"))
        columns["inverse"] = others.take(pc.index_in(batch.column("relation"), value_set=names))
        yield pa.RecordBatch.from_arrays(
            [columns[name].cast(schema.field(name).type) for name in schema.names], schema=schema
        )
