"""What pages are about and what they state of each other: entities and edges out of documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.documents import Edge, Entity
from synth.schemas.row import Row
from synth.sources.docs.graph import graph_tables as document_graph
from synth.sources.records.triples import graph_tables as triple_graph
from synth.stages.contract import Batch, StageConfig, TableStage

__all__ = ["LinkConfig", "LinkDocuments"]


class LinkConfig(StageConfig):
    pass


class LinkDocuments(TableStage[LinkConfig]):
    """From links, headings and definitions, and from triples where they came with the documents or were extracted."""

    name = "link_documents"
    version = 63
    config_type = LinkConfig
    reads = ("documents",)
    optional = ("triples",)
    writes: ClassVar[Mapping[str, type[Row]]] = {"entities": Entity, "edges": Edge}

    def run(self) -> Batch:
        inputs = self.context.inputs
        documents = inputs.table("documents")
        if "triples" in inputs:
            entities, edges = triple_graph(documents.arrow, inputs.table("triples").arrow)
        else:
            entities, edges = document_graph(documents.arrow)
        return Batch(tables={"entities": entities, "edges": edges}, rows_in=len(documents), kept_in=len(documents))
