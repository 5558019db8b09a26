"""Questions about real documents, from what their pages say of each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import pyarrow.compute as pc

from synth.errors import BuildError
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.collections import Collections
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import CandidateStage, Context, Outcome, StageConfig
from synth.stages.held import Holdings
from synth.tasks.docs.proposer import DocsProposer, DocsTasksConfig, duplicate_key
from synth.tasks.docs.ranks import RANKS, frame_of
from synth.tasks.draft import Draft, finish

__all__ = ["DocsTasks", "DocsTasksStageConfig"]

_ADVICE = {
    "none": "ask your own questions with --tasks-file, or set source.extract=rules where pages name each other",
    "rules": "ask your own questions with --tasks-file, or set source.extract=model with roles.writer for prose",
    "model": "give more pages, or ask your own questions with --tasks-file",
}
"""What helps where no walk was found, by what was read already."""
_OF_TRIPLES = "the facts of the triples are asked about by `synth build graph-search`, with the same --source"


_BLOCK = 64
"""Candidates among which few may be alike."""
_ALIKE = 3
"""Questions of one frame that a block may hold: about one of ten that are accepted."""


def _one_too_many(stage: str, index: int, draft: Draft) -> Rejection:
    return Rejection(
        stage=stage,
        row_id=str(index),
        reason=Reason.NEAR_DUPLICATE,
        detail=f"{frame_of(draft)}: {_ALIKE} of {_BLOCK} candidates are asked in the same words",
        split=draft.split,
        preview=draft.question[:500],
    )


def _counts(counts: Mapping[str, int]) -> str:
    """ "status 821, module 686, ...", the most frequent first; empty for none."""
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count}" for name, count in found[:12]) or "none"


class DocsTasksStageConfig(DocsTasksConfig, StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {"extract": "what an error advises; the facts themselves are an input"}

    extract: str = "none"
    """What was read of the pages beside their links (``source.extract``)."""
    collections: Collections | None = None
    """How the pages are divided where the tasks are to be solved."""


class DocsTasks(CandidateStage[DocsTasksStageConfig]):
    name = "docs_tasks"
    version = 104
    config_type = DocsTasksStageConfig
    reads = ("documents", "entities", "edges", "index")
    writes: ClassVar[Mapping[str, type[Row]]] = {"tasks": Task}
    libraries = ("numpy", "bm25s")
    candidates_per_shard = 128

    def __init__(self, config: DocsTasksStageConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._holdings = Holdings(config.collections, inputs.table("documents").arrow, self.name)
        index = Bm25Index(inputs.arrays("index"))

        def search(query: str, k: int) -> list[int]:
            return [hit.document for hit in index.search(query, k)]

        self._proposer = DocsProposer(
            inputs.table("documents"),
            inputs.table("entities").arrow,
            inputs.table("edges").arrow,
            search,
            config,
            context.seed,
        )
        offers = self._proposer.offers()
        self._capacity = sum(offers.values())
        documents, edges = inputs.table("documents").arrow, inputs.table("edges").arrow
        links = int(pc.sum(pc.list_value_length(documents["links"])).as_py() or 0)
        lists = int(pc.sum(pc.equal(documents["kind"], "index")).as_py() or 0)
        facts = _counts(Counter(edges["relation"].to_pylist()))
        foreign = len(documents) - len(self._proposer.corpus.english)
        other = f", {foreign} of them in another language" if foreign else ""
        self._found = f"{len(documents)} pages ({lists} of them lists{other}) with {links} links; facts: {facts}"
        self._offers = f"{self._capacity} candidates ({_counts(offers)})"
        self._dropped = _counts(self._proposer.items.dropped)
        self._triples = any(entity.document < 0 for entity in self._proposer.corpus.entities)
        context.metrics["walks"] = float(self._capacity)

    def exhausted(self) -> int:
        return len(self._proposer.order)

    def ceiling(self, wanted: int) -> int:
        """All there are, since the ranks come one after the other; a source that can't hold so many questions is not
        searched for them.

        Raises:
            BuildError: there are fewer candidates than wanted tasks; each is one question at most.
        """
        found = self._capacity
        if found < wanted:
            left = f"; left out: {self._dropped}" if self._dropped != "none" else ""
            missing = [rank for rank in RANKS if rank not in self.config.ranks]
            more = f", add {' and '.join(missing)} to questions.ranks" if missing else ""
            raise BuildError(
                f"{self._found}; {self._offers} for {wanted} tasks{left}",
                where=self.name,
                mend=_OF_TRIPLES
                if self._triples
                else f"ask for fewer (after the checks about {found // 2} remain){more}, or give more pages"
                if found
                else _ADVICE[self.config.extract],
            )
        return max(1, self.exhausted())

    def remedy(self) -> str | None:
        """The ranks that were not asked for."""
        missing = [rank for rank in RANKS if rank not in self.config.ranks]
        asks = {"gap": "sentences with a gap", "fair": "what one page alone tells", "good": "the best questions"}
        named = " and ".join(f"{rank} ({asks[rank]})" for rank in missing)
        return f"add {named} to questions.ranks" if missing else None

    def propose(self, start: int, stop: int) -> Sequence[Outcome]:
        blocks = range(start // _BLOCK, (stop - 1) // _BLOCK + 1) if stop > start else ()
        made = [outcome for number in blocks for outcome in self._block(number)]
        skipped = start % _BLOCK
        return made[skipped : skipped + stop - start]

    def _block(self, number: int) -> list[Outcome]:
        """The candidates of one block, of which few may be alike: what is said of one hangs on its number alone."""
        alike: dict[str, set[str]] = defaultdict(set)
        outcomes = []
        for index in range(number * _BLOCK, (number + 1) * _BLOCK):
            proposed = self._proposer.propose(index, None, self.context.generator(index))
            if isinstance(proposed, Rejection):
                outcomes.append(Outcome(rejected=(proposed.model_copy(update={"stage": self.name}),)))
                continue
            draft = proposed.draft
            same = alike[frame_of(draft)]
            same.add(proposed.duplicate_key)
            if len(same) > _ALIKE:
                outcomes.append(Outcome(rejected=(_one_too_many(self.name, index, draft),)))
            else:
                kept = finish(draft, proposed.checks, self.context.provenance, index)
                outcomes.append(self._holdings.kept(kept))
        return outcomes

    def duplicate_key(self, row: Any) -> str:
        return duplicate_key(row)
