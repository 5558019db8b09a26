"""Builds in child processes that may be killed."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from stand_ins.zygote import Zygote

sys.path.insert(0, str(Path(__file__).parents[1] / "engine"))


@pytest.fixture(autouse=True)
def _sigterm() -> Iterator[None]:
    """As in a fresh process: the command line, which other tests call in this one, leaves its handler behind."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    zygote.close()
