"""The clock of an application: it shows the time that the pages show, and goes on when they do.

libfaketime, loaded into the application's processes, reads the time from a file that the episode writes.
"""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from synth.errors import InputError

__all__ = ["Clock", "find_clock"]

_LIBRARIES = ("libfaketimeMT.so.1", "libfaketime.so.1")
_BUILT = "vendor/libfaketime/src/libfaketime.so.1"
"""Where the Python package ``libfaketime`` keeps the library. It is tried first: under the 0.9.10 of Debian 12,
``time.sleep`` raises an error in Python 3.11 and later."""
_FOLDERS = ("/usr/lib/*/faketime", "/usr/lib*/faketime", "/usr/local/lib/faketime")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d")
_COMPACT = re.compile(r"(\d{8})[T ]?(\d{6}(?:\.\d{3}|\.\d{6})?Z?)")
"""``20260302090007.000``: the same without signs between."""
_NUMBER = re.compile(r"[1-9]\d{9,15}")
"""A time that is kept as text."""
_PRESENT = timedelta(hours=1)
"""No episode makes as many calls as this has seconds."""
_PER_SECOND = (1, 1_000, 1_000_000)
"""Units in which applications store times as numbers."""


def find_clock() -> Path:
    """libfaketime: that of the Python package of this name where it is installed, else the system's.

    Raises:
        InputError: it is not installed.
    """
    package = find_spec("libfaketime")
    if package is not None and package.origin is not None:
        built = Path(package.origin).parent / _BUILT
        if built.is_file():
            return built
    for name in _LIBRARIES:
        for pattern in _FOLDERS:
            for folder in sorted(Path("/").glob(pattern.lstrip("/"))):
                if (folder / name).is_file():
                    return folder / name
    mend = "install it (pip install libfaketime; on Debian: apt-get install faketime), or leave the key out"
    raise InputError("libfaketime is not installed", where="source.fixed_clock", mend=mend)


class Clock:
    """One episode's."""

    def __init__(self, now: str) -> None:
        """
        Args:
            now: The time at the beginning (UTC, ``2026-03-02T09:00:00Z``).
        """
        self._begin = self._now = datetime.fromisoformat(now)
        self._file: Path | None = None

    def hold(self, file: Path) -> dict[str, str]:
        """Begin. What the application's environment must hold for it.

        Args:
            file: Where the time is kept; it is made.

        Raises:
            InputError: libfaketime is not installed.
        """
        self._file = file
        self._write()
        return {
            "LD_PRELOAD": str(find_clock()),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def tick(self) -> None:
        """A second passes."""
        self._now += timedelta(seconds=1)
        self._write()

    def rewind(self) -> None:
        """It is the time of the beginning again."""
        self._now = self._begin
        self._write()

    def _write(self) -> None:
        assert self._file is not None
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{self._now:%Y-%m-%d %H:%M:%S}\n")
        os.replace(fresh, self._file)

    def without_present(self, value: Any) -> Any:
        """``value`` with "(now)" in the place of every time of this episode: when something was done depends on how
        many calls were made before, and is not what a task is about."""
        if isinstance(value, dict):
            return {name: self.without_present(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.without_present(item) for item in value]
        return "(now)" if self._is_present(value) else value

    def _is_present(self, value: Any) -> bool:
        start, end = self._begin.timestamp(), (self._begin + _PRESENT).timestamp()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return any(start <= value / unit < end for unit in _PER_SECOND)
        if not isinstance(value, str):
            return False
        compact = _COMPACT.fullmatch(value)
        if compact is None and _NUMBER.fullmatch(value):
            return self._is_present(int(value))
        if compact is None and not _TIMESTAMP.match(value):
            return False
        try:
            when = datetime.fromisoformat(value if compact is None else "T".join(compact.groups()))
        except ValueError:
            return False
        return self._begin <= (when if when.tzinfo is not None else when.replace(tzinfo=UTC)) < self._begin + _PRESENT
