"""What a plan says of duplicates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from typing import Any

from synth.engine.accepting import Accepting
from synth.engine.plan import StageNode
from synth.filtering.dedup import Rules
from synth.recipe.dedup import encoder_options
from synth.recipe.model import Recipe
from synth.registry import factory_of, find
from synth.stages.contract import Implementation, Stage
from synth.stages.duplicates import DoublesConfig, SketchConfig

__all__ = ["accepting_of", "document_nodes", "encoder_of", "row_nodes"]


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


def document_nodes(recipe: Recipe, read: StageNode) -> Iterator[StageNode]:
    """``read`` (the stage that reads documents, labelled ``documents``), and what leaves out its duplicates: what comes
    last is labelled ``documents`` then.

    Raises:
        InputError: an unknown encoder.
    """
    rules = None if recipe.dedup is None else recipe.dedup.documents
    if rules is None or recipe.questions.kind == "given":
        yield read
        return
    yield replace(read, label="read")
    inputs = {"documents": "read"}
    yield _sketches("document-sketches", "sketch_documents", rules, inputs)
    stage = "unique_documents"
    if "triples" in read.stage.writes:
        stage, inputs = "unique_records", inputs | {"triples": "read"}
    yield _compared("documents", stage, rules, inputs | {"sketches": "document-sketches"})


def row_nodes(recipe: Recipe, labels: Collection[str]) -> Iterator[StageNode]:
    """What finds duplicates among runs and pairs, of what the plan makes (``labels``). Nothing else reads it.

    Raises:
        InputError: an unknown encoder.
    """
    wanted = recipe.dedup
    inputs: dict[str, str]
    if wanted is not None and wanted.trajectories is not None:
        for role in recipe.roles:
            if role in labels:
                inputs = {"trajectories": role}
                yield _sketches(f"{role}-sketches", "sketch_runs", wanted.trajectories, inputs)
                reads = inputs | {"sketches": f"{role}-sketches"}
                yield _compared(f"{role}-duplicates", "mark_runs", wanted.trajectories, reads)
    if wanted is not None and wanted.pairs is not None and "preferences" in labels:
        inputs = {"preferences": "judged-pairs:judged" if "judged-pairs" in labels else "preferences"}
        yield _sketches("pair-sketches", "sketch_pairs", wanted.pairs, inputs)
        yield _compared("pair-duplicates", "unique_pairs", wanted.pairs, inputs | {"sketches": "pair-sketches"})


def _sketches(label: str, stage: str, rules: Rules, inputs: Mapping[str, str]) -> StageNode:
    config = SketchConfig(words=rules.words if rules.near is not None else None, encoder=encoder_of(rules))
    return StageNode(label, _stage(stage), config, inputs)


def _compared(label: str, stage: str, rules: Rules, inputs: Mapping[str, str]) -> StageNode:
    plain = Rules.model_validate(rules.model_dump())
    return StageNode(label, _stage(stage), DoublesConfig(rules=plain, encoder=encoder_of(rules)), inputs)


def _stage(name: str) -> type[Stage[Any]]:
    found: type[Stage[Any]] = find("stages", name)
    return found
