"""Duplicates among documents, runs and pairs.

Two stages per table: one computes what is compared (hashes, signatures, vectors), which no threshold is part of, and
one compares. So another threshold reads no row and encodes no text again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc

from synth.filtering.dedup import Pair, Rules, find_duplicates
from synth.filtering.dedup.corpus import Corpus, Found
from synth.filtering.dedup.levels import LEVELS, LevelName
from synth.filtering.dedup.sketch import Sketch, sketch_rows
from synth.identity import digest
from synth.retrieval.encoder import Encoder
from synth.schemas.arrow import arrow_schema, from_arrow, to_arrow
from synth.schemas.documents import Document, Link
from synth.schemas.duplicates import DuplicateRow
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Row, Split
from synth.sources.records.triples import Triple
from synth.stages.contract import Batch, Context, Implementation, StageConfig, Table, TableStage

__all__ = [
    "ComputeSketches",
    "Duplicates",
    "DuplicatesConfig",
    "MarkConfig",
    "MarkDuplicates",
    "SketchConfig",
    "UniqueDocuments",
]

_CHUNK = 1024
_HOW = {"exact": "same words", "structural": "same calls", "near": "n-grams", "semantic": "cosine"}


class SketchConfig(StageConfig):
    level: LevelName
    """The table whose rows are compared."""
    words: int | None = None
    """Words of the n-grams whose signatures are made; None = none are."""
    encoder: Implementation | None = None
    """Makes vectors of the texts; None = nothing is encoded."""


class ComputeSketches(TableStage[SketchConfig]):
    """Hashes, signatures and vectors of the rows of a table."""

    name = "sketch"
    version = 66
    config_type = SketchConfig
    arrays = "sketches"
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "xxhash")

    @classmethod
    def reads_of(cls, config: SketchConfig) -> tuple[str, ...]:
        return (config.level, *super().reads_of(config))

    def run(self) -> Batch:
        table = self.context.inputs.table(self.config.level)
        encoder: Encoder | None = None if self.config.encoder is None else self.config.encoder.make()
        level = LEVELS[self.config.level]
        drawn = sketch_rows(
            table.rows(), level.text, level.quality, level.structure, words=self.config.words, encoder=encoder
        )
        return Batch(arrays=drawn.arrays(), rows_in=len(table), kept_in=len(table))


class DuplicatesConfig(StageConfig):
    rules: Rules
    """Which rows are duplicates."""
    encoder: Implementation | None = None
    """Made the vectors; None = there are none."""


def _compare(context: Context, config: DuplicatesConfig, table: Table, level: LevelName) -> Duplicates:
    """The duplicates among the rows of ``table``."""
    encoder: Encoder | None = None if config.encoder is None else config.encoder.make()
    ids: list[str] = table.arrow.column("id").to_pylist()
    corpus = Corpus(ids=ids, texts=_Texts(table, level))
    found = find_duplicates(corpus, config.rules, encoder, sketch=Sketch.of(context.inputs.arrays("sketches")))
    for method in found.methods:
        context.metrics[f"recall: {method.kind}"] = method.recall
    for kind in sorted({pair.kind for pair in found.pairs}):
        context.metrics[f"pairs: {kind}"] = float(sum(pair.kind == kind for pair in found.pairs))
    return Duplicates(found, level)


class _Texts(Sequence[str]):
    """Texts of rows, read when they are asked for."""

    def __init__(self, table: Table, level: LevelName) -> None:
        self._table, self._text = table, LEVELS[level].text

    def __len__(self) -> int:
        return len(self._table)

    def __getitem__(self, number: int) -> str:  # type: ignore[override]
        return self._text(self._table.row(number))


class Duplicates:
    """Which rows of a table are duplicates, and of what."""

    def __init__(self, found: Found, level: LevelName) -> None:
        self._found, self._level = found, level
        self._clusters = found.clusters()
        self.of: dict[str, str] = {found.ids[row]: found.ids[self._clusters.of[row]] for row in self._clusters.dropped}
        """Id of a duplicate -> id of the row that stands for it."""

    @cached_property
    def _ties(self) -> dict[int, Pair]:
        """Row -> the pair that ties it most closely to another."""
        ties: dict[int, Pair] = {}
        for pair in self._found.pairs:
            for row in (pair.left, pair.right):
                known = ties.get(row)
                if known is None or pair.score > known.score:
                    ties[row] = pair
        return ties

    def table(self) -> pa.Table:
        """All pairs that were found: an Arrow table, since a million rows as objects take 1.3 GB."""
        return to_arrow(self._rows(), DuplicateRow)

    def _rows(self) -> Iterator[DuplicateRow]:
        ids = self._found.ids
        for pair in self._found.pairs:
            one, other = ids[pair.left], ids[pair.right]
            yield DuplicateRow(
                id=f"duplicate-{digest(self._level, pair.kind, one, other)[:16]}",
                level=self._level,
                kind=pair.kind,
                score=pair.score,
                one=one,
                other=other,
                representative=ids[self._clusters.of[pair.left]],
            )

    def rejection(
        self, stage: str, name: str, reasons: Mapping[str, Reason], *, split: Split | None = None, preview: str = ""
    ) -> Rejection:
        """What is said of the duplicate ``name``; ``reasons`` by the kind of its closest pair, ``*`` else."""
        ids, row = self._found.ids, bisect_left(self._found.ids, name)
        pair, stays = self._ties[row], self.of[name]
        other = ids[pair.right if pair.left == row else pair.left]
        detail = f"like {other}: {_HOW[pair.kind]} {pair.score:.4f}"
        if other != stays:
            detail += f"; {stays} stands for both"
        return Rejection(
            stage=stage,
            row_id=name,
            reason=reasons.get(pair.kind, reasons["*"]),
            detail=detail,
            split=split,
            preview=preview,
        )


class UniqueDocuments(TableStage[DuplicatesConfig]):
    """One document of each cluster; links to the others lead to it, and links to pages that were rejected are gone.
    Triples of a duplicate go with it, for their spans are of its own text."""

    name = "unique_documents"
    version = 66
    config_type = DuplicatesConfig
    reads: ClassVar[tuple[str, ...]] = ("documents", "sketches")
    optional: ClassVar[tuple[str, ...]] = ("triples",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "duplicates": DuplicateRow, "triples": Triple}
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "xxhash")
    _REASONS: ClassVar = {"exact": Reason.DUPLICATE_CONTENT, "*": Reason.NEAR_DUPLICATE}

    def run(self) -> Batch:
        inputs = self.context.inputs
        table = inputs.table("documents")
        found = _compare(self.context, self.config, table, "documents")
        titles = dict(zip(*(table.arrow.column(name).to_pylist() for name in ("id", "title")), strict=True))
        rejected = [
            found.rejection(self.name, name, self._REASONS, preview=titles[name][:500]) for name in sorted(found.of)
        ]
        return Batch(
            tables={
                "documents": _without(table.arrow, found.of) if found.of or _dangles(table.arrow) else table.arrow,
                "duplicates": found.table(),
                **({"triples": self._kept(found.of)} if "triples" in inputs else {}),
            },
            rejected=rejected,
            rows_in=len(table),
            kept_in=len(table) - len(rejected),
        )

    def _kept(self, of: Mapping[str, str]) -> pa.Table:
        triples = self.context.inputs.table("triples").arrow
        gone = pc.is_in(triples.column("document_id"), value_set=pa.array(sorted(of), pa.string()))
        kept = triples.filter(pc.invert(gone))
        self.context.metrics["triples of duplicates"] = float(len(triples) - len(kept))
        return kept


def _dangles(documents: pa.Table) -> bool:
    """Whether a page links to one that is not there: it was empty, too large, or could not be read."""
    targets = pc.struct_field(pc.list_flatten(documents.column("links")), "target")
    return not pc.all(pc.is_in(targets, value_set=documents.column("id").combine_chunks())).as_py()


def _without(documents: pa.Table, of: Mapping[str, str]) -> pa.Table:
    """The documents that are not duplicates, with links to those that stay."""
    schema = arrow_schema(Document)
    gone = pa.array(sorted(of), pa.string())
    kept = documents.filter(pc.invert(pc.is_in(documents.column("id"), value_set=gone)))
    anchors: dict[str, frozenset[str]] = {}
    there = frozenset(documents.column("id").to_pylist())
    stays = pa.array(sorted(set(of.values())), pa.string())
    representatives = documents.filter(pc.is_in(documents.column("id"), value_set=stays)).select(["id", "anchors"])
    for name, places in zip(*(column.to_pylist() for column in representatives.columns), strict=True):
        anchors[name] = frozenset(place["name"] for place in places or ())
    parts = []
    for start in range(0, len(kept), _CHUNK):
        rows = from_arrow(kept.slice(start, _CHUNK), Document)
        parts.append(to_arrow([_linked(row, of, anchors, there) for row in rows], Document))
    return pa.concat_tables(parts) if parts else schema.empty_table()


def _linked(
    row: Document, of: Mapping[str, str], anchors: Mapping[str, frozenset[str]], there: frozenset[str]
) -> Document:
    if all(link.target in there and link.target not in of for link in row.links):
        return row
    return row.model_copy(update={"links": tuple(link for link in _links(row, of, anchors) if link.target in there)})


def _links(row: Document, of: Mapping[str, str], anchors: Mapping[str, frozenset[str]]) -> Iterator[Link]:
    for link in row.links:
        target = of.get(link.target)
        if target is None:
            yield link
        elif target != row.id:  # a page does not link to itself because it linked to its copy
            fragment = link.fragment if link.fragment in anchors[target] else None
            yield link.model_copy(update={"target": target, "fragment": fragment})


class MarkConfig(DuplicatesConfig):
    level: Literal["trajectories", "preferences"]
    """The table whose rows are compared."""


class MarkDuplicates(TableStage[MarkConfig]):
    """Runs of a role, or preference pairs, that are alike. All runs stay, for they are samples; of pairs one of each
    cluster does. Who writes the dataset marks the runs and leaves out the pairs by what is found."""

    name = "mark_duplicates"
    version = 64
    config_type = MarkConfig
    reads: ClassVar[tuple[str, ...]] = ("sketches",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"duplicates": DuplicateRow}
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "xxhash")
    _REASONS: ClassVar = {
        "exact": Reason.DUPLICATE_PAIR,
        "structural": Reason.DUPLICATE_PAIR,
        "*": Reason.NEAR_DUPLICATE,
    }

    @classmethod
    def reads_of(cls, config: MarkConfig) -> tuple[str, ...]:
        return (config.level, *super().reads_of(config))

    def run(self) -> Batch:
        level = self.config.level
        table = self.context.inputs.table(level)
        found = _compare(self.context, self.config, table, level)
        rejected: list[Rejection] = []
        if level == "trajectories":
            self.context.metrics["marked"] = float(len(found.of))
        else:
            columns = (table.arrow.column(name).to_pylist() for name in ("id", "split", "difference"))
            known = {name: (split, difference) for name, split, difference in zip(*columns, strict=True)}
            rejected = [
                found.rejection(self.name, name, self._REASONS, split=known[name][0], preview=known[name][1][:500])
                for name in sorted(found.of)
            ]
        return Batch(
            tables={"duplicates": found.table()},
            rejected=rejected,
            rows_in=len(table),
            kept_in=len(table) - len(rejected),
        )
