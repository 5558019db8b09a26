"""Duplicates among tasks as they are accepted, one candidate after the other.

Whether a candidate is accepted depends on the accepted ones before it alone, so that asking for more tasks changes
nothing about those that are there. Nothing is approximate here: of texts whose Jaccard similarity is t, sorted by hash,
one of the first ``n - ceil(t * n) + 1`` n-grams is common (prefix filtering: Chaudhuri, Ganti & Kaushik, ICDE 2006).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xxhash
from numpy.typing import NDArray

from synth.filtering.dedup.pairs import Kind
from synth.filtering.dedup.rules import TaskRules
from synth.filtering.dedup.spill import HELD, Postings, Records, Rows
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
    """Remembers the tasks that were accepted: the last ones in memory, earlier ones on the disk. What it finds is the
    same however few it holds.
    """

    def __init__(
        self, rules: TaskRules, encoder: Encoder | None = None, *, folder: Path | None = None, held: int = HELD
    ) -> None:
        """
        Args:
            folder: Where its files lie, which have no name; None = the system's folder for temporary ones.
            held: How many tasks are held in memory.

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
        self._held = held
        self._tasks = Records(folder)
        """Each as JSON, and behind it its n-grams."""
        self._texts, self._structures = Postings(folder), Postings(folder)
        self._prefixes, self._answers = Postings(folder), Postings(folder)
        self._vectors = Rows(folder, held)

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

    def _task(self, number: int) -> tuple[Asked, Hashes]:
        record = self._tasks[number]
        size = int.from_bytes(record[:4], "little")
        return Asked(*json.loads(record[4 : 4 + size])), np.frombuffer(record, dtype=np.uint64, offset=4 + size)

    def _double(self, kind: Kind, other: Asked, score: float, task: Asked) -> Double:
        return Double(kind, other, score, other.split != task.split)

    def _same(self, text: str, task: Asked) -> Double | None:
        for number in self._texts.get(_key(text)) if self._rules.exact else ():
            other, _ = self._task(number)
            if text_hash(other.question) == text:  # else two keys are the same by chance
                return self._double("exact", other, 1.0, task)
        for number in self._structures.get(_key(task.structure)) if self._rules.structural and task.structure else ():
            other, _ = self._task(number)
            if other.structure == task.structure:
                return self._double("structural", other, 1.0, task)
        return None

    def _near(self, answer: str, grams: Hashes, task: Asked) -> Double | None:
        """A near duplicate; or, less alike, a task of the same cluster and another split."""
        if self._least is None:
            return None
        keys = {_key(answer, gram) for gram in self._prefix(grams)}
        scored: list[tuple[float, int, Asked]] = []
        floor = min(one for one in (self._rules.near, self._rules.cluster) if one is not None)
        for number in {one for key in keys for one in self._prefixes.get(key)}:
            other, theirs = self._task(number)
            score = round(jaccard(grams, theirs), _DECIMALS)
            if score >= floor and (not self._rules.same_answer or canonical_text(other.answer) == answer):
                scored.append((score, -number, other))
        scored.sort(key=lambda item: item[:2], reverse=True)
        double = next((item for item in scored if self._rules.near is not None and item[0] >= self._rules.near), None)
        if double is None and self._rules.cluster is not None:
            double = next((item for item in scored if item[2].split != task.split), None)
            double = double if double is not None and double[0] >= self._rules.cluster else None
        return None if double is None else self._double("near", double[2], double[0], task)

    def _prefix(self, grams: Hashes) -> list[int]:
        assert self._least is not None
        # A score is rounded before it is compared: half a unit below the threshold counts too.
        least = max(0.0, self._least - 0.5 * 10**-_DECIMALS)
        return [int(gram) for gram in grams[: len(grams) - math.ceil(least * len(grams) - 1e-9) + 1]]

    def _semantic(self, answer: str, vector: NDArray[np.float32] | None, task: Asked) -> Double | None:
        if self._rules.semantic is None or vector is None:
            return None
        near = self._answers.get(_key(answer))
        if self._rules.same_answer:
            near = [one for one in near if canonical_text(self._task(one)[0].answer) == answer]
        if not near:
            return None
        # Row by row, no linear algebra library: a sum does not depend on how many rows there are.
        scores = np.round((self._vectors[near] * vector).sum(axis=1, dtype=np.float32).astype(np.float64), _DECIMALS)
        best = int(scores.argmax())
        if scores[best] < self._rules.semantic:
            return None
        return self._double("semantic", self._task(near[best])[0], min(1.0, float(scores[best])), task)

    def _add(self, task: Asked, answer: str, text: str, grams: Hashes, vector: NDArray[np.float32] | None) -> None:
        number = len(self._tasks)
        told = json.dumps([task.id, task.question, task.answer, task.split, task.structure]).encode()
        self._tasks.add(len(told).to_bytes(4, "little") + told + np.asarray(grams, dtype=np.uint64).tobytes())
        self._texts.add(_key(text), number)
        if task.structure is not None:
            self._structures.add(_key(task.structure), number)
        if self._least is not None:
            for gram in self._prefix(grams):
                self._prefixes.add(_key(answer, gram), number)
        if vector is not None:
            self._answers.add(_key(answer), number)
            self._vectors.put(number, vector)
        if len(self._tasks) % self._held == 0:
            for one in (self._tasks, self._texts, self._structures, self._prefixes, self._answers):
                one.spill()


def _key(text: str, number: int = 0) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"), number)
