"""A small world as a graph environment, with tasks over it: for the tests of who walks it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from synth.agents.contract import Policy
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.environments.graph import GraphEnvironment
from synth.graph.graph import Graph
from synth.identity import derive_generator
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
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
CANDIDATES = 240


class _Table:
    def __init__(self, table: pa.Table) -> None:
        self.arrow = table


@dataclass(frozen=True)
class GraphWorld:
    environment: GraphEnvironment
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


@cache
def graph_world() -> GraphWorld:
    """Made once per process."""
    config = WorldConfig(entities=600, seed=3)
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, entities, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    graph = Graph.build(entities, edges, world_words().inverses)
    search = IndexSearch(Bm25Index(Bm25Index.build(documents)), documents.column("id"))
    proposer = WorldProposer(graph, entities, documents, edges, search, WorldTasksConfig())
    tasks = []
    for index, made in zip(range(CANDIDATES), proposer.propose(range(CANDIDATES), 7), strict=True):
        if isinstance(made, Checked):
            draft = made.draft.model_copy(update={"environment": "graph"})
            tasks.append(finish(draft, made.checks, PROVENANCE, index))
    names = zip(entities["name"].to_pylist(), entities["aliases"].to_pylist(), strict=True)
    index = Bm25Index(Bm25Index.build([(name, "", aliases or ()) for name, aliases in names], title_weight=1))
    environment = GraphEnvironment(graph, _Table(entities), index)
    system = load_prompt("agents/graph").render(instructions=environment.instructions())
    return GraphWorld(environment, tuple(tasks), system)
