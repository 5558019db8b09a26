"""Folders in memory where the machine has such: the store syncs every file, and nothing here outlives the test."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _sigterm() -> Iterator[None]:
    """As in a fresh process: the command line, which other tests call in this one, leaves its handler behind."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="synth-", dir=parent) as folder:
        yield Path(folder)
