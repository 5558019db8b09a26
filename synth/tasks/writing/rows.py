"""Rows of what a writer tried, and the numbers of the report."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from typing import Literal

from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Task
from synth.schemas.writing import QuestionRewriteRow, WordedPart
from synth.tasks.writing.writer import Attempt

__all__ = ["counted", "wording_row"]


def wording_row(
    task: Task,
    before: str,
    attempt: Attempt,
    kind: Literal["described", "reworded"],
    *,
    model: str | None,
    prompt: str,
    confirmed_by: str | None,
    confirm_prompt: str | None,
    provenance: Provenance,
) -> QuestionRewriteRow:
    """The row of one attempt at ``task``.

    Args:
        before: The question before any wording.
        model: Who wrote, as ``prompt`` asked it to.
        confirmed_by: The second reader.
    """
    return QuestionRewriteRow(
        task_id=task.id,
        kind=kind,
        attempt=attempt.number,
        accepted=attempt.reason is None,
        before=before,
        question=attempt.question,
        parts=tuple(WordedPart(before=cue, after=words) for cue, words in attempt.words.items() if words),
        reason=attempt.reason,
        detail=attempt.detail,
        confirmed=attempt.confirmed,
        model=model,
        prompt=prompt,
        confirmed_by=confirmed_by,
        confirm_prompt=confirm_prompt,
        calls=attempt.calls,
        split=task.split,
        provenance=provenance,
    )


def counted(attempts: Iterable[Attempt], notes: MutableMapping[str, float]) -> None:
    """Count what became of ``attempts`` into the notes of a report."""
    for attempt in attempts:
        name = "wordings accepted" if attempt.reason is None else f"wordings refused: {attempt.reason.value}"
        notes[name] = notes.get(name, 0.0) + 1
