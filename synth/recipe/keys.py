"""The keys of a recipe. Every one is documented here once; ``synth recipe --schema`` shows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from synth.agents.loop import Limits
from synth.agents.management import Management
from synth.agents.summaries import Summaries
from synth.environments.app.environment import Application
from synth.environments.code.environment import CodeWork
from synth.environments.graph import GraphWalk
from synth.environments.mcp.config import McpServers
from synth.environments.own import OwnPlace, RecordedPlace
from synth.environments.search_spec import Search
from synth.environments.simulated import Simulation
from synth.environments.web.definition import WebPages
from synth.filtering.decontamination.config import Decontaminate
from synth.prompting.own import checked_prompts
from synth.recipe.dedup import Dedup
from synth.recipe.parts import (
    Contexts,
    Critical,
    Difficulty,
    Distractors,
    Pairs,
    Ratings,
    Refine,
    Rework,
    StageItem,
    Trees,
)
from synth.recipe.questions import (
    CodeQuestions,
    DatasetQuestions,
    DocsQuestions,
    GivenQuestions,
    ProposedQuestions,
    RecordedQuestions,
    ReverseQuestions,
    WorldQuestions,
)
from synth.recipe.roles import ACTORS, Role, RoleName
from synth.recipe.sources import (
    AppSource,
    CodeSource,
    DatasetSource,
    DocsSource,
    HubSource,
    McpSource,
    OwnSource,
    RecordsSource,
    RunsSource,
    SourceSpec,
    TablesSource,
    TriplesSource,
    WebSource,
    WorldSource,
)
from synth.recipe.unions import union_of
from synth.registry import choices, find
from synth.schemas.described import Described
from synth.tasks.writing.config import CheckKeys, WritingKeys

__all__ = ["HELD", "Keys"]


if TYPE_CHECKING:
    Source = (
        WorldSource
        | TriplesSource
        | TablesSource
        | DocsSource
        | RecordsSource
        | HubSource
        | DatasetSource
        | RunsSource
        | OwnSource
        | AppSource
        | McpSource
        | WebSource
        | CodeSource
    )
    Questions = (
        WorldQuestions
        | DocsQuestions
        | ProposedQuestions
        | GivenQuestions
        | DatasetQuestions
        | ReverseQuestions
        | RecordedQuestions
        | CodeQuestions
    )
    Place = Search | GraphWalk | Application | McpServers | WebPages | CodeWork | OwnPlace | RecordedPlace
else:
    # What installed packages add has the keys that its entry states.
    Source = union_of("sources")
    Questions = union_of("questions")
    Place = union_of("environments", "search")


_PROMPTS = {"anyOf": [{"type": "string"}, {"type": "object", "additionalProperties": {"type": "string"}}]}
HELD = ("world", "docs", "given", "proposed")
"""Kinds of questions whose tasks say which collection holds their evidence."""


class Keys(Described):
    """The keys of a recipe, each by itself; what goes together is :class:`synth.recipe.model.Recipe`'s to say."""

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
    writing: WritingKeys = WritingKeys()
    """How questions are worded anew, where there is the role ``writer``."""
    task_reviews: CheckKeys = CheckKeys()
    """How tasks are checked by a model, where there is the role ``checker``; questions that a model proposed are always
    checked, by the role ``proposer`` where there is no checker."""
    dedup: Dedup | None = Dedup()
    """What counts as a duplicate; ``null``: what asks the same by its walk, and nothing else."""
    decontaminate: Decontaminate | None = None
    """Benchmarks that no task may overlap with: a task that does is rejected (``contaminated``) and replaced by the
    next candidate; empty = none."""
    environment: Place = Search()
    """Where agents act."""
    limits: Limits = Limits()
    """When a rollout is stopped."""
    refine: Refine | None = None
    """How good runs are made of the policy's failed ones; empty = they are not."""
    trees: Trees | None = None
    """How trees of runs are grown (``tree_nodes``; branches are rows of ``trajectories``); empty = they are not."""
    rework: Rework | None = None
    """Which runs are made of finished ones, without acting again; empty = none."""
    critical: Critical | None = Critical()
    """How the policy's runs are searched for critical steps; ``null`` leaves out the search and what follows from
    it."""
    preferences: Pairs | None = Pairs()
    """Which preference pairs are made; ``null`` makes none."""
    management: Management | None = None
    """Actions that agents have beside the environment's tools: shorten their history (CAT), let a helper look
    (SearchSwarm; rows of ``helper_runs``); empty = none. The scripted teacher gives the parts of a question that comes
    apart to helpers; the scripted policy takes neither."""
    summaries: Summaries | None = None
    """Long observations that the teacher reads as summaries (OpenSeeker): by the role ``summarizer``, else sentences
    taken from them. Trajectories hold every observation in full, and the summaries beside it; empty = the teacher reads
    all in full."""
    ratings: Ratings | None = None
    """Ratings of all runs, 1 to 5, for sampling by them (OS-Genesis): by ``roles.judge`` where it is given, else by a
    formula over the evidence; ``null`` makes none."""
    safety: bool = True
    """Whether runs at desks, tool servers and code are judged for safety (ATBench): risk source, failure mode, harm."""
    difficulty: Difficulty | None = Difficulty()
    """How difficulty is measured and predicted; ``null`` leaves it out."""
    distractors: Distractors | None = Distractors()
    """Which pages are recorded as distractors of a task; ``null`` records none. Only where the environment shows
    pages."""
    contexts: Contexts | None = Contexts()
    """Which long contexts are made; ``null`` makes none. Only where distractors are recorded."""
    label_rules: tuple[str, ...] = ()
    """Further rules that look at the labels of a run's steps, in order: of installed packages, `synth list` shows
    them."""
    rl: bool = True
    """Whether there are rows for reinforcement learning."""
    reward: str = "grounded"
    """The reward function that they name: `synth list` shows the choices; ``module:function`` is one of yours."""
    prompts: Annotated[dict[str, str], WithJsonSchema(_PROMPTS)] = {}
    """Your own prompts: a folder that is laid over ``prompts`` of this package, with files at the same relative paths
    (``agents/search/v2.md``); in a recipe's file its path begins at the recipe. Or the texts themselves, by name, as
    datasets hold them. Rows name the prompt that made them by its hash."""
    roles: dict[RoleName, Role] = {"teacher": Role(), "policy": Role()}
    """Who acts: the ``teacher`` makes good trajectories, the ``policy`` is the model to improve. Leave one out to skip
    it. Who assists, where a model is to do it instead of the embedded stand-in: ``expert`` proposes other actions,
    ``prm`` scores actions, ``simulator`` writes results of searches (``environment.simulated``),
    ``summarizer`` shortens what the teacher reads (``summaries``), ``writer`` words questions anew, ``checker`` reads
    them as a second reader and tries to answer them without searching, ``reflector`` says what went wrong in the
    teacher's failed runs, which are then tried once more, ``perturber`` proposes minimal edits that
    spoil right turns. The ``proposer`` explores the documents and asks about them (``questions.kind: proposed``)."""
    stages: tuple[str | StageItem, ...] | None = None
    """What a build does, in order: names of steps (``source``, ``duplicate_documents``, ``extraction``, ``graph``,
    ``misleading``, ``index``, ``tasks``, ``rollouts``, ``difficulty``, ``refine``, ``trees``, ``helper_runs``,
    ``rework``, ``critical_steps``, ``label_steps``, ``verified_pairs``, ``refined_pairs``, ``sibling_pairs``,
    ``trajectory_pairs``, ``perturbed_pairs``, ``repaired_pairs``, ``preferences``, ``ratings``, ``attribution``,
    ``safety``, ``judge_pairs``, ``distractors``, ``rl``, ``contexts``, ``duplicates``), each as the other keys say, and
    stages by their own names; empty = all of these steps. Each reads what the nearest stage before it wrote."""
    allow_empty_sft: bool = False
    """Whether a build goes on to stages that call models when no run of the teacher succeeded; otherwise it stops
    there, and nothing more is paid."""
    file_bytes: int = Field(default=256 * 1024 * 1024, ge=1024 * 1024)
    """A Parquet file is closed once it holds this many bytes, or 128 row groups."""

    @model_validator(mode="before")
    @classmethod
    def _beside(cls, data: Any) -> Any:
        """What a kind of source says of the other keys."""
        source = data.get("source") if isinstance(data, Mapping) else None
        kind = source.get("kind") if isinstance(source, Mapping) else getattr(source, "kind", None)
        return data if kind not in choices("sources") else {**find("sources", str(kind)).keys_beside, **data}

    @field_validator("prompts", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        """Only :func:`synth.recipe.load.load_recipe` reads a folder: what comes with a dataset reaches for none."""
        if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in (*value, *value.values())):
            raise ValueError("name a folder, or give texts by name (agents/search/v2: ...)")
        return checked_prompts(value)

    @property
    def acting(self) -> tuple[RoleName, ...]:
        """Whose runs the dataset has: of recorded ones, whoever they say acted."""
        return ACTORS if self.source_spec.is_recorded else tuple(role for role in ACTORS if role in self.roles)

    @property
    def has_tasks(self) -> bool:
        """Whether answers are known that runs are measured by."""
        return self.questions.kind != "recorded"

    @property
    def is_open(self) -> bool:
        """Whether the environment can be acted in."""
        return not isinstance(self.environment, RecordedPlace)

    @property
    def source_spec(self) -> SourceSpec:
        """What is known of the kind of source."""
        spec: SourceSpec = find("sources", self.source.kind)
        return spec

    @property
    def simulation(self) -> Simulation | None:
        """How a model writes what searches find; None where none does."""
        return self.environment.simulated if isinstance(self.environment, Search) else None
