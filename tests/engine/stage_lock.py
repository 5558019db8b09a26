"""Record the code hashes of all registered stages and collaborators: ``python tests/engine/stage_lock.py``.

It refuses where code changed and its version did not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from codelock import CodeLock, lock_of, write_locks

from synth.registry import COLLABORATORS, STAGES

LOCK = Path(__file__).with_suffix(".json")


def current(hash_of: Callable[[str], str] | None = None) -> Iterator[CodeLock]:
    """The locks of all stages and collaborators that we register."""
    for table, entries in {"stages": STAGES, **COLLABORATORS}.items():
        for name, entry in entries.items():
            module, _, attribute = entry.partition(":")
            version = getattr(import_module(module), attribute).version
            yield lock_of(f"{table} {name}", version, module, hash_of)


if __name__ == "__main__":
    try:
        write_locks(LOCK, current())
    except ValueError as error:
        sys.exit(str(error))
