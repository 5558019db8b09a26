"""Requests that a model worded: derived by an embedded stage from what was explored, put in other words by a writer.

Only the words are the model's. The embedded stage draws the very candidates that it draws alone, and a request whose
new words do not pass every check keeps its own: so the tasks are the same tasks, and as many. Twins (who asks and what
for is all that differs) and requests whose stretches are not known keep their words and are asked about by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Protocol, cast

from synth.identity import derive_generator, key_of
from synth.models.bridge import together
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
from synth.tasks.writing.requests import Values, request_rules
from synth.tasks.writing.rows import counted, wording_row
from synth.tasks.writing.writer import Attempt, QuestionWriter

__all__ = ["ModelledAppTasks", "ModelledMcpTasks", "ModelledReverseConfig", "ModelledWebTasks", "RequestWriting"]


class RequestWriting(WritingKeys, StageConfig):
    writer: Implementation
    """Who words requests anew."""
    reader: Implementation | None = None
    """Who compares both wordings; None = nobody."""
    prompt: str
    """``<stage>/<name>/v<N>@<sha256>`` of the writer's prompt file."""
    reader_prompt: str | None = None
    """The reader's."""


class ModelledReverseConfig(StageConfig):
    tasks: Implementation
    """The embedded stage that derives the tasks."""
    environment: Implementation
    """Its environment."""
    proposer: Implementation
    """Its proposer."""
    licence: str | None = None
    """Its licence."""
    writing: RequestWriting
    """How requests are worded."""

    def inner_config(self) -> StageConfig:
        """The embedded stage's config."""
        given = {name: getattr(self, name) for name in ("environment", "proposer", "licence")}
        return _stage(self).config_type.model_validate(given)


def _stage(config: ModelledReverseConfig) -> type[CandidateStage[Any]]:
    module, _, name = config.tasks.factory.partition(":")
    found: type[CandidateStage[Any]] = getattr(import_module(module), name)
    return found


class _Drawing(Protocol):
    """What is asked of an embedded stage beside what every such stage has."""

    def drawn(self, start: int, stop: int) -> Sequence[Checked | Rejection]: ...

    def others(self, draft: Draft) -> Values: ...


class _ModelledReverse(CandidateStage[ModelledReverseConfig]):
    """One name per kind of source; all else is the same."""

    version = 2
    config_type = ModelledReverseConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task, "question_rewrites": QuestionRewriteRow}
    libraries = ("numpy",)
    candidates_per_shard = 8
    """Candidates beyond the last accepted one are paid for: so few that these are not many."""

    def __init__(self, config: ModelledReverseConfig, context: Context) -> None:
        super().__init__(config, context)
        kind = _stage(config)
        # The embedded stage draws as it would draw alone.
        generator = partial(derive_generator, context.seed, kind.name)
        self._inner = kind(config.inner_config(), replace(context, generator=generator))
        wanted = config.writing
        reader = None if wanted.reader is None else context.make(wanted.reader)
        self._writer = QuestionWriter(context.make(wanted.writer), reader, attempts=wanted.attempts)

    @classmethod
    def content_digest(cls, config: ModelledReverseConfig) -> str | None:
        return _stage(config).content_digest(config.inner_config())

    def ceiling(self, wanted: int) -> int:
        return self._inner.ceiling(wanted)

    def duplicate_key(self, row: Any) -> str:
        before = Reworded.of(row.details).question_before
        return self._inner.duplicate_key(row if before is None else row.model_copy(update={"question": before}))

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        drawn = cast(_Drawing, self._inner).drawn(start, stop)
        work = [partial(self._worked, index, one) for index, one in zip(range(start, stop), drawn, strict=True)]
        return together(work)

    def _worked(self, index: int, drawn: Checked | Rejection) -> Outcome:
        if not isinstance(drawn, Checked):
            return Outcome(rejected=(drawn.model_copy(update={"stage": self.name}),))
        provenance, attempts = self.context.provenance, self._tried(index, drawn)
        draft, checks = drawn.draft, drawn.checks
        wanted = self.config.writing
        origin = {**wanted.writer.origin(), "prompt": wanted.prompt}
        if attempts and attempts[-1][0] is not None:
            draft = attempts[-1][0]
            same = attempts[-1][1].confirmed == "same"
            detail = "the second reader found it the same" if same else "by exact rules"
            checks = (*checks, CheckResult(check="wording", outcome="passed", detail=detail))
            task = finish(draft, checks, provenance.model_copy(update=origin), index)
        else:
            task = finish(draft, checks, provenance, index)
        rows = tuple(
            wording_row(
                task,
                drawn.draft.question,
                attempt,
                "reworded",
                model=wanted.writer.model_name,
                prompt=wanted.prompt,
                confirmed_by=None if wanted.reader is None else wanted.reader.model_name,
                confirm_prompt=wanted.reader_prompt,
                provenance=provenance.model_copy(update=origin),
            )
            for _, attempt in attempts
        )
        counted((attempt for _, attempt in attempts), self.context.notes)
        return Outcome(kept=(task,), side={"question_rewrites": rows})

    def _tried(self, index: int, drawn: Checked) -> tuple[tuple[Draft | None, Attempt], ...]:
        """Every attempt, the draft in new words beside the one that was accepted."""
        draw = self.context.generator
        if not drawn.parts or float(draw(index, "worded").random()) >= self.config.writing.share:
            return ()
        rules = request_rules(drawn.parts, drawn.draft, cast(_Drawing, self._inner).others(drawn.draft))
        made, attempts = self._writer.write(
            drawn.draft, _recheck(drawn.draft), lambda number: key_of(draw(index, "wording", number)), rules
        )
        return tuple((made if attempt.reason is None else None, attempt) for attempt in attempts)


def _recheck(before: Draft) -> Any:
    """The check of a request that hangs on its words: what is to be found out is not told."""
    asked = Request.of(before.details).kind == "answered"

    def against(made: Draft) -> tuple[Reason, str] | None:
        forms = [form for form in (before.answer, *before.answer_aliases) if mentions(before.question, [form]) is None]
        found = mentions(made.question, forms) if asked else None
        return None if found is None else (Reason.ANSWER_IN_QUESTION, f"it says {found!r}")

    return against


class ModelledAppTasks(_ModelledReverse):
    name = "modelled_app_tasks"


class ModelledMcpTasks(_ModelledReverse):
    name = "modelled_mcp_tasks"


class ModelledWebTasks(_ModelledReverse):
    name = "modelled_web_tasks"
