"""``validate`` ties wordings and checks of models to their tasks, and their numbers to each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from breaking import Break, edit, must_be_found_in
from exporter_samples import PROVENANCE, sample_report, sample_tables

from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.writing import Claim, QuestionRewriteRow, TaskReviewRow, WordedPart

WORDINGS = "question_rewrites/train-00000-of-00001.parquet"
CHECKS = "task_reviews/train-00000-of-00001.parquet"


def wordings(task: Task) -> list[QuestionRewriteRow]:
    old = f"Tell: {task.question}"
    common: dict[str, Any] = {
        "task_id": task.id,
        "before": old,
        "prompt": "tasks/write/v1@0",
        "model": "toy",
        "confirmed_by": "toy",
        "split": task.split,
        "provenance": PROVENANCE,
    }
    cue = task.walk.hops[0].cue
    refused = QuestionRewriteRow(**common, attempt=0, accepted=False, reason=Reason.MALFORMED, detail="no JSON")
    accepted = QuestionRewriteRow(
        **common,
        attempt=1,
        accepted=True,
        question=task.question,
        parts=(WordedPart(before=cue, after=cue),),
        confirmed="same",
    )
    described = QuestionRewriteRow(
        **{**common, "before": "Tell me more?"},
        kind="described",
        attempt=0,
        accepted=True,
        question=old,
        parts=(WordedPart(before="X lies_in it", after=cue),),
        confirmed="same",
    )
    return [refused, accepted, described]


def checks(task: Task) -> list[TaskReviewRow]:
    common: dict[str, Any] = {
        "task_id": task.id,
        "prompt": "tasks/closed_book/v1@0",
        "split": task.split,
        "provenance": PROVENANCE,
    }
    claim = Claim(answer="Nobody", why="", quote="", verdict="unsupported")
    memory = TaskReviewRow(
        **common,
        check="closed_book",
        outcome="passed",
        samples=2,
        replies=1,
        answered=1,
        right=0,
        answers=("Nobody",),
        missing=("refusal: no",),
    )
    other = TaskReviewRow(
        **common,
        check="alternatives",
        outcome="passed",
        samples=1,
        replies=1,
        answered=1,
        right=0,
        claims=(claim,),
    )
    return [memory, other]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "dataset"
    tables = sample_tables()
    tasks = from_arrow(tables["tasks"], Task)
    tables["question_rewrites"] = to_arrow([row for task in tasks for row in wordings(task)], QuestionRewriteRow)
    tables["task_reviews"] = to_arrow([row for task in tasks for row in checks(task)], TaskReviewRow)
    write_dataset(folder, tables, sample_report(tables))
    return folder


def test_what_was_written_is_sound(whole: Path) -> None:
    assert validate(whole) == []


def always(**changes: Any) -> Any:
    return lambda row: changes


MUTATIONS: dict[str, tuple[Break, str, str]] = {
    "another task": (edit(WORDINGS, 1, always(task_id="task-0")), "question_rewrites/", "there is no task task-0"),
    "another split": (
        edit(WORDINGS, 1, always(split="test")),
        "question_rewrites/",
        "split: test, but its task is of train",
    ),
    "other words than the task's": (
        edit(WORDINGS, 1, always(question="Who else?", parts=())),
        "question_rewrites/",
        "was accepted, and the task asks another",
    ),
    "accepted for a reason": (
        edit(WORDINGS, 1, always(reason=Reason.REFUSAL)),
        "question_rewrites/",
        "accepted: goes with no reason",
    ),
    "refused for none": (edit(WORDINGS, 0, always(reason=None)), "question_rewrites/", "accepted: goes with no reason"),
    "a gap": (edit(WORDINGS, 1, always(attempt=2)), "question_rewrites/", "attempt: 2 does not follow"),
    "an attempt after one that was accepted": (
        edit(
            WORDINGS, 0, lambda row: {"accepted": True, "reason": None, "confirmed": "same", "question": row.before[6:]}
        ),
        "question_rewrites/",
        "an earlier wording of",
    ),
    "a part that stands nowhere": (
        edit(WORDINGS, 1, always(parts=(WordedPart(before="moon", after="sun"),))),
        "question_rewrites/",
        "'moon' or 'sun' is not in its question",
    ),
    "a described part that stands nowhere": (
        edit(WORDINGS, 2, always(parts=(WordedPart(before="X lies_in it", after="moon"),))),
        "question_rewrites/",
        "'moon' is not in its question",
    ),
    "described twice": (
        edit(WORDINGS, 1, always(kind="described")),
        "question_rewrites/",
        "does not follow the one before",
    ),
    "nobody confirmed it": (
        edit(WORDINGS, 1, always(confirmed="abstained")),
        "question_rewrites/",
        "the second reader did not confirm it",
    ),
    "a check of another task": (edit(CHECKS, 0, always(task_id="task-0")), "task_reviews/", "there is no task task-0"),
    "a check twice": (
        edit(CHECKS, 1, always(check="closed_book", claims=())),
        "task_reviews/",
        "another task review has",
    ),
    "more right than answered": (edit(CHECKS, 0, always(right=2)), "task_reviews/", "2 right, 1 answered"),
    "more replies than samples": (edit(CHECKS, 0, always(samples=0)), "task_reviews/", "1 replies, 0 samples"),
    "a sample of which nothing is said": (
        edit(CHECKS, 0, always(missing=())),
        "task_reviews/",
        "missing: 0 told of, 1",
    ),
    "an abstention with replies": (edit(CHECKS, 0, always(outcome="abstained")), "task_reviews/", "abstained with 1"),
    "a pass without replies": (
        edit(CHECKS, 0, always(replies=0, answered=0, answers=(), missing=("a", "b"))),
        "task_reviews/",
        "passed with 0 replies",
    ),
    "an answer too many": (edit(CHECKS, 0, always(answers=("a", "b"))), "task_reviews/", "2, and 1 answered"),
    "a claim that stands and fails nothing": (
        edit(CHECKS, 1, always(claims=(Claim(answer="B", why="", quote="", verdict="open"),))),
        "task_reviews/",
        "does not follow from the claims",
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_whatever_does_not_agree_is_found(name: str, whole: Path, tmp_path: Path) -> None:
    broken, files, words = MUTATIONS[name]
    must_be_found_in(broken, files, words, whole, tmp_path / "dataset")
