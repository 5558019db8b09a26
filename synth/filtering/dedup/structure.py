"""Structure as a key: what rows are apart from their words. Equal keys are duplicates; there is nothing in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import xxhash

from synth.identity import canonical_json, digest
from synth.schemas.adp import ApiAction, CodeAction, ContentItem
from synth.schemas.plans import Planned, Request, Twinned, Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Hop, Node, Task, Walk
from synth.schemas.turns import full_actions

__all__ = ["call_sequence", "calls_key", "compared_answer", "task_structure", "walk_key"]

_ROUNDS = 4
"""Rounds of refinement: after so many a node has heard of all that are no further away, and a walk is rarely longer."""


def walk_key(walk: Walk, *, entities: bool = True) -> str:
    """Hash of the walk as a labelled graph by the refinement of Weisfeiler and Leman (1968; as a kernel: Shervashidze
    et al., JMLR 2011), of its shape and of its operations.

    Nodes are what hops join, with kind and id; edges carry relation and direction. How hops are ordered and numbered
    does not count. ``entities`` False leaves ids out: walks of one pattern are equal then. Our own, since the library's
    (networkx) knows no multigraphs and has changed its hashes between releases.
    """
    nodes: dict[tuple[str, str], str] = {}
    edges: list[tuple[tuple[str, str], str, tuple[str, str]]] = []
    for hop in walk.hops:
        ends = [(end.kind, end.id) for end in (hop.source, hop.target)]
        for kind, name in ends:
            nodes[kind, name] = _hash(kind, name) if entities else _hash(kind)
        edges.append((ends[0], f"{'+' if hop.forward else '-'}{hop.relation}", ends[1]))
    for _ in range(_ROUNDS if not entities else 1):  # with ids, the edges alone say it all
        heard: dict[tuple[str, str], list[str]] = {node: [] for node in nodes}
        for one, relation, other in edges:
            heard[one].append(_hash("to", relation, nodes[other]))
            heard[other].append(_hash("from", relation, nodes[one]))
        nodes = {node: _hash(label, *sorted(heard[node])) for node, label in nodes.items()}
    done = [
        [op.kind, sorted(_measured(walk.hops[at], entities) for at in op.over), op.within, _bound(op.bound, entities)]
        for op in walk.operations
    ]
    return digest("walk", walk.shape, len(walk.hops), sorted(nodes.values()), done)


def _hash(*parts: str) -> str:
    return xxhash.xxh3_128_hexdigest("\0".join(parts).encode("utf-8", "surrogatepass"))


def _measured(hop: Hop, entities: bool) -> str:
    ends = [[end.kind, end.id] if entities else [end.kind] for end in (hop.source, hop.target)]
    return canonical_json([hop.relation, hop.forward, *ends])


def _bound(node: Node | None, entities: bool) -> list[str] | None:
    return None if node is None else [node.kind, node.id] if entities else [node.kind]


def task_structure(task: Task) -> str | None:
    """What a task asks, whatever its words: its walk, or of a reverse task the tools of its plan, the goal and the
    answer (with the arguments too where nothing is to change, or no goal is stated), and of a harmful request what it
    asks for. None where neither is known (given questions)."""
    if task.walk.hops:
        return walk_key(task.walk)
    if Planned.stand_in(task.details):
        plan, goal = Planned.of(task.details).plan, Wanted.of(task.details).goal
        stated = plan.outcome == "done" and goal is not None
        calls = [[call.tool, None if stated else call.arguments] for call in plan.calls]
        return digest("plan", task.environment, plan.outcome, calls, goal, compared_answer(task))
    return None


def compared_answer(task: Task) -> str:
    """What the answers of two tasks are compared by: all of it, parts of a list too. All harmful requests against one
    rule have one answer, the refusal, and change nothing: what they ask for is the end that the harmless twin has, and
    counts as well."""
    answer = "\n".join(sorted(part.answer for part in task.answer_parts)) or task.answer
    twin = Twinned.of(task.details).twin if Request.of(task.details).kind == "harmful" else None
    if twin is None:
        return answer
    tools = [call.tool for call in twin.other.plan.calls if call.changes]
    return f"{answer}\n{digest('requested', tools, twin.other.goal)}"


def call_sequence(content: Sequence[ContentItem], tool_schemas: Sequence[JsonObject]) -> list[list[Any]]:
    """What a run did, in order: tool and arguments of each call, defaults filled in, language and text of code.
    Thoughts, observations and ids of calls do not count."""
    done: list[list[Any]] = []
    for item in full_actions(content, tool_schemas):
        if isinstance(item, ApiAction):
            done.append([item.function, item.kwargs])
        elif isinstance(item, CodeAction):
            done.append([item.language, item.content])
    return done


def calls_key(
    content: Sequence[ContentItem], answer: str | None, tool_schemas: Sequence[JsonObject] = ()
) -> str | None:
    """Equal for runs that do the same in the same order and answer the same. None for a run that does nothing: then
    there is no sequence to compare."""
    done = call_sequence(content, tool_schemas)
    return digest("calls", done, answer) if done else None
