"""Who of several builds does which rows of a stage that calls models: one does each, and all have its record.

A claim lasts as long as its owner. What a build that ended, however it ended, had claimed and not done is free again.
"""

from __future__ import annotations

import hashlib

from synth.store.calls_database import patiently
from synth.store.calls_file import CallFile

__all__ = ["Claims", "Share"]


class Share:
    """One unit of a stage run that is ours to do, or is done."""

    def __init__(self, file: CallFile, name: bytes, record: bytes | None) -> None:
        self._file = file
        self._name = name
        self.record = record
        """None: it is ours to do."""

    async def deliver(self, record: bytes) -> None:
        """Leave the record for all.

        Raises:
            StoreError: the store can't be used.
        """
        await patiently(self._file.database, lambda: self._file.deliver(self._name, record))
        self.record = record


class Claims:
    """Claims in the store of calls."""

    def __init__(self, file: CallFile) -> None:
        self._file = file

    async def take(self, stage: str, unit: str) -> Share | None:
        """``unit`` of the stage run ``stage``; None: another build is at it.

        Raises:
            StoreError: the store can't be used.
        """
        name = hashlib.sha256(f"{stage}\n{unit}".encode("utf-8", "surrogatepass")).digest()
        mine, record = await patiently(self._file.database, lambda: self._file.claim(name))
        if mine or record is not None:
            return Share(self._file, name, record)
        await patiently(self._file.database, self._sweep)
        return None

    def _sweep(self) -> None:
        if self._file.is_sweep_due:
            with self._file.transaction():
                self._file.sweep()
