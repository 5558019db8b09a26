"""``validate`` ties wordings and checks of models to their tasks, and their numbers to each other."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from breaking import Mutation, must_be_found, within
from exporter_samples import PROVENANCE, sample_report, sample_tables

from synth.dataset.layout import write_dataset
from synth.dataset.rules.validate import validate
from synth.identity import digest
from synth.schemas.adp import ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.arrow import from_arrow, to_arrow
from synth.schemas.proposals import ProposalRow
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.writing import Claim, QuestionRewriteRow, TaskReviewRow, WordedPart

WORDINGS = "question_rewrites/train-00000-of-00001.parquet"
PROPOSALS = "proposals/train-00000-of-00001.parquet"
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
        **common, check="alternatives", outcome="passed", samples=1, replies=1, answered=1, right=0, claims=(claim,)
    )
    return [memory, other]


def exploration(task: Task) -> ProposalRow:
    told = f"Begin with the page ({task.gold_documents[0]})."
    content: list[ContentItem] = [TextObservation(content=told, source="user", name="user")]
    for number, name in enumerate(task.gold_documents):
        call = {"function": "open", "kwargs": {"document": name}, "tool_call_id": f"call_{number}_0"}
        content.append(ApiAction(**call, reasoning_content="I go on."))
        content.append(
            TextObservation(content=f"# {name}", source="environment", name="open", tool_call_id=f"call_{number}_0")
        )
    content.append(MessageAction(content="That is the chain."))
    named: dict[str, Any] = {
        "task_id": task.id,
        "model": "toy",
        "read": task.gold_documents,
        "hardened": tuple(f"{task.question} ({number})" for number in range(task.obfuscation)),
        "refused": ("no_walk: nothing: Who?",),
    }
    dumped = [item.model_dump(mode="json") for item in content]
    return ProposalRow(
        id=f"proposal-{digest('proposal', *named.values(), dumped)[:16]}",
        **named,
        seed_document=task.gold_documents[0],
        instruction=told,
        system_prompt="You explore.",
        tool_schemas=[{"type": "function"}],
        content=tuple(content),
        turns=len(task.gold_documents) + 1,
        prompts=("agents/propose/v1@0",),
        calls=("c",),
        licence=task.licence,
        split=task.split,
        provenance=PROVENANCE,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written") / "dataset"
    tables = sample_tables()
    tasks = from_arrow(tables["tasks"], Task)
    tables["question_rewrites"] = to_arrow([row for task in tasks for row in wordings(task)], QuestionRewriteRow)
    tables["task_reviews"] = to_arrow([row for task in tasks for row in checks(task)], TaskReviewRow)
    tables["proposals"] = to_arrow([exploration(task) for task in tasks], ProposalRow)
    write_dataset(folder, tables, sample_report(tables))
    return folder


def test_what_was_written_is_sound(whole: Path) -> None:
    assert validate(whole) == []


accepted_row = partial(within, WORDINGS, 1)
alternatives = partial(within, CHECKS, 1)
closed_book = partial(within, CHECKS, 0)
first = partial(within, WORDINGS, 0)
explored = partial(within, PROPOSALS, 0)

MUTATIONS: dict[str, Mutation] = {
    "another task": accepted_row("there is no task task-0", task_id="task-0"),
    "another split": accepted_row("split: test, but its task is of train", split="test"),
    "other words than the task's": accepted_row(
        "was accepted, but the task asks something else", question="Who else?", parts=()
    ),
    "accepted for a reason": accepted_row("accepted: an accepted rewrite has no reason", reason=Reason.REFUSAL),
    "refused for none": first("accepted: an accepted rewrite has no reason", reason=None),
    "a gap": accepted_row("attempt: 2 does not follow", attempt=2),
    "an attempt after one that was accepted": first(
        "an earlier wording of",
        lambda row: {"accepted": True, "reason": None, "confirmed": "same", "question": row.before[6:]},
    ),
    "a part that stands nowhere": accepted_row(
        "'moon' or 'sun' is not in its question", parts=(WordedPart(before="moon", after="sun"),)
    ),
    "a described part that stands nowhere": within(
        WORDINGS, 2, "'moon' is not in its question", parts=(WordedPart(before="X lies_in it", after="moon"),)
    ),
    "described twice": accepted_row("does not follow the previous attempt", kind="described"),
    "nobody confirmed it": accepted_row("the second reader did not confirm it", confirmed="abstained"),
    "a check of another task": closed_book("there is no task task-0", task_id="task-0"),
    "a check twice": alternatives("another task review has", check="closed_book", claims=()),
    "more right than answered": closed_book("2 right, 1 answered", right=2),
    "more replies than samples": closed_book("1 replies, 0 samples", samples=0),
    "a sample of which nothing is said": closed_book("missing: 0 listed, but 1", missing=()),
    "an abstention with replies": closed_book("abstained with 1", outcome="abstained"),
    "a pass without replies": closed_book(
        "passed with 0 replies", replies=0, answered=0, answers=(), missing=("a", "b")
    ),
    "an answer too many": closed_book("2, and 1 answered", answers=("a", "b")),
    "a proposal of another task": explored("there is no task task-0", task_id="task-0"),
    "an exploration that begins elsewhere": explored("does not begin with it", instruction="Begin anywhere."),
    "a seed that was not given": explored(
        "is not the page of the instruction", lambda row: {"seed_document": row.read[-1]}
    ),
    "a gold page that was not read": explored("is gold, and was not read", lambda row: {"read": row.read[:1]}),
    "a page that was never opened": explored("was not opened", lambda row: {"read": (*row.read, "document-9")}),
    "a page read twice": explored("a page stands there twice", lambda row: {"read": (*row.read, row.read[0])}),
    "a turn too many": explored("turns: 9", turns=9),
    "harder than the task": explored("was made harder 0 times", hardened=("Who?",)),
    "other things explored": explored(
        "id: does not match", lambda row: {"content": (*row.content[:-1], MessageAction(content="Nothing."))}
    ),
    "a claim that stands and fails nothing": alternatives(
        "does not follow from the claims", claims=(Claim(answer="B", why="", quote="", verdict="open"),)
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_whatever_does_not_agree_is_found(name: str, whole: Path) -> None:
    must_be_found(MUTATIONS[name], whole)
