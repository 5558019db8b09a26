"""The user's own questions and answers, as tasks: over their own corpus, or without documents."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, ClassVar, TypeVar

from pydantic import Field

from synth.inputs import read_input
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.schemas.trajectories import RECORDED
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.stages.held import Holdings
from synth.tasks.draft import finish, same_question
from synth.tasks.given import Given, GivenQuestion, GivenTasks, bare_task, read_given

__all__ = ["BareTasks", "BareTasksConfig", "GivenTasksConfig", "GivenTasksStage"]


class _FileConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    path: str
    """The file of questions: JSON Lines, or CSV with a header (question, answer, aliases, documents)."""


class GivenTasksConfig(_FileConfig):
    k: int = Field(default=50, ge=1, le=1000)
    """How many search results are read for evidence when a question names no documents."""
    collections: Collections | None = None
    """How the pages are divided where the tasks are to be solved."""


class BareTasksConfig(_FileConfig):
    licence: str | None = None
    """SPDX id of the questions' licence."""
    environment: Implementation | None = None
    """Where they are asked. None = where runs of them were recorded, which is not known."""


C = TypeVar("C", bound=_FileConfig)


class _Questions(CandidateStage[C]):
    """Candidate i is the i-th line of the file; the file is all there is."""

    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}

    def __init__(self, config: C, context: Context) -> None:
        super().__init__(config, context)
        self._items = read_given(_content(config.path), PurePath(config.path).name)

    @classmethod
    def content_digest(cls, config: C) -> str:
        content = _content(config.path)
        read_given(content, PurePath(config.path).name)  # a file of no known form is said before anything runs
        # The name decides how the content is read.
        return hashlib.sha256(PurePath(config.path).suffix.lower().encode() + b"\0" + content).hexdigest()

    @abstractmethod
    def task(self, item: GivenQuestion) -> Given | Rejection:
        """The task, or why there is none."""

    def exhausted(self) -> int:
        return len(self._items)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        return [self._one(index) for index in range(start, stop)]

    def _one(self, index: int) -> Outcome:
        item = self._items[index]
        found = item if isinstance(item, Rejection) else self.task(item)
        if isinstance(found, Rejection):
            return Outcome(rejected=(found.model_copy(update={"stage": self.name}),))
        return self.accepted(finish(found.draft, found.checks, self.context.provenance, index))

    def accepted(self, task: Task) -> Outcome:
        """``task``, or why it is none after all."""
        return Outcome(kept=(task,))

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)


class GivenTasksStage(_Questions[GivenTasksConfig]):
    name = "given_tasks"
    version = 38
    config_type = GivenTasksConfig
    reads = ("documents", "index")
    libraries = ("bm25s",)

    def __init__(self, config: GivenTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        documents = context.inputs.table("documents")
        self._holdings = Holdings(config.collections, documents.arrow, self.name)
        index = Bm25Index(context.inputs.arrays("index"))

        def search(query: str, k: int) -> list[int]:
            return [hit.document for hit in index.search(query, k)]

        self._tasks = GivenTasks(documents, search, k=config.k)

    def task(self, item: GivenQuestion) -> Given | Rejection:
        return self._tasks.task(item)

    def accepted(self, task: Task) -> Outcome:
        return self._holdings.kept(task)


class BareTasks(_Questions[BareTasksConfig]):
    """No evidence is looked for: no documents were given."""

    name = "bare_tasks"
    version = 35
    config_type = BareTasksConfig

    def __init__(self, config: BareTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment = RECORDED
        if config.environment is not None:
            self._environment = context.make(config.environment, inputs=context.inputs).name

    def task(self, item: GivenQuestion) -> Given:
        return bare_task(item, self.config.licence, self._environment)


def _content(path: str) -> bytes:
    return read_input(path, mend="give a JSONL or CSV file of questions with --tasks-file")
