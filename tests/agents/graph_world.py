"""A small generated world, as pages and as a graph, with tasks over it: for the tests of who walks it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
from shared_builds import computed_once

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.environments.contract import Environment
from synth.environments.graph import GraphEnvironment
from synth.environments.search import SearchEnvironment
from synth.graph.graph import Graph
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document
from synth.schemas.provenance import Provenance
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words

PROVENANCE = Provenance(
    dataset="walk", stage="test", stage_version=1, fingerprint="0" * 64, seed=7, source="world", source_sha256="0" * 64
)
SETS = ("comparison", "computation", "count", "intersection", "parallel", "superlative", "temporal")
"""Shapes of questions that collect, compare or reckon."""


class _Table:
    """A table, and its rows as documents."""

    def __init__(self, table: pa.Table) -> None:
        self.arrow = table

    def __len__(self) -> int:
        return len(self.arrow)

    def row(self, number: int) -> Document:
        return from_arrow(self.arrow.slice(number, 1), Document)[0]


@dataclass(frozen=True)
class TaskWorld:
    environment: Environment
    tasks: tuple[Task, ...]
    system: str

    def play(
        self, task: Task, role: Role, *names: str | int, policy: Policy | None = None, **options: object
    ) -> Rollout:
        return rollout(
            policy or scripted_policy(task=task, role=role, language="world", **options),
            self.environment,
            task,
            system=self.system,
            limits=Limits(),
            generator_for_turn=lambda turn: derive_generator(7, task.id, role, *names, turn),
        )

    def row(self, done: Rollout, role: Role, number: int = 0) -> TrajectoryRow:
        return to_row(
            done, self.environment, role=role, number=number, privileged=role == "teacher", provenance=PROVENANCE
        )


@dataclass(frozen=True)
class _World:
    documents: pa.Table
    entities: pa.Table
    edges: pa.Table
    graph: Graph
    index: Bm25Index

    def tasks(self, candidates: Iterable[int], environment: str = "search", **config: Any) -> tuple[Task, ...]:
        search = IndexSearch(self.index, self.documents.column("id"))
        tables = (self.entities, self.documents, self.edges)
        proposer = WorldProposer(self.graph, *tables, search, WorldTasksConfig(**config))
        numbers = list(candidates)
        return tuple(
            finish(made.draft.model_copy(update={"environment": environment}), made.checks, PROVENANCE, number)
            for number, made in zip(numbers, proposer.propose(numbers, 7), strict=True)
            if isinstance(made, Checked)
        )


@cache
def _world() -> _World:
    """Made once per process."""
    config = WorldConfig(entities=600, seed=3)
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, entities, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    graph = Graph.build(entities, edges, world_words().inverses)
    return _World(documents, entities, edges, graph, Bm25Index(Bm25Index.build(documents)))


def _played_in(environment: Environment, prompt: str, tasks: tuple[Task, ...]) -> TaskWorld:
    return TaskWorld(environment, tasks, load_prompt(prompt).render(instructions=environment.instructions()))


@cache
def graph_world() -> TaskWorld:
    world = _world()
    entities = world.entities
    names = zip(entities["name"].to_pylist(), entities["aliases"].to_pylist(), strict=True)
    index = Bm25Index(Bm25Index.build([(name, "", aliases or ()) for name, aliases in names], title_weight=1))
    environment = GraphEnvironment(world.graph, _Table(entities), index)
    tasks = computed_once("graph-tasks", lambda: world.tasks(range(240), "graph"))
    return _played_in(environment, "agents/graph", tasks)


@cache
def page_world() -> TaskWorld:
    """The world as pages, with tasks of the default shapes."""
    world = _world()
    environment = SearchEnvironment(world.index, _Table(world.documents))
    return _played_in(environment, "agents/search", computed_once("page-tasks", lambda: world.tasks(range(150))))


def long_page_world() -> TaskWorld:
    """The same tasks where a document has several pages."""
    world = _world()
    environment = SearchEnvironment(world.index, _Table(world.documents), page_size=500)
    return _played_in(environment, "agents/search", page_world().tasks)


@cache
def set_world() -> TaskWorld:
    """The world as pages, with some tasks of each shape of ``SETS``."""
    world = _world()
    weights: Mapping[str, float] = dict.fromkeys(SETS, 1.0)
    found: dict[str, list[Task]] = {}
    for task in computed_once("set-tasks", lambda: world.tasks(range(180), shapes=weights)):
        found.setdefault(task.shape, []).append(task)
    environment = SearchEnvironment(world.index, _Table(world.documents))
    return _played_in(environment, "agents/search", tuple(task for shape in SETS for task in found[shape][:8]))


def calculator_world() -> TaskWorld:
    """Computations of the same world, with a calculator at hand."""
    world = _world()
    environment = SearchEnvironment(world.index, _Table(world.documents), tools=("search", "open", "calculate"))
    tasks = tuple(task for task in set_world().tasks if task.shape == "computation")
    return _played_in(environment, "agents/search", tasks)
