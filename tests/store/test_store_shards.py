"""Shards, the store's folder, listing and pruning, and the dataset's move into place."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pytest

from synth.errors import StoreError
from synth.schemas.arrow import arrow_schema, to_arrow
from synth.schemas.row import Row
from synth.store import Store, StoredTable, activate, check_destination, publish
from synth.store.shards import ShardWriter, check_shard, read_manifest
from synth.store.tables import Part, StoredInputs, open_array, open_arrow


class Number(Row):
    table: ClassVar[str | None] = "numbers"

    id: str
    value: int


def numbers(count: int, first: int = 0) -> list[Number]:
    return [Number(id=f"n{number}", value=number) for number in range(first, first + count)]


def shard(path: Path, rows: list[Number]) -> None:
    with ShardWriter(path) as writer:
        writer.table("numbers", Number, rows)
        writer.array("squares", np.array([row.value**2 for row in rows]))
        writer.commit({"rows": len(rows)})


def test_a_shard_comes_back_as_it_was(tmp_path: Path) -> None:
    shard(tmp_path / "s", numbers(5))
    manifest = check_shard(tmp_path / "s", ["numbers"])
    assert manifest is not None
    assert manifest.facts == {"rows": 5}
    assert manifest.rows("numbers") == 5
    assert open_array(manifest.arrays()["squares"]).tolist() == [0, 1, 4, 9, 16]
    assert list(StoredTable(Number, [manifest.part("numbers")]).rows()) == numbers(5)
    assert check_shard(tmp_path / "s", ["others"]) is None
    with pytest.raises(KeyError):
        manifest.rows("others")


def test_equal_rows_give_equal_files(tmp_path: Path) -> None:
    shard(tmp_path / "a", numbers(50))
    with ShardWriter(tmp_path / "b") as writer:
        writer.table("numbers", Number, to_arrow(numbers(50), Number))
        writer.array("squares", np.arange(50) ** 2)
        writer.commit({"rows": 50})
    for name in ("numbers.arrow", "squares.npy", "manifest.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_without_commit_nothing_is_there(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "s") as writer:
        writer.table("numbers", Number, numbers(2))
        assert len(os.listdir(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


def test_a_shard_that_another_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "s") as writer:
        writer.table("numbers", Number, numbers(2))
        writer.array("squares", np.array([0, 1]))
        shard(tmp_path / "s", numbers(2))
        before = (tmp_path / "s").stat().st_ino
        writer.commit({"rows": 2})
    assert (tmp_path / "s").stat().st_ino == before
    assert os.listdir(tmp_path) == ["s"]


def test_a_table_of_another_schema_is_refused(tmp_path: Path) -> None:
    with ShardWriter(tmp_path / "s") as writer, pytest.raises(TypeError, match="not that of Number"):
        writer.table("numbers", Number, pa.table({"id": ["a"], "value": [1.5]}))


@pytest.mark.parametrize("file", ["numbers.arrow", "squares.npy", "manifest.json"])
def test_every_damaged_byte_is_noticed(tmp_path: Path, file: str) -> None:
    shard(tmp_path / "s", numbers(3))
    path = tmp_path / "s" / file
    data = path.read_bytes()
    step = max(1, len(data) // 40)
    for place in range(0, len(data) - 1, step):
        damaged = bytearray(data)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        assert check_shard(tmp_path / "s") is None, place
    path.unlink()
    assert check_shard(tmp_path / "s") is None
    path.write_bytes(data)
    assert check_shard(tmp_path / "s") is not None
    assert read_manifest(tmp_path / "nowhere") is None


def test_a_table_of_many_parts(tmp_path: Path) -> None:
    for first in (0, 300):
        shard(tmp_path / str(first), numbers(300, first))
    parts = [
        Part(tmp_path / "0" / "numbers.arrow", 10, 300),
        Part(tmp_path / "0" / "numbers.arrow", 0, 0),
        Part(tmp_path / "300" / "numbers.arrow", 0, 5),
    ]
    table = StoredTable(Number, parts)
    expected = numbers(295, 10)
    assert len(table) == 295
    assert list(table.rows()) == expected
    assert [table.row(place) for place in (0, 289, 290, 294)] == [expected[place] for place in (0, 289, 290, 294)]
    assert list(table.rows(288, 292)) == expected[288:292]
    assert list(table.rows(295)) == list(table.rows(4, 4)) == []
    assert table.arrow.schema.equals(arrow_schema(Number), check_metadata=True)
    assert list(table.head(291).rows()) == expected[:291]
    assert len(StoredTable(Number, []).arrow) == 0
    import pickle

    assert list(pickle.loads(pickle.dumps(table)).rows()) == expected


def test_a_table_that_an_older_version_wrote_is_one_line(tmp_path: Path) -> None:
    older = to_arrow(numbers(3), Number)
    with ShardWriter(tmp_path / "shard") as writer:
        writer.arrow("numbers", older.drop_columns([older.column_names[-1]]))
        writer.commit({"rows": 3})
    manifest = check_shard(tmp_path / "shard", ["numbers"])
    assert manifest is not None
    table = StoredTable(Number, [manifest.part("numbers")])
    for read in (lambda: list(table.rows()), lambda: table.row(0), lambda: table.arrow):
        with pytest.raises(StoreError, match=f"lacks column {older.column_names[-1]}.*give another --store"):
            read()


def test_broken_files_say_so(tmp_path: Path) -> None:
    (tmp_path / "bad.arrow").write_text("no table")
    (tmp_path / "bad.npy").write_text("no array")
    for call in (
        lambda: open_arrow(tmp_path / "bad.arrow"),
        lambda: open_array(tmp_path / "bad.npy"),
        lambda: open_arrow(tmp_path / "missing.arrow"),
        lambda: open_array(tmp_path / "missing.npy"),
    ):
        with pytest.raises(StoreError) as caught:
            call()
        assert str(tmp_path) in str(caught.value)
    with pytest.raises(KeyError, match="does not list 'b' in its reads"):
        StoredInputs({"a": StoredTable(Number, [])}, {}).table("b")
    with pytest.raises(KeyError, match="does not list 'b' in its reads"):
        StoredInputs({}, {}).arrays("b")


# --- the folder ------------------------------------------------------------------------------------------------------


def entry(store: Store, stage: str, fingerprint: str, dataset: str) -> Path:
    folder = store.stage(stage, fingerprint)
    folder.create({"fingerprint": fingerprint})
    shard(folder.shard(0, 1), numbers(3))
    folder.mark_complete({"shards": 1})
    folder.mark_used(dataset)
    return folder.path


def test_listing_and_pruning(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    old = entry(store, "graph", "a" * 64, "mine/yours")
    entry(store, "graph", "b" * 64, "other")
    both = entry(store, "pages", "c" * 64, "other")
    store.stage("pages", "c" * 64).mark_used("mine/yours")
    found = store.list()
    assert [(one.stage, one.fingerprint[0], one.shards, one.complete) for one in found] == [
        ("graph", "a", 1, True),
        ("graph", "b", 1, True),
        ("pages", "c", 1, True),
    ]
    assert found[0].datasets == ("mine/yours",)
    assert found[2].datasets == ("mine/yours", "other")
    assert found[0].bytes == sum(path.stat().st_size for path in old.rglob("*") if path.is_file())
    with pytest.raises(ValueError, match="say what to prune"):
        store.prune()
    for name in (old / "used").iterdir():
        os.utime(name, (1, 1))
    dry = store.prune(unused_for=3600, dry=True)
    assert [one.path for one in dry.removed] == [old]
    assert dry.bytes == found[0].bytes
    assert store.list()[0].in_use is False
    assert len(store.list()) == 3
    assert store.prune(unused_for=3600).removed == dry.removed
    assert not old.exists()
    assert [one.stage for one in store.prune(dataset="other").removed] == ["graph"]
    using = store.stage("pages", "c" * 64).using()
    kept = store.prune(everything=True)
    assert (kept.removed, [one.path for one in kept.in_use]) == ((), [both])
    using.release()
    assert len(store.prune(everything=True).removed) == 1
    assert store.list() == ()


def test_work_of_a_killed_build_is_not_unused(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    store.stage("graph", "a" * 64).create({})
    assert store.list()[0].datasets == ()
    assert store.prune(unused_for=60).removed == ()
    assert len(store.prune(unused_for=0).removed) == 1


def test_scratch_of_a_dead_build_is_swept(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    script = (
        "import sys, os; from synth.store import Store\n"
        "with Store(sys.argv[1]).scratch('dead') as folder:\n"
        "    (folder / 'file').write_text(''); os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(store.root)], check=False)
    assert len(list(store.root.glob("scratch/*"))) == 2
    with store.scratch("mine") as mine, store.scratch("other") as other:
        assert mine.is_dir()
        assert other.is_dir()
        assert not [name for name in os.listdir(store.root / "scratch") if "dead" in name]
    assert os.listdir(store.root / "scratch") == []


def test_a_folder_of_the_store_for_others(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    assert store.folder("calls").is_dir()
    assert store.folder("calls") == Store(tmp_path / "store").folder("calls")


# --- the dataset -----------------------------------------------------------------------------------------------------


def dataset(folder: Path, text: str) -> Path:
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "train.parquet").write_text(text)
    (folder / "report.json").write_text("{}")
    return folder


def test_a_dataset_replaces_a_dataset_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    publish(dataset(tmp_path / "first", "1"), out)
    assert (out / "data" / "train.parquet").read_text() == "1"
    (out / "extra").write_text("left by someone")
    publish(dataset(tmp_path / "second", "2"), out)
    assert (out / "data" / "train.parquet").read_text() == "2"
    assert not (out / "extra").exists()
    empty = tmp_path / "empty"
    empty.mkdir()
    publish(dataset(tmp_path / "third", "3"), empty)
    assert (empty / "data" / "train.parquet").read_text() == "3"
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("years of work")
    for bad, words in ((home, "left alone"), (home / "thesis.txt", "not a folder")):
        with pytest.raises(StoreError, match=words):
            check_destination(bad)
        with pytest.raises(StoreError, match=words):
            publish(tmp_path / "fourth", bad)
    assert (home / "thesis.txt").read_text() == "years of work"
    with pytest.raises(StoreError):
        check_destination(home / "thesis.txt" / "below")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep", "empty", "home"]


@pytest.mark.parametrize("point", ["publish.copied", "publish.synced"])
def test_a_failed_move_leaves_the_old_dataset(tmp_path: Path, point: str) -> None:
    out = dataset(tmp_path / "out", "old")
    activate(f"{point}:1:enospc")
    with pytest.raises(StoreError, match="no space left"):
        publish(dataset(tmp_path / "new", "new"), out)
    activate(None)
    assert (out / "data" / "train.parquet").read_text() == "old"
    assert [name for name in os.listdir(tmp_path) if name.startswith(".")] == []


def test_across_file_systems_it_is_copied(tmp_path: Path) -> None:
    if not os.access("/dev/shm", os.W_OK) or os.stat("/dev/shm").st_dev == os.stat("/tmp").st_dev:
        pytest.skip("this machine has one file system")
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as one, tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        publish(dataset(Path(one, "new"), "new"), Path(other, "out"))
        assert Path(other, "out", "data", "train.parquet").read_text() == "new"
        assert os.listdir(one) == []
        assert os.listdir(other) == ["out"]


def test_readers_see_the_old_or_the_new_and_never_nothing(tmp_path: Path) -> None:
    import threading

    out = dataset(tmp_path / "out", "0")
    stop = threading.Event()
    seen: set[str] = set()
    missed: list[str] = []

    def look() -> None:
        while not stop.is_set():
            try:
                seen.add((out / "data" / "train.parquet").read_text())
            except FileNotFoundError as error:
                missed.append(str(error))

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(1, 40):
        publish(dataset(tmp_path / "new", str(number)), out)
        time.sleep(0.001)
    stop.set()
    reader.join()
    assert "39" in seen | {(out / "data" / "train.parquet").read_text()}
    assert missed == []
