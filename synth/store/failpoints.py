"""Named places where a test may kill the process or make a write fail.

Every kind of write passes through some of them. They do nothing unless ``activate`` was called, which the composition
root does once with what it found in the environment (``SYNTH_FAILPOINT=name:count:action``); worker processes are
handed the same text. ``count`` is the how-manieth visit of that name in one process acts (1 = the first).
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable

__all__ = ["ACTIONS", "FAILPOINTS", "activate", "activate_once", "active", "failpoint"]

FAILPOINTS: dict[str, str] = {
    "batch.begun": "The calls of a batch are reserved, nothing was sent.",
    "batch.collected": "Some replies of a batch are stored, the others not yet.",
    "batch.created": "The provider has the batch, its id is not stored.",
    "batch.noted": "The batch's id is stored, nothing was asked about it.",
    "batch.uploaded": "The provider has the file of calls, and no batch of it.",
    "dataset.file.written": "A file of rows of the dataset is written and synced under its temporary name.",
    "engine.row.processed": "A row's outcome is known and not yet in the journal.",
    "engine.shard.computed": "A shard's rows are in memory and nothing of it is on disk.",
    "engine.stage.computed": "All shards of a stage are committed, the stage is not yet marked complete.",
    "journal.append.torn": "Half of a record is in the journal.",
    "journal.append.after": "A whole record is in the journal, not yet synced.",
    "journal.created": "The journal file exists and holds only its header.",
    "journal.dropped": "The shard is committed and its journal removed.",
    "journal.repaired": "A damaged journal was rewritten without the damaged records.",
    "publish.copied": "The dataset was copied beside the output folder.",
    "publish.synced": "The dataset is on the disk, the output folder is still the old one.",
    "publish.moved": "The dataset is in place, what it replaced not yet removed.",
    "store.file.after_rename": "A small file is in place, its folder not yet synced.",
    "store.file.before_rename": "A small file is written and synced under its temporary name.",
    "store.file.written": "A small file is written under its temporary name and not yet synced.",
    "store.shard.after_rename": "A shard is in place, its folder not yet synced.",
    "store.shard.array_written": "An array of a shard is written under the shard's temporary name.",
    "store.shard.before_rename": "A shard is written and synced under its temporary name, manifest included.",
    "store.shard.created": "The temporary folder of a shard exists.",
    "store.shard.table_written": "A table of a shard is written under the shard's temporary name.",
    "store.view.after_rename": "An acceptance is in place, its folder not yet synced.",
    "store.view.array_written": "An array of an acceptance is written under its temporary name.",
    "store.view.before_rename": "An acceptance is written and synced under its temporary name, manifest included.",
    "store.view.created": "The temporary folder of an acceptance exists.",
    "store.view.table_written": "A table of an acceptance is written under its temporary name.",
}
"""All names, each with the state on disk when it is passed."""


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def _terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _fail_with(number: int) -> Callable[[], None]:
    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


ACTIONS: dict[str, Callable[[], None]] = {
    "eacces": _fail_with(errno.EACCES),
    "eio": _fail_with(errno.EIO),
    "enospc": _fail_with(errno.ENOSPC),
    "erofs": _fail_with(errno.EROFS),
    "interrupt": _interrupt,
    "kill": _kill,
    "terminate": _terminate,
}


class _Active:
    def __init__(self, text: str) -> None:
        parts = text.split(":")
        if len(parts) != 3 or parts[0] not in FAILPOINTS or not parts[1].isdigit() or parts[2] not in ACTIONS:
            raise ValueError(f"failpoint {text!r} is not NAME:COUNT:ACTION with a known name and action")
        self.text = text
        self.name = parts[0]
        self.left = int(parts[1])
        self.action = ACTIONS[parts[2]]
        self.lock = threading.Lock()

    def visit(self) -> None:
        with self.lock:
            self.left -= 1
            act = self.left == 0
        if act:
            self.action()


_active: _Active | None = None


def activate(text: str | None) -> None:
    """Arm one failpoint in this process (``name:count:action``), or none. Counting starts anew.

    Raises:
        ValueError: the text names no failpoint or no action.
    """
    global _active
    _active = _Active(text) if text else None


def activate_once(text: str | None) -> None:
    """Arm it in a worker process, unless it is armed already: several tasks in one worker count on."""
    if active() != text:
        activate(text)


def active() -> str | None:
    """The text that ``activate`` was given, for handing it to a worker process."""
    return _active.text if _active else None


def failpoint(name: str) -> None:
    """Pass the place ``name``: nothing happens unless it is armed."""
    if _active is not None and _active.name == name:
        _active.visit()
