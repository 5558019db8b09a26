"""No stage's code changes without its version."""

from __future__ import annotations

from collections import Counter

from codelock import problems, read_locks, words_of
from stage_lock import LOCK, current


def test_stage_code_is_locked() -> None:
    lines = problems(current(), read_locks(LOCK))
    assert lines == [], "\n".join([*lines, "regenerate with: python tests/engine/stage_lock.py"])


def test_a_word_reaches_few_of_the_locks() -> None:
    """Words stale the stages and collaborators that say or read them. Those who judge read none."""
    reached = {lock.name: {words for m in lock.modules for words in words_of(m)} for lock in current(lambda _: "")}
    judges = ("raters", "scorers", "importers", "stages label_steps", "stages judge_runs", "stages assess_safety")
    assert not [name for name, words in reached.items() if words and name.startswith(judges)]
    locks = Counter(words for found in reached.values() for words in found)
    assert max(locks.values()) <= 17, locks.most_common(3)  # the lists of plain words, which every check of words reads
    assert sorted(locks.values())[len(locks) // 2] <= 4
