"""What models said about tasks: other wordings of their questions, and checks. With the tasks, never part of them."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from synth.schemas.provenance import Provenance
from synth.schemas.rejections import Reason
from synth.schemas.row import NonEmpty, Ref, Row, Split

__all__ = ["Claim", "ModelCheck", "QuestionRewriteRow", "TaskReviewRow", "WordedPart"]

ModelCheck = Literal["closed_book", "alternatives", "answerable", "needed"]
"""``closed_book``: answered without looking anything up (ASearcher, arXiv 2508.07976; TaskCraft); ``alternatives``: a
second answer is looked for (ASearcher); ``answerable``: answered from the evidence among pages that do not help (SSP,
arXiv 2510.18821); ``needed``: the same with one fact left out, for each fact in turn; the answer must then be lost."""


class WordedPart(Row):
    """A part of a question, in the old words and in the new ones."""

    before: NonEmpty
    """Stretch of the old question; of a described entity the fact, with X for it."""
    after: NonEmpty
    """The stretch of the new one that says the same."""


class QuestionRewriteRow(Row):
    """One attempt of a model to word a question anew."""

    table: ClassVar[str | None] = "question_rewrites"
    unique_together = (("task_id", "kind", "attempt"),)

    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    kind: Literal["reworded", "described"] = "reworded"
    """``described``: one entity that the question named is described by facts that the model chose; it comes before the
    rewording of the whole."""
    attempt: int
    """From 0: a further one is made where an earlier one was refused."""
    accepted: bool
    """Whether the task asks in these words."""
    before: NonEmpty
    """The question before."""
    question: str | None = None
    """The model's words; None where it gave none."""
    parts: tuple[WordedPart, ...] = ()
    """Where each part of the old question went, as the model says; of an accepted one each stands there."""
    reason: Reason | None = None
    """Why it was refused; None when it was accepted."""
    detail: str = ""
    """What exactly: the words that were missing or too many, or what the model said instead."""
    confirmed: Literal["same", "different", "abstained"] | None = None
    """What the second reader found, who compared both questions; None where no one was asked."""
    model: str | None = None
    """Who wrote it."""
    prompt: NonEmpty
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""
    confirmed_by: str | None = None
    """The model of the second reader."""
    confirm_prompt: str | None = None
    """The second reader's prompt file."""
    calls: tuple[str, ...] = ()
    """Keys of the calls, the second reader's last."""
    split: Split
    """The task's split."""
    provenance: Provenance
    """What made the row."""


class Claim(Row):
    """A second answer that a model claims to fit."""

    answer: NonEmpty
    """As the model wrote it."""
    why: str
    """How it fits, in the model's words."""
    quote: str
    """What it rests on, in the model's words."""
    verdict: Literal["same", "refuted", "unsupported", "open"]
    """``same`` as the gold answer; ``refuted`` by an exhaustive query of the whole graph, which has one answer;
    ``unsupported``: the quote stands in none of the excerpts, or is of a word or two; ``open``: nothing of ours speaks
    against it."""


class TaskReviewRow(Row):
    """What a model's check of a task found."""

    table: ClassVar[str | None] = "task_reviews"
    unique_together = (("task_id", "check"),)

    task_id: Annotated[NonEmpty, Ref("tasks", ("split",))]
    """Id of the task in ``tasks``."""
    check: ModelCheck
    """Which check."""
    outcome: Literal["passed", "failed", "abstained"]
    """``abstained`` where no sample came to a reply. What became of it is the recipe's decision: a task that failed
    stands here only where the recipe flags such tasks instead of rejecting them."""
    samples: int
    """How often it was asked."""
    replies: int
    """How often there was a reply of the wanted form."""
    answered: int
    """Replies that gave an answer, or a claim: the model may abstain."""
    right: int
    """Answers that our rules call right; 0 for ``alternatives``."""
    answers: tuple[str, ...] = ()
    """What was answered, in order."""
    claims: tuple[Claim, ...] = ()
    """Of ``alternatives``."""
    missing: tuple[str, ...] = ()
    """Of each sample without a reply, why: the reason, then what the model or the server said."""
    documents: tuple[str, ...] = ()
    """Ids of the pages that were shown in excerpts, in the order of the first sample."""
    model: str | None = None
    """Who was asked."""
    prompt: NonEmpty
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""
    calls: tuple[str, ...] = ()
    """Keys of the calls."""
    split: Split
    """The task's split."""
    provenance: Provenance
    """What made the row."""
