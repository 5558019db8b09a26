"""A build that is stopped from outside ends between two writes and says how to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from synth.errors import Interrupted

__all__ = ["interruptible"]


class _Terminated(KeyboardInterrupt):
    """SIGTERM, taken like Ctrl-C: nothing that catches ``Exception`` swallows it."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


@contextmanager
def interruptible(where: str) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM inside into ``Interrupted``, one line. Elsewhere than in the main thread, where Python
    delivers no signals, only what is raised anyway is turned."""
    main = threading.current_thread() is threading.main_thread()
    # A handler that someone else set (a server, Prefect) stays: it knows what it does.
    ours = main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except KeyboardInterrupt as stop:
        what = "terminated" if isinstance(stop, _Terminated) else "interrupted"
        raise Interrupted(
            f"{what}; everything that was finished is kept", where=where, mend="run the same command to continue"
        ) from stop
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
