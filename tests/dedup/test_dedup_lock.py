"""What decides which tasks are duplicates stands behind DEDUP_VERSION: no stage imports it, so no stage's lock does."""

from __future__ import annotations

from synth.dedup import DEDUP_VERSION
from synth.engine.codelock import module_hash
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
LOCKED = {1: "dcb07d0d193fa4df51dc52aab9d754c72acaba0d5fd85c83235b42cd1693c5a9"}
"""Version -> hash of its code, comments and docstrings apart. A version that was released never changes."""


def test_code_that_accepts_tasks_changes_with_its_version_only() -> None:
    found = digest(*(module_hash(name) for name in MODULES))
    assert LOCKED[DEDUP_VERSION] == found, "bump DEDUP_VERSION (synth/dedup/rules.py) and record its hash here"
