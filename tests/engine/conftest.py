"""Signals as a process begins with them."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _sigterm() -> Iterator[None]:
    """As in a fresh process: the command line, which other tests call in this one, leaves its handler behind."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)
