"""Questions about the fictional world, from walks over its graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from synth.graph.graph import Graph
from synth.lexicon.model import Lexicon
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task, Walk
from synth.stages.contract import CandidateStage, Context, Implementation, Outcome, StageConfig
from synth.stages.held import Holdings
from synth.tasks.contract import Checked
from synth.tasks.draft import finish, same_question
from synth.tasks.index_search import IndexSearch
from synth.tasks.world.config import WorldTasksConfig
from synth.tasks.world.propose import WorldProposer
from synth.tasks.world.words import words_of
from synth.tasks.writing.drafting import drafted_lexicon

__all__ = ["WorldTasks", "WorldTasksStageConfig"]


class WorldTasksStageConfig(WorldTasksConfig, StageConfig):
    lexicon: Lexicon | None = None
    """Words of the graph's relations and types. None: the generated world's."""
    further: dict[str, Implementation] = {}
    """Shapes of installed packages, by name."""
    collections: Collections | None = None
    """How the pages are divided where the tasks are to be solved."""


class WorldTasks(CandidateStage[WorldTasksStageConfig]):
    name = "world_tasks"
    version = 75
    config_type = WorldTasksStageConfig
    reads = ("documents", "entities", "edges", "graph", "index")
    optional: ClassVar[tuple[str, ...]] = ("drafted_words",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("numpy", "bm25s")

    def __init__(self, config: WorldTasksStageConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        documents = inputs.table("documents").arrow
        self._holdings = Holdings(config.collections, documents, self.name)
        self._proposer = WorldProposer(
            Graph.from_arrays(inputs.arrays("graph")),
            inputs.table("entities").arrow,
            documents,
            inputs.table("edges").arrow,
            IndexSearch(Bm25Index(inputs.arrays("index")), documents.column("id")),
            config,
            words_of(self._lexicon()),
            stage=self.name,
            further={name: shape.itself() for name, shape in config.further.items()},
        )

    def _lexicon(self) -> Lexicon | None:
        """The config's, in better words where a model drafted some."""
        lexicon, inputs = self.config.lexicon, self.context.inputs
        if lexicon is None or "drafted_words" not in inputs:
            return lexicon
        return drafted_lexicon(lexicon, inputs.table("drafted_words").rows())

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        indices = range(start, stop)
        outcomes = []
        for index, verdict in zip(indices, self._proposer.propose(indices, self.context.seed), strict=True):
            if isinstance(verdict, Checked) and not self._can_start(verdict.draft.walk):
                detail = f"{verdict.draft.walk.shape}: the question names nothing that can be looked up by its name"
                refused = Rejection(
                    stage=self.name,
                    row_id=str(index),
                    reason=Reason.NOT_RETRIEVABLE,
                    detail=detail,
                    split=verdict.draft.split,
                )
                outcomes.append(Outcome(rejected=(refused,)))
            elif isinstance(verdict, Checked):
                draft = verdict.draft.model_copy(update={"environment": self.config.environment})
                task = finish(draft, verdict.checks, self.context.provenance, index)
                outcomes.append(self._holdings.kept(task))
            else:
                outcomes.append(Outcome(rejected=(verdict,)))
        return outcomes

    def _can_start(self, walk: Walk) -> bool:
        """In a graph nothing is found by a value ("founded in 1874"): the question must name a thing, too."""
        if self.config.environment != "graph":
            return True
        return any(hop.source.document_id is not None for hop in walk.hops if not hop.needs)

    def duplicate_key(self, row: Any) -> str:
        return same_question(row)
