"""Rules of the tables ``question_rewrites`` and ``task_reviews``: tied to their tasks, and consistent in themselves."""

from __future__ import annotations

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import TaskCheck
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow

__all__ = ["QuestionRewriteCheck", "TaskReviewCheck"]


class QuestionRewriteCheck:
    """An accepted wording is the task's question, says every part, and is the last attempt; a refused one says why."""

    def __init__(self, found: Problems, tasks: TaskCheck) -> None:
        self.found, self.tasks = found, tasks
        self.attempts: dict[tuple[str, str], int] = {}
        self.accepted: set[tuple[str, str]] = set()

    def see(self, file: DataFile, row: int, value: QuestionRewriteRow) -> None:
        for what in self._problems(value):
            self.found.add(file.label, row, what)
        self.attempts[value.task_id, value.kind] = value.attempt
        if value.accepted:
            self.accepted.add((value.task_id, value.kind))

    def _problems(self, row: QuestionRewriteRow) -> list[str]:
        wrong = []
        if row.attempt != self.attempts.get((row.task_id, row.kind), -1) + 1:
            wrong.append(f"attempt: {row.attempt} does not follow the one before")
        if (row.task_id, row.kind) in self.accepted:
            wrong.append(f"attempt: an earlier wording of {row.task_id} was accepted")
        # What was described may have been reworded afterwards.
        asked = self.tasks.questions.get(row.task_id) if row.kind == "reworded" else None
        if row.accepted == (row.reason is not None):
            wrong.append("accepted: goes with no reason, and a refused one with one")
        if asked is not None and asked != (row.question if row.accepted else asked):
            wrong.append("question: was accepted, and the task asks another")
        if row.accepted and row.question is not None:
            for part in row.parts:
                if part.after not in row.question or (row.kind == "reworded" and part.before not in row.before):
                    wrong.append(f"parts: {part.before!r} or {part.after!r} is not in its question")
            if row.confirmed_by is not None and row.confirmed != "same":
                wrong.append("confirmed: it was accepted, and the second reader did not confirm it")
        return wrong

    def finish(self) -> None:
        """Nothing is left open."""


class TaskReviewCheck:
    """One row per task and check, whose numbers agree."""

    def __init__(self, found: Problems) -> None:
        self.found = found

    def see(self, file: DataFile, row: int, value: TaskReviewRow) -> None:
        for what in self._problems(value):
            self.found.add(file.label, row, what)

    def _problems(self, row: TaskReviewRow) -> list[str]:
        wrong = []
        if not 0 <= row.right <= row.answered <= row.replies <= row.samples:
            wrong.append(
                f"samples: {row.right} right, {row.answered} answered, {row.replies} replies, {row.samples} samples"
            )
        if len(row.missing) != row.samples - row.replies:
            wrong.append(f"missing: {len(row.missing)} told of, {row.samples - row.replies} samples had no reply")
        if (row.outcome == "abstained") != (row.replies == 0):
            wrong.append(f"outcome: {row.outcome} with {row.replies} replies")
        if row.check == "alternatives":
            if row.replies and (row.outcome == "failed") != any(claim.verdict == "open" for claim in row.claims):
                wrong.append("outcome: does not follow from the claims")
        elif len(row.answers) != row.answered or row.claims:
            wrong.append(f"answers: {len(row.answers)}, and {row.answered} answered")
        return wrong

    def finish(self) -> None:
        """Nothing is left open."""
