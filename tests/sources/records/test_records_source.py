"""Records to documents: JSON Lines (plain, gzip, zstd) and Parquet; links, triples, and every kind of bad record."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import InputError
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.rejections import Reason
from synth.sources.records.source import Records, RecordsConfig, RecordsSource
from synth.sources.records.triples import Triple, graph_tables

GOOD: list[dict[str, Any]] = [
    {"id": "one", "title": "One", "text": "One is near Two. One was built in 1900 by Ann Lee.", "licence": "MIT"},
    {"id": "two", "text": "Two\nis the second.", "date": "2020-01-02", "url": "https://example.org/2"},
]


def lines(*records: Any) -> bytes:
    return b"".join((r if isinstance(r, bytes) else json.dumps(r).encode()) + b"\n" for r in records)


def read_all(path: Path, **changes: Any) -> Records:
    source = RecordsSource(RecordsConfig(path=str(path), **changes))
    return source.read(source.files)


def write_as(folder: Path, kind: str) -> Path:
    path = folder / f"data.{kind}"
    data = lines(*GOOD)
    if kind == "jsonl.gz":
        path.write_bytes(gzip.compress(data))
    elif kind == "jsonl.zst":
        with pa.output_stream(str(path), compression="zstd") as stream:
            stream.write(data)
    elif kind == "parquet":
        pq.write_table(
            pa.Table.from_pylist(
                GOOD, schema=pa.schema([(k, pa.string()) for k in ("id", "title", "text", "licence", "date", "url")])
            ),
            path,
        )
    else:
        path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", ["jsonl", "jsonl.gz", "jsonl.zst", "parquet"])
def test_every_format_gives_the_same_documents(tmp_path: Path, kind: str) -> None:
    found = read_all(write_as(tmp_path, kind))
    assert not found.rejected
    one, two = found.documents
    assert (one.id, one.title, one.licence, one.kind) == ("one", "One", "MIT", "page")
    assert (two.title, two.date, two.url) == ("Two", "2020-01-02", "https://example.org/2")
    assert one.path == f"data.{kind}"


def test_every_bad_record_is_rejected_with_file_and_number(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(
        lines(
            {"id": "a", "text": "Good text."},
            b'{"id": "torn", "text": "no end',
            [1, 2],
            b"\xff\xfe not utf-8",
            {"id": "b"},
            {"id": "b", "text": 7},
            {"id": "b", "text": "  "},
            {"id": "a", "text": "Another text."},
            {"id": "c", "text": "Good text."},
            {"id": "d", "text": "x" * 300},
            {"id": "e", "text": "nul \0 here"},
            {"id": "f", "text": "f", "title": 3},
            {"id": "g", "text": "g", "date": "yesterday"},
            {"id": "h", "text": "h", "links": [{"anchor": "nowhere", "target": "a"}]},
            {"id": "i", "text": "i", "links": [{"start": 0, "end": 99, "target": "a"}]},
            {"id": "j", "text": "j", "links": "no list"},
            b"",
            {"text": "No id of its own."},
        )
    )
    found = read_all(path, max_bytes=200)
    assert [d.id for d in found.documents] == ["a", "bad.jsonl#18"]
    assert {r.row_id.removeprefix("bad.jsonl#"): r.reason for r in found.rejected} == {
        "2": Reason.MALFORMED,
        "3": Reason.MALFORMED,
        "4": Reason.NOT_TEXT,
        "5": Reason.MALFORMED,
        "6": Reason.MALFORMED,
        "7": Reason.EMPTY,
        "8": Reason.DUPLICATE_ID,
        "9": Reason.DUPLICATE_CONTENT,
        "10": Reason.TOO_LARGE,
        "11": Reason.NOT_TEXT,
        "12": Reason.MALFORMED,
        "13": Reason.MALFORMED,
        "14": Reason.MALFORMED,
        "15": Reason.MALFORMED,
        "16": Reason.MALFORMED,
    }


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("cut.jsonl.gz", gzip.compress(lines(*GOOD), mtime=0)[:-12]),
        ("no.parquet", b"PAR1 not really"),
        ("empty.jsonl", b""),
    ],
)
def test_a_damaged_file_is_a_rejection_and_the_others_are_read(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    (tmp_path / "z.jsonl").write_bytes(lines({"id": "good", "text": "Good."}))
    found = read_all(tmp_path)
    assert "good" in {d.id for d in found.documents}
    assert {r.reason for r in found.rejected if r.row_id == name} == {Reason.EMPTY if not data else Reason.UNREADABLE}


def test_parquet_without_the_text_column_and_with_mapped_columns(tmp_path: Path) -> None:
    pq.write_table(pa.table({"content": ["Some text."], "key": [7]}), tmp_path / "a.parquet")
    assert [r.reason for r in read_all(tmp_path).rejected] == [Reason.MALFORMED]
    mapped = read_all(tmp_path, columns={"text": "content", "id": "key"})
    assert [(d.id, d.text) for d in mapped.documents] == [("7", "Some text.")]


def test_links_by_place_and_by_anchor(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    link_sets = [
        {"start": 0, "end": 4, "target": "b#part"},
        {"anchor": "cat", "target": "b"},
        {"anchor": "See", "target": "gone"},
    ]
    path.write_bytes(
        lines({"id": "a", "text": "Some concat and cat. See.", "links": link_sets}, {"id": "b", "text": "B."})
    )
    document = read_all(path).documents[0]
    assert [(document.text[k.start : k.end], k.target, k.fragment) for k in document.links] == [
        ("Some", "b", "part"),
        ("cat", "b", None),
    ]
    assert document.links[1].start == 16


def test_triples_are_located_or_refused_and_become_edges(tmp_path: Path) -> None:
    triples = [
        {"subject": "One", "relation": "near", "object": "Two", "quote": "One is near Two."},
        {"subject": "One", "relation": "built_in", "object": 1900},
        {"subject": "One", "relation": "built_by", "object": "Ann Lee"},
        {"subject": "One", "relation": "owned_by", "object": "Nobody"},
        {"subject": "One", "relation": "near", "object": "Two", "quote": "not there"},
        {"subject": "One", "relation": "near"},
    ]
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines(GOOD[0] | {"triples": triples}, GOOD[1]))
    found = read_all(path)
    assert [(r.row_id, r.reason) for r in found.rejected] == [
        ("a.jsonl#1/triples/3", Reason.NO_EVIDENCE),
        ("a.jsonl#1/triples/4", Reason.NO_EVIDENCE),
        ("a.jsonl#1/triples/5", Reason.MALFORMED),
    ]
    documents = to_arrow(found.documents, Document)
    entities, edges = graph_tables(documents, to_arrow(found.triples, Triple))
    names = {e.ordinal: e for e in from_arrow(entities, Entity)}
    stated = {}
    for edge in from_arrow(edges, Edge):
        if edge.relation in ("near", "built_in", "built_by"):
            end = names[edge.object].id if edge.object >= 0 else edge.value
            stated[names[edge.subject].id, edge.relation, end] = found.documents[edge.document].text[
                edge.start : edge.end
            ]
    assert stated == {
        ("one", "near", "two"): "One is near Two.",
        ("one", "built_in", "1900"): "One was built in 1900 by Ann Lee.",
        ("one", "built_by", "thing:ann lee"): "One was built in 1900 by Ann Lee.",
    }


def test_shards_give_the_rows_of_the_whole(tmp_path: Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.jsonl").write_bytes(
            lines({"id": "same", "text": f"t{n}"}, {"id": f"id{n}", "text": "shared"})
        )
    config = RecordsConfig(path=str(tmp_path))
    source = RecordsSource(config)
    whole = source.read(source.files)
    parts = [RecordsSource(config).read([name]) for name in source.files]
    assert [d for p in parts for d in p.documents] == whole.documents
    assert [r for p in parts for r in p.rejected] == whole.rejected
    assert {d.id for d in whole.documents} == {"same", "id0"}
    before = RecordsSource(config).digest()
    (tmp_path / "2.jsonl").write_bytes(b"")
    assert RecordsSource(config).digest() != before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"path": "missing"}, "there is no file or folder"),
        ({"path": "."}, "no file under"),
        ({"path": ".", "columns": {"body": "x"}}, "no column 'body'"),
    ],
)
def test_an_impossible_source_is_one_clear_line(tmp_path: Path, config: dict[str, Any], message: str) -> None:
    config["path"] = str(tmp_path / config["path"])
    with pytest.raises(InputError, match=message):
        RecordsSource(RecordsConfig(**config))


@given(
    st.lists(
        st.one_of(
            st.binary(max_size=30),
            st.dictionaries(st.sampled_from(["id", "text", "links"]), st.text(max_size=5) | st.none()),
        ),
        max_size=6,
    )
)
def test_any_lines_end_as_documents_or_rejections(tmp_path_factory: pytest.TempPathFactory, records: list[Any]) -> None:
    path = tmp_path_factory.mktemp("any") / "a.jsonl"
    path.write_bytes(lines(*(r.replace(b"\n", b" ") if isinstance(r, bytes) else r for r in records)) or b" ")
    read_all(path)
