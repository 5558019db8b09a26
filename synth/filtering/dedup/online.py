"""Duplicates among tasks as they are accepted, one candidate after the other.

Whether a candidate is accepted depends on the accepted ones before it alone, so that asking for more tasks changes
nothing about those that are there. Nothing is approximate here: of texts whose Jaccard similarity is t, sorted by hash,
one of the first ``n - ceil(t * n) + 1`` n-grams is common (prefix filtering: Chaudhuri, Ganti & Kaushik, ICDE 2006).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from synth.filtering.dedup.pairs import Kind
from synth.filtering.dedup.rules import TaskRules
from synth.filtering.dedup.text import Hashes, canonical_text, jaccard, shingles, text_hash
from synth.retrieval.encoder import Encoder

__all__ = ["Asked", "Double", "TaskFilter"]

_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a task is compared."""

    id: str
    question: str
    answer: str
    """All of it: parts of a list too."""
    split: str | None
    structure: str | None = None
    """Key of its structure (:func:`synth.filtering.dedup.task_structure`), where that is compared."""


@dataclass(frozen=True, slots=True)
class Double:
    """Why a task is not accepted."""

    kind: Kind
    of: Asked
    """The accepted task that it is like."""
    score: float
    """Jaccard similarity or cosine, four decimals; 1 for ``exact``."""
    conflict: bool
    """Whether that task is of another split."""


class TaskFilter:
    """Remembers the tasks that were accepted.

    Memory per task: its texts, and some 16 bytes per word of its question; with an encoder 4 bytes per dimension.
    """

    def __init__(self, rules: TaskRules, encoder: Encoder | None = None) -> None:
        """
        Raises:
            ValueError: ``rules`` ask for vectors, and there is no encoder.
        """
        if rules.semantic is not None and encoder is None:
            raise ValueError("semantic duplicates need an encoder")
        self._rules = rules
        self._encoder = encoder if rules.semantic is not None else None
        if self._encoder is not None:
            self._encoder.load(self._encoder.fit(()))
        self._least = min(rules.near, rules.cluster or 1.0) if rules.near is not None else rules.cluster
        self._tasks: list[Asked] = []
        self._texts: dict[str, int] = {}
        self._structures: dict[str, int] = {}
        self._grams: list[Hashes] = []
        self._prefixes: dict[tuple[str, int], list[int]] = {}
        self._answers: dict[str, list[int]] = {}
        self._vectors: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    def encode(self, questions: Sequence[str]) -> Sequence[NDArray[np.float32] | None]:
        """The vectors of a shard's questions, together; nothing where no vectors are compared."""
        return [None] * len(questions) if self._encoder is None else list(self._encoder.encode(questions))

    def take(self, task: Asked, vector: NDArray[np.float32] | None = None) -> Double | None:
        """Accept ``task`` and return None, or say which accepted task it is like.

        Of several the most alike is named, of equal ones the earliest; a task that is the same as another in one way is
        rejected for the first of ``exact``, ``structural``, ``near``, ``semantic`` that says so.
        """
        answer = canonical_text(task.answer) if self._rules.same_answer else ""
        text = text_hash(task.question)
        grams = shingles(task.question, self._rules.words)
        found = self._same(text, task) or self._near(answer, grams, task) or self._semantic(answer, vector, task)
        if found is None:
            self._add(task, answer, text, grams, vector)
        return found

    def _double(self, kind: Kind, number: int, score: float, task: Asked) -> Double:
        other = self._tasks[number]
        return Double(kind, other, score, other.split != task.split)

    def _same(self, text: str, task: Asked) -> Double | None:
        number = self._texts.get(text) if self._rules.exact else None
        if number is not None:
            return self._double("exact", number, 1.0, task)
        number = self._structures.get(task.structure) if self._rules.structural and task.structure else None
        return None if number is None else self._double("structural", number, 1.0, task)

    def _near(self, answer: str, grams: Hashes, task: Asked) -> Double | None:
        """A near duplicate; or, less alike, a task of the same cluster and another split."""
        if self._least is None:
            return None
        seen = {one for gram in self._prefix(grams) for one in self._prefixes.get((answer, gram), ())}
        scored = [(round(jaccard(grams, self._grams[one]), _DECIMALS), -one) for one in seen]
        double = max(
            (item for item in scored if self._rules.near is not None and item[0] >= self._rules.near), default=None
        )
        if double is None and self._rules.cluster is not None:
            apart = (item for item in scored if self._tasks[-item[1]].split != task.split)
            double = max((item for item in apart if item[0] >= self._rules.cluster), default=None)
        return None if double is None else self._double("near", -double[1], double[0], task)

    def _prefix(self, grams: Hashes) -> list[int]:
        assert self._least is not None
        # A score is rounded before it is compared: half a unit below the threshold counts too.
        least = max(0.0, self._least - 0.5 * 10**-_DECIMALS)
        return [int(gram) for gram in grams[: len(grams) - math.ceil(least * len(grams) - 1e-9) + 1]]

    def _semantic(self, answer: str, vector: NDArray[np.float32] | None, task: Asked) -> Double | None:
        near = self._answers.get(answer)
        if self._rules.semantic is None or vector is None or near is None:
            return None
        # Row by row, no linear algebra library: a sum does not depend on how many rows there are.
        scores = np.round((self._vectors[near] * vector).sum(axis=1, dtype=np.float32).astype(np.float64), _DECIMALS)
        best = int(scores.argmax())
        if scores[best] < self._rules.semantic:
            return None
        return self._double("semantic", near[best], min(1.0, float(scores[best])), task)

    def _add(self, task: Asked, answer: str, text: str, grams: Hashes, vector: NDArray[np.float32] | None) -> None:
        number = len(self._tasks)
        self._tasks.append(task)
        self._texts.setdefault(text, number)
        if task.structure is not None:
            self._structures.setdefault(task.structure, number)
        self._answers.setdefault(answer, []).append(number)
        self._grams.append(grams)
        if self._least is not None:
            for gram in self._prefix(grams):
                self._prefixes.setdefault((answer, gram), []).append(number)
        if vector is not None:
            if number >= len(self._vectors):
                grown = np.zeros((max(1024, 2 * number), len(vector)), dtype=np.float32)
                grown[:number] = self._vectors[:number] if number else 0
                self._vectors = grown
            self._vectors[number] = vector
