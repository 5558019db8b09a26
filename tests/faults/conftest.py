"""Folders in memory where the machine has such: the store syncs every file, and nothing here outlives the test."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="synth-", dir=parent) as folder:
        yield Path(folder)
