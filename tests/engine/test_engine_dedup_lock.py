"""What decides which tasks are duplicates stands behind DEDUP_VERSION: no stage imports it, so no stage's lock does."""

from __future__ import annotations

from codelock import module_hash

from synth.filtering.dedup import DEDUP_VERSION
from synth.identity import digest

MODULES = (
    "synth.filtering.dedup.online",
    "synth.filtering.dedup.pairs",
    "synth.filtering.dedup.rules",
    "synth.filtering.dedup.spill",
    "synth.filtering.dedup.structure",
    "synth.filtering.dedup.text",
    "synth.engine.accepting",
    "synth.retrieval.encoder",
    "synth.retrieval.tokens",
)
LOCKED = {5: "b9ddc2974e20448d99a68d4bfb059b474066b09759a7ce30e74d047ddeaa4ad0"}
"""Version -> hash of its code, comments and docstrings apart. A version that was released never changes."""


def test_code_that_accepts_tasks_changes_with_its_version_only() -> None:
    found = digest(*(module_hash(name) for name in MODULES))
    assert LOCKED[DEDUP_VERSION] == found, "bump DEDUP_VERSION (filtering/dedup/rules.py) and record its hash here"
