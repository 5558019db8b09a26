"""A small real world with recorded runs, and an independent reading of pairs: strings and a fresh environment only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from shared_builds import computed_once
from small_runs import play

from synth.agents.contract import History, Policy
from synth.agents.loop import Rollout
from synth.agents.scripted.players import scripted_policy
from synth.agents.trajectory import to_row
from synth.environments.contract import Episode, ToolCall
from synth.environments.search import SearchEnvironment
from synth.graph.graph import Graph
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
from synth.schemas.adp import ADP_VERSION, ApiAction, ContentItem, MessageAction, TextObservation, problems
from synth.schemas.arrow import from_arrow
from synth.schemas.documents import Document
from synth.schemas.preferences import PreferenceRow
from synth.schemas.tasks import Hop, Task
from synth.schemas.trajectories import Role, TrajectoryRow
from synth.sources.world.config import WorldConfig
from synth.sources.world.source import shard_count, shard_tables
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import world_words
from synth.testing.corpus import PROVENANCE


class _Pages:
    """A table of documents, as a finished build has it."""

    def __init__(self, arrow: pa.Table) -> None:
        self.arrow = arrow
        self._rows = from_arrow(arrow, Document)

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, number: int) -> Document:
        return self._rows[number]


@dataclass(frozen=True)
class PreferenceWorld:
    environment: SearchEnvironment
    tasks: dict[str, Task]
    runs: tuple[TrajectoryRow, ...]
    system: str

    def policy(self, task: Task, role: Role = "policy", **options: Any) -> Policy:
        return scripted_policy(task=task, role=role, language="world", **options)

    def play(self, policy: Policy, task: Task, *names: str | int, history: History = ()) -> Rollout:
        return play(policy, self.environment, task, *names, seed=11, system=self.system, history=history)

    def of(self, role: Role, success: bool) -> list[TrajectoryRow]:
        return [row for row in self.runs if row.role == role and row.success == success]


def make_world(wanted: int = 24, samples: int = 3) -> PreferenceWorld:
    config = WorldConfig(entities=800, seed=3)
    parts = [shard_tables(config, shard) for shard in range(shard_count(config))]
    documents, entities, edges = (pa.concat_tables(list(tables)) for tables in zip(*parts, strict=True))
    index = Bm25Index(Bm25Index.build(documents))
    proposer = WorldProposer(
        Graph.build(entities, edges, world_words().inverses),
        entities,
        documents,
        edges,
        IndexSearch(index, documents.column("id")),
        WorldTasksConfig(),
    )

    def propose() -> list[Task]:
        proposed = proposer.propose(range(6 * wanted), 9)
        checked = [item for item in proposed if isinstance(item, Checked)][:wanted]
        return [finish(item.draft, item.checks, PROVENANCE, number) for number, item in enumerate(checked)]

    tasks = computed_once(f"preference-tasks-{wanted}", propose)
    environment = SearchEnvironment(index, _Pages(documents))
    system = load_prompt("agents/search").render(instructions=environment.instructions())
    empty = PreferenceWorld(environment, {task.id: task for task in tasks}, (), system)
    runs = computed_once(f"preference-runs-{wanted}-{samples}", lambda: tuple(_runs(empty, tasks, samples)))
    return PreferenceWorld(environment, empty.tasks, runs, system)


def _runs(world: PreferenceWorld, tasks: Sequence[Task], samples: int) -> Iterator[TrajectoryRow]:
    roles: tuple[tuple[Role, int], ...] = (("teacher", 1), ("policy", samples))
    for task in tasks:
        for role, count in roles:
            for number in range(count):
                policy = world.policy(task, role)
                done = world.play(policy, task, role, number)
                yield to_row(
                    done,
                    world.environment,
                    role=role,
                    number=number,
                    privileged=policy.privileged,
                    provenance=PROVENANCE,
                )


# --- an independent reading of pairs ---------------------------------------------------------------------------------


def adp_problems(row: PreferenceRow, side: Sequence[ContentItem]) -> tuple[str, ...]:
    """What the Agent Data Protocol has against the prompt followed by a side."""
    content = [item.model_dump(mode="json") for item in (*row.prompt, *side)]
    return problems({"schema_version": ADP_VERSION, "id": row.id, "content": content, "details": {}})


def flat(text: str) -> str:
    """Words only, links reduced to their anchors."""
    return " ".join(re.findall(r"\w+", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).casefold()))


@dataclass
class Redo:
    """Prompt and side of a pair, played again call by call on a fresh episode."""

    episode: Episode
    seen: list[str]
    """Observations of the prompt."""
    given: list[tuple[str, dict[str, Any], str]]
    """Calls of the prompt with their observations."""


def redo(world: PreferenceWorld, row: PreferenceRow) -> Redo:
    """Play the prompt. Fails when an observation differs from the one in it."""
    episode = world.environment.reset(world.tasks[row.task_id])
    seen: list[str] = []
    given: list[tuple[str, dict[str, Any], str]] = []
    waiting: list[ApiAction] = []
    for item in row.prompt[1:]:
        if isinstance(item, ApiAction):
            waiting.append(item)
        else:
            assert isinstance(item, TextObservation)
            action = waiting.pop(0)
            answer = act(episode, action)
            assert answer[0] == item.content
            seen.append(item.content)
            given.append((action.function, action.kwargs, item.content))
    assert not waiting
    return Redo(episode, seen, given)


def act(episode: Episode, action: ApiAction) -> tuple[str, str | None]:
    result = episode.step(ToolCall(id=action.tool_call_id or "x", name=action.function, arguments=action.kwargs))
    return result.content, result.error


def play_side(at: Redo, side: Sequence[ContentItem]) -> tuple[list[tuple[ApiAction, str, str | None]], str | None]:
    """(calls with observation and error, final answer) of a side, carried out."""
    made: list[tuple[ApiAction, str, str | None]] = []
    answer: str | None = None
    for item in side:
        if isinstance(item, ApiAction):
            made.append((item, *act(at.episode, item)))
        elif isinstance(item, MessageAction):
            answer = item.content
    return made, answer


def new_of_walk(task: Task, seen: Sequence[str], shown: Sequence[str]) -> bool:
    """Whether ``shown`` holds a quote of the walk, both ends of a hop, or the id of a page of the walk, that ``seen``
    does not."""
    before, now = " | ".join(map(flat, seen)), " | ".join(map(flat, shown))
    for hop in task.walk.hops:
        if flat(hop.evidence.quote) in now and flat(hop.evidence.quote) not in before:
            return True
        if all(any(flat(name) in now for name in _names(hop, end)) for end in ("source", "target")):
            return True
    ids = {hop.evidence.document_id for hop in task.walk.hops} | set(task.gold_documents)
    ids |= {node.document_id for hop in task.walk.hops for node in (hop.source, hop.target) if node.document_id}
    return any(f"({name})" in "".join(shown) and f"({name})" not in "".join(seen) for name in ids)


def new_quote(task: Task, seen: Sequence[str], shown: Sequence[str]) -> bool:
    """Whether ``shown`` holds a quote of the walk, or a link to a page of it, that ``seen`` does not."""
    before, now = " | ".join(map(flat, seen)), " | ".join(map(flat, shown))
    quotes = [flat(hop.evidence.quote) for hop in task.walk.hops]
    ids = {hop.evidence.document_id for hop in task.walk.hops} | set(task.gold_documents)
    return any(quote in now and quote not in before for quote in quotes) or any(
        f"({name})" in "".join(shown) and f"({name})" not in "".join(seen) for name in ids
    )


def _names(hop: Hop, end: str) -> list[str]:
    node = getattr(hop, end)
    return [name for name in (node.name, *node.aliases) if flat(name)]
