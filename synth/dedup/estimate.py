"""What looking for duplicates takes, before it is done."""

from __future__ import annotations

import math

from synth.dedup.minhash import bands_for
from synth.dedup.rules import Rules, TaskRules

__all__ = ["filter_bytes", "table_bytes"]

_TASK = 1100
"""Bytes per accepted task beside its n-grams: its texts, its entries in the tables of texts and answers. Fitted
to 10^5 tasks of one world (``bench_dedup.py accept``)."""
_POSTING = 210
"""Bytes per n-gram of a prefix: the key and the list of who has it. Fitted to the same."""
_ROW = 430
"""Bytes per row of a table beside what its kinds take: id, place, hash. Reckoned, not measured."""


def filter_bytes(tasks: int, rules: TaskRules, *, words: float = 18, dim: int = 384) -> int:
    """Memory of :class:`synth.dedup.TaskFilter` with so many accepted tasks, questions of ``words`` words each.

    Nothing of it goes to the disk: it is made anew from the candidates when a build goes on.
    """
    grams = max(1.0, words - rules.words + 1)
    least = min((one for one in (rules.near, rules.cluster) if one is not None), default=None)
    prefix = 0.0 if least is None else grams - math.ceil(least * grams) + 1
    vector = 0.0 if rules.semantic is None else 1.5 * 4 * dim  # the array grows by doubling
    return int(tasks * (_TASK + 8 * grams + _POSTING * prefix + vector))


def table_bytes(rows: int, rules: Rules, *, dim: int = 384, share: float = 0.1) -> tuple[int, int]:
    """(memory, disk) of :func:`synth.dedup.find_duplicates` over so many rows, ``share`` of which are duplicates; texts
    are not counted. The disk takes the pairs: 40 bytes each."""
    each = float(_ROW)
    if rules.near is not None:
        bands, _ = bands_for(rules.near)
        each += 8 * bands + 24
    if rules.semantic is not None:
        each += 4 * dim * (1 if rules.index == "exact" else 2) + 120
    kinds = sum((rules.exact, rules.structural, rules.near is not None, rules.semantic is not None))
    return int(rows * (each + kinds * share * 120)), int(rows * kinds * share * 40)
