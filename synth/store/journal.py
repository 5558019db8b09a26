"""A journal of finished rows: append-only, framed, checked.

Layout: 8 bytes of header, then records of ``sync (4) | length (4, little endian) | crc32 (4) | payload``.

A record is handed to the kernel before the next row begins, so the death of the process loses nothing that was
finished; ``fsync`` follows at most once a second and when the journal is closed, so a power cut loses at most the rows
of the last second. A torn tail is cut off before anything is appended. Damage in the middle costs the damaged records
only: reading goes on at the next record whose sync mark and checksum hold.
"""

from __future__ import annotations

import os
import struct
import time
import zlib
from pathlib import Path
from types import TracebackType

from synth.store.failpoints import failpoint
from synth.store.files import write_file
from synth.store.locks import FileLock

__all__ = ["Journal", "read_journal"]

_HEADER = b"SYNTHJ1\n"
_SYNC = b"\xf5\x9aJR"
_FRAME = struct.Struct("<4sII")
_SYNC_SECONDS = 1.0


def read_journal(path: Path) -> list[bytes]:
    """Payloads of all whole records, in order; an absent file has none."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    return _parse(data)[0]


def _parse(data: bytes) -> tuple[list[bytes], int, bool]:
    """Payloads, the offset just past the last whole record, and whether anything before that offset was damaged."""
    payloads: list[bytes] = []
    damaged = data[: len(_HEADER)] != _HEADER
    at = end = 0 if damaged else len(_HEADER)
    while True:
        begin = data.find(_SYNC, at)
        if begin < 0 or begin + _FRAME.size > len(data):
            break
        _, length, crc = _FRAME.unpack_from(data, begin)
        stop = begin + _FRAME.size + length
        payload = data[begin + _FRAME.size : stop]
        if stop > len(data) or zlib.crc32(payload) != crc:
            at = begin + 1
            continue
        damaged = damaged or begin != end
        payloads.append(payload)
        at = end = stop
    return payloads, end, damaged


def _frame(payload: bytes) -> bytes:
    return _FRAME.pack(_SYNC, len(payload), zlib.crc32(payload)) + payload


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Journal:
    """The journal at ``path``, open for appending and locked: one process or thread writes it at a time.

    Args:
        locked: False for one who is alone with it by another lock, and has too many open to lock each.

    Raises:
        OSError: the file can't be opened, repaired or written.
    """

    def __init__(self, path: Path, *, locked: bool = True) -> None:
        self.path = path
        # The lock lies beside the journal: the journal itself is replaced when it is repaired and removed in the end.
        self._lock = FileLock(path.with_suffix(".lock"))
        self._descriptor: int | None = None
        if locked:
            self._lock.acquire()
        try:
            self._end, self.payloads = self._open()
        except BaseException:
            self._lock.release()
            raise
        self._synced_at = time.monotonic()
        self._dirty = False

    def _open(self) -> tuple[int, list[bytes]]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = b""
        payloads, end, damaged = _parse(data)
        if not data or damaged:
            write_file(self.path, _HEADER + b"".join(_frame(payload) for payload in payloads))
            end = self.path.stat().st_size
            failpoint("journal.repaired" if data else "journal.created")
        self._descriptor = descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            if end < os.fstat(descriptor).st_size:
                os.ftruncate(descriptor, end)
                os.fsync(descriptor)
            os.lseek(descriptor, end, os.SEEK_SET)
        except BaseException:
            os.close(descriptor)
            raise
        return end, payloads

    def _reopened(self) -> int:
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CLOEXEC)
            os.lseek(self._descriptor, self._end, os.SEEK_SET)
        return self._descriptor

    def append(self, payload: bytes) -> None:
        """Add one record. When it can't be written whole, the journal is as it was before."""
        frame = _frame(payload)
        half = len(frame) // 2
        descriptor = self._reopened()
        try:
            _write(descriptor, frame[:half])
            failpoint("journal.append.torn")
            _write(descriptor, frame[half:])
        except OSError:
            os.ftruncate(descriptor, self._end)
            os.lseek(descriptor, self._end, os.SEEK_SET)
            raise
        self._end += len(frame)
        self._dirty = True
        failpoint("journal.append.after")
        self.payloads.append(payload)
        if time.monotonic() - self._synced_at >= _SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        if self._dirty:
            os.fsync(self._reopened())
            self._dirty = False
        self._synced_at = time.monotonic()

    def park(self, *, sync: bool = True) -> None:
        """Close its file until it is needed again: for one who has more journals than may be open at once."""
        if self._descriptor is not None:
            if sync:
                self.sync()
            os.close(self._descriptor)
            self._descriptor = None

    def drop(self) -> None:
        """Remove the journal: its shard is committed."""
        self._dirty = False
        self.path.unlink(missing_ok=True)
        failpoint("journal.dropped")

    def close(self) -> None:
        try:
            self.sync()
        finally:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
            self._lock.release()

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
