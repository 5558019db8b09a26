"""A folder is put back while an application runs in it: its files, and databases that it has open."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from synth.environments.web.folder import FolderCopy, NotPutBack

MODES = ("delete", "wal")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "workspace"
    (found / "files").mkdir(parents=True)
    (found / "files" / "note.txt").write_text("as it was")
    (found / "empty").mkdir()
    (found / "way").symlink_to("files/note.txt")
    return found


def _opened(path: Path, mode: str) -> sqlite3.Connection:
    found = sqlite3.connect(path, isolation_level=None)
    found.execute(f"pragma journal_mode={mode}")
    return found


def _titles(database: sqlite3.Connection) -> list[str]:
    return [str(title) for (title,) in database.execute("select title from ticket order by id")]


@pytest.mark.parametrize("mode", MODES)
def test_an_open_database_is_put_back_each_time(folder: Path, tmp_path: Path, mode: str) -> None:
    """Both open connections see the restored rows, even the one whose cached pages are newer."""
    with closing(_opened(folder / "app.db", mode)) as one, closing(_opened(folder / "app.db", mode)) as other:
        one.execute("create table ticket (id integer primary key autoincrement, title text)")
        one.execute("insert into ticket (title) values ('Pump leaks')")
        copy = FolderCopy(folder, tmp_path / "first", 5.0)
        for number, writer in enumerate((one, other, one, other)):
            writer.execute("insert into ticket (title) values (?)", (f"of round {number}",))
            writer.execute("create table if not exists extra (x)")
            assert _titles(one) == _titles(other) == ["Pump leaks", f"of round {number}"]
            copy.put_back()
            assert _titles(one) == _titles(other) == ["Pump leaks"]
            assert one.execute("select count(*) from sqlite_master where name = 'extra'").fetchone() == (0,)
        assert one.execute("insert into ticket (title) values ('next') returning id").fetchone() == (2,)


def test_files_folders_and_links_are_put_back(folder: Path, tmp_path: Path) -> None:
    copy = FolderCopy(folder, tmp_path / "first", 5.0)
    before = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
    with (folder / "files" / "note.txt").open("a") as log:
        log.write(" and more")
        log.flush()
        (folder / "files" / "new" / "deep").mkdir(parents=True)
        (folder / "files" / "new" / "deep" / "one").write_text("x")
        (folder / "empty").rmdir()
        (folder / "empty").write_text("a file now")
        (folder / "way").unlink()
        (folder / "way").symlink_to("elsewhere")
        copy.put_back()
        assert (folder / "files" / "note.txt").read_text() == "as it was"
        log.write("!")
    assert (folder / "files" / "note.txt").read_text() == "as it was!", "an open file goes on at its end"
    copy.put_back()
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*")} == before
    assert (folder / "empty").is_dir()
    assert os.readlink(folder / "way") == "files/note.txt"
    assert (folder / "way").read_text() == "as it was"


def test_a_database_that_stays_locked_is_said(folder: Path, tmp_path: Path) -> None:
    with closing(_opened(folder / "app.db", "delete")) as one:
        one.execute("create table ticket (id integer primary key, title text)")
        copy = FolderCopy(folder, tmp_path / "first", 0.2)
        one.execute("insert into ticket values (1, 'x')")
        one.execute("begin exclusive")
        with pytest.raises(NotPutBack, match=r"locked"):
            copy.put_back()
