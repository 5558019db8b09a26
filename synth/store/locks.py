"""Locks that die with their process.

``flock`` on an open file: the kernel lets go when the process ends, however it ends, so no lock is ever stale. A child
made by ``fork`` would inherit the open file and keep the lock of a dead parent, so children close their copies.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

__all__ = ["FileLock"]

_LOOK_SECONDS = 0.05

_held: set[FileLock] = set()


def _close_in_child() -> None:
    for lock in list(_held):
        lock.forget()


os.register_at_fork(after_in_child=_close_in_child)


class FileLock:
    """An advisory lock on ``path`` (a file, made when missing, or a folder).

    Exclusive (one writer) or shared (any number of users).
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self.path = path
        self._kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        self._descriptor: int | None = None

    def _open(self) -> int:
        if self.path.is_dir():
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        return os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)

    def try_acquire(self) -> bool:
        """True when the lock is ours now. Raises OSError when the file can't be opened."""
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, self._kind | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except BaseException:
            os.close(descriptor)
            raise
        self._keep(descriptor)
        return True

    def acquire(self, waiting: Callable[[], None] = lambda: None) -> None:
        """Wait until the lock is ours; ``waiting`` is called again and again meanwhile, and may raise to give up."""
        while not self.try_acquire():
            waiting()
            time.sleep(_LOOK_SECONDS)

    def release(self) -> None:
        if self._descriptor is not None:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            self.forget()

    def forget(self) -> None:
        """Close our copy of the open file without unlocking it for others who share it (a forked child's parent)."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        _held.discard(self)

    def _keep(self, descriptor: int) -> None:
        self._descriptor = descriptor
        _held.add(self)

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def __enter__(self) -> FileLock:
        if not self.held:
            self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()
