"""What decides which tasks are duplicates stands behind DEDUP_VERSION: no stage imports it, so no stage's lock does."""

from __future__ import annotations

from codelock import module_hash

from synth.dedup import DEDUP_VERSION
from synth.identity import digest

MODULES = (
    "synth.dedup.online",
    "synth.dedup.pairs",
    "synth.dedup.rules",
    "synth.dedup.structure",
    "synth.dedup.text",
    "synth.engine.accepting",
    "synth.retrieval.encoder",
    "synth.retrieval.tokens",
)
LOCKED = {2: "b6465cb24008f23bb17e4d7d68295347c3da621b946d1e8b6ac45d220a85a8b9"}
"""Version -> hash of its code, comments and docstrings apart. A version that was released never changes."""


def test_code_that_accepts_tasks_changes_with_its_version_only() -> None:
    found = digest(*(module_hash(name) for name in MODULES))
    assert LOCKED[DEDUP_VERSION] == found, "bump DEDUP_VERSION (synth/dedup/rules.py) and record its hash here"
