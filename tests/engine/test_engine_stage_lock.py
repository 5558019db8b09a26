"""No stage's code changes without its version."""

from __future__ import annotations

from codelock import problems, read_locks
from stage_lock import LOCK, current


def test_stage_code_is_locked() -> None:
    lines = problems(current(), read_locks(LOCK))
    assert lines == [], "\n".join([*lines, "regenerate with: python tests/engine/stage_lock.py"])
