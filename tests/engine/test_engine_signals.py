"""An interruption that hits a finalizer, out of which nothing can be raised, is not lost."""

from __future__ import annotations

import signal
import sys
import threading
import time
import weakref

import pytest

from synth.engine.signals import interruptible
from synth.errors import Interrupted


class Held:
    """Something with a finalizer."""


@pytest.mark.parametrize(("number", "said"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "terminated")])
def test_an_interruption_of_a_finalizer_comes_again(number: signal.Signals, said: str) -> None:
    assert threading.current_thread() is threading.main_thread()
    before = sys.unraisablehook
    reached = []

    def work() -> None:
        held = Held()
        weakref.finalize(held, signal.raise_signal, number)
        with interruptible("here"):
            del held  # the signal comes in here, and is swallowed by whoever calls finalizers
            reached.append("behind it")
            for _ in range(1000):
                time.sleep(0.01)
            reached.append("the end")

    with pytest.raises(Interrupted, match=said):
        work()
    assert reached == ["behind it"]
    assert sys.unraisablehook is before
