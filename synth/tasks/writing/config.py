"""What models do with tasks: the recipe's keys."""

from __future__ import annotations

from pydantic import Field

from synth.schemas.described import Described
from synth.schemas.writing import ModelCheck

__all__ = ["CheckKeys", "WritingKeys"]


class WritingKeys(Described):
    """How questions are worded by the role ``writer``."""

    share: float = Field(default=1.0, ge=0, le=1)
    """Share of the tasks that are worded anew; the others keep the grammar's words. 0 for a writer who only drafts
    words of relations or reads documents."""
    attempts: int = Field(default=2, ge=1, le=20)
    """Wordings that are asked for until one is accepted; after the last one the task keeps the grammar's words."""
    described: float = Field(default=0.0, ge=0, le=1)
    """Share of the compositions and conjunctions over the world, among those in which all is named, of which one named
    entity is described instead: the writer chooses true facts and words them, the whole graph is asked whether they are
    enough, and whether each is needed. Beside the grammar's own ``questions.obfuscation``."""
    confirm: bool = True
    """Whether a second reader must find that both wordings ask the same: the role ``checker``, or the writer itself
    where a recipe names no checker. False leaves it to exact rules, which compare words and know no meaning."""


class CheckKeys(Described):
    """How tasks are checked by the role ``checker``: a check flags them (``task_reviews``) unless ``reject`` names
    it."""

    reject: tuple[ModelCheck, ...] = ()
    """Checks that a task must pass, else another takes its place: ``closed_book``, ``alternatives``, ``answerable``,
    ``needed``. One that came to no result is not passed. Questions that a model proposed must pass all that are made.
    """
    closed_book: int = Field(default=4, ge=0, le=100)
    """How often the question is asked with nothing to look at; 0 leaves it out."""
    known_at: int = Field(default=1, ge=1, le=100)
    """So many right answers from memory fail the check (ASearcher: one in eight)."""
    alternatives: int = Field(default=1, ge=0, le=100)
    """How often a second answer is looked for; 0 leaves it out."""
    answerable: int = Field(default=2, ge=0, le=100)
    """How often the question is asked with the evidence among other pages; 0 leaves it out."""
    answerable_share: float = Field(default=0.5, gt=0, le=1)
    """Least share of right answers among the replies."""
    needed: int = Field(default=0, ge=0, le=100)
    """How often the question is asked without one of its facts, for each fact; 0 leaves it out (questions that a model
    proposed: 1, where the recipe does not say). A fact without which half of the replies are right all the same
    (``answerable_share``) is none that the question needs."""
    noise: int = Field(default=4, ge=0, le=50)
    """Pages beside those of the evidence: what the question itself finds first."""
    excerpt: int = Field(default=1500, ge=200, le=100_000)
    """Code points of a page that are shown."""
