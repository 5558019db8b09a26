"""Tasks that were derived from what was explored, each with the plan that solves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from synth.environments.contract import Environment
from synth.exploration.proposer import TaskProposer
from synth.identity import digest
from synth.schemas.details import details_with
from synth.schemas.plans import Request
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft, finish
from synth.tasks.writing.requests import Values

__all__ = ["AppTasks", "McpTasks", "ReverseTasks", "ReverseTasksConfig", "WebTasks"]


class ReverseTasksConfig(StageConfig):
    environment: Implementation
    """What is explored, and what agents then act in. ``versions`` say what it shows of itself."""
    proposer: Implementation
    """Derives the tasks: the factory takes the ``environment`` beside its options."""
    licence: str | None = None
    """SPDX id of the licence of what is seen there; None = not stated."""


class ReverseTasks(CandidateStage[ReverseTasksConfig]):
    """Asks a proposer, candidate by candidate. A subclass per kind of source differs in its name and the size of its
    shards."""

    config_type = ReverseTasksConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("numpy",)

    def __init__(self, config: ReverseTasksConfig, context: Context) -> None:
        super().__init__(config, context)
        self._environment: Environment = context.make(config.environment)
        self._proposer: TaskProposer = context.make(config.proposer, environment=self._environment)

    @classmethod
    def content_digest(cls, config: ReverseTasksConfig) -> str | None:
        """What the environment is: there is nothing else that tasks are made from."""
        one = config.environment
        return digest("explored", one.kind, one.versions, one.options.get("variant"), one.options.get("size"))

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        found = zip(range(start, stop), self.drawn(start, stop), strict=True)
        return [
            Outcome(kept=(finish(one.draft, one.checks, self.context.provenance, index),))
            if isinstance(one, Checked)
            else Outcome(rejected=(one,))
            for index, one in found
        ]

    def drawn(self, start: int, stop: int) -> Sequence[Checked | Rejection]:
        """What comes of each candidate, before it is a row."""
        found: list[Checked | Rejection] = []
        for verdict in self._proposer.propose(range(start, stop), self.context.seed):
            if isinstance(verdict, Checked):
                details = details_with(verdict.draft.details, Request(changing=tuple(self._proposer.changing)))
                known = {"environment": self._environment.name, "details": details, "licence": self.config.licence}
                draft = verdict.draft.model_copy(update=known)
                found.append(replace(verdict, draft=draft))
            else:
                found.append(verdict)
        return found

    def others(self, draft: Draft) -> Values:
        return self._proposer.others(draft)

    def duplicate_key(self, row: Any) -> str:
        return self._proposer.duplicate_key(row)


class AppTasks(ReverseTasks):
    """Tasks in an application."""

    name = "app_tasks"
    version = 2
    candidates_per_shard = 32


class McpTasks(ReverseTasks):
    """Tasks on servers of the Model Context Protocol."""

    name = "mcp_tasks"
    version = 2
    candidates_per_shard = 16


class WebTasks(ReverseTasks):
    """Tasks on a web site."""

    name = "web_tasks"
    version = 2
    candidates_per_shard = 4
