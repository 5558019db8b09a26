"""A graph for documents without links: what their sentences say, read by rules and by a model, in one table."""

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

__all__ = ["ExtractConfig", "ExtractTriples", "ReadText", "ReadTextConfig"]


class ReadTextConfig(StageConfig):
    reader: Implementation
    """Who reads the documents."""
    prompt: str
    """``<stage>/<name>/v<N>@<sha256>`` of the prompt file."""


class ReadText(RowStage[ReadTextConfig, Document]):
    """Triples out of each document, by a model: each with the words that state it, or refused. Every document is kept,
    with or without triples."""

    name = "read_text"
    version = 62
    config_type = ReadTextConfig
    reads = ("documents",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"extracted": ExtractedRow, "stated": Triple}
    over = "documents"

    def __init__(self, config: ReadTextConfig, context: Context) -> None:
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
        for name in ("pieces", "read", "said", "kept", "refused"):
            self.context.metrics[name] = float(getattr(read, name))
        return Outcome((read,), tuple(refused), {"stated": found.triples})


class ExtractConfig(StageConfig):
    pass


class ExtractTriples(TableStage[ExtractConfig]):
    """Triples that rules read in documents (which page a sentence names), beside those that a model read and those that
    came with the documents: each fact of a document once, names spelt one way; what was given is kept as it is."""

    name = "extract_triples"
    version = 61
    config_type = ExtractConfig
    reads: ClassVar[tuple[str, ...]] = ("documents",)
    optional: ClassVar[tuple[str, ...]] = ("triples", "stated")
    writes: ClassVar[Mapping[str, type[Row]]] = {"triples": Triple}

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        extractor = RuleExtractor(Names.of(list(documents.rows())))
        by_rules = [triple for document in documents.rows() for triple in extractor.extract(document)]
        triples = merge(self._rows("triples"), self._rows("stated"), by_rules)
        self.context.metrics["triples"] = float(len(triples))
        return Batch(tables={"triples": triples}, rows_in=len(documents), kept_in=len(documents))

    def _rows(self, name: str) -> list[Triple]:
        inputs = self.context.inputs
        return list(inputs.table(name).rows()) if name in inputs else []
