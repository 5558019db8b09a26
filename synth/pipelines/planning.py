"""The plan of a recipe: which stages, with which configs, reading what from whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from synth.engine import Plan, StageNode
from synth.pipelines.search import search_nodes
from synth.recipe.model import Recipe

__all__ = ["PIPELINES", "plan"]

PIPELINES: Mapping[str, Callable[[Recipe], tuple[StageNode, ...]]] = {
    "search": search_nodes,
    "graph": search_nodes,
    "app": search_nodes,
    "mcp": search_nodes,
    "web": search_nodes,
}
"""By kind of environment."""


def plan(recipe: Recipe) -> Plan:
    """What the engine runs for ``recipe``. The source is not read yet: fingerprinting does that."""
    return Plan(
        dataset=recipe.name,
        seed=recipe.seed,
        source=source_name(recipe),
        nodes=PIPELINES[recipe.environment.kind](recipe),
        wanted=recipe.tasks,
    )


def source_name(recipe: Recipe) -> str:
    """What rows call the source: a name that the recipe gives it, or its kind."""
    return str(getattr(recipe.source, "name", recipe.source.kind))
