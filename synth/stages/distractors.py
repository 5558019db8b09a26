"""Distractors of every task: what its runs met and did not need, and neighbours of its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

import pyarrow as pa
from pydantic import Field

from synth.annotate.contexts.admit import PageWords
from synth.annotate.distractors.neighbours import near_pages, queries_of
from synth.annotate.distractors.retrieved import retrieved_pages, walk_pages
from synth.annotate.distractors.rows import distractor_rows
from synth.environments.identifiers import Identifiers
from synth.retrieval.bm25 import Bm25Index, Hit
from synth.retrieval.dense import DenseIndex
from synth.retrieval.encoder import Encoder
from synth.retrieval.vectors import IndexKind, Neighbour
from synth.schemas.arrow import streamed
from synth.schemas.distractors import Distractor
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row
from synth.schemas.tasks import Task
from synth.stages.contract import Batch, Context, Implementation, Outcome, RowStage, StageConfig, TableStage
from synth.store.tables import RowsByKey

__all__ = ["Distractors", "DistractorsConfig", "EmbedConfig", "EmbedDocuments"]

_RUNS = ("teacher_runs", "policy_runs")
_CACHED = 2048
"""Pages whose words are kept."""
_QUERIES = 64
"""Queries that are compared at once with all vectors."""


class _Text(NamedTuple):
    """What is needed of a page."""

    title: str
    text: str


class EmbedConfig(StageConfig):
    encoder: Implementation
    """Makes the encoder."""


class EmbedDocuments(TableStage[EmbedConfig]):
    """A vector per document."""

    name = "embed_documents"
    version = 22
    config_type = EmbedConfig
    reads = ("documents",)
    arrays = "vectors"
    libraries = ("numpy",)

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        encoder: Encoder = self.config.encoder.make()
        arrays = DenseIndex.build(lambda: streamed(documents.arrow, "title", "text"), encoder)
        return Batch(arrays=arrays, rows_in=len(documents), kept_in=len(documents))


class DistractorsConfig(StageConfig):
    encoder: Implementation
    """Encodes queries: the encoder that the vectors were made by."""
    index: IndexKind = "exact"
    """How the nearest vectors are found."""
    opened: int = Field(default=20, ge=0)
    """Pages of tier 1 per task at most."""
    retrieved: int = Field(default=20, ge=0)
    """Pages of tier 2 per task at most."""
    bm25: int = Field(default=4, ge=0)
    """Neighbours by words per task at most; 0 looks for none."""
    embedding: int = Field(default=4, ge=0)
    """Neighbours by vectors per task at most; 0 looks for none."""
    depth: int = Field(default=20, ge=1, le=200)
    """Results per query among which neighbours are looked for."""


class Distractors(RowStage[DistractorsConfig, Task]):
    """Task by task: all runs of a task belong together."""

    name = "distractors"
    version = 23
    config_type = DistractorsConfig
    reads: ClassVar[tuple[str, ...]] = ("tasks", "documents", "index", "vectors")
    optional: ClassVar[tuple[str, ...]] = (*_RUNS, "planted_misinformation")
    known_as: ClassVar[Mapping[str, str]] = {
        "teacher_runs": "trajectories@teacher",
        "policy_runs": "trajectories@policy",
    }
    writes: ClassVar[Mapping[str, type[Row]]] = {"distractors": Distractor}
    over = "tasks"
    looks_up = frozenset(_RUNS)
    together = 32
    libraries = ("numpy", "bm25s")

    def __init__(self, config: DistractorsConfig, context: Context) -> None:
        super().__init__(config, context)
        inputs = context.inputs
        self._runs = [RowsByKey(inputs.table(name), "task_id") for name in _RUNS if name in inputs]
        documents = inputs.table("documents").arrow
        self._ids, self._titles, self._texts = (documents.column(name) for name in ("id", "title", "text"))
        self._rows = Identifiers(self._ids)
        self._pages: dict[str, PageWords] = {}
        self._bm25 = Bm25Index(inputs.arrays("index"))
        self._dense = DenseIndex(inputs.arrays("vectors"), config.encoder.make(), config.index, together=_QUERIES)
        self._nearest: dict[str, list[Neighbour]] = {}
        self._falsehoods: Mapping[str, str] = {}
        if "planted_misinformation" in inputs:
            table = inputs.table("planted_misinformation").arrow
            self._falsehoods = dict(zip(table["document_id"].to_pylist(), table["id"].to_pylist(), strict=True))
        self._limits = {
            "opened_not_cited": config.opened,
            "retrieved_not_opened": config.retrieved,
            "bm25": config.bm25,
            "embedding": config.embedding,
        }

    def look_ahead(self, rows: Sequence[Task]) -> None:
        if self.config.embedding:
            queries = list(dict.fromkeys(query for row in rows for query in queries_of(row)))
            self._nearest = dict(zip(queries, self._dense.search_all(queries, self.config.depth), strict=True))

    def process(self, row: Task) -> Outcome:
        runs = [run for table in self._runs for run in table.rows(row.id)]
        needed = walk_pages(row)
        met = retrieved_pages(runs, needed)
        without = needed | {item.document_id for item in met}
        near = []
        if self.config.bm25:
            near += near_pages(
                row, self._by_words, self._ids_of, kind="bm25", method="bm25", depth=self.config.depth, without=without
            )
        if self.config.embedding:
            near += near_pages(
                row,
                self._by_vectors,
                self._ids_of,
                kind="embedding",
                method=self._dense.encoder.name,
                depth=self.config.depth,
                without=without,
            )
        rows, refused = distractor_rows(
            row,
            (*met, *near),
            self._page,
            falsehoods=self._falsehoods,
            provenance=self.context.provenance,
            limits=self._limits,
        )
        for why, count in sorted(refused.items()):
            key = f"refused: {why}"
            self.context.metrics.add(key, count)
        if rows:
            return Outcome(kept=tuple(rows))
        return Outcome(rejected=(self._rejection(row, refused),))

    def _rejection(self, row: Task, refused: Counter[str]) -> Rejection:
        detail = ", ".join(f"{why} {count}" for why, count in sorted(refused.items())) or "no page was met or is near"
        return Rejection(
            stage=self.name,
            row_id=row.id,
            reason=Reason.NO_DISTRACTOR,
            detail=detail,
            split=row.split,
            preview=row.question[:500],
        )

    def _ids_of(self, numbers: Sequence[int]) -> list[str]:
        found: list[str] = self._ids.take(pa.array(numbers, pa.int64())).to_pylist()
        return found

    def _by_words(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._bm25.search(query, k) for query in queries]

    def _by_vectors(self, queries: Sequence[str], k: int) -> list[list[Neighbour]]:
        if any(query not in self._nearest for query in queries):
            self._nearest = dict(zip(queries, self._dense.search_all(queries, k), strict=True))
        return [self._nearest[query] for query in queries]

    def _page(self, document_id: str) -> PageWords | None:
        """The words of a page, from a small cache: popular pages are near many tasks."""
        known = self._pages.get(document_id)
        if known is None:
            row = self._rows.row(document_id)
            if row is None:
                return None
            if len(self._pages) >= _CACHED:
                self._pages.pop(next(iter(self._pages)))
            title, text = (str(column[row].as_py()) for column in (self._titles, self._texts))
            known = self._pages[document_id] = PageWords(_Text(title, text))
        return known
