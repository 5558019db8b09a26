"""Rows go to Arrow and Parquet and come back equal, whatever they hold."""

from __future__ import annotations

import io
import math
from typing import Any, Literal

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import OBJECT, deep, rows_of
from schema_snapshot import ROW_TYPES

from synth.identity import canonical_json
from synth.schemas.adp import ADP_VERSION, ApiAction, MessageAction, TextObservation, Trajectory, WebObservation
from synth.schemas.arrow import (
    RowError,
    RowReader,
    arrow_schema,
    from_arrow,
    parquet_json_columns,
    to_arrow,
    to_plain,
    trajectory_of,
)
from synth.schemas.documents import Document, Edge
from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import SCHEMA_VERSION, JsonObject, Row
from synth.schemas.steps import StepRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow, Verdict

pytestmark = pytest.mark.thorough

TABLES = {name: row_type for name, row_type in ROW_TYPES.items() if row_type is not Trajectory}

PROVENANCE = Provenance(dataset="d", stage="s", stage_version=1, fingerprint="f", seed=1, source="w", source_sha256="a")


def trajectory_row(content: tuple[Any, ...], **changes: Any) -> TrajectoryRow:
    values: dict[str, Any] = {
        "schema_version": ADP_VERSION,
        "id": "t1",
        "content": content,
        "task_id": "q1",
        "rollout": 0,
        "role": "teacher",
        "model": None,
        "privileged": False,
        "success": True,
        "verdict": Verdict(correct=None, rule="exact"),
        "answer": "a",
        "stop_reason": StopReason.ANSWERED,
        "turns": 1,
        "tool_calls": 0,
        "split": "train",
        "licence": None,
        "system_prompt": "",
        "tool_schemas": (),
        "environment": "search",
        "environment_version": "1",
        "provenance": PROVENANCE,
    }
    return TrajectoryRow(**{**values, **changes})


def rejection(number: int, **changes: Any) -> Rejection:
    values: dict[str, Any] = {"stage": "s", "row_id": str(number), "reason": Reason.EMPTY, "detail": ""}
    return Rejection(**{**values, **changes})


@pytest.mark.parametrize("name", sorted(TABLES))
def test_any_row_comes_back(name: str) -> None:
    row_type = TABLES[name]

    @settings(max_examples=40)
    @given(st.lists(rows_of(row_type), max_size=4))
    def check(rows: list[Any]) -> None:
        table = to_arrow(rows, row_type)
        assert table.schema.equals(arrow_schema(row_type), check_metadata=True)
        back = from_arrow(table, row_type)
        assert back == rows
        # == takes 1 for 1.0 and True, and -0.0 for 0.0: the text tells them apart.
        assert [repr(row) for row in map(_sorted_keys, back)] == [repr(row) for row in map(_sorted_keys, rows)]
        sink = io.BytesIO()
        pq.write_table(table, sink)
        assert from_arrow(pq.read_table(sink), row_type) == rows
        assert [RowReader(table, row_type).row(number) for number in range(len(rows))] == rows

    check()


def _sorted_keys(row: Row) -> Any:
    """Canonical JSON sorts the keys of objects: that order is not part of a row."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walk(value[key]) for key in sorted(value)}
        if isinstance(value, list | tuple):
            return type(value)(map(walk, value))
        return value

    return walk(row.model_dump())


@settings(max_examples=40)
@given(st.lists(rows_of(TrajectoryRow), min_size=1, max_size=4), st.data())
def test_slices_and_single_rows(rows: list[TrajectoryRow], data: st.DataObject) -> None:
    table = to_arrow(rows, TrajectoryRow)
    start = data.draw(st.integers(0, len(rows)))
    stop = data.draw(st.integers(start, len(rows)))
    assert from_arrow(table.slice(start, stop - start), TrajectoryRow) == rows[start:stop]
    number = data.draw(st.integers(0, len(rows) - 1))
    assert from_arrow(table.slice(number, 1), TrajectoryRow) == [rows[number]]
    pieces = pa.concat_tables([table.slice(0, start), table.slice(start)])
    assert RowReader(pieces, TrajectoryRow).row(number) == rows[number]


def test_none_is_not_an_empty_tuple() -> None:
    rows = [trajectory_row((), available_custom_tools=value) for value in (None, (), ("a",), None, ("", "b"))]
    back = from_arrow(to_arrow(rows, TrajectoryRow), TrajectoryRow)
    assert [row.available_custom_tools for row in back] == [None, (), ("a",), None, ("", "b")]


def test_a_nested_struct_may_be_absent() -> None:
    page = WebObservation(html=None, axtree="x", url=None, image_observation=None, viewport_size=(3, 4))
    rows = [trajectory_row((page, MessageAction(content="é"))), trajectory_row(())]
    assert from_arrow(to_arrow(rows, TrajectoryRow), TrajectoryRow) == rows


def test_many_batches_keep_order() -> None:
    rows = [rejection(number) for number in range(20_000)]
    table = to_arrow(iter(rows), Rejection)
    assert table.column("row_id").num_chunks > 1
    assert from_arrow(table, Rejection) == rows
    assert from_arrow(table.slice(19_999), Rejection) == rows[-1:]


def test_empty_table_has_the_schema() -> None:
    for row_type in TABLES.values():
        table = to_arrow([], row_type)
        assert table.schema.equals(arrow_schema(row_type), check_metadata=True)
        assert from_arrow(table, row_type) == []


def test_other_string_types_are_taken() -> None:
    rows = [trajectory_row((ApiAction(function="f", kwargs={"a": [1]}), TextObservation(content="x", source="user")))]
    table = pl.from_arrow(to_arrow(rows, TrajectoryRow)).to_arrow()
    assert table.schema.field("id").type != pa.string()
    assert from_arrow(table, TrajectoryRow) == rows


def test_json_columns_are_known_and_canonical() -> None:
    assert parquet_json_columns(TrajectoryRow) == ("content.kwargs", "details", "tool_schemas", "provenance.sampling")
    assert parquet_json_columns(Task) == ("details", "provenance.sampling")
    assert parquet_json_columns(Edge) == ()

    @given(OBJECT)
    def check(value: dict[str, Any]) -> None:
        table = to_arrow([PROVENANCE.model_copy(update={"sampling": value})], Provenance)
        assert table.column("sampling")[0].as_py() == canonical_json(value)

    check()


def test_schema_names_table_and_version() -> None:
    metadata = arrow_schema(TrajectoryRow).metadata
    assert metadata == {b"synth.table": b"trajectories", b"synth.schema_version": SCHEMA_VERSION.encode()}


def test_the_union_is_one_struct_and_no_map_or_union_type_is_used() -> None:
    def kinds(kind: pa.DataType) -> list[pa.DataType]:
        return [kind, *(inner for place in range(kind.num_fields) for inner in kinds(kind.field(place).type))]

    content = arrow_schema(TrajectoryRow).field("content").type
    assert pa.types.is_list(content)
    names = [field.name for field in content.value_type]
    assert names[0] == "class_"
    assert len(names) == len(set(names))
    for row_type in TABLES.values():
        for field in arrow_schema(row_type):
            for kind in kinds(field.type):
                assert not pa.types.is_map(kind)
                assert not pa.types.is_union(kind)
                assert not pa.types.is_dictionary(kind)


def test_literals_have_the_type_of_their_values() -> None:
    schema = arrow_schema(StepRow)
    assert (schema.field("label").type, schema.field("split").type) == (pa.int64(), pa.string())

    class Mixed(Row):
        value: Literal["a", 1]

    with pytest.raises(TypeError, match="no Arrow type"):
        arrow_schema(Mixed)


# --- what is refused, and how it is said -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, {1: 2}, {"a": {2: 3}}, {"a": object()}, {"a": "\ud800"}, {"a": {1, 2}}, deep(400), 10**5000],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_json_is_refused_when_the_row_is_made(value: Any) -> None:
    with pytest.raises(ValueError, match="kwargs"):
        ApiAction(function="f", kwargs=value if isinstance(value, dict) else {"a": value})


def test_json_objects_are_copied() -> None:
    inner = [1]
    kwargs = {"a": inner, "b": (1, 2)}
    action = ApiAction(function="f", kwargs=kwargs)
    inner.append(2)
    assert action.kwargs == {"a": [1], "b": [1, 2]}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_no_float_of_a_row_is_without_a_value(value: float) -> None:
    with pytest.raises(ValueError, match="finite"):
        MessageAction(content="x", reward=value)


def test_a_text_without_utf8_names_its_row() -> None:
    rows = [rejection(number, detail="\udfff" if number == 7 else "") for number in range(9)]
    with pytest.raises(RowError, match="row 7"):
        to_arrow(rows, Rejection)


def test_an_integer_over_64_bits_names_its_row() -> None:
    rows = [trajectory_row(()), trajectory_row((), turns=2**63)]
    with pytest.raises(RowError, match="row 1 \\(t1\\)"):
        to_arrow(rows, TrajectoryRow)


def test_a_row_of_another_type_is_refused() -> None:
    with pytest.raises(TypeError, match="row 1 is a Provenance"):
        to_arrow([rejection(0), PROVENANCE], Rejection)


def test_a_table_of_another_schema_is_refused() -> None:
    table = to_arrow([rejection(0)], Rejection)
    with pytest.raises(RowError, match="lacks column preview"):
        from_arrow(table.drop_columns(["preview"]), Rejection)
    with pytest.raises(RowError, match="unknown column more"):
        from_arrow(table.append_column("more", pa.array([1])), Rejection)
    with pytest.raises(RowError, match="another order"):
        from_arrow(table.select(list(reversed(table.schema.names))), Rejection)
    with pytest.raises(RowError, match="column detail"):
        from_arrow(table.set_column(3, "detail", pa.array([[1]])), Rejection)


def test_a_row_that_breaks_its_type_is_named_with_the_path() -> None:
    row = trajectory_row((MessageAction(content="x"),))
    table = to_arrow([row, row], TrajectoryRow)
    wrong = table.set_column(table.schema.get_field_index("role"), "role", pa.array(["teacher", "boss"]))
    with pytest.raises(RowError, match=r"row \[1\].role: "):
        from_arrow(wrong, TrajectoryRow)


def test_a_field_of_another_member_is_refused_by_name() -> None:
    table = to_arrow([trajectory_row((MessageAction(content="x"),))], TrajectoryRow)
    plain = to_plain(table, TrajectoryRow)
    assert plain[0]["content"] == [
        {"class_": "message_action", "content": "x", "description": None, "reasoning_content": None, "reward": None}
    ]
    struct = table.column("content").combine_chunks().flatten()
    columns = [
        pa.array(["smuggled"]) if struct.type.field(place).name == "html" else struct.field(place)
        for place in range(struct.type.num_fields)
    ]
    items = pa.StructArray.from_arrays(columns, fields=list(struct.type))
    lists = pa.ListArray.from_arrays([0, 1], items)
    wrong = table.set_column(table.schema.get_field_index("content"), "content", lists)
    with pytest.raises(RowError, match=r"content\[0\].html: unknown field"):
        from_arrow(wrong, TrajectoryRow)


def test_text_that_is_no_json_is_refused() -> None:
    table = to_arrow([trajectory_row(())], TrajectoryRow)
    wrong = table.set_column(table.schema.get_field_index("details"), "details", pa.array(["{"]))
    with pytest.raises(RowError, match="no JSON"):
        from_arrow(wrong, TrajectoryRow)


def test_a_field_without_an_arrow_type_is_refused_when_the_schema_is_made() -> None:
    class Loose(Row):
        values: dict[str, int] = {}

    class Strict(Row):
        values: JsonObject = {}

    with pytest.raises(TypeError, match="no Arrow type"):
        arrow_schema(Loose)
    assert arrow_schema(Strict).field("values").type == pa.string()


# --- the ADP object --------------------------------------------------------------------------------------------------


def test_trajectory_of_needs_the_adp_columns_only() -> None:
    content = (
        TextObservation(content="q", source="user"),
        ApiAction(function="f", kwargs={"a": 1}, tool_call_id="c"),
        TextObservation(content="r", source="environment", tool_call_id="c"),
        MessageAction(content="a"),
    )
    row = trajectory_row(content, details={"x": 1}, available_custom_tools=("f",))
    back = from_arrow(to_arrow([row], TrajectoryRow), TrajectoryRow)[0]
    assert trajectory_of(back) == Trajectory(
        schema_version=ADP_VERSION, id="t1", content=content, available_custom_tools=("f",), details={"x": 1}
    )


def test_trajectory_of_checks_the_rules() -> None:
    content = (ApiAction(function="f", kwargs={}), TextObservation(content="r", source="environment"))
    with pytest.raises(ValueError, match=r"content\[0\].tool_call_id: missing"):
        trajectory_of(trajectory_row(content))


def test_documents_of_a_million_characters() -> None:
    text = "é\U0001f9ed " * 400_000
    rows = [Document(id=str(number), title="t", text=text, kind="page", source="s") for number in range(3)]
    assert from_arrow(to_arrow(rows, Document), Document) == rows
