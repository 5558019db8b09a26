"""Datasets of the search environment: source -> graph and index -> tasks -> rollouts -> trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synth.engine.plan import StageNode
from synth.environments.search import SearchEnvironment
from synth.prompting import load_prompt
from synth.recipe.model import Recipe, Role
from synth.registry import BACKENDS, ENVIRONMENTS, find
from synth.stages.contract import Implementation, Stage

__all__ = ["search_nodes"]

_PROMPT = "agents/search"


def search_nodes(recipe: Recipe) -> tuple[StageNode, ...]:
    """The stage runs of a search dataset, in topological order."""
    nodes = [*_source_nodes(recipe), *_task_nodes(recipe)]
    for role in ("teacher", "policy"):
        if role in recipe.roles:
            nodes += _role_nodes(recipe, role, recipe.roles[role])
    return tuple(nodes)


def _source_nodes(recipe: Recipe) -> Iterator[StageNode]:
    source = recipe.source
    config = source.model_dump(exclude={"kind"})
    if source.kind == "world":
        from synth.tasks.world.phrasebook import INVERSES

        yield _node("documents", "world_pages", config)
        yield _node("graph", "graph", {"inverses": dict(INVERSES)}, entities="documents", edges="documents")
    elif source.kind == "docs":
        yield _node("documents", "read_docs", config)
        yield _node("edges", "link_documents", {}, documents="documents")
    else:
        yield _node("documents", "read_records", config)
        yield _node("edges", "link_records", {}, documents="documents", triples="documents")
    yield _node("index", "index", {}, documents="documents")


def _task_nodes(recipe: Recipe) -> Iterator[StageNode]:
    config = recipe.questions.model_dump(exclude={"kind"})
    entities = "documents" if recipe.source.kind == "world" else "edges"
    reads = {"documents": "documents", "index": "index"}
    if recipe.questions.kind != "given":
        reads |= {"entities": entities, "edges": entities}
    if recipe.questions.kind == "world":
        reads |= {"graph": "graph"}
    yield _node("tasks", f"{recipe.questions.kind}_tasks", config, **reads)


def _role_nodes(recipe: Recipe, role: str, who: Role) -> Iterator[StageNode]:
    find("backends", who.backend)  # an unknown backend is the user's mistake: one line, before anything runs
    prompt = load_prompt(_PROMPT)
    environment = recipe.environment
    yield _node(
        f"{role}-rollouts",
        "search_rollouts",
        {
            "role": role,
            "rollouts": who.rollouts,
            "limits": recipe.limits,
            "policy": Implementation(
                kind=who.backend,
                factory=BACKENDS[who.backend],
                options={"role": role, "language": recipe.questions.kind, **who.options},
            ),
            "environment": Implementation(
                kind=environment.kind,
                factory=ENVIRONMENTS[environment.kind],
                options=environment.model_dump(exclude={"kind"}),
                versions={"version": SearchEnvironment.version},
            ),
            "prompt": prompt.ref.id,
            "prompt_version": prompt.ref.version,
            "prompt_sha256": prompt.ref.sha256,
        },
        tasks="tasks",
        documents="documents",
        index="index",
    )
    yield _node(role, "verify", {}, rollouts=f"{role}-rollouts")


def _node(label: str, stage: str, values: dict[str, Any], **inputs: str) -> StageNode:
    kind: type[Stage[Any]] = find("stages", stage)
    return StageNode(label, kind, kind.config_type.model_validate(values), inputs)
