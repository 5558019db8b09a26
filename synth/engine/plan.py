"""What a build consists of: stages with their configs, and who reads what from whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from synth.engine.accepting import Accepting
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Implementation, RowStage, Stage, StageConfig

__all__ = ["Plan", "StageNode"]


@dataclass(frozen=True)
class StageNode:
    label: str
    """Name of this stage run in the recipe."""
    stage: type[Stage[Any]]
    config: StageConfig
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Name that the stage reads -> label of the stage run that writes it. Where that run calls its table otherwise:
    ``label:table``. Tables that it gathers are ``name@0``, ``name@1``, ... in their order."""
    accepting: Accepting | None = None
    """Of a ``CandidateStage`` that makes tasks: which of them are duplicates of accepted ones, beside those that its
    own key finds; None = no others."""
    filters: tuple[Implementation, ...] = ()
    """Of a ``CandidateStage``: who looks at what it kept before that is accepted, in this order."""
    role: str | None = None
    """Whose rows its tables hold; None = no role's alone."""
    prompts: Mapping[str, str | None] = field(default_factory=dict)
    """Prompts of the user's own by name: those that it uses with their text, the others with None."""

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """What it reads, by the names that the stage and its collaborators have for it."""
        may = {*self.stage.optional, *self.stage.gathers}
        given = (name for name in self.inputs if name.partition("@")[0] in may)
        return tuple(dict.fromkeys([*self.stage.reads_of(self.config), *given]))

    def source_of(self, name: str) -> tuple[str, str]:
        """Label and table (or label and label, for arrays) behind the name that the stage reads."""
        label, colon, table = self.inputs[name].partition(":")
        return label, table if colon else name


@dataclass(frozen=True)
class Plan:
    dataset: str
    """Name of the recipe."""
    seed: int
    source: str
    """Name of the source in the recipe."""
    nodes: tuple[StageNode, ...]
    """In topological order: who reads stands after who writes."""
    wanted: int | None
    """How many candidates a ``CandidateStage`` must accept, exactly; None = all that there are (given tasks)."""

    def __post_init__(self) -> None:
        if self.wanted is not None and self.wanted < 1:
            raise ValueError(f"wanted is {self.wanted}: at least 1")
        seen: dict[str, StageNode] = {}
        for node in self.nodes:
            if node.label in seen:
                raise ValueError(f"two stage runs have the label {node.label!r}")
            for problem in _problems(node, seen):
                raise ValueError(f"stage run {node.label!r}: {problem}")
            seen[node.label] = node

    @cached_property
    def _by_label(self) -> dict[str, StageNode]:
        return {node.label: node for node in self.nodes}

    def node(self, label: str) -> StageNode:
        """The stage run ``label``. Raises KeyError that lists the labels."""
        try:
            return self._by_label[label]
        except KeyError:
            raise KeyError(f"no stage run {label!r}; there are {', '.join(self._by_label)}") from None


def _problems(node: StageNode, earlier: Mapping[str, StageNode]) -> Iterator[str]:
    stage = node.stage
    missing = sorted(set(node.reads) - set(node.inputs))
    if missing:
        yield f"nothing is given for {', '.join(missing)}, which {stage.name} reads"
    extra = sorted(set(node.inputs) - set(node.reads))
    if extra:
        yield f"{stage.name} does not read {', '.join(extra)}"
    if issubclass(stage, RowStage) and not stage.looks_up <= {*node.reads, *stage.optional, *stage.gathers} - {
        stage.over
    }:
        yield f"{stage.name} looks up what it does not read, or what it works over"
    if issubclass(stage, RowStage) and stage.over not in node.reads:
        yield f"{stage.name} works over {stage.over!r}, which is not among what it reads"
    for name in node.reads:
        label, table = node.source_of(name)
        writer = earlier.get(label)
        if writer is None:
            yield f"it reads {name} from {label!r}, which does not run before it"
        elif table in writer.stage.sealed:
            yield f"it reads {table} of {label!r}, which is sealed: no stage may read it"
        elif table not in writer.stage.writes and writer.stage.arrays is None:
            yield f"{label!r} writes no table {table!r} and no arrays"
    if node.accepting is not None and not (
        issubclass(stage, CandidateStage) and Task in list(stage.writes.values())[:1]
    ):
        yield f"it says what it accepts, and {stage.name} proposes no tasks"
    if issubclass(stage, CandidateStage) and not stage.writes:
        yield f"{stage.name} writes no table"
    if node.filters and not issubclass(stage, CandidateStage):
        yield f"{stage.name} has no candidates that anybody could look at"
