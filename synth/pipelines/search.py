"""Datasets of the search environment: source -> graph and index -> tasks -> rollouts -> trajectories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synth.engine.plan import StageNode
from synth.environments.search import SearchEnvironment
from synth.prompting import load_prompt
from synth.recipe.model import Recipe, Role
from synth.registry import factory_of, find
from synth.stages.contract import Implementation, Stage

__all__ = ["search_nodes"]

_PROMPT = "agents/search"


def search_nodes(recipe: Recipe) -> tuple[StageNode, ...]:
    """The stage runs of a search dataset, in topological order."""
    nodes = [*_source_nodes(recipe), *_task_nodes(recipe)]
    for role in ("teacher", "policy"):
        if role in recipe.roles:
            nodes += _role_nodes(recipe, role, recipe.roles[role])
    nodes += _step_nodes(recipe)
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
    prompt = load_prompt(_PROMPT)
    yield _node(
        f"{role}-rollouts",
        "search_rollouts",
        {
            "role": role,
            "rollouts": who.rollouts,
            "limits": recipe.limits,
            "policy": _policy(recipe, role, who),
            "environment": _environment(recipe),
            "prompt": prompt.ref.id,
            "prompt_version": prompt.ref.version,
            "prompt_sha256": prompt.ref.sha256,
        },
        tasks="tasks",
        documents="documents",
        index="index",
    )
    yield _node(role, "verify", {}, rollouts=f"{role}-rollouts")


def _step_nodes(recipe: Recipe) -> Iterator[StageNode]:
    """Critical steps, labels and pairs."""
    searched = recipe.critical is not None and "policy" in recipe.roles
    if searched:
        yield _critical_node(recipe)
    for role in ("teacher", "policy"):
        if role not in recipe.roles:
            continue
        if role == "policy" and searched:
            yield _node(
                f"{role}-steps", "label_searched_steps", {}, trajectories=role, tasks="tasks", searched="critical-steps"
            )
        else:
            yield _node(f"{role}-steps", "label_steps", {}, trajectories=role, tasks="tasks")
    if searched and recipe.preferences is not None and "teacher" in recipe.roles:
        yield _node(
            "preferences",
            "search_preferences",
            {"environment": _environment(recipe), **recipe.preferences.model_dump()},
            tasks="tasks",
            teacher_runs="teacher:trajectories",
            policy_runs="policy:trajectories",
            steps="policy-steps",
            branches="critical-steps",
            documents="documents",
            index="index",
        )


def _critical_node(recipe: Recipe) -> StageNode:
    critical = recipe.critical
    assert critical is not None
    language = {"language": recipe.questions.kind}
    return _node(
        "critical-steps",
        "search_critical_steps",
        {
            "policy": _policy(recipe, "policy", recipe.roles["policy"]),
            "expert": _named("experts", critical.expert, language),
            "scorer": _named("scorers", critical.scorer, {}),
            "environment": _environment(recipe),
            "search": critical.search,
            "successes": critical.successes,
            "share": critical.share,
        },
        trajectories="policy",
        tasks="tasks",
        documents="documents",
        index="index",
    )


def _policy(recipe: Recipe, role: str, who: Role) -> Implementation:
    return _named("backends", who.backend, {"role": role, "language": recipe.questions.kind, **who.options})


def _environment(recipe: Recipe) -> Implementation:
    options = recipe.environment.model_dump(exclude={"kind"})
    return _named("environments", recipe.environment.kind, options, version=SearchEnvironment.version)


def _named(table: str, kind: str, options: dict[str, Any], **versions: Any) -> Implementation:
    """A collaborator by name; an unknown name is the user's mistake: one line, before anything runs."""
    return Implementation(kind=kind, factory=factory_of(table, kind), options=options, versions=versions)


def _node(label: str, stage: str, values: dict[str, Any], **inputs: str) -> StageNode:
    kind: type[Stage[Any]] = find("stages", stage)
    return StageNode(label, kind, kind.config_type.model_validate(values), inputs)
