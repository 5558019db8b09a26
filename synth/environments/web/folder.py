"""What a folder held when an application began in it, and how to put it back while the application runs."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

__all__ = ["FolderCopy", "NotPutBack"]

_SQLITE = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")
"""Ends of the names of files that SQLite keeps beside a database, and looks after itself."""


class NotPutBack(Exception):
    """The folder is not as it was."""


class FolderCopy:
    """The folder as it is now."""

    def __init__(self, folder: Path, copy: Path, seconds: float) -> None:
        """
        Args:
            copy: Where the copy is kept; it is made.
            seconds: How long to wait for a database that is locked.

        Raises:
            NotPutBack: it can't be copied.
        """
        self._folder, self._copy, self._seconds = folder, copy, seconds
        try:
            shutil.copytree(folder, copy, symlinks=True, ignore=_only_files)
            names = _names(copy)
            self._databases = {name for name in names if _is_database(copy / name)}
            beside = {name for name in names if self._is_beside(name)}
            for name in (*self._databases, *beside):
                (copy / name).unlink()
            for name in self._databases:  # copied as a file while it is in use, it may be torn
                self._copy_database(folder / name, copy / name)
            self._held = names - beside
            self._marks = self._now()
        except (OSError, sqlite3.Error) as error:
            raise NotPutBack(str(error)) from None

    def put_back(self) -> None:
        """Restore the folder. Databases are restored in an SQLite transaction, so open connections see the change;
        other files are written in place.

        Raises:
            NotPutBack: it can't be done.
        """
        try:
            now = self._now()
            for name in sorted(now.keys() - self._held, reverse=True):  # what a folder holds, before the folder
                if not self._is_beside(name):
                    _remove(self._folder / name)
            for name in sorted(self._held):
                files = (name, *(name + end for end in _BESIDE)) if name in self._databases else (name,)
                if any(now.get(one) != self._marks.get(one) for one in files):
                    self._restore(name)
            self._marks = self._now()
        except (OSError, sqlite3.Error) as error:
            raise NotPutBack(str(error)) from None

    def _restore(self, name: str) -> None:
        source, target = self._copy / name, self._folder / name
        if name in self._databases and _is_database(target):
            self._copy_database(source, target)
        elif _kind(source) == "file" == _kind(target):
            target.write_bytes(source.read_bytes())
        elif _kind(source) != _kind(target) or source.is_symlink():
            _remove(target)
            if source.is_dir() and not source.is_symlink():
                target.mkdir()
            else:
                shutil.copy2(source, target, follow_symlinks=False)

    def _copy_database(self, source: Path, target: Path) -> None:
        end = time.monotonic() + self._seconds

        def in_time(*_: int) -> None:
            if time.monotonic() > end:
                raise TimeoutError(f"{target.name} is locked")

        with closing(sqlite3.connect(source)) as one, closing(sqlite3.connect(target)) as other:
            one.backup(other, pages=4096, progress=in_time, sleep=0.02)

    def _is_beside(self, name: str) -> bool:
        return any(name.endswith(end) and name.removesuffix(end) in self._databases for end in _BESIDE)

    def _now(self) -> dict[str, tuple[object, ...]]:
        """Name -> what changes whenever the file does."""
        found: dict[str, tuple[object, ...]] = {}
        for name in _names(self._folder):
            path = self._folder / name
            told = path.lstat()
            kind = _kind(path)
            found[name] = (
                (kind, told.st_ino, told.st_size, told.st_mtime_ns)
                if kind == "file"
                else (kind, os.readlink(path) if kind == "link" else None)
            )
        return found


def _names(folder: Path) -> set[str]:
    """Everything in the folder that is a file, a folder or a link, by its path there."""
    paths = (path for path in folder.rglob("*") if _kind(path))
    return {path.relative_to(folder).as_posix() for path in paths}


def _kind(path: Path) -> str:
    if path.is_symlink():
        return "link"
    return "file" if path.is_file() else "folder" if path.is_dir() else ""


def _only_files(folder: str, names: list[str]) -> set[str]:
    """Sockets and pipes are not copied."""
    return {name for name in names if not _kind(Path(folder, name))}


def _is_database(path: Path) -> bool:
    if _kind(path) != "file":
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
