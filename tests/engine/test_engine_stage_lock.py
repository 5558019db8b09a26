"""No stage's code changes without its version."""

from __future__ import annotations

from collections import Counter

from codelock import problems, read_locks, words_of
from stage_lock import LOCK, current


def test_stage_code_is_locked() -> None:
    lines = problems(current(), read_locks(LOCK))
    assert lines == [], "\n".join([*lines, "regenerate with: python tests/engine/stage_lock.py"])


def test_a_word_reaches_few_of_the_locks() -> None:
    """Each file of the lexicon stales the stages and collaborators that say its words or read them, not the rest."""
    reached = Counter(
        file.name for lock in current(lambda _: "") for file in {f for m in lock.modules for f in words_of(m)}
    )
    assert max(reached.values()) <= 33, reached
    assert sorted(reached.values())[len(reached) // 2] <= 5, reached
