"""Rows that are alike, for a reader to look through: the table ``duplicates`` with a few words of either row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from synth.dataset.reader import Dataset
from synth.dataset.report.chunks import Chunks

__all__ = ["twins"]

_ROWS = 500
_WORDS: Mapping[str, tuple[str, str]] = {"documents": ("id", "title"), "preferences": ("id", "difference")}
"""Level -> columns of the table that says what a row is."""


def twins(dataset: Dataset, chunks: Chunks, questions: Mapping[str, str], clip: int = 160) -> int:
    """Write the pieces ``twins-00000``, ...: ``[level, kind, score, one, its words, other, its words, the row that
    stays]`` each. How many pairs there are.

    Args:
        questions: Task -> question.
    """
    if "duplicates" not in dataset.configs:
        return 0
    levels = {level for batch in dataset.batches("duplicates", columns=["level"]) for level in batch[0].to_pylist()}
    told = {level: dict(_told(dataset, level, questions, clip)) for level in sorted(levels)}
    rows: list[list[Any]] = []
    count = 0
    names = ["level", "kind", "score", "one", "other", "representative"]
    for batch in dataset.batches("duplicates", columns=names):
        for level, kind, score, one, other, stays in zip(*(batch[name].to_pylist() for name in names), strict=True):
            words = told[level]
            rows.append([level, kind, score, one, words.get(one, ""), other, words.get(other, ""), stays])
            if len(rows) == _ROWS:
                chunks.add(f"twins-{count // _ROWS:05d}", rows)
                count += _ROWS
                rows = []
    if rows:
        chunks.add(f"twins-{count // _ROWS:05d}", rows)
    return count + len(rows)


def _told(dataset: Dataset, level: str, questions: Mapping[str, str], clip: int) -> Iterator[tuple[str, str]]:
    """Row -> some words of it. Of what is gone the table ``rejected`` keeps them."""
    if level == "trajectories":
        for batch in dataset.batches("trajectories", columns=["id", "role", "task_id", "answer"]):
            for id_, role, task, answer in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, f"{role}: {questions.get(task, '')[:clip]} → {(answer or 'no answer')[:clip]}"
        return
    if "rejected" in dataset.configs:
        for batch in dataset.batches("rejected", columns=["row_id", "preview"]):
            for id_, preview in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, (preview or "")[:clip]
    if level in dataset.configs:
        for batch in dataset.batches(level, columns=list(_WORDS[level])):
            for id_, words in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                yield id_, (words or "")[:clip]
