"""The finished dataset moves into its folder in one step: whoever looks sees the old one or the new one, whole."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from synth.errors import StoreError
from synth.places import is_remote
from synth.store.failpoints import failpoint
from synth.store.files import TEMPORARY, store_errors, sync_file, sync_folder, temporary_name
from synth.store.locks import FileLock
from synth.store.remote import check_remote, upload

__all__ = ["DATASET_MARKER", "check_destination", "publish", "staged"]

DATASET_MARKER = "report.json"
"""The file by which a folder is known as a synth dataset, which a new build may replace."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_destination(out: Path | str, *, marker: str | None = DATASET_MARKER) -> None:
    """Say before a long build what would only come out at its end. Changes nothing. ``marker`` as in :func:`publish`;
    None = ``out`` must be empty or missing.

    Raises:
        StoreError: ``out`` holds something that is not a synth dataset, or can't be written.
        InputError: ``out`` is a URL of no storage that we know, or of one whose driver is missing.
    """
    if is_remote(out):
        check_remote(out, marker=marker)
        return
    out = Path(os.path.abspath(out))
    with store_errors(out):
        _check_replaceable(out, marker)
        parent = out.parent
        while not parent.exists():
            parent = parent.parent
        if not parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        if not os.access(parent, os.W_OK | os.X_OK):
            read_only = os.statvfs(parent).f_flag & os.ST_RDONLY
            raise OSError(errno.EROFS if read_only else errno.EACCES, "")


def _check_replaceable(out: Path, marker: str | None) -> None:
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_dir():
        raise StoreError("this is not a folder", where=str(out), mend="choose another --out")
    if marker is None and any(out.iterdir()):
        raise StoreError("the folder is not empty", where=str(out), mend="choose another folder")
    if marker is not None and any(out.iterdir()) and not (out / marker).is_file():
        what = "dataset" if marker == DATASET_MARKER else "export"
        raise StoreError(
            f"this folder is not empty and holds no {what} of synth: it is left alone",
            where=str(out),
            mend="choose another --out",
        )


@contextmanager
def staged(out: Path, *, marker: str) -> Iterator[Path]:
    """An empty folder beside ``out``, published there when the block ends well and removed when not. Those of killed
    runs are removed first. Where ``out`` is a URL, it is a temporary folder.

    Raises:
        StoreError: as :func:`publish`, or writing in the block fails.
    """
    if is_remote(out):
        with tempfile.TemporaryDirectory(prefix="synth-out-") as scratch:
            yield Path(scratch)
            upload(Path(scratch), out, marker=marker)
        return
    out = Path(os.path.abspath(out))
    with store_errors(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(out.parent):
            _sweep(out)
            staging = temporary_name(out)
            staging.mkdir()
            lock = FileLock(staging)
            lock.acquire()
        try:
            yield staging
            publish(staging, out, marker=marker)
        finally:
            lock.release()
            shutil.rmtree(staging, ignore_errors=True)


def _sweep(out: Path) -> None:
    """Remove what killed runs staged for ``out``: the lock on it died with them. Under the lock of the folder."""
    name = re.compile(rf"{re.escape(TEMPORARY + out.name)}-\d+-[0-9a-f]{{8}}")
    for path in [path for path in out.parent.iterdir() if name.fullmatch(path.name) and path.is_dir()]:
        lock = FileLock(path)
        if lock.try_acquire():
            shutil.rmtree(path, ignore_errors=True)
            lock.release()


def publish(staging: Path, out: Path | str, *, marker: str = DATASET_MARKER) -> None:
    """Move the folder ``staging`` to ``out``, replacing what stands there if ``marker`` is a file in it: a dataset, or
    another result that can be made again. A URL gets it by upload.

    Everything is synced before it is moved. Across file systems it is copied beside ``out`` first. ``staging`` is gone
    afterwards. After a kill at any point, ``out`` is the old dataset or the new one, and the next call cleans up.

    Raises:
        StoreError: ``out`` holds something else, or can't be written; ``out`` is as it was.
    """
    if is_remote(out):
        upload(staging, out, marker=marker)
        return
    out = Path(os.path.abspath(out))
    beside = out.with_name(f".{out.name}.synth-part")
    with store_errors(out):
        _check_replaceable(out, marker)
        out.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(out.parent):
            try:
                shutil.rmtree(beside, ignore_errors=True)
                try:
                    os.rename(staging, beside)
                except OSError as error:
                    if error.errno != errno.EXDEV:
                        raise
                    shutil.copytree(staging, beside)
                failpoint("publish.copied")
                _sync_tree(beside)
                failpoint("publish.synced")
                _swap_in(beside, out)
                failpoint("publish.moved")
                sync_folder(out.parent)
            finally:
                # What was replaced, or what could not be moved in.
                shutil.rmtree(beside, ignore_errors=True)
        shutil.rmtree(staging, ignore_errors=True)


def _sync_tree(root: Path) -> None:
    for folder, _, names in os.walk(root):
        for name in names:
            sync_file(Path(folder, name))
        sync_folder(Path(folder))


def _swap_in(new: Path, out: Path) -> None:
    """Put ``new`` at ``out`` in one step; what stood there ends up at ``new``."""
    if not out.exists() or not any(out.iterdir()):
        os.rename(new, out)  # replaces an empty folder too
        return
    if _exchange(new, out):
        return
    # No exchange on this file system (some network ones): between the two renames ``out`` is missing, never torn.
    old = new.with_name(new.name + "-old")
    shutil.rmtree(old, ignore_errors=True)
    os.rename(out, old)
    try:
        os.rename(new, out)
    except OSError:
        os.rename(old, out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two names atomically (Linux ``renameat2``). False where the kernel or file system can't."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        return False
    if renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
        return False
    raise OSError(number, os.strerror(number))
