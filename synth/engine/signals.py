"""A build that is stopped from outside ends between two writes and says how to go on."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from synth.errors import Interrupted

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["LOOK_SECONDS", "end", "held_back", "interruptible"]

_AGAIN_SECONDS = 0.05
_ASKED = 3
"""So many times a thread is asked to end: first when its calls have, then at once, then it is not waited for."""
LOOK_SECONDS = 0.2
"""The main thread waits for others no longer than this at a time: the system may hand a signal to any thread. That
does not wake the main thread, which hears of the signal when it goes on."""


class _Terminated(KeyboardInterrupt):
    """SIGTERM, taken like Ctrl-C: nothing that catches ``Exception`` swallows it."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def _deliver_again(lost: UnraisableHookArgs) -> bool:
    """Whether it was a signal that hit a finalizer, out of which nothing can be raised: then it comes once more."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        return False
    number = signal.SIGTERM if isinstance(lost.exc_value, _Terminated) else signal.SIGINT
    again = threading.Timer(_AGAIN_SECONDS, _thread.interrupt_main, (number,))
    again.daemon = True
    again.start()
    return True


@contextmanager
def interruptible(where: str | Callable[[], str]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM inside into ``Interrupted``, one line. Elsewhere than in the main thread, where Python
    delivers no signals, only what is raised anyway is turned. A ``where`` that changes while the block runs is called
    when the signal comes."""
    main = threading.current_thread() is threading.main_thread()
    # A handler that someone else set (a server, Prefect) stays: it knows what it does.
    ours = main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminate)
    others = sys.unraisablehook

    def hook(lost: UnraisableHookArgs) -> None:
        if not _deliver_again(lost):
            others(lost)

    if main:
        sys.unraisablehook = hook
    try:
        yield
    except KeyboardInterrupt as stop:
        what = "terminated" if isinstance(stop, _Terminated) else "interrupted"
        raise Interrupted(
            f"{what}; everything that was finished is kept",
            where=where if isinstance(where, str) else where(),
            mend="run the same command to continue",
        ) from stop
    finally:
        if main:
            sys.unraisablehook = others
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def held_back() -> Iterator[None]:
    """Ctrl-C and SIGTERM inside take effect when the block is left, before any error of it. For steps that a signal
    would leave half done; elsewhere than in the main thread, where Python delivers no signals, without effect."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, lambda number, frame: came.append(number))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def end(work: Future[Any], stop: Callable[[], bool]) -> None:
    """Ask the thread that does ``work`` to end by ``stop``, and wait for it. With every Ctrl-C meanwhile it is asked
    once more. ``stop`` says whether there was anything to be asked: if not, it is called again until there is, or
    ``work`` is over."""
    asked, wanted = 0, 1
    while not work.done() and wanted <= _ASKED:
        try:
            if asked < wanted and stop():
                asked += 1
            wait([work], timeout=LOOK_SECONDS)
        except KeyboardInterrupt:
            wanted += 1
