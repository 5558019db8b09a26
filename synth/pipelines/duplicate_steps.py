"""The steps that look for duplicates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from synth.filtering.dedup import Rules
from synth.pipelines.collaborators import encoder_of
from synth.pipelines.pair_steps import paired
from synth.pipelines.stage_runs import Run
from synth.recipe.model import Recipe

__all__ = ["deduplicated", "duplicate_documents", "duplicates", "is_read"]


def is_read(recipe: Recipe) -> bool:
    """Whether documents are read whose graph is still to be made."""
    return "documents" in recipe.source_spec.writes and not recipe.source_spec.is_graph


def deduplicated(recipe: Recipe) -> Rules | None:
    """Which of the documents that are read are duplicates; None where none are looked for."""
    if recipe.dedup is None or recipe.questions.kind == "given" or not is_read(recipe):
        return None
    return recipe.dedup.documents


def duplicate_documents(recipe: Recipe) -> Iterator[Run]:
    rules = deduplicated(recipe)
    if rules is not None:
        yield _sketches("document", "documents", rules)
        yield Run("documents", "unique_documents", _compared(rules))


def duplicates(recipe: Recipe) -> Iterator[Run]:
    """Duplicates among runs and pairs. Nothing else reads what is found."""
    wanted = recipe.dedup
    if wanted is not None and wanted.trajectories is not None:
        for role in recipe.acting:
            yield from _marked(role, "trajectories", wanted.trajectories, role)
    if wanted is not None and wanted.pairs is not None and paired(recipe) is not None:
        yield from _marked("pair", "preferences", wanted.pairs)


def _sketches(name: str, level: str, rules: Rules, role: str | None = None) -> Run:
    words = rules.words if rules.near is not None else None
    return Run(f"{name}-sketches", "sketch", {"level": level, "words": words, "encoder": encoder_of(rules)}, role)


def _marked(name: str, level: str, rules: Rules, role: str | None = None) -> Iterator[Run]:
    yield _sketches(name, level, rules, role)
    yield Run(f"{name}-duplicates", "mark_duplicates", {"level": level, **_compared(rules)}, role)


def _compared(rules: Rules) -> dict[str, Any]:
    return {"rules": Rules.model_validate(rules.model_dump()), "encoder": encoder_of(rules)}
