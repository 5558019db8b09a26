"""Tasks derived from an explored environment, each with the plan that solves it; a writer may word them anew.

Only the words are the writer's. The candidates are the same with and without one, and a request whose new words do not
pass every check keeps its own: so the tasks are the same tasks, and as many. Safety pairs (only their purpose differs)
and requests whose clauses are not known keep their words, and no model is called for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from synth.environments.contract import Environment
from synth.exploration.pipeline import Exploration
from synth.identity import digest, key_of
from synth.models.bridge import together
from synth.schemas.details import details_with
from synth.schemas.plans import Request
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import CheckResult, Reworded, Task
from synth.schemas.writing import QuestionRewriteRow
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft, finish
from synth.tasks.text import mentions
from synth.tasks.writing.config import WritingKeys
from synth.tasks.writing.requests import request_rules
from synth.tasks.writing.rows import counted, wording_row
from synth.tasks.writing.writer import Attempt, QuestionWriter

__all__ = ["ExploredTasks", "ExploredTasksConfig", "RequestWriting"]


class RequestWriting(WritingKeys, StageConfig):
    writer: Implementation
    """Who words requests anew."""
    reader: Implementation | None = None
    """Who compares both wordings; None = no one."""
    prompt: str
    """``<stage>/<name>/v<N>@<sha256>`` of the writer's prompt file."""
    reader_prompt: str | None = None
    """The reader's."""


class ExploredTasksConfig(StageConfig):
    environment: Implementation
    """What is explored, and what agents then act in. ``versions`` say what it shows of itself."""
    explorer: Implementation
    """How it is explored: the factory takes the ``environment`` beside its options."""
    licence: str | None = None
    """SPDX id of the licence of what is seen there; None = not stated."""
    writing: RequestWriting | None = None
    """How requests are reworded; None = they are not."""


class ExploredTasks(CandidateStage[ExploredTasksConfig]):
    name = "explored_tasks"
    version = 40
    config_type = ExploredTasksConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task, "question_rewrites": QuestionRewriteRow}
    libraries = ("numpy",)
    candidates_per_shard = 8
    """Candidates beyond the last accepted one are paid for: so few that these are not many."""

    def __init__(self, config: ExploredTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment: Environment = context.make(config.environment)
        self._hooks = context.make(config.explorer, environment=self._environment)
        self._exploration: Exploration[Any] = Exploration(self._hooks, stage=self.name)
        writing = config.writing
        if writing is not None:
            reader = None if writing.reader is None else context.make(writing.reader)
            self._writer = QuestionWriter(context.make(writing.writer), reader, attempts=writing.attempts)

    @classmethod
    def content_digest(cls, config: ExploredTasksConfig) -> str | None:
        """What the environment is: there is nothing else that tasks are made from."""
        one = config.environment
        return digest("explored", one.kind, one.versions, one.options.get("variant"), one.options.get("size"))

    def duplicate_key(self, row: Any) -> str:
        before = Reworded.of(row.details).question_before
        key: str = self._hooks.duplicate_key(row if before is None else row.model_copy(update={"question": before}))
        return key

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        indices = range(start, stop)
        found = zip(indices, self._exploration.propose(indices, self.context.seed), strict=True)
        work = [partial(self._outcome, index, one) for index, one in found]
        return [one() for one in work] if self.config.writing is None else together(work)

    def _outcome(self, index: int, found: Checked | Rejection) -> Outcome:
        if isinstance(found, Rejection):
            return Outcome(rejected=(found,))
        details = details_with(found.draft.details, Request(changing=tuple(self._hooks.changing)))
        known = {"environment": self._environment.name, "details": details, "licence": self.config.licence}
        found = replace(found, draft=found.draft.model_copy(update=known))
        if self.config.writing is None:
            return Outcome(kept=(finish(found.draft, found.checks, self.context.provenance, index),))
        return self._worded(index, found, self.config.writing)

    def _worded(self, index: int, found: Checked, writing: RequestWriting) -> Outcome:
        attempts = self._attempts(index, found, writing)
        provenance = self.context.provenance
        written = provenance.model_copy(update={**writing.writer.origin(), "prompt": writing.prompt})
        draft, checks = found.draft, found.checks
        if attempts and attempts[-1][0] is not None:
            draft, last = attempts[-1][0], attempts[-1][1]
            detail = "the second reader found it the same" if last.confirmed == "same" else "by exact rules"
            checks = (*checks, CheckResult(check="wording", outcome="passed", detail=detail))
            task = finish(draft, checks, written, index)
        else:
            task = finish(draft, checks, provenance, index)
        rows = tuple(
            wording_row(
                task,
                found.draft.question,
                attempt,
                "reworded",
                model=writing.writer.model_name,
                prompt=writing.prompt,
                confirmed_by=None if writing.reader is None else writing.reader.model_name,
                confirm_prompt=writing.reader_prompt,
                provenance=written,
            )
            for _, attempt in attempts
        )
        counted((attempt for _, attempt in attempts), self.context.metrics)
        return Outcome(kept=(task,), side={"question_rewrites": rows})

    def _attempts(
        self, index: int, found: Checked, writing: RequestWriting
    ) -> tuple[tuple[Draft | None, Attempt], ...]:
        """Every attempt, the draft in new words beside the one that was accepted."""
        draw = self.context.generator
        if not found.parts or float(draw(index, "worded").random()) >= writing.share:
            return ()
        rules = request_rules(found.parts, found.draft, self._hooks.others(found.draft))
        made, attempts = self._writer.write(
            found.draft, _recheck(found.draft), lambda number: key_of(draw(index, "wording", number)), rules
        )
        return tuple((made if attempt.reason is None else None, attempt) for attempt in attempts)


def _recheck(before: Draft) -> Callable[[Draft], tuple[Reason, str] | None]:
    """The check of a request that hangs on its words: what is to be found out is not told."""
    asked = Request.of(before.details).kind == "answered"

    def against(made: Draft) -> tuple[Reason, str] | None:
        forms = [form for form in (before.answer, *before.answer_aliases) if mentions(before.question, [form]) is None]
        found = mentions(made.question, forms) if asked else None
        return None if found is None else (Reason.ANSWER_IN_QUESTION, f"it says {found!r}")

    return against
