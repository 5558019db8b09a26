"""Duplicates among tasks, by comparing every two: a second opinion on what the acceptance loop let through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from synth.dataset.audit.findings import Findings, Place
from synth.filtering.dedup import TaskRules, canonical_text, compared_answer, text_hash
from synth.filtering.dedup.text import shingles
from synth.schemas.reports import BuildReport
from synth.schemas.tasks import Task

__all__ = ["DOUBLE_RULES", "Doubles"]

DOUBLE_RULES: Mapping[str, str] = {
    "near_duplicate": "No two tasks are near duplicates by the thresholds of the dataset's own recipe.",
    "cluster": "No two tasks that are alike enough to belong together are in different splits.",
}
_GROUP = 20_000
"""Of more tasks with one answer than this, not every two are compared: memory and time grow with the square."""
_ROWS = 256
"""Tasks that are compared with their group at once."""


class Doubles:
    """Remembers what tasks ask, then compares every two of the same answer."""

    def __init__(self, found: Findings, report: BuildReport | None) -> None:
        self._found = found
        self._rules = _rules(report)
        self._tasks: list[tuple[Place, str, str, str]] = []
        self._groups: dict[str, list[int]] = {}
        self._texts: dict[str, int] = {}

    def see(self, place: Place, task: Task) -> None:
        if self._rules is None:
            return
        self._found.rows["near_duplicate"] += 1
        number = len(self._tasks)
        self._tasks.append((place, task.id, task.question, task.split))
        if self._rules.exact:
            first = self._texts.setdefault(text_hash(task.question), number)
            if first != number:
                self._found.add(place, task.id, "near_duplicate", f"it asks in the words of {self._tasks[first][1]}")
                return
        key = canonical_text(compared_answer(task)) if self._rules.same_answer else ""
        self._groups.setdefault(key, []).append(number)

    def settle(self) -> None:
        """Judge what was seen."""
        for key in sorted(self._groups):
            group = self._groups[key]
            if len(group) > _GROUP:
                self._found.leave("near_duplicate", f"more than {_GROUP:,} tasks have one answer", len(group))
                continue
            if len(group) > 1:
                self._judge(group)

    def _judge(self, group: list[int]) -> None:
        assert self._rules is not None
        least = min((one for one in (self._rules.near, self._rules.cluster) if one is not None), default=None)
        if self._rules.cluster is not None:
            self._found.rows["cluster"] += len(group)
        for one, other, score in _shared([self._tasks[at][2] for at in group], self._rules.words, least):
            place, name, _, split = self._tasks[group[other]]
            _, like, _, of = self._tasks[group[one]]
            if self._rules.near is not None and score >= self._rules.near:
                self._found.add(place, name, "near_duplicate", f"it shares {score:.4f} of its n-grams with {like}")
            if self._rules.cluster is not None and score >= self._rules.cluster and split != of:
                what = f"it is {split} and shares {score:.4f} of its n-grams with {like}, which is {of}"
                self._found.add(place, name, "cluster", what)
        if self._rules.semantic is not None:
            self._vectors(group)

    def _vectors(self, group: list[int]) -> None:
        assert self._rules is not None
        assert self._rules.semantic is not None
        if self._rules.encoder != "hashed":
            self._found.leave("near_duplicate", "vectors of a model are not made again", len(group))
            return
        from synth.retrieval.encoder import hashed_encoder

        encoder = hashed_encoder()
        encoder.fit(())
        vectors = encoder.encode([self._tasks[at][2] for at in group]).astype(np.float64)
        for start in range(0, len(group), _ROWS):
            scores = vectors[start : start + _ROWS] @ vectors.T
            # A tenth of a unit more than the threshold: other sums of the same numbers may round the other way.
            for at, other in np.argwhere(scores >= self._rules.semantic + 1e-5).tolist():
                if start + at < other:
                    place, name, *_ = self._tasks[group[other]]
                    like = self._tasks[group[start + at]][1]
                    self._found.add(
                        place, name, "near_duplicate", f"its vector is {scores[at, other]:.4f} near that of {like}"
                    )


def _rules(report: BuildReport | None) -> TaskRules | None:
    """The thresholds of the dataset's recipe; None where it looks for no duplicates."""
    wanted = None if report is None else (report.recipe.get("dedup") or {}).get("tasks")
    try:
        return None if wanted is None else TaskRules.model_validate(wanted)
    except ValidationError:
        return None  # of a model whose name stays on the machine that has it


def _shared(texts: list[str], words: int, least: float | None) -> Iterator[tuple[int, int, float]]:
    """(one, other, Jaccard similarity) of every two texts from ``least`` on: by a product of sparse matrices."""
    if least is None:
        return
    from scipy.sparse import csr_array

    grams = [shingles(text, words) for text in texts]
    sizes = np.array([len(own) for own in grams], dtype=np.int64)
    known, columns = np.unique(np.concatenate(grams), return_inverse=True)
    ones: NDArray[np.int32] = np.ones(len(columns), dtype=np.int32)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    matrix = csr_array((ones, columns, ends), shape=(len(texts), len(known)))
    for start in range(0, len(texts), _ROWS):
        both = (matrix[start : start + _ROWS] @ matrix.T).tocoo()
        scores = np.round(both.data / (sizes[start + both.row] + sizes[both.col] - both.data), 4)
        chosen = (scores >= least) & (start + both.row < both.col)
        rows = zip((start + both.row[chosen]).tolist(), both.col[chosen].tolist(), scores[chosen].tolist(), strict=True)
        yield from sorted(rows)
