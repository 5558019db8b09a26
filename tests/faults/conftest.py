"""Builds in child processes that may be killed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
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


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """In memory where the machine has such: the store syncs every file, and nothing here outlives the test."""
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="synth-", dir=parent) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    zygote = Zygote()
    yield zygote
    zygote.close()
