"""What of a dataset folder goes to the Hub, and how the Hub names the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from synth.dataset.configs import CONFIGS
from synth.dataset.files import CARD_FILE, REPORT_FILE, card_files, data_files, is_ours
from synth.dataset.key_hashes import KEYS_FILE
from synth.errors import DatasetError

__all__ = ["LocalFile", "RemoteFile", "contents", "differences", "moved"]

_CHUNK = 1 << 20


@dataclass(frozen=True)
class RemoteFile:
    """A file as the Hub describes it."""

    blob: str | None
    """Git's name of its content (of the pointer, where it lies in large file storage)."""
    sha256: str | None
    """Of the content, where it lies in large file storage."""


@dataclass(frozen=True)
class LocalFile:
    name: str
    """Path inside the dataset folder and inside the repository."""
    path: Path
    size: int
    """Bytes."""
    sha256: str
    blob: str
    """Git's name of the content: SHA-1 of a header with its size and the bytes."""

    def is_the_same_as(self, remote: RemoteFile | None) -> bool:
        if remote is None:
            return False
        return remote.sha256 == self.sha256 if remote.sha256 is not None else remote.blob == self.blob


def contents(folder: Path) -> tuple[list[LocalFile], list[str]]:
    """Files of the dataset by name, hashed, and what lies beside them and is not sent.

    Raises:
        DatasetError: a file can't be read.
    """
    known = {config.name for config in CONFIGS}
    found = [file.path for file in data_files(folder)[0] if file.config in known]
    found += card_files(folder).values()
    found += [folder / name for name in (CARD_FILE, REPORT_FILE) if (folder / name).is_file()]
    sent = {path.relative_to(folder).as_posix(): path for path in sorted(found)}
    beside = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).as_posix() not in (*sent, KEYS_FILE)
    ]
    return [_hashed(name, path) for name, path in sent.items()], beside


def _hashed(name: str, path: Path) -> LocalFile:
    try:
        size = path.stat().st_size
        content = hashlib.sha256()
        git = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
        with path.open("rb") as file:
            while block := file.read(_CHUNK):
                content.update(block)
                git.update(block)
    except OSError as error:
        raise DatasetError(f"can't be read: {error.strerror}", where=str(path)) from error
    return LocalFile(name, path, size, content.hexdigest(), git.hexdigest())


def differences(wanted: Iterable[LocalFile], there: Mapping[str, RemoteFile]) -> tuple[list[LocalFile], list[str]]:
    """What must be sent, and what of an older version of a dataset must go. Files that are not named as a dataset of
    ours names its files belong to someone else: they stay."""
    files = list(wanted)
    names = {file.name for file in files}
    send = [file for file in files if not file.is_the_same_as(there.get(file.name))]
    gone = sorted(name for name in there if name not in names and is_ours(name))
    return send, gone


def moved(send: Iterable[LocalFile], there: Mapping[str, RemoteFile]) -> dict[str, str]:
    """Those of ``send`` whose bytes lie in large file storage under another name -> that name: a dataset that grew has
    its old files under names that count more of them, and no byte of these is sent again."""
    by_hash = {file.sha256: name for name, file in sorted(there.items()) if file.sha256 is not None}
    return {file.name: by_hash[file.sha256] for file in send if file.sha256 in by_hash}
