"""Record the code hashes of all registered stages: ``python tests/engine/stage_lock.py``.

It refuses when a stage's code changed and its version did not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from codelock import StageLock, lock_of, write_locks

from synth.registry import BACKENDS, ENVIRONMENTS, EXPERTS, SCORERS, SCREENS, STAGES

LOCK = Path(__file__).with_suffix(".json")


def current() -> Iterator[StageLock]:
    """The locks of all stages and screens that we register."""
    for entry in STAGES.values():
        module, _, name = entry.partition(":")
        stage = getattr(import_module(module), name)
        # A stage that is given collaborators by name runs their code without importing it.
        by_name = hasattr(import_module(module), "Implementation")
        tables = (ENVIRONMENTS, BACKENDS, EXPERTS, SCORERS)
        also = sorted({entry.partition(":")[0] for table in tables for entry in table.values()})
        yield lock_of(stage, also if by_name else ())
    for entry in SCREENS.values():
        module, _, name = entry.partition(":")
        yield lock_of(getattr(import_module(module), name))


if __name__ == "__main__":
    try:
        write_locks(LOCK, current())
    except ValueError as error:
        sys.exit(str(error))
