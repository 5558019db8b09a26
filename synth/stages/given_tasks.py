"""The user's own questions and answers, as tasks over their own corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, ClassVar

from pydantic import Field

from synth.inputs import read_input
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Context, Outcome, StageConfig
from synth.stages.held import Holdings
from synth.tasks.draft import finish, same_question
from synth.tasks.given import GivenTasks, read_given

__all__ = ["GivenTasksConfig", "GivenTasksStage"]


class GivenTasksConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """The file of questions: JSON Lines, or CSV with a header (question, answer, aliases, documents)."""
    k: int = Field(default=50, ge=1, le=1000)
    """How many search results are read for evidence when a question names no documents."""
    collections: Collections | None = None
    """How the pages are divided where the tasks are to be solved."""


class GivenTasksStage(CandidateStage[GivenTasksConfig]):
    """Candidate i is the i-th line of the file; the file is all there is."""

    name = "given_tasks"
    version = 3
    config_type = GivenTasksConfig
    reads = ("documents", "index")
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("bm25s",)

    def __init__(self, config: GivenTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        documents = context.inputs.table("documents")
        self._holdings = Holdings(config.collections, documents.arrow, self.name)
        index = Bm25Index(context.inputs.arrays("index"))

        def search(query: str, k: int) -> list[int]:
            return [hit.document for hit in index.search(query, k)]

        self._items = read_given(_content(config), PurePath(config.path).name)
        self._tasks = GivenTasks(documents, search, k=config.k)

    @classmethod
    def content_digest(cls, config: GivenTasksConfig) -> str:
        content = _content(config)
        read_given(content, PurePath(config.path).name)  # a file of no known form is said before anything runs
        # The name decides how the content is read.
        return hashlib.sha256(PurePath(config.path).suffix.lower().encode() + b"\0" + content).hexdigest()

    def exhausted(self) -> int:
        return len(self._items)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [self._one(index) for index in range(start, stop)]

    def _one(self, index: int) -> Outcome:
        item = self._items[index]
        found = item if isinstance(item, Rejection) else self._tasks.task(item)
        if isinstance(found, Rejection):
            return Outcome(rejected=(found,))
        return self._holdings.kept(finish(found.draft, found.checks, self.context.provenance, index))

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)


def _content(config: GivenTasksConfig) -> bytes:
    return read_input(config.path, mend="give a JSONL or CSV file of questions with --tasks-file")
