"""What a dataset is made of: the recipe. Every key is documented here once; ``synth recipe --schema`` shows it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from synth.agents.loop import Limits
from synth.agents.scripted.backend import scripted_options
from synth.critical.config import CriticalConfig
from synth.sources.docs.source import DocsConfig
from synth.sources.records.source import RecordsConfig
from synth.sources.world.config import WorldConfig
from synth.stages.given_tasks import GivenTasksConfig
from synth.tasks.docs.proposer import DocsTasksConfig
from synth.tasks.world.config import WorldTasksConfig

__all__ = [
    "DocsQuestions",
    "DocsSource",
    "GivenQuestions",
    "Questions",
    "Recipe",
    "RecordsSource",
    "Role",
    "Search",
    "Source",
    "WorldQuestions",
    "WorldSource",
]


RoleName = Literal["teacher", "policy"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class WorldSource(WorldConfig):
    """The fictional world: nothing in it is true of ours, so no model can know it."""

    kind: Literal["world"]


class DocsSource(DocsConfig):
    """A folder of HTML or Markdown with links."""

    kind: Literal["docs"]


class RecordsSource(RecordsConfig):
    """JSONL or Parquet documents."""

    kind: Literal["records"]


Source = Annotated[WorldSource | DocsSource | RecordsSource, Field(discriminator="kind")]


class WorldQuestions(WorldTasksConfig):
    """Questions from walks over the world."""

    kind: Literal["world"]


class DocsQuestions(DocsTasksConfig):
    """Questions from links, definitions and headings of documents."""

    kind: Literal["docs"]


class GivenQuestions(GivenTasksConfig):
    """Your own questions and answers."""

    kind: Literal["given"]


Questions = Annotated[WorldQuestions | DocsQuestions | GivenQuestions, Field(discriminator="kind")]


class Search(_Part):
    """The environment: a search engine over the documents."""

    kind: Literal["search"] = "search"
    page_size: int = Field(default=4000, ge=200)
    """Code points of a document that one page shows."""
    default_k: int = Field(default=5, ge=1, le=20)
    """Results when a call does not say how many."""


class Role(_Part):
    """Who acts."""

    backend: str = "scripted"
    """``scripted`` needs no model. `synth list` shows what else is installed."""
    model: str | None = None
    """Name of the model at the endpoint; None for scripted agents."""
    base_url: str | None = None
    """Address of the endpoint."""
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")
    """NAME of the environment variable that holds the key: a key never stands in a recipe."""
    rollouts: int = Field(default=1, ge=1, le=1000)
    """Rollouts per task."""
    options: dict[str, Any] = {}
    """Options of the backend (for ``scripted``: ``skill``)."""


class Critical(_Part):
    """The search for critical steps."""

    expert: str = "scripted"
    """Who proposes other actions: `synth list` shows the choices."""
    scorer: str = "evidence"
    """Who scores actions (the ``prm``)."""
    successes: bool = True
    """Also search successful runs, for actions that would have spoilt them."""
    share: float = Field(default=1.0, gt=0, le=1)
    """Share of the policy's runs that is searched: a search costs dozens of rollouts."""
    search: CriticalConfig = CriticalConfig()
    """Thresholds, tests and budgets."""


class Pairs(_Part):
    """Preference pairs."""

    kinds_per_run: int = Field(default=4, ge=1, le=20)
    """How many kinds of error are tried on one good run."""
    per_perturbation: int = Field(default=1, ge=0, le=10)
    """Pairs per good run and kind of error that is put into it; 0 leaves them out."""
    trajectories_per_task: int = Field(default=1, ge=0, le=10)
    """Pairs of whole runs per task; 0 leaves them out."""
    trajectory_ratio: float = Field(default=1.5, ge=1)
    """In a pair of whole runs, the longer side has at most so many times the turns of the shorter."""


class Recipe(_Part):
    """What a dataset is made of."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,95}$")
    """Name of the dataset: lower case, digits, dots, dashes."""
    description: str = ""
    """One or two sentences for the card and for `synth list`."""
    seed: int = Field(default=7, ge=0, lt=2**63)
    """Seed of everything that is drawn."""
    tasks: int | None = Field(default=None, ge=1, le=10_000_000)
    """Exactly how many tasks; empty = all of them, for questions that are given."""
    source: Source
    """What there is to know."""
    questions: Questions
    """How tasks are made of it."""
    environment: Search = Search()
    """Where agents act."""
    limits: Limits = Limits()
    """When a rollout is stopped."""
    critical: Critical | None = Critical()
    """How the policy's runs are searched for critical steps; ``null`` leaves out the search and what follows from
    it."""
    preferences: Pairs | None = Pairs()
    """Which preference pairs are made; ``null`` makes none."""
    roles: dict[RoleName, Role] = {"teacher": Role(), "policy": Role()}
    """Who acts: the ``teacher`` makes good trajectories, the ``policy`` is the model to improve. Leave one out to skip
    it."""
    file_bytes: int = Field(default=256 * 1024 * 1024, ge=1024 * 1024)
    """A Parquet file is closed once it holds this many bytes."""

    @model_validator(mode="after")
    def _fits(self) -> Recipe:
        if self.questions.kind == "world" and self.source.kind != "world":
            raise ValueError(
                "questions of kind world need a source of kind world: for documents take `synth build docs-search`"
            )
        if self.questions.kind == "docs" and self.source.kind == "world":
            raise ValueError("questions of kind docs need documents: a source of kind docs or records")
        if self.tasks is None and self.questions.kind != "given":
            raise ValueError("tasks says how many tasks to make, and is missing")
        if not self.roles:
            raise ValueError("roles names nobody: give teacher, policy or both")
        for role, who in self.roles.items():
            if who.backend == "scripted":
                _check_options(role, who.options)
        return self


def _check_options(role: RoleName, options: dict[str, Any]) -> None:
    try:
        scripted_options(role).model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = ", ".join(scripted_options(role).model_fields)
        raise ValueError(f"roles.{role}.options.{key}: {first['msg']}; there are {known}") from None
