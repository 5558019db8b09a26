"""Tasks that were derived from what was explored, each with the plan that solves it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import Field

from synth.environments.app.environment import open_app
from synth.errors import InputError
from synth.identity import digest
from synth.reverse.app.config import AppTasksConfig
from synth.reverse.app.drafts import same_request
from synth.reverse.app.propose import AppProposer
from synth.reverse.app.values import AppValues
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Context, Outcome, StageConfig
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft, finish, same_question
from synth.tasks.writing.requests import Values, values_of

__all__ = [
    "AppTasks",
    "AppTasksStageConfig",
    "McpTasks",
    "McpTasksStageConfig",
    "ReverseTasks",
    "WebTasks",
    "WebTasksStageConfig",
]


class ExploredConfig(StageConfig):
    """What all of them have."""

    licence: str | None = None
    """SPDX id of the licence of what is seen there; None = nobody stated one."""


C = TypeVar("C", bound=ExploredConfig)


class Proposer(Protocol):
    def propose(self, indices: Sequence[int], seed: int) -> Sequence[Checked | Rejection]:
        """One outcome per candidate index, in order; each depends on the source, the seed and its index alone."""


class ReverseTasks(CandidateStage[C]):
    """Asks a proposer, candidate by candidate. A subclass per kind of source says which."""

    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("numpy",)
    candidates_per_shard = 32

    def __init__(self, config: C, context: Context) -> None:
        super().__init__(config, context)
        self._proposer, self._environment, self._changing = self._opened()

    @abstractmethod
    def _opened(self) -> tuple[Proposer, str, tuple[str, ...]]:
        """Who proposes, the name of the environment in which tasks are to be solved, and its tools that change
        something (none where nobody knows)."""

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
                details = {**verdict.draft.details, "changing": list(self._changing)}
                known = {"environment": self._environment, "details": details, "licence": self.config.licence}
                draft = verdict.draft.model_copy(update=known)
                found.append(replace(verdict, draft=draft))
            else:
                found.append(verdict)
        return found

    @abstractmethod
    def others(self, draft: Draft) -> Values:
        """Short texts that stand in the environment where a task begins, and those that its tools choose from: of them
        a request may say what it said, and no other."""

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)


class AppTasksStageConfig(AppTasksConfig, ExploredConfig):
    application: str
    """A shipped application, or the text of its YAML."""
    variant: str | None = None
    """Which of its variants."""
    size: int = Field(default=1, ge=1)
    """Multiple of the data of size 1."""
    user: bool = True
    """Whether agents can ask the user."""
    environment_version: str
    """Of the environment: another version of the engine, or another text of the application, makes other tasks."""


class AppTasks(ReverseTasks[AppTasksStageConfig]):
    """Tasks in an application."""

    name = "app_tasks"
    version = 2
    config_type = AppTasksStageConfig

    @classmethod
    def content_digest(cls, config: AppTasksStageConfig) -> str | None:
        """What the application is: there is nothing else that tasks are made from."""
        return digest("application", config.environment_version, config.variant, config.size)

    def _opened(self) -> tuple[Proposer, str, tuple[str, ...]]:
        config = self.config
        environment = open_app(
            application=config.application, variant=config.variant, size=config.size, user=config.user
        )
        knobs = AppTasksConfig.model_validate({name: getattr(config, name) for name in AppTasksConfig.model_fields})
        changing = tuple(name for name, tool in environment.definition.tools.items() if tool.writes)
        self._values = AppValues(environment)
        return AppProposer(environment, knobs, stage=self.name), environment.name, changing

    def others(self, draft: Draft) -> Values:
        return self._values.of(draft)

    def duplicate_key(self, row: Any) -> str:
        return same_request(row)


class McpTasksStageConfig(ExploredConfig):
    """The servers, and what is asked of them."""

    servers: dict[str, dict[str, Any]]
    """As the recipe has them."""
    tools: tuple[str, ...] = ()
    """The only tools that are used; empty = all."""
    replay_safe: bool
    """Whether calls may be made again."""
    call_seconds: float
    """How long a call may take."""
    start_seconds: float
    """How long a server may take until it has told its tools."""
    max_chars: int
    """Code points of a result that is shown."""
    book: str | None = None
    """Text of a book; None = the one that goes with the server, else what its schemas give."""
    hints: dict[str, tuple[str, ...]] = {}
    """Argument -> values, for servers without a book."""
    fractions: dict[str, float] = AppTasksConfig().fractions
    """Share of the names of things that each split owns."""
    kinds: dict[str, float] = AppTasksConfig().kinds
    """Weights of ``done`` and ``answered``."""
    writes: dict[int, float] = AppTasksConfig().writes
    """Weights of how many calls that change something a candidate begins with."""
    tries: int = AppTasksConfig().tries
    """Calls that an exploration may try."""
    environment_version: str
    """Of the environment, with a hash of what the servers showed of themselves."""


class McpTasks(ReverseTasks[McpTasksStageConfig]):
    """Tasks on servers: explored, made minimal, replayed, put into words."""

    name = "mcp_tasks"
    version = 2
    config_type = McpTasksStageConfig
    candidates_per_shard = 16

    @classmethod
    def content_digest(cls, config: McpTasksStageConfig) -> str | None:
        """What the servers are: there is nothing else that tasks are made from."""
        return digest("mcp-servers", config.environment_version)

    def _opened(self) -> tuple[Proposer, str, tuple[str, ...]]:
        # Imported here: the extra may be missing where nobody asks a server.
        from synth.environments.mcp.environment import open_mcp
        from synth.reverse.mcp.book import load_book
        from synth.reverse.mcp.config import McpTasksConfig
        from synth.reverse.mcp.described import described_book
        from synth.reverse.mcp.propose import McpProposer, book_for
        from synth.reverse.mcp.survey import survey

        config = self.config
        given = ("servers", "tools", "replay_safe", "call_seconds", "start_seconds", "max_chars")
        environment = open_mcp(**{name: getattr(config, name) for name in given})
        book = load_book(config.book, "questions.book") if config.book is not None else book_for(environment)
        if book is None:
            words = [word for values in config.hints.values() for word in values]
            book = described_book(environment, survey(environment, hints=words), config.hints)
        done, answered = (config.kinds.get(kind, 0.0) for kind in ("done", "answered"))
        if done + answered <= 0:
            raise InputError("of servers there are the kinds done and answered", where="questions.kinds")
        knobs = McpTasksConfig(
            fractions=config.fractions,  # type: ignore[arg-type]
            answered=answered / (done + answered),
            writes=config.writes,
            calls=config.tries,
        )
        changing = tuple(sorted({move.tool for move in book.moves if move.tool is not None}))
        proposer = McpProposer(environment, book, knobs)
        self._values = values_of(proposer.values())
        return proposer, environment.name, changing

    def others(self, draft: Draft) -> Values:
        return self._values


class WebTasksStageConfig(ExploredConfig):
    """The site, and what is asked of it."""

    site: str
    """A shipped site, or a folder."""
    command: tuple[str, ...] = ()
    """Program and arguments of an application that serves it."""
    state_path: str | None = None
    """Address of the application's state."""
    viewport: tuple[int, int]
    """Width and height of the window in pixels."""
    executable: str | None = None
    """Chromium's program."""
    sandbox: bool | None = None
    """Chromium's own sandbox."""
    max_chars: int
    """Characters of a page's outline that are shown at once."""
    fractions: dict[str, float]
    """Share of the site's starts that each split owns."""
    kinds: dict[str, float]
    """Weights of ``done`` and ``answered``."""
    writes: dict[int, float]
    """Weights of how many changes a task wants."""
    attempts: int
    """Walks from which a candidate may come before it is given up."""
    environment_version: str
    """Of the environment, with a hash of the site."""


class WebTasks(ReverseTasks[WebTasksStageConfig]):
    """Tasks on a web site: walked, made minimal, replayed, put into words."""

    name = "web_tasks"
    version = 2
    config_type = WebTasksStageConfig
    candidates_per_shard = 4

    @classmethod
    def content_digest(cls, config: WebTasksStageConfig) -> str | None:
        """What the site is: there is nothing else that tasks are made from."""
        return digest("web-site", config.environment_version)

    def _opened(self) -> tuple[Proposer, str, tuple[str, ...]]:
        # Imported here: the extra may be missing where nobody opens a browser.
        from synth.environments.web.environment import open_web
        from synth.reverse.web.config import WebTasksConfig
        from synth.reverse.web.propose import WebProposer

        config = self.config
        given = ("site", "command", "state_path", "viewport", "executable", "sandbox", "max_chars")
        environment = open_web(**{name: getattr(config, name) for name in given}, html=False)
        kinds = {kind: config.kinds.get(kind, 0.0) for kind in ("done", "answered")}
        if sum(kinds.values()) <= 0:
            raise InputError("on web sites there are the kinds done and answered", where="questions.kinds")
        knobs = WebTasksConfig(fractions=config.fractions, kinds=kinds, changes=config.writes, attempts=config.attempts)
        # Every step but a look changes the page.
        changing = tuple(tool.name for tool in environment.tools() if tool.name != "read")
        self._values = values_of(environment.definition.texts())
        return WebProposer(environment, knobs, stage=self.name), environment.name, changing

    def others(self, draft: Draft) -> Values:
        return self._values
