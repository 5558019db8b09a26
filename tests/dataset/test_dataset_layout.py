"""Files of a finished dataset: names, sizes, bytes, and who opens them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from critical_samples import whole_tables
from exporter_samples import page, sample_report, trajectory
from shared_builds import hashes

from synth.dataset.configs import config_named
from synth.dataset.layout import write_config, write_dataset
from synth.errors import StoreError
from synth.schemas.arrow import arrow_schema, from_arrow, to_arrow
from synth.schemas.documents import Document
from synth.schemas.reports import BuildReport
from synth.schemas.trajectories import TrajectoryRow


def written(folder: Path, **changes: object) -> tuple[BuildReport, dict[str, str]]:
    tables = {**whole_tables(), **changes}
    report = write_dataset(folder, tables, sample_report(whole_tables()))  # type: ignore[arg-type]
    return report, hashes(folder)


def shattered(table: pa.Table, seed: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of random sizes, some cut out of larger buffers, some with spare null bitmaps."""
    generator = random.Random(seed)
    start = 0
    while start < table.num_rows:
        size = generator.randint(1, 7)
        piece = table.slice(start, size)
        if generator.random() < 0.5:
            piece = pa.concat_tables([piece, table.slice(0, 1)]).combine_chunks().slice(0, piece.num_rows)
        yield from piece.to_batches()
        start += size


def test_names(finished: Path) -> None:
    names = sorted(hashes(finished))
    pages = [name for name in names if name.startswith("columns/")]
    assert pages == [
        f"columns/{config}.md" for config in sorted({name.split("/")[0] for name in names if "-of-" in name})
    ]
    assert [name for name in names if name not in pages] == [
        "README.md",
        "continuations/test-00000-of-00001.parquet",
        "continuations/train-00000-of-00001.parquet",
        "continuations/validation-00000-of-00001.parquet",
        "documents/corpus-00000-of-00001.parquet",
        "entities/graph-00000-of-00001.parquet",
        "facts/graph-00000-of-00001.parquet",
        "plots/critical.svg",
        "plots/labels.svg",
        "plots/pairs.svg",
        "plots/rejections.svg",
        "plots/success.svg",
        "plots/yields.svg",
        "preferences/test-00000-of-00001.parquet",
        "preferences/train-00000-of-00001.parquet",
        "preferences/validation-00000-of-00001.parquet",
        "recipe.yaml",
        "rejected/rejected-00000-of-00001.parquet",
        "report.json",
        "steps/test-00000-of-00001.parquet",
        "steps/train-00000-of-00001.parquet",
        "steps/validation-00000-of-00001.parquet",
        "tasks/test-00000-of-00001.parquet",
        "tasks/train-00000-of-00001.parquet",
        "tasks/validation-00000-of-00001.parquet",
        "trajectories/test-00000-of-00001.parquet",
        "trajectories/train-00000-of-00001.parquet",
        "trajectories/validation-00000-of-00001.parquet",
    ]


def test_bytes_do_not_depend_on_how_rows_arrive(finished: Path, tmp_path: Path) -> None:
    for seed in range(3):
        batches = {name: shattered(table, seed) for name, table in whole_tables().items()}
        assert written(tmp_path / str(seed), **batches)[1] == hashes(finished)


def test_bytes_across_row_groups_do_not_depend_on_how_rows_arrive(tmp_path: Path) -> None:
    table = to_arrow(
        [trajectory(number, role) for number in range(160) for role in ("policy", "teacher")], TrajectoryRow
    )
    config = config_named("trajectories")
    write_config(tmp_path / "a", config, _made(tmp_path / "a", table.to_batches()), file_bytes=40_000)
    write_config(tmp_path / "b", config, _made(tmp_path / "b", shattered(table, 5)), file_bytes=40_000)
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")


def _made(folder: Path, batches: object) -> Iterator[pa.RecordBatch]:
    folder.mkdir()
    return batches  # type: ignore[return-value]


def test_rows_come_back_in_order(finished: Path) -> None:
    tables = whole_tables()
    for config in map(config_named, tables):
        rows = from_arrow(tables[config.name], config.row_type)
        for split in config.splits:
            file = finished / config.name / f"{split}-00000-of-00001.parquet"
            wanted = [row for row in rows if config.sole_split or row.split == split]  # type: ignore[attr-defined]
            assert from_arrow(pq.read_table(file), config.row_type) == wanted


def test_files_are_cut_by_size_and_numbered(tmp_path: Path) -> None:
    # Text that does not compress away.
    noise = random.Random(1)
    pages = [
        page(number).model_copy(update={"text": f"{noise.getrandbits(8_000):x}", "sections": (), "links": ()})
        for number in range(2_300)
    ]
    table = to_arrow(pages, Document)
    (tmp_path / "out").mkdir()
    sizes = write_config(tmp_path / "out", config_named("documents"), table.to_batches(), file_bytes=900_000)
    names = sorted(path.name for path in (tmp_path / "out" / "documents").iterdir())
    assert len(names) > 1
    assert names == [f"corpus-{number:05d}-of-{len(names):05d}.parquet" for number in range(len(names))]
    assert sizes["corpus"][0] == 2_300
    assert sizes["corpus"][1].files == len(names)
    back = [row for name in names for row in from_arrow(pq.read_table(tmp_path / "out" / "documents" / name), Document)]
    assert back == pages
    for name in names:
        footer = pq.read_metadata(tmp_path / "out" / "documents" / name)
        groups = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
        assert max(groups) <= 500


def test_small_row_groups_page_index_and_metadata(finished: Path) -> None:
    for config in map(config_named, whole_tables()):
        for path in (finished / config.name).iterdir():
            footer = pq.read_metadata(path)
            assert footer.num_rows > 0
            for group in range(footer.num_row_groups):
                assert footer.row_group(group).num_rows <= config.rows_per_group
                for column in range(footer.num_columns):
                    assert footer.row_group(group).column(column).has_offset_index
            schema = pq.read_schema(path)
            assert schema.equals(arrow_schema(config.row_type))
            assert schema.metadata == arrow_schema(config.row_type).metadata


def test_pages_follow_content(tmp_path: Path) -> None:
    """One row more at the front changes few bytes of a long column: the Hub stores the rest once."""
    noise = random.Random(2)
    pages = [
        page(number).model_copy(update={"text": f"{noise.getrandbits(40_000):x}", "sections": (), "links": ()})
        for number in range(400)
    ]
    for name, rows in (("a", pages), ("b", [page(9_999), *pages])):
        (tmp_path / name).mkdir()
        write_config(tmp_path / name, config_named("documents"), to_arrow(rows, Document).to_batches())

    plain = tmp_path / "plain.parquet"
    # The control is the same but for the one option.
    pq.write_table(
        to_arrow([page(9_999), *pages], Document), plain, compression="zstd", compression_level=6, write_page_index=True
    )
    first = (tmp_path / "a" / "documents" / "corpus-00000-of-00001.parquet").read_bytes()
    second = (tmp_path / "b" / "documents" / "corpus-00000-of-00001.parquet").read_bytes()
    samples = [first[at : at + 512] for at in range(0, len(first), len(first) // 40)]
    assert sum(sample in second for sample in samples) > len(samples) / 2
    assert sum(sample in plain.read_bytes() for sample in samples) < len(samples) / 4


def test_the_report_is_completed(finished: Path) -> None:
    report = BuildReport.model_validate_json((finished / "report.json").read_bytes())
    assert {config: rows for config, rows in report.tables.items() if rows} == {
        "tasks": {"train": 12, "validation": 4, "test": 4},
        "trajectories": {"train": 24, "validation": 8, "test": 8},
        "steps": {"train": 72, "validation": 24, "test": 24},
        "continuations": {"train": 96, "validation": 32, "test": 32},
        "preferences": {"train": 21, "validation": 7, "test": 7},
        "documents": {"corpus": 62},
        "entities": {"graph": 62},
        "facts": {"graph": 62},
        "rejected": {"rejected": 4},
    }
    assert [(of.shape, of.accepted, of.rejected) for of in report.task_yields] == [("composition", 20, {})]
    assert report.document_licences == {"CC0-1.0": 62}
    assert [(line.role, line.hops, line.trajectories, line.successes) for line in report.outcomes] == [
        ("policy", 2, 20, 10),
        ("teacher", 2, 20, 20),
    ]
    assert [(of.role, of.helps, of.neutral, of.harms) for of in report.labels] == [
        ("policy", 40, 0, 20),
        ("teacher", 60, 0, 0),
    ]
    assert [(of.outcome, of.steps, of.verified, of.continuations, of.pairs) for of in report.critical] == [
        ("failed", 30, 10, 80, 10),
        ("succeeded", 30, 10, 80, 10),
    ]
    assert [(of.kind, of.pairs, of.selected) for of in report.pairs] == [
        ("verified_step", 10, 10),
        ("verified_step_success", 10, 10),
        ("trajectory", 10, 10),
        ("perturbation", 5, 0),
    ]
    for config, splits in report.sizes.items():
        for split, size in splits.items():
            files = list((finished / config).glob(f"{split}-*"))
            assert size.files == len(files)
            assert size.bytes == sum(path.stat().st_size for path in files)
            assert size.uncompressed_bytes > 0


def test_datasets_opens_every_config(finished: Path) -> None:
    import datasets

    expected = {"tasks": 20, "trajectories": 40, "documents": 62, "rejected": 4}
    expected |= {"steps": 120, "continuations": 160, "preferences": 35}
    for name, rows in expected.items():
        opened = datasets.load_dataset(str(finished), name)
        assert {split: len(part) for split, part in opened.items()}
        assert sum(len(part) for part in opened.values()) == rows
        for split, part in opened.items():
            file = finished / name / f"{split}-00000-of-00001.parquet"
            row_type = config_named(name).row_type
            assert from_arrow(part.with_format("arrow")[:], row_type) == from_arrow(pq.read_table(file), row_type)
    assert sum(map(len, datasets.load_dataset(str(finished)).values())) == 40  # trajectories are the default


def test_datasets_streams_every_config(finished: Path) -> None:
    import datasets

    for name, split, rows in (("tasks", "test", 4), ("documents", "corpus", 62), ("rejected", "rejected", 4)):
        assert len(list(datasets.load_dataset(str(finished), name, split=split, streaming=True))) == rows


def test_datasets_notices_missing_rows(finished: Path, tmp_path: Path) -> None:
    import datasets

    copy = tmp_path / "copy"
    written(copy)
    file = copy / "documents" / "corpus-00000-of-00001.parquet"
    pq.write_table(pq.read_table(file).slice(1), file)
    with pytest.raises(datasets.exceptions.NonMatchingSplitsSizesError, match="num_examples=61"):
        datasets.load_dataset(str(copy), "documents")


def test_polars_opens_every_config(finished: Path) -> None:
    assert pl.scan_parquet(finished / "trajectories" / "*.parquet").select(pl.len()).collect().item() == 40
    frame = pl.read_parquet(finished / "tasks" / "*.parquet")
    assert frame.select(pl.col("details").str.json_path_match("$.hub_count").cast(int).max()).item() == 19


@pytest.mark.parametrize("empty", ["rejected", "documents", "trajectories", "steps", "continuations", "preferences"])
def test_an_empty_config_is_left_out_and_said(empty: str, tmp_path: Path) -> None:
    import datasets

    schema = arrow_schema(config_named(empty).row_type)
    report, files = written(tmp_path / "out", **{empty: schema.empty_table()})
    assert report.tables[empty] == {}
    assert not any(name.startswith(empty) for name in files)
    card = (tmp_path / "out" / "README.md").read_text()
    (said,) = (line for line in card.splitlines() if "without a config: " in line)
    assert f"`{empty}`" in said
    assert f"config_name: {empty}" not in card
    assert set(datasets.get_dataset_config_names(str(tmp_path / "out"))) == {
        name for name in whole_tables() if name != empty
    }
    assert datasets.load_dataset(str(tmp_path / "out"), "tasks", split="train").num_rows == 12


def test_an_empty_split_is_left_out(tmp_path: Path) -> None:
    table = whole_tables()["tasks"]
    report, files = written(tmp_path / "out", tasks=table.filter(pc.not_equal(table["split"], "test")))
    assert report.tables["tasks"] == {"train": 12, "validation": 4}
    assert "tasks/test-00000-of-00001.parquet" not in files


def test_what_can_not_be_written_is_refused(tmp_path: Path) -> None:
    tables = whole_tables()
    report = sample_report(tables)
    with pytest.raises(KeyError, match="walks"):
        write_dataset(tmp_path / "a", {**tables, "walks": tables["tasks"]}, report)
    with pytest.raises(ValueError, match="tasks: a batch has another schema"):
        write_dataset(tmp_path / "b", {**tables, "tasks": tables["rejected"]}, report)
    wrong = tables["tasks"].set_column(
        tables["tasks"].schema.get_field_index("split"), "split", pa.array(["dev"] * tables["tasks"].num_rows)
    )
    with pytest.raises(ValueError, match="tasks: a row is of split 'dev'"):
        write_dataset(tmp_path / "c", {**tables, "tasks": wrong}, report)
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="not empty"):
        write_dataset(tmp_path / "d", tables, report)
    (tmp_path / "e").write_text("a file")
    with pytest.raises(StoreError, match="e: "):
        write_dataset(tmp_path / "e", tables, report)


def test_memory_holds_a_few_row_groups(tmp_path: Path) -> None:
    """Batches are made one by one and freed: what is alive at once stays far below all rows."""
    rows = 40
    made = pa.total_allocated_bytes()
    peak = 0

    def batches() -> Iterator[pa.RecordBatch]:
        nonlocal peak
        for number in range(rows):
            peak = max(peak, pa.total_allocated_bytes() - made)
            text = f"{number} " + "x" * 10_000
            pages = [
                page(place).model_copy(update={"id": f"{number}-{place}", "text": text, "sections": (), "links": ()})
                for place in range(250)
            ]
            yield from to_arrow(pages, Document).to_batches()

    (tmp_path / "out").mkdir()
    sizes = write_config(tmp_path / "out", config_named("documents"), batches())
    assert sizes["corpus"][0] == 250 * rows
    assert peak < 250 * rows * 10_000 / 2
