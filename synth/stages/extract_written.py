"""A graph out of what a model reads in documents: every triple with the words that state it, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.identity import key_of
from synth.schemas.documents import Document
from synth.schemas.extracted import ExtractedRow
from synth.schemas.rejections import Rejection
from synth.schemas.row import Row
from synth.sources.extract.merge import merge
from synth.sources.extract.rules import Names, RuleExtractor
from synth.sources.records.triples import Triple
from synth.stages.contract import Batch, Context, Implementation, Outcome, RowStage, StageConfig, TableStage
from synth.tasks.writing.extraction import WrittenExtractor

__all__ = ["AddWrittenTriples", "ExtractWritten", "GatherConfig", "GatherTriples", "WrittenConfig"]


class WrittenConfig(StageConfig):
    reader: Implementation
    """Who reads the documents."""
    prompt: str
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""


class ExtractWritten(RowStage[WrittenConfig, Document]):
    """Triples out of each document, by a model. Every document is kept, with or without triples."""

    name = "extract_written"
    version = 3
    config_type = WrittenConfig
    reads = ("documents",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"extracted": ExtractedRow, "triples": Triple}
    over = "documents"

    def __init__(self, config: WrittenConfig, context: Context) -> None:
        super().__init__(config, context)
        self._extractor = WrittenExtractor(context.make(config.reader))

    def process(self, row: Document) -> Outcome:
        found = self._extractor.extract(
            row, lambda number: key_of(self.context.generator(row.id, "piece", number)), self.name
        )
        refused: list[Rejection] = list(found.rejected)
        read = ExtractedRow(
            id=row.id,
            pieces=found.pieces,
            read=found.read,
            said=found.said,
            kept=len(found.triples),
            refused=len(refused) - (found.pieces - found.read),
            model=self.config.reader.model_name,
            prompt=self.config.prompt,
            calls=found.calls,
        )
        notes = self.context.notes
        for name in ("pieces", "read", "said", "kept", "refused"):
            notes[name] = float(getattr(read, name))
        return Outcome((read,), tuple(refused), {"triples": found.triples})


class GatherConfig(StageConfig):
    pass


class GatherTriples(TableStage[GatherConfig]):
    """The triples of all documents in one table, beside those that rules read in them (which page a sentence names):
    each fact of a document once, names spelt one way."""

    name = "gather_triples"
    version = 2
    config_type = GatherConfig
    reads: ClassVar[tuple[str, ...]] = ("documents", "written")
    writes: ClassVar[Mapping[str, type[Row]]] = {"triples": Triple}

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        written = list(self.context.inputs.table("written").rows())
        extractor = RuleExtractor(Names.of(list(documents.rows())))
        by_rules = [triple for document in documents.rows() for triple in extractor.extract(document)]
        triples = merge(self._given(), written, by_rules)
        self.context.notes["triples"] = float(len(triples))
        return Batch(tables={"triples": triples}, rows_in=len(documents), kept_in=len(documents))

    def _given(self) -> list[Triple]:
        return []


class AddWrittenTriples(GatherTriples):
    """The same, beside the triples that came with the documents: what both state is kept as it was given."""

    name = "add_written_triples"
    reads = ("documents", "written", "given")

    def _given(self) -> list[Triple]:
        return list(self.context.inputs.table("given").rows())
