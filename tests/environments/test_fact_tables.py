"""Tables as a tool: what SQLite answers over facts and over the tables of a page, and what it is not let do."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from synth.environments.contract import ToolCall
from synth.environments.fact_tables import FactTables, fact_tables, queried
from synth.environments.pages import read
from synth.environments.shown import Rows
from synth.graph.graph import Graph
from synth.schemas.arrow import arrow_schema
from synth.schemas.documents import Anchor, Document, Edge, Entity

_LAKES = (("Orn", "120 km²", ("Ask", "Bex")), ("Ull", "80 km²", ("Ask",)), ("Vey", None, ()))


def _tables() -> FactTables:
    names = [*(name for name, *_ in _LAKES), "Ask", "Bex"]
    kinds = ["lake"] * 3 + ["land"] * 2
    own = [
        {"ordinal": at, "id": name.lower(), "name": name, "kind": kind, "aliases": [], "document": at}
        for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    place = {"document": 0, "start": 0, "end": 1}
    facts = [
        {"subject": at, "relation": "area", "object": -1, "value": area, "value_kind": "quantity", **place}
        for at, (_, area, _) in enumerate(_LAKES)
        if area
    ]
    facts += [
        {
            "subject": at,
            "relation": "lies_in",
            "object": names.index(land),
            "value": None,
            "value_kind": "entity",
            **place,
        }
        for at, (_, _, lands) in enumerate(_LAKES)
        for land in lands
    ]
    facts.append(
        {"subject": 0, "relation": "found", "object": -1, "value": "1874-03-02", "value_kind": "date", **place}
    )
    entities = pa.Table.from_pylist([{**one, "partition": "train"} for one in own], schema=arrow_schema(Entity))
    graph = Graph.build(entities, pa.Table.from_pylist(facts, schema=arrow_schema(Edge)))
    inputs = SimpleNamespace(table=lambda _: SimpleNamespace(arrow=entities), arrays=lambda _: graph.to_arrays())
    return fact_tables(inputs=inputs)


def _ask(sql: str, document: Document | None = None) -> Rows | str:
    call = ToolCall(id="call", name="query", arguments={"sql": sql})
    answered = queried(call, _tables(), document)
    if answered.error is not None:
        return answered.content
    shown = read(answered.content)
    assert isinstance(shown, Rows)
    return shown


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT * FROM tables", (("lake", "name, area, found, lies_in", "lies_in", "3"), ("land", "name", "", "2"))),
        ("SELECT name, area FROM lake ORDER BY area", (("Vey", ""), ("Ull", "80 km²"), ("Orn", "120 km²"))),
        ("SELECT SUM(area) FROM lake WHERE lies_in LIKE '%Ask%'", (("200 km²",),)),
        ("SELECT COUNT(*) FROM lake", (("3",),)),
        ("SELECT AVG(area) / 3 FROM lake", (("33.333333",),)),
        ("SELECT found FROM lake WHERE found IS NOT NULL", (("2 March 1874",),)),
        ("SELECT lies_in FROM lake WHERE name = 'Orn'", (("Ask; Bex",),)),
        ("SELECT name FROM lake WHERE area > 1000", ()),
    ],
)
def test_facts_are_rows(sql: str, rows: tuple[tuple[str, ...], ...]) -> None:
    shown = _ask(sql)
    assert isinstance(shown, Rows)
    assert (shown.rows, shown.total, shown.sql) == (rows, len(rows), sql)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("DROP TABLE lake", "SQLite says: not authorized"),
        ("ATTACH '/tmp/x' AS x", "SQLite says: not authorized"),
        ("SELECT load_extension('x')", "not authorized"),
        ("SELECT random() FROM lake", "not authorized"),
        ("SELECT depth FROM lake", "no such column: depth"),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n", "not authorized"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("", "Only a SELECT is answered."),
    ],
)
def test_only_one_select_is_answered(sql: str, words: str) -> None:
    said = _ask(sql)
    assert isinstance(said, str)
    assert words in said
    assert "\n" not in said


def test_a_query_that_never_ends_is_stopped() -> None:
    joined = ", ".join(f"lake AS l{number}" for number in range(24))
    assert _ask(f"SELECT COUNT(*) FROM {joined}") == "SQLite says: interrupted."


def test_tables_of_a_page_have_its_headings() -> None:
    lines = ["Depths", "Lake | Depth | Note", "Orn | 1,200 m | deep", "Ull | 90 m | x"]
    start = len(lines[0]) + 2
    page = Document(
        id="depths",
        title="Depths",
        text=f"{lines[0]}\n\n" + "\n".join(lines[1:]),
        kind="page",
        anchors=(Anchor(name="t", start=start, end=start + len(lines[1]), kind="columns"),),
        source="own",
    )
    shown = _ask("SELECT Lake, Depth FROM t1 WHERE Depth > 100", page)
    assert isinstance(shown, Rows)
    assert shown.rows == (("Orn", "1,200 m"),)
    assert _ask("SELECT * FROM lake", page) == "SQLite says: no such table: lake."
