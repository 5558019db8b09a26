"""Files, journals and locks of the store."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.errors import StoreError
from synth.store import FAILPOINTS, activate
from synth.store.files import read_sealed_json, store_errors, write_file, write_sealed_json
from synth.store.journal import Journal, read_journal
from synth.store.locks import FileLock


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_file(path, b"old")
    for point in ("store.file.written", "store.file.before_rename"):
        activate(f"{point}:1:enospc")
        with pytest.raises(OSError, match="No space left"):
            write_file(path, b"new")
        activate(None)
        assert path.read_bytes() == b"old"
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_sealed_json_is_read_only_when_it_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "sealed.json"
    assert read_sealed_json(path) is None
    write_sealed_json(path, {"a": [1, "ü"], "b": None})
    assert read_sealed_json(path) == {"a": [1, "ü"], "b": None}
    text = path.read_bytes()
    for damaged in (text[:-9], text.replace(b"1", b"2"), b"", b"[]", b'"x"', b'{"body": 1}', b"\xff\xfe"):
        path.write_bytes(damaged)
        assert read_sealed_json(path) is None
    assert read_sealed_json(path / "below") is None


def test_errors_of_the_system_become_one_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught, store_errors(tmp_path):
        (tmp_path / "missing" / "file").write_text("")
    assert str(caught.value).startswith(f"{tmp_path}: No such file or directory")
    assert caught.value.exit_code == 4


RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None

payloads = st.lists(st.binary(max_size=200), max_size=8)


@given(payloads, st.data())
def test_a_journal_cut_anywhere_keeps_every_whole_record(records: list[bytes], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        path = Path(folder, "a.journal")
        ends = []
        with Journal(path) as journal:
            for record in records:
                journal.append(record)
                ends.append(path.stat().st_size)
        cut = data.draw(st.integers(0, path.stat().st_size))
        os.truncate(path, cut)
        whole = [record for record, end in zip(records, ends, strict=True) if end <= cut]
        assert read_journal(path) == whole
        with Journal(path) as journal:
            assert journal.payloads == whole
            journal.append(b"more")
        assert read_journal(path) == [*whole, b"more"]


@given(st.lists(st.binary(min_size=1, max_size=60), min_size=1, max_size=8), st.data())
def test_damage_costs_only_the_damaged_record(records: list[bytes], data: st.DataObject) -> None:
    """datatrove loses every record after a torn line; we lose one."""
    with tempfile.TemporaryDirectory(dir=RAM) as folder:
        path = Path(folder, "a.journal")
        starts = []
        with Journal(path) as journal:
            for record in records:
                starts.append(path.stat().st_size)
                journal.append(record)
        content = bytearray(path.read_bytes())
        victim = data.draw(st.integers(0, len(records) - 1))
        end = starts[victim + 1] if victim + 1 < len(starts) else len(content)
        place = data.draw(st.integers(starts[victim], end - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        rest = records[:victim] + records[victim + 1 :]
        assert read_journal(path) == rest
        with Journal(path) as journal:
            journal.append(b"more")
        assert read_journal(path) == [*rest, b"more"]


def test_a_journal_that_is_none_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    for text in (b"", b"SYN", b"something else entirely"):
        path.write_bytes(text)
        with Journal(path) as journal:
            assert journal.payloads == []
            journal.append(b"one")
        assert read_journal(path) == [b"one"]
        path.unlink()
    assert read_journal(path) == []


def test_a_record_that_does_not_fit_leaves_the_journal_as_it_was(tmp_path: Path) -> None:
    with Journal(tmp_path / "a.journal") as journal:
        journal.append(b"one")
        activate("journal.append.torn:1:enospc")
        with pytest.raises(OSError, match="No space left"):
            journal.append(b"two")
        activate(None)
        assert read_journal(journal.path) == [b"one"]
        journal.append(b"three")
    assert read_journal(tmp_path / "a.journal") == [b"one", b"three"]


def test_a_lock_excludes_and_shares(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with FileLock(path):
        assert not FileLock(path).try_acquire()
        assert not FileLock(path, shared=True).try_acquire()
    readers = [FileLock(path, shared=True) for _ in range(3)]
    assert all(reader.try_acquire() for reader in readers)
    assert not FileLock(path).try_acquire()
    for reader in readers:
        reader.release()
    with FileLock(path) as lock:
        assert lock.held
    with FileLock(tmp_path):
        assert not FileLock(tmp_path).try_acquire()


def test_a_forked_child_does_not_keep_the_lock_of_a_dead_parent(tmp_path: Path) -> None:
    """A grandchild lives on when the holder is killed, as datatrove's manager process would: the lock is free."""
    path, alive = tmp_path / "lock", tmp_path / "alive"
    read_end, write_end = os.pipe()
    holder = os.fork()
    if holder == 0:
        FileLock(path).acquire()
        if os.fork() == 0:
            alive.write_text(str(os.getpid()))
            os.write(write_end, b"!")
            time.sleep(600)
            os._exit(0)
        time.sleep(600)
        os._exit(0)
    assert os.read(read_end, 1) == b"!"
    os.close(read_end)
    os.close(write_end)
    assert not FileLock(path).try_acquire()
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    grandchild = int(alive.read_text())
    try:
        os.kill(grandchild, 0)
        lock = FileLock(path)
        assert lock.try_acquire()
        lock.release()
    finally:
        os.kill(grandchild, signal.SIGKILL)


def test_failpoints_in_the_code_are_those_in_the_table() -> None:
    import re

    import synth.dataset
    import synth.engine
    import synth.models
    import synth.store

    text = "".join(
        path.read_text()
        for package in (synth.store, synth.engine, synth.dataset, synth.models)
        for path in Path(str(package.__file__)).parent.rglob("*.py")
    )
    named = set(re.findall(r'failpoint\("([a-z_.]+)"', text))
    named |= set(re.findall(r'failpoint\("([a-z_.]+)" if', text)) | set(re.findall(r'else "(journal[a-z_.]+)"\)', text))
    points = re.findall(r'_pass\("([a-z_]+)"\)', text)
    named |= {f"store.{kind}.{point}" for kind in ("shard", "view") for point in points}
    assert named == set(FAILPOINTS)
