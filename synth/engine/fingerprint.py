"""The fingerprint of a stage run: everything that can change its result, and nothing else.

In it: identity scheme, schema version, stage name and version, config (without ``unhashed`` fields), who filters its
candidates, the versions of the collaborators that it is given (and of no others), seed, name of the source, hash of
what is read from outside, the user's own prompts that it uses, versions of the libraries that it and they name, the
fingerprint of everything it reads and, where that is a table that grows with N, how much of it there is.

Not in it, each for a reason (a config adds fields of its own in ``unhashed``):

* the code of a stage stands behind its version, which a lock of code hashes makes CI check;
* the dataset, but for stages whose rows carry provenance: the others never see it and share their work;
* executor, workers and the sizes of shards say where and in what groups pure shards run, and can't change rows;
* the label: a stage does not see what a recipe calls its run;
* ledger, failpoints and progress count, test and show work;
* the path of the source, for which the hash of its content stands, the store and the output folder;
* N: more candidates later must keep what was accepted.
"""

from __future__ import annotations

import importlib.metadata
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from synth.engine.plan import Plan, StageNode
from synth.filtering.dedup import DEDUP_VERSION
from synth.identity import IDENTITY_SCHEME, canonical_json, digest
from synth.schemas.provenance import Provenance
from synth.schemas.row import SCHEMA_VERSION, Row
from synth.stages.contract import CandidateStage, Implementation, RowStage, StageConfig, implementations

__all__ = ["ROWS_CARRY_DATASET", "Fingerprint", "carries_dataset", "fingerprints", "stated_version"]

ROWS_CARRY_DATASET = "shared"
"""Name of the dataset that stages see whose rows carry no provenance."""


@dataclass(frozen=True)
class Fingerprint:
    node: StageNode
    value: str
    """64 hex digits."""
    material: Mapping[str, Any]
    """What was hashed; written beside the work, so that a person can see why two differ."""
    content: str | None
    """Hash of what the stage reads from outside, if it does."""
    sources: tuple[str, ...]
    """Hashes of all outside content behind this stage run, sorted."""
    accepted_by: str | None
    """Hash of what its candidates are accepted by; None where their own key alone decides. In the fingerprints of all
    that read it, and not in its own: candidates are the same."""
    extent: int | None
    """How many accepted candidates its main tables grow with; None for those that do not grow, 0 for "all"."""

    def provenance(self, plan: Plan) -> Provenance:
        """What rows of this stage run carry."""
        stage = self.node.stage
        source = self.sources[0] if len(self.sources) == 1 else digest("sources", *self.sources)
        return Provenance(
            dataset=plan.dataset if carries_dataset(stage) else ROWS_CARRY_DATASET,
            stage=stage.name,
            stage_version=stage.version,
            fingerprint=self.value,
            seed=plan.seed,
            source=plan.source,
            source_sha256=source,
        )


def stated_version(one: Implementation) -> int | None:
    """What the factory of a collaborator states.

    Raises:
        ValueError: it is one of ours and states none.
    """
    if one.version is None and one.factory.startswith("synth."):
        raise ValueError(f"{one.factory} states no version: mark it with synth.identity.versioned")
    return one.version


def fingerprints(
    plan: Plan, version_of: Callable[[Implementation], int | None] = stated_version
) -> dict[str, Fingerprint]:
    """The fingerprint of every stage run of the plan, by label, in order.

    Args:
        version_of: The version of a collaborator; None = it has none, and only its options and ``versions`` count.

    Raises:
        InputError: what a stage reads from outside is missing or can't be read.
    """
    found: dict[str, Fingerprint] = {}
    for node in plan.nodes:
        found[node.label] = _fingerprint(plan, node, found, version_of)
    return found


def _fingerprint(
    plan: Plan,
    node: StageNode,
    earlier: Mapping[str, Fingerprint],
    version_of: Callable[[Implementation], int | None],
) -> Fingerprint:
    def versions(*given: Any) -> dict[str, int]:
        found = {one.factory: version_of(one) for _, one in implementations(given)}
        return {factory: version for factory, version in found.items() if version is not None}

    stage = node.stage
    content = stage.content_digest(node.config)
    inputs: dict[str, Any] = {}
    sources: set[str] = {content} if content else set()
    extent: int | None = None
    for name in node.reads:
        label, table = node.source_of(name)
        writer = earlier[label]
        sources.update(writer.sources)
        grows = writer.extent
        if issubclass(stage, RowStage) and name.partition("@")[0] in stage.looks_up:
            grows = None
        elif issubclass(stage, RowStage) and name == stage.over:
            # Row by row: more rows later change nothing about those that are there. Its own tables grow along.
            extent, grows = grows, None
        inputs[name] = {"fingerprint": writer.value, "table": table, "rows_of": grows}
        if writer.accepted_by is not None:
            inputs[name]["accepted_by"] = writer.accepted_by
    if issubclass(stage, CandidateStage):
        extent = plan.wanted or 0
    material = {
        "identity_scheme": IDENTITY_SCHEME,
        "schema_version": SCHEMA_VERSION,
        "stage": stage.name,
        "stage_version": stage.version,
        "config": hashed_config(node.config),
        "collaborators": versions(node.config, node.filters),
        "seed": plan.seed,
        "source": plan.source,
        "dataset": plan.dataset if carries_dataset(stage) else None,
        "content": content,
        "libraries": {name: importlib.metadata.version(name) for name in stage.libraries_of(node.config)},
        "inputs": inputs,
    }
    if node.filters:
        material["task_filters"] = [hashed_config(task_filter) for task_filter in node.filters]
    own = {name: digest(text) for name, text in node.prompts.items() if text is not None}
    if own:
        material["prompts"] = own
    value = digest("stage", material)
    # Without outside content (a generated world), what the first stages are made from stands for the source.
    accepted_by = None
    if node.accepting is not None:
        given = versions(node.accepting)
        accepted_by = digest("accepting", DEDUP_VERSION, hashed_config(node.accepting), given)
    return Fingerprint(node, value, material, content, tuple(sorted(sources)) or (value,), accepted_by, extent)


def hashed_config(config: StageConfig) -> dict[str, Any]:
    """The config as it stands in the fingerprint: without what it, and configs inside it, declare as ``unhashed``."""
    unknown = sorted(set(config.unhashed) - set(type(config).model_fields))
    if unknown:
        raise ValueError(f"{type(config).__name__}: unhashed names {', '.join(unknown)}, which it lacks")
    plain: dict[str, Any] = config.model_dump(mode="json")
    return {name: _hashed(getattr(config, name), plain[name]) for name in plain if name not in config.unhashed}


def _hashed(value: Any, plain: Any) -> Any:
    if isinstance(value, StageConfig):
        return hashed_config(value)
    if isinstance(value, Mapping):
        return {str(key): _hashed(item, plain[str(key)]) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_hashed(item, other) for item, other in zip(value, plain, strict=True)]
    if isinstance(value, set | frozenset):
        return sorted(plain, key=canonical_json)  # a set's own order depends on the interpreter's hash seed
    return plain


def carries_dataset(stage: type[Any]) -> bool:
    """Whether rows of the stage hold provenance, and with it the name of the dataset."""
    return any(_holds_provenance(row_type) for row_type in stage.writes.values())


@cache
def _holds_provenance(row_type: type[Row]) -> bool:
    return any(_mentions_provenance(info.annotation) for info in row_type.model_fields.values())


def _mentions_provenance(annotation: Any) -> bool:
    if isinstance(annotation, type):
        if issubclass(annotation, Provenance):
            return True
        return issubclass(annotation, Row) and _holds_provenance(annotation)
    return any(_mentions_provenance(argument) for argument in typing.get_args(annotation))
