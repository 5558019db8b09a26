"""Tasks that models had a hand in: drawn by an embedded stage, worded by a writer, checked by a reader.

All of it happens inside the acceptance loop, so a task that a check rejects is replaced by the next candidate, and the
number of tasks is exact. The embedded stage draws the very candidates that it draws alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Literal

import pyarrow as pa

from synth.graph.graph import Graph
from synth.identity import derive_generator, key_of
from synth.models.bridge import together
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.rejections import Reason
from synth.schemas.row import JsonObject, Row
from synth.schemas.tasks import CheckResult, Task
from synth.schemas.writing import QuestionRewriteRow, TaskReviewRow
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.stages.task_reviews import Checks, Reviews
from synth.tasks.checks import run_checks
from synth.tasks.contract import CheckConfig, Checked, Failed, Surroundings
from synth.tasks.draft import Draft, finish, same_question
from synth.tasks.graph_facts import TablePages
from synth.tasks.index_search import IndexSearch
from synth.tasks.text import generic_words
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.writing.checker import Found
from synth.tasks.writing.config import WritingKeys
from synth.tasks.writing.describer import Describer
from synth.tasks.writing.rows import counted, wording_row
from synth.tasks.writing.writer import Attempt, QuestionWriter

__all__ = ["ModelAssistedTasks", "ModelAssistedTasksConfig", "Writing"]


class Writing(WritingKeys, StageConfig):
    writer: Implementation
    """Who words questions anew."""
    reader: Implementation | None = None
    """Who compares both wordings; None = no one."""
    prompt: str
    """``<stage>/<name>/v<N>@<sha256>`` of the writer's prompt file."""
    describer: Implementation | None = None
    """Who describes an entity instead of naming it; None = no one."""
    describer_prompt: str | None = None
    """The describer's prompt file."""
    reader_prompt: str | None = None
    """The reader's."""


class ModelAssistedTasksConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"path": "a location; the hash of the content stands in for it"}

    tasks: Implementation
    """The embedded stage that draws the tasks."""
    questions: JsonObject
    """Its config."""
    path: str | None = None
    """Its file of questions, where the user gave one."""
    writing: Writing | None = None
    """How questions are worded; None = they stay as they are."""
    checks: Checks | None = None
    """How tasks are checked by a model; None = not at all."""

    def inner_config(self) -> StageConfig:
        """The embedded stage's config."""
        values = {**self.questions, **({} if self.path is None else {"path": self.path})}
        return _stage(self).config_type.model_validate(values)


def _stage(config: ModelAssistedTasksConfig) -> type[CandidateStage[Any]]:
    module, _, name = config.tasks.factory.partition(":")
    found: type[CandidateStage[Any]] = getattr(import_module(module), name)
    return found


class ModelAssistedTasks(CandidateStage[ModelAssistedTasksConfig]):
    """Reads what the embedded stage reads."""

    name = "model_assisted_tasks"
    version = 76
    config_type = ModelAssistedTasksConfig
    optional: ClassVar[tuple[str, ...]] = ("drafted_words",)
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "tasks": Task,
        "question_rewrites": QuestionRewriteRow,
        "task_reviews": TaskReviewRow,
    }
    libraries = ("numpy", "bm25s")
    candidates_per_shard = 8
    """Candidates beyond the last accepted one are paid for: so few that these are not many."""

    def __init__(self, config: ModelAssistedTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        kind = _stage(config)
        self._reads = kind.reads
        # Where tasks are walks over a graph, it holds all that is true of what they are about.
        self._complete = "graph" in kind.reads
        # The embedded stage draws as it would draw alone.
        self._inner = kind(
            config.inner_config(), replace(context, generator=partial(derive_generator, context.seed, kind.name))
        )
        documents = context.inputs.table("documents").arrow
        self._search = IndexSearch(Bm25Index(context.inputs.arrays("index")), documents.column("id"))
        self._writer = self._make_writer()
        self._reviews = self._make_reviews(documents)
        self._around = self._surroundings()
        self._describer = self._make_describer()
        self._own_checks = CheckConfig.model_validate(config.questions.get("checks") or {})

    def _make_writer(self) -> QuestionWriter | None:
        wanted = self.config.writing
        if wanted is None:
            return None
        reader = None if wanted.reader is None else self.context.make(wanted.reader)
        return QuestionWriter(self.context.make(wanted.writer), reader, attempts=wanted.attempts)

    def _make_describer(self) -> Describer | None:
        wanted = self.config.writing
        if wanted is None or wanted.describer is None:
            return None
        tables = self.context.inputs
        config = self.config.inner_config()
        assert isinstance(config, WorldTasksConfig)
        world = WorldProposer(
            Graph.from_arrays(tables.arrays("graph")),
            tables.table("entities").arrow,
            tables.table("documents").arrow,
            tables.table("edges").arrow,
            self._search,
            config,
            further={name: shape.itself() for name, shape in getattr(config, "further", {}).items()},
        )
        reader = None if wanted.reader is None else self.context.make(wanted.reader)
        writer = self.context.make(wanted.describer)
        return Describer(world.view, world.surroundings, config.checks, writer, reader, attempts=wanted.attempts)

    def _make_reviews(self, documents: pa.Table) -> Reviews | None:
        wanted = self.config.checks
        if wanted is None:
            return None
        pages = TablePages(documents)

        def search(query: str, k: int) -> list[str]:
            return self._search.ranked([query], k)[0]

        return Reviews(wanted, self.context, self.name, pages, search, complete=self._complete)

    def _surroundings(self) -> Surroundings:
        if self.config.writing is None or "entities" not in self._reads:
            return Surroundings()
        names = self.context.inputs.table("entities").arrow.column("name")
        step = max(1, len(names) // _NAMES)
        return Surroundings(
            search=self._search, generic=generic_words(names[at].as_py() for at in range(0, len(names), step))
        )

    @classmethod
    def reads_of(cls, config: ModelAssistedTasksConfig) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*_stage(config).reads, *super().reads_of(config)]))

    @classmethod
    def stream(cls, config: ModelAssistedTasksConfig) -> str:
        return f"modelled_{_stage(config).name}"

    @classmethod
    def content_digest(cls, config: ModelAssistedTasksConfig) -> str | None:
        return _stage(config).content_digest(config.inner_config())

    def ceiling(self, wanted: int) -> int:
        return self._inner.ceiling(wanted)

    def exhausted(self) -> int | None:
        return self._inner.exhausted()

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        drawn = self._inner.propose(start, stop)
        return together([partial(self._worked, outcome) for outcome in drawn])

    def _worked(self, outcome: Outcome) -> Outcome:
        if not outcome.kept:
            here = [rejection.model_copy(update={"stage": self.name}) for rejection in outcome.rejected]
            return Outcome(rejected=tuple(here))
        (drawn,) = outcome.kept
        assert isinstance(drawn, Task)
        index = drawn.candidate_index
        task, described = self._described(drawn, index)
        before = task
        task, attempts = self._worded(task, index)
        found: tuple[Found, ...] = ()
        if self._reviews is not None:
            task, found, refused = self._reviews.review(task, index)
            if refused is not None:
                return Outcome(rejected=(refused,))
        side = {
            "question_rewrites": (
                *(self._wording(task, drawn, attempt, "described") for attempt in described),
                *(self._wording(task, before, attempt, "reworded") for attempt in attempts),
            ),
            "task_reviews": () if self._reviews is None else self._reviews.rows(task, found),
        }
        counted((*described, *attempts), self.context.metrics)
        return Outcome(kept=(task,), side=side)

    def _described(self, task: Task, index: int) -> tuple[Task, tuple[Attempt, ...]]:
        wanted, describer = self.config.writing, self._describer
        draw = self.context.generator
        if wanted is None or describer is None or float(draw(index, "described").random()) >= wanted.described:
            return task, ()
        draft = Draft(**{name: getattr(task, name) for name in Draft.model_fields})
        made, attempts = describer.describe(
            draft, lambda number: key_of(draw(index, "description", number)), draw(index, "facts of a description")
        )
        if made is None:
            return task, attempts
        (verdict,) = run_checks([made], describer.around, describer.checks)
        assert isinstance(verdict, Checked)
        confirmed = "the second reader found it the same" if attempts[-1].confirmed == "same" else "by exact rules"
        checks = (*verdict.checks, CheckResult(check="description", outcome="passed", detail=confirmed))
        assert wanted.describer is not None
        origin = {**wanted.describer.origin(), "prompt": wanted.describer_prompt}
        return finish(made, checks, self.context.provenance.model_copy(update=origin), index), attempts

    def _worded(self, task: Task, index: int) -> tuple[Task, tuple[Attempt, ...]]:
        wanted, writer = self.config.writing, self._writer
        if wanted is None or writer is None:
            return task, ()
        if float(self.context.generator(index, "worded").random()) >= wanted.share:
            return task, ()
        draft = Draft(**{name: getattr(task, name) for name in Draft.model_fields})
        made, attempts = writer.write(
            draft, self._recheck, lambda number: key_of(self.context.generator(index, "wording", number))
        )
        if made is None:
            return task, attempts
        confirmed = "the second reader found it the same" if attempts[-1].confirmed == "same" else "by exact rules"
        checks = (*task.checks, CheckResult(check="wording", outcome="passed", detail=confirmed))
        origin = {**wanted.writer.origin(), "prompt": wanted.prompt}
        return finish(made, checks, self.context.provenance.model_copy(update=origin), index), attempts

    def _recheck(self, draft: Draft) -> tuple[Reason, str] | None:
        """The checks that hang on the question's words, once more."""
        names = ("answer_not_in_question", "retrievable") if self._complete else ("answer_not_in_question",)
        (verdict,) = run_checks([draft], self._around, self._own_checks, names)
        return (verdict.reason, verdict.detail) if isinstance(verdict, Failed) else None

    def _wording(
        self, task: Task, drawn: Task, attempt: Attempt, kind: Literal["described", "reworded"]
    ) -> QuestionRewriteRow:
        wanted = self.config.writing
        assert wanted is not None
        who, prompt = wanted.writer, wanted.prompt
        if kind == "described" and wanted.describer is not None and wanted.describer_prompt is not None:
            who, prompt = wanted.describer, wanted.describer_prompt
        return wording_row(
            task,
            drawn.question,
            attempt,
            kind,
            model=who.model_name,
            prompt=prompt,
            confirmed_by=None if wanted.reader is None else wanted.reader.model_name,
            confirm_prompt=wanted.reader_prompt,
            provenance=self.context.provenance.model_copy(update={**who.origin(), "prompt": prompt}),
        )


_NAMES = 20_000
"""Names that are looked at to learn which words are generic."""
