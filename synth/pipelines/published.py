"""What a finished dataset shows of its graph, and of duplicates: marks on runs, pairs left out, and the scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from synth.engine import Engine
from synth.schemas.arrow import arrow_schema
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.facts import EntityRow, FactRow
from synth.store import StoredTable

__all__ = ["duplicate_notes", "graph_tables", "inverses_in", "marked", "pairs_left_out", "runs_marked", "without"]


def _found(engine: Engine) -> Iterator[StoredTable]:
    for node in engine.plan.nodes:
        if "duplicates" in node.stage.writes:
            yield engine.table(node.label, "duplicates")


def _of(engine: Engine, level: str) -> dict[str, str]:
    """Id of a duplicate -> id of the row that stands for it."""
    found: dict[str, str] = {}
    for table in _found(engine):
        row: DuplicateRow
        for row in table.rows():
            if row.level == level:
                found.update({name: row.representative for name in (row.one, row.other) if name != row.representative})
    return found


def runs_marked(engine: Engine) -> dict[str, str]:
    """Id of a run -> id of the run that stands for it."""
    return _of(engine, "trajectories")


def pairs_left_out(engine: Engine) -> frozenset[str]:
    """Ids of preference pairs that another one stands for."""
    return frozenset(_of(engine, "preferences"))


def duplicate_notes(engine: Engine) -> Iterator[str]:
    """What a reader of the card must know of marked runs."""
    count = len(runs_marked(engine))
    if count:
        who = "1 run does" if count == 1 else f"{count:,} runs do"
        yield (
            f"{who} what another run of the same role does: `duplicate_of` names that one. They count in success rates "
            "and are left out of exports unless `--select duplicates=true`."
        )


def marked(batches: Iterable[pa.RecordBatch], of: Mapping[str, str]) -> Iterator[pa.RecordBatch]:
    """Trajectories with their column ``duplicate_of`` filled in."""
    for batch in batches:
        place = batch.schema.get_field_index("duplicate_of")
        marks = pa.array([of.get(name) for name in batch.column("id").to_pylist()], batch.schema.field(place).type)
        columns = [*batch.columns[:place], marks, *batch.columns[place + 1 :]]
        yield pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def without(batches: Iterable[pa.RecordBatch], column: str, left_out: Collection[str]) -> Iterator[pa.RecordBatch]:
    """Rows whose ``column`` is none of ``left_out``; a null is none of them."""
    names = pa.array(sorted(left_out), pa.string())
    for batch in batches:
        yield batch.filter(pc.invert(pc.is_in(batch.column(column), value_set=names))) if left_out else batch


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
    wrote = stages["entities"]
    pages = wrote.source_of("documents") if "documents" in wrote.inputs else (wrote.label, "documents")
    documents = engine.table(*pages).arrow.column("id").combine_chunks()
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
