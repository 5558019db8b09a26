"""Documents, and names of entities, as indexes that agents search."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pydantic import Field

from synth.retrieval.bm25 import Bm25Index
from synth.retrieval.encoder import Encoder
from synth.retrieval.passages import PASSAGE, PassageIndex
from synth.schemas.arrow import streamed
from synth.stages.contract import Batch, Implementation, StageConfig, TableStage

__all__ = [
    "BuildIndex",
    "BuildNames",
    "EmbedPassages",
    "IndexConfig",
    "NamesConfig",
    "PassagesConfig",
    "names_of",
    "passages_of",
]


class IndexConfig(StageConfig):
    k1: float = Field(default=1.2, ge=0)
    """How soon repetitions of a word stop counting (BM25)."""
    b: float = Field(default=0.75, ge=0, le=1)
    """How much a long document is held against its words (BM25)."""
    title_weight: int = Field(default=3, ge=0)
    """How often a word of the title counts."""
    alias_weight: int = Field(default=1, ge=0)
    """How often a word of an alias counts."""


class BuildIndex(TableStage[IndexConfig]):
    name = "index"
    version = 8
    config_type = IndexConfig
    reads = ("documents",)
    arrays = "index"
    libraries = ("bm25s", "numpy")

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        arrays = Bm25Index.build(
            streamed(documents.arrow, "title", "text", "aliases"),
            k1=self.config.k1,
            b=self.config.b,
            title_weight=self.config.title_weight,
            alias_weight=self.config.alias_weight,
        )
        return Batch(arrays=arrays, rows_in=len(documents), kept_in=len(documents))


class PassagesConfig(StageConfig):
    encoder: Implementation
    """Makes the encoder."""
    passage: int = Field(default=PASSAGE, ge=100)
    """Code points of a passage at most."""


class EmbedPassages(TableStage[PassagesConfig]):
    """Documents as vectors of their passages, for searches by meaning."""

    name = "embed_passages"
    version = 7
    config_type = PassagesConfig
    reads = ("documents",)
    arrays = "passages"
    libraries = ("numpy",)

    def run(self) -> Batch:
        documents = self.context.inputs.table("documents")
        arrays = passages_of(documents.arrow, self.config.encoder.make(), self.config.passage)
        return Batch(arrays=arrays, rows_in=len(documents), kept_in=len(documents))


def passages_of(documents: pa.Table, encoder: Encoder, size: int) -> Mapping[str, np.ndarray[Any, Any]]:
    """The index of documents by vectors of their passages."""
    return PassageIndex.build(lambda: streamed(documents, "title", "text"), encoder, size)


class NamesConfig(StageConfig):
    pass


class BuildNames(TableStage[NamesConfig]):
    """Entities by the words of their names and aliases, which count alike."""

    name = "names"
    version = 8
    config_type = NamesConfig
    reads = ("entities",)
    arrays = "names"
    libraries = ("bm25s", "numpy")

    def run(self) -> Batch:
        entities = self.context.inputs.table("entities")
        return Batch(arrays=names_of(entities.arrow), rows_in=len(entities), kept_in=len(entities))


def names_of(entities: pa.Table) -> Mapping[str, np.ndarray[Any, Any]]:
    """The index of entities by their names, over rows of :class:`~synth.schemas.documents.Entity`."""
    return Bm25Index.build(_names(entities), title_weight=1, alias_weight=1)


def _names(entities: pa.Table) -> Iterator[tuple[str, str, Sequence[str]]]:
    for name, aliases in streamed(entities, "name", "aliases"):
        yield name, "", aliases or ()
