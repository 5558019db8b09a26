"""Pages that were written to mislead, behind the documents that were read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pyarrow as pa

from synth.schemas.arrow import to_arrow
from synth.schemas.distractors import PlantedMisinformation
from synth.schemas.documents import Document
from synth.schemas.row import Row
from synth.sources.docs.distract import DocumentDistractors, written_pages
from synth.stages.contract import Batch, StageConfig, TableStage

__all__ = ["MisleadDocuments", "MisleadDocumentsConfig"]


class MisleadDocumentsConfig(DocumentDistractors, StageConfig):
    pass


class MisleadDocuments(TableStage[MisleadDocumentsConfig]):
    """The documents, and behind them pages that state something else than they do, each with what it falsifies."""

    name = "mislead_documents"
    version = 18
    config_type = MisleadDocumentsConfig
    reads = ("documents", "entities", "edges")
    writes: ClassVar[Mapping[str, type[Row]]] = {
        "documents": Document,
        "planted_misinformation": PlantedMisinformation,
    }

    def run(self) -> Batch:
        inputs = self.context.inputs
        read = inputs.table("documents").arrow
        entities, edges = inputs.table("entities").arrow, inputs.table("edges").arrow
        written, falsehoods = written_pages(read, entities, edges, self.config, self.context.generator)
        documents = pa.concat_tables([read, to_arrow(written, Document)])
        return Batch(
            tables={"documents": documents, "planted_misinformation": falsehoods},
            rows_in=len(read),
            kept_in=len(read),
        )
