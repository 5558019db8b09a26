"""Files that are either whole or not there: temporary name, fsync, rename, fsync of the folder."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from synth.errors import StoreError
from synth.identity import canonical_json
from synth.store.failpoints import failpoint

__all__ = [
    "TEMPORARY",
    "file_sha256",
    "folder_bytes",
    "read_sealed_json",
    "remove_folder",
    "store_errors",
    "sync_file",
    "sync_folder",
    "temporary_name",
    "write_file",
    "write_sealed_json",
]

TEMPORARY = ".part-"
"""Part of the name of everything unfinished. Whoever holds the lock of a folder may remove such names in it."""

_SENTENCES: dict[int, tuple[str, str]] = {
    errno.ENOSPC: ("no space left on the device", "free some space and run the same command: finished work is kept"),
    errno.EDQUOT: ("the disk quota is used up", "free some space and run the same command: finished work is kept"),
    errno.EROFS: ("the file system is read-only", "choose a folder that can be written"),
    errno.EACCES: ("permission denied", "choose a folder that you may write, or change its permissions"),
    errno.EPERM: ("permission denied", "choose a folder that you may write, or change its permissions"),
    errno.ENOTDIR: ("a part of the path is a file, not a folder", "choose another folder"),
    errno.EEXIST: ("this is not a folder", "choose another folder"),
    errno.ELOOP: ("the links of the path lead in a circle", "remove the link, or choose another folder"),
    errno.EISDIR: ("a folder stands where a file belongs", "move the folder away, then run the same command"),
    errno.EFBIG: (
        "the file would be larger than is allowed here",
        "raise the limit (ulimit -f) and run the same command",
    ),
    errno.EMFILE: ("too many open files", "raise the limit (ulimit -n) and run the same command"),
    errno.EIO: ("the device reports an input/output error", "check the disk, then run the same command"),
}


@contextmanager
def store_errors(where: Path) -> Iterator[None]:
    """Turn an ``OSError`` inside into a one-line ``StoreError`` about ``where``."""
    try:
        yield
    except OSError as error:
        sentence, mend = _SENTENCES.get(
            error.errno or 0, (error.strerror or str(error), "check the folder, then run the same command")
        )
        raise StoreError(sentence, where=str(where), mend=mend) from error


def temporary_name(final: Path) -> Path:
    """A name beside ``final`` that no other process or thread uses, on this machine or another."""
    return final.with_name(f"{TEMPORARY}{final.name}-{os.getpid()}-{os.urandom(4).hex()}")


def sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make renames inside ``path`` durable."""
    sync_file(path)


def write_file(path: Path, data: bytes) -> None:
    """Write a small file whole.

    Raises:
        OSError: nothing of ``path`` has changed then.
    """
    temporary = temporary_name(path)
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            failpoint("store.file.written")
            os.fsync(file.fileno())
        failpoint("store.file.before_rename")
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    failpoint("store.file.after_rename")
    sync_folder(path.parent)


def write_sealed_json(path: Path, body: dict[str, Any]) -> None:
    """Write ``body`` with its own hash, so that a damaged file is seen."""
    write_file(path, sealed(body))


def sealed(body: dict[str, Any]) -> bytes:
    text = canonical_json(body)
    return canonical_json({"body": body, "sha256": hashlib.sha256(text.encode()).hexdigest()}).encode() + b"\n"


def read_sealed_json(path: Path) -> dict[str, Any] | None:
    """The body that ``write_sealed_json`` wrote, or None when the file is missing or damaged, or something else (a
    folder, a link to itself) stands in its place.

    Raises:
        StoreError: it may not be read, or the device fails.
    """
    try:
        with store_errors(path):
            value = json.loads(_content(path))
        body = value["body"]
        if not isinstance(body, dict) or hashlib.sha256(canonical_json(body).encode()).hexdigest() != value["sha256"]:
            return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return body


def _content(path: Path) -> bytes:
    """Nothing where no file is."""
    try:
        return path.read_bytes()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP):
            return b""
        raise


def file_sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_bytes(path: Path) -> int:
    """Bytes of all files under ``path``; files that vanish meanwhile count 0."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                continue
    return total


def remove_folder(path: Path) -> None:
    """Remove ``path`` so that a kill halfway leaves nothing that looks finished: it is renamed first."""
    doomed = temporary_name(path)
    try:
        os.rename(path, doomed)
    except FileNotFoundError:
        return
    shutil.rmtree(doomed)
