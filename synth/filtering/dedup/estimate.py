"""What looking for duplicates takes, before it is done. ``bench_dedup.py predict`` holds it against what it takes."""

from __future__ import annotations

import math

from synth.filtering.dedup.minhash import NUMBERS, bands_for
from synth.filtering.dedup.rules import Rules, TaskRules
from synth.filtering.dedup.sketch import PIECE
from synth.filtering.dedup.spill import HELD
from synth.retrieval.cells import LOOKS
from synth.retrieval.joins import SMALL

__all__ = ["filter_bytes", "table_bytes"]

_TASK = 300
"""Bytes per accepted task in memory beside its n-grams: its record, its entry in the table of texts. Fitted to
2 * 10^5 tasks of 18 words."""
_TASK_ON_DISK, _END = 250, 9
"""The same on the disk; and in memory, where the record ends."""
_POSTING = 210
"""Bytes per n-gram of a prefix: the key and the list of who has it. Fitted to the same."""
_BASE = 8e6
"""Bytes that any comparison takes."""
_STRUCTURE = 200
"""Bytes of a key of structure and its entry. Reckoned."""
_ROW, _NEAR = 145, 150
"""Bytes per row that any comparison holds (id, place, hash), and that sorting by one band after the other takes beside
the keys. Fitted to tables of 3 * 10^4 and 1.2 * 10^5 rows with an eighth and a half as many pairs."""
_FOUND = 160
"""Bytes per pair that was found. Fitted to the same."""
_TOLD, _PAIR = 200, 400
"""Bytes per row and per pair when rows of the table ``duplicates`` are made of the pairs. Fitted to 1.2 * 10^5 and
4 * 10^5 rows with an eighth and a half as many pairs."""
_WRITING = 13e6
"""Bytes of the rows that are objects at a time, on their way to Arrow, and of what Arrow takes at once."""
_PAIR_ON_DISK = 40
_QUALITY = 32
"""Bytes of a row's quality on the disk: four numbers."""
_LOOK = 24
"""Bytes of a row's look into a cell while they are sorted."""


def filter_bytes(tasks: int, rules: TaskRules, *, words: float = 18, dim: int = 384) -> tuple[int, int]:
    """(memory, disk) of a :class:`synth.filtering.dedup.TaskFilter` with so many accepted tasks, ``words`` words a
    question. It is made anew from the candidates when a build goes on.
    """
    grams = max(1.0, words - rules.words + 1)
    least = min((one for one in (rules.near, rules.cluster) if one is not None), default=None)
    prefix = 0.0 if least is None else grams - math.ceil(least * grams) + 1
    vector = 0.0 if rules.semantic is None else 1.5 * 4 * dim  # the array grows by doubling
    structure = _STRUCTURE if rules.structural else 0
    held = min(tasks, HELD) * (_TASK + structure + 8 * grams + _POSTING * prefix + vector)
    if tasks < HELD:
        return int(held), 0
    postings = 1 + rules.structural + prefix + (rules.semantic is not None)
    # Runs that are merged stand there twice.
    return int(held + _END * tasks), int(tasks * (_TASK_ON_DISK + 8 * grams + 2 * 16 * postings + vector))


def table_bytes(rows: int, rules: Rules, *, dim: int = 384, share: float = 0.1) -> tuple[int, int]:
    """(memory, disk) of finding duplicates in a table of so many rows, with ``share`` pairs per row; texts and the
    table itself are not counted.

    Two stages, one after the other. The first holds the sketch of all rows (:class:`~.sketch.Sketch`),
    a piece of it twice, and writes it: that is the disk. The second reads it from there, and holds what it compares by;
    of cells the most that they may take, where no vector is near any.
    """
    sketch = 16 + 16 * rules.structural
    compared, fixed = 0.0, 0.0
    if rules.near is not None:
        bands, _ = bands_for(rules.near)
        sketch += 4 * NUMBERS
        compared = 8 * bands + _NEAR
    if rules.semantic is not None:
        sketch += 4 * dim
        own = 0.0
        if rules.index == "cells" and rows > SMALL:
            cells = 2 * rows**0.5
            fixed = 4 * 4096 * (cells + 2_000) + 4 * dim * cells * 65  # scores of a block; what k-means sees, twice
            # Where nothing is near anything a row looks into most cells: as many looks as are held at once.
            fixed += _LOOK * min(rows * cells, LOOKS)
        elif rules.index.startswith("faiss") and rows > SMALL:  # a copy of the vectors; of HNSW the links too
            own = 4 * dim + (300 if rules.index == "faiss-hnsw" else 8)
        compared = max(compared, 32 + own)
    pairs = share * rows
    first = rows * sketch + min(rows * sketch, PIECE) + 2 * rows * _QUALITY
    second = max(rows * (_ROW + compared) + fixed + _FOUND * pairs, rows * _TOLD + _PAIR * pairs + _WRITING)
    return int(_BASE + max(first, second)), int(rows * (sketch + _QUALITY) + _PAIR_ON_DISK * pairs)
