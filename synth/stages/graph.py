"""Entities and edges as a graph that walks can use."""

from __future__ import annotations

from collections.abc import Mapping

from synth.graph.graph import Graph
from synth.stages.contract import Batch, StageConfig, TableStage

__all__ = ["BuildGraph", "GraphConfig"]


class GraphConfig(StageConfig):
    inverses: Mapping[str, str] = {}
    """Relation -> its inverse: both wordings are then one fact. A relation mapped to itself is symmetric."""


class BuildGraph(TableStage[GraphConfig]):
    name = "graph"
    version = 1
    config_type = GraphConfig
    reads = ("entities", "edges")
    arrays = "graph"
    libraries = ("numpy",)

    def run(self) -> Batch:
        entities, edges = self.context.inputs.table("entities"), self.context.inputs.table("edges")
        graph = Graph.build(entities.arrow, edges.arrow, self.config.inverses)
        self.context.metrics["entities"] = graph.n_entities
        self.context.metrics["facts"] = graph.n_facts
        return Batch(arrays=graph.to_arrays(), rows_in=len(entities), kept_in=len(entities))
