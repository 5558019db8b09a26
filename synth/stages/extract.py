"""A graph for documents without links: which pages their sentences name, and what they say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.row import Row
from synth.sources.extract.merge import merge
from synth.sources.extract.rules import Names, RuleExtractor
from synth.sources.records.triples import Triple
from synth.stages.contract import Batch, StageConfig, TableStage

__all__ = ["AddTriples", "ExtractConfig", "ExtractTriples"]


class ExtractConfig(StageConfig):
    pass


class ExtractTriples(TableStage[ExtractConfig]):
    """Triples out of the text of documents, by rules."""

    name = "extract_triples"
    version = 2
    config_type = ExtractConfig
    reads: ClassVar[tuple[str, ...]] = ("documents",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"triples": Triple}

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        extractor = RuleExtractor(Names.of(list(documents.rows())))
        found = [triple for document in documents.rows() for triple in extractor.extract(document)]
        triples = merge(self._given(), found)
        self.context.notes["triples"] = float(len(triples))
        return Batch(tables={"triples": triples}, rows_in=len(documents), kept_in=len(documents))

    def _given(self) -> list[Triple]:
        return []


class AddTriples(ExtractTriples):
    """The same, beside the triples that came with the documents: what both state is kept as it was given."""

    name = "add_triples"
    reads = ("documents", "given")

    def _given(self) -> list[Triple]:
        return list(self.context.inputs.table("given").rows())
