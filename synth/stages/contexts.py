"""Long contexts of one budget: gold documents among distractors, for tasks that are solved by reading."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field

from synth.annotate.contexts.admit import may_hold
from synth.annotate.contexts.assemble import Shortfall
from synth.annotate.contexts.rows import ContextMaker, Page
from synth.annotate.contexts.tokens import open_tokenizer, tokenizer_digest
from synth.annotate.rewards.truth import ground_truth
from synth.environments.identifiers import Identifiers
from synth.prompting import load_prompt
from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.vectors import ExactIndex
from synth.schemas.contexts import ContextRow
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row, Split
from synth.schemas.tasks import Task
from synth.stages.contract import Outcome, RowStage, StageConfig, Table
from synth.store.tables import RowsByKey

__all__ = ["Contexts", "ContextsConfig"]


class ContextsConfig(StageConfig):
    unhashed: ClassVar[Mapping[str, str]] = {
        "tokenizer": "a location; the hash of the file stands for it",
        "tasks": "how many, not what becomes of any: contexts of further tasks later keep those that are there",
    }

    budget: int = Field(ge=500, le=400_000)
    """Tokens of the whole user message. Above 400,000 a row would be too large for the Hub's viewer."""
    tasks: int | None = Field(default=None, ge=1)
    """Contexts are made of the first so many tasks; None = of all."""
    tokenizer: str | None = None
    """A file of the ``tokenizers`` library; None = the counter that ships."""
    near: int = Field(default=20, ge=0, le=1000)
    """Neighbours that are looked for per query: the question and each sentence of its evidence."""
    max_random: float = Field(default=0.5, ge=0, le=1)
    """Share of the budget that random pages may fill where neighbours by vectors could."""
    prompt: str = "contexts/read"
    """The user message's file, without its version."""
    prompt_version: int
    prompt_sha256: str
    """Version and hash of the file: a build never takes another one silently."""


class Contexts(RowStage[ContextsConfig, Task]):
    """Works over the first tasks. Distractors go by tier; what room they leave is filled with further neighbours of
    question and evidence by words, with neighbours of the gold pages by their vectors, and with random pages."""

    name = "contexts"
    version = 20
    config_type = ContextsConfig
    reads = ("tasks", "documents", "index", "distractors", "vectors")
    writes: ClassVar[Mapping[str, type[Row]]] = {"contexts": ContextRow}
    over = "tasks"
    looks_up = frozenset({"distractors"})
    libraries = ("numpy", "bm25s")
    rows_per_shard = 8

    @classmethod
    def content_digest(cls, config: ContextsConfig) -> str | None:
        return tokenizer_digest(config.tokenizer)

    @classmethod
    def first_rows(cls, config: ContextsConfig) -> int | None:
        return config.tasks

    def process(self, row: Task) -> Outcome:
        made = self._maker.make(
            row,
            self._distractors.rows(row.id),
            self._near(row),
            self._random(row),
            ground_truth(row),
            self.context.generator(row.id, self.config.budget, "order"),
            alike=self._alike(row),
        )
        if isinstance(made, Shortfall):
            return Outcome(rejected=(self._rejection(row, made.what),))
        return Outcome(kept=(made,))

    @cached_property
    def _maker(self) -> ContextMaker:
        prompt = load_prompt(self.config.prompt, self.config.prompt_version)
        if prompt.ref.sha256 != self.config.prompt_sha256:
            raise ValueError(f"prompt {prompt.ref} is not the one that was planned ({self.config.prompt_sha256})")
        return ContextMaker(
            self._pages.by_id,
            frame=lambda documents, question: prompt.render(documents=documents, question=question),
            budget=self.config.budget,
            tokenizer=open_tokenizer(self.config.tokenizer),
            max_random=self.config.max_random,
            provenance=self.context.provenance.model_copy(update={"prompt": str(prompt.ref)}),
        )

    @cached_property
    def _distractors(self) -> RowsByKey:
        return RowsByKey(self.context.inputs.table("distractors"), "task_id")

    @cached_property
    def _index(self) -> Bm25Index:
        return Bm25Index(self.context.inputs.arrays("index"))

    @cached_property
    def _pages(self) -> _Pages:
        return _Pages(self.context.inputs.table("documents"))

    def _near(self, task: Task) -> Iterator[Page]:
        """What a search for the question or for a sentence of its evidence returns: all first results, then all second
        ones. Asked only when the distractors leave room."""
        if not self.config.near:
            return
        queries = dict.fromkeys((task.question, *(hop.evidence.quote for hop in task.walk.hops)))
        found = [self._index.search(query, self.config.near) for query in queries]
        for rank in range(self.config.near):
            for hits in found:
                if rank < len(hits):
                    yield self._pages.by_row(hits[rank].document)

    @cached_property
    def _vectors(self) -> ExactIndex:
        return ExactIndex(self.context.inputs.arrays("vectors")["vectors"])

    def _alike(self, task: Task) -> Iterator[Page]:
        """Pages near the gold ones by their vectors: the nearest of each, then the second of each, and so on."""
        rows = [row for name in task.gold_documents if (row := self._pages.row(name)) is not None]
        count = len(self.context.inputs.table("documents"))
        vectors = np.asarray(self.context.inputs.arrays("vectors")["vectors"][rows], dtype=np.float32)
        done, wanted = 0, _NEAREST
        while rows and done < count:
            found = self._vectors.search(vectors, min(wanted, count))
            for rank in range(done, max(map(len, found))):
                for near in found:
                    if rank < len(near):
                        yield self._pages.by_row(near[rank].document)
            done, wanted = wanted, 4 * wanted

    def _random(self, task: Task) -> Iterator[Page]:
        """Pages in an order drawn for the task: the same for every budget, so that longer contexts hold what shorter
        ones do."""
        allowed = self._pages.allowed(task.split)
        for place in self.context.generator(task.id, "random").permutation(len(allowed)):
            yield self._pages.by_row(int(allowed[place]))

    def _rejection(self, task: Task, what: str) -> Rejection:
        return Rejection(
            stage=self.name,
            row_id=task.id,
            reason=Reason.NO_CONTEXT,
            detail=f"{self.config.budget:,} tokens: {what}",
            split=task.split,
            preview=task.question[:500],
        )


_NEAREST = 256
"""Neighbours by vectors that are looked for at first; four times as many as long as they do not fill the room."""
_KEPT = 40_000_000
"""Code points of documents that stay in memory."""


class _Pages:
    """Documents by id and by row, each worked out once while it stays in memory."""

    def __init__(self, documents: Table) -> None:
        self._documents = documents
        self._names = documents.arrow.column("id")
        self._rows = RowsByKey(documents, "id")
        self._ids = Identifiers(self._names)
        self._known: dict[str, Page] = {}
        self._by_row: dict[int, Page] = {}
        self._held = 0
        self._allowed: dict[Split, NDArray[np.int64]] = {}
        # Rows are read faster together than one by one.
        if (pc.sum(pc.utf8_length(documents.arrow["text"])).as_py() or 0) <= _KEPT:
            self._by_row = {number: self._keep(Page(row)) for number, row in enumerate(documents.rows())}

    def by_id(self, name: str) -> Page | None:
        page = self._known.get(name)
        if page is not None:
            return page
        rows = self._rows.rows(name)
        return self._keep(Page(rows[0])) if rows else None

    def row(self, name: str) -> int | None:
        return self._ids.row(name)

    def by_row(self, row: int) -> Page:
        page = self._by_row.get(row)
        if page is None:
            page = self._known.get(str(self._names[row].as_py())) or self._keep(Page(self._documents.row(row)))
            self._by_row[row] = page
        return page

    def allowed(self, split: Split) -> NDArray[np.int64]:
        """Rows of the pages that a context of ``split`` may hold beside its gold; pages of mere links are not among
        them: ``(n,) int64``."""
        if split not in self._allowed:
            table = self._documents.arrow
            partitions: tuple[Split, ...] = ("train", "validation", "test")
            may = pa.array([partition for partition in partitions if may_hold(split, partition)])
            mask = pc.and_(pc.is_in(table["partition"], may), pc.not_equal(table["kind"], "index"))
            self._allowed[split] = np.flatnonzero(mask.to_numpy()).astype(np.int64)
        return self._allowed[split]

    def _keep(self, page: Page) -> Page:
        size = len(page.document.text)
        if self._held + size > _KEPT:
            self._known.clear()
            self._by_row.clear()
            self._held = 0
        self._known[page.document.id] = page
        self._held += size
        return page
