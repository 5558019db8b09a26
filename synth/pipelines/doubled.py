"""What was found to be alike, as a finished dataset shows it: marks on runs, pairs left out, and the scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from synth.engine import Engine
from synth.schemas.duplicates import DuplicateRow
from synth.store import StoredTable

__all__ = ["duplicate_notes", "marked", "pairs_left_out", "runs_marked", "without"]


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
