"""What a plan says of duplicates."""

from __future__ import annotations

from importlib import metadata

from synth.dedup import Rules
from synth.engine.accepting import Accepting
from synth.recipe.dedup import encoder_options
from synth.recipe.model import Recipe
from synth.registry import factory_of
from synth.stages.contract import Implementation

__all__ = ["accepting_of", "encoder_of"]


def accepting_of(recipe: Recipe) -> Accepting | None:
    """What accepted tasks must not be alike in; None where the recipe asks for nothing.

    Raises:
        InputError: an unknown encoder.
    """
    rules = recipe.dedup.tasks if recipe.dedup is not None else None
    return None if rules is None else Accepting(rules=rules, encoder=encoder_of(rules))


def encoder_of(rules: Rules) -> Implementation | None:
    """Who makes vectors; None where no vectors are compared.

    Raises:
        InputError: an unknown encoder.
    """
    if rules.semantic is None:
        return None
    versions = {"library": _installed("sentence-transformers")} if rules.model is not None else {}
    factory = factory_of("encoders", rules.encoder)
    return Implementation(kind=rules.encoder, factory=factory, options=encoder_options(rules), versions=versions)


def _installed(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
