"""The steps that make preference pairs."""

from __future__ import annotations

from collections.abc import Iterator

from synth.annotate.preferences.judge import compare_prompt
from synth.pipelines.collaborators import (
    assistant,
    environment_of,
    expert_is_model,
    perturber_of,
    policy,
    without_mistakes,
)
from synth.pipelines.stage_runs import Run
from synth.recipe.model import Recipe
from synth.recipe.parts import Pairs
from synth.recipe.roles import ACTORS, assistant_of

__all__ = [
    "judged_pairs",
    "paired",
    "perturbed_pairs",
    "preferences",
    "refined_pairs",
    "repaired_pairs",
    "sibling_pairs",
    "trajectory_pairs",
    "verified_pairs",
]


def paired(recipe: Recipe) -> Pairs | None:
    """Which pairs are made; where a recipe does not list its stages, only what follows from a search makes pairs."""
    follows = any(one is not None for one in (recipe.critical, recipe.refine, recipe.trees, recipe.stages))
    return recipe.preferences if follows and recipe.has_tasks and set(recipe.acting) == set(ACTORS) else None


def verified_pairs(recipe: Recipe) -> Iterator[Run]:
    searched = recipe.critical is not None or recipe.stages is not None
    if searched and paired(recipe) is not None and (not recipe.source_spec.is_recorded or "policy" in recipe.roles):
        own_words = expert_is_model(recipe) or recipe.source_spec.is_recorded
        yield Run("verified-pairs", "verified_pairs", {"model_expert": own_words})


def refined_pairs(recipe: Recipe) -> Iterator[Run]:
    if recipe.refine is not None and paired(recipe) is not None:
        yield Run("refined-pairs", "refined_pairs", {})


def sibling_pairs(recipe: Recipe) -> Iterator[Run]:
    if recipe.trees is not None and paired(recipe) is not None:
        yield Run("sibling-pairs", "sibling_pairs", {"gap": recipe.trees.gap})


def trajectory_pairs(recipe: Recipe) -> Iterator[Run]:
    wanted = paired(recipe)
    if wanted is not None and wanted.trajectories_per_task:
        values = {"ratio": wanted.trajectory_ratio, "per_task": wanted.trajectories_per_task}
        yield Run("trajectory-pairs", "trajectory_pairs", values)


def perturbed_pairs(recipe: Recipe) -> Iterator[Run]:
    wanted = paired(recipe)
    if wanted is not None and (wanted.fill or perturber_of(recipe) is not None) and recipe.is_open:
        values = {
            "environment": environment_of(recipe),
            "management": recipe.management,
            "perturber": perturber_of(recipe),
            "fill": wanted.fill,
        }
        yield Run("perturbed-pairs", "perturbed_pairs", values)


def repaired_pairs(recipe: Recipe) -> Iterator[Run]:
    """Repairs of failed runs on safety twins, which only applications have."""
    wanted = paired(recipe)
    if wanted is not None and wanted.repairs and recipe.environment.kind == "app":
        repairer = policy(recipe, "policy", recipe.roles["policy"])
        values = {
            "environment": environment_of(recipe),
            "management": recipe.management,
            "repairer": repairer,
            "hinted": without_mistakes(recipe, repairer),
            "repairs": wanted.repairs,
        }
        yield Run("repaired-pairs", "repaired_pairs", values)


def preferences(recipe: Recipe) -> Iterator[Run]:
    wanted = paired(recipe)
    if wanted is not None:
        yield Run("preferences", "preferences", {"selection": wanted.selection})


def judged_pairs(recipe: Recipe) -> Iterator[Run]:
    who, wanted = recipe.roles.get("judge"), paired(recipe)
    if who is None or wanted is None or ":" in who.backend:
        return
    judge = assistant_of("judge", who, assistant("pair_judge"), compare_prompt().ref)
    yield Run("judged-pairs", "judge_pairs", {"judge": judge, "required": wanted.selection.judge})
