"""Read a folder of linked pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.documents import Document
from synth.schemas.row import Row
from synth.sources.docs.source import DocsConfig, DocsSource, content_digest
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["ReadDocs", "ReadDocsConfig"]


class ReadDocsConfig(DocsConfig, StageConfig):
    files_per_shard: ClassVar[int] = 64


class ReadDocs(ShardStage[ReadDocsConfig]):
    name = "read_docs"
    version = 23
    config_type = ReadDocsConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document}
    libraries = ("lxml",)

    def __init__(self, config: ReadDocsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._source = DocsSource(config)

    @classmethod
    def content_digest(cls, config: ReadDocsConfig) -> str:
        return content_digest(config)

    def shards(self) -> int:
        return -(-len(self._source.files) // self.config.files_per_shard)

    def produce(self, shard: int) -> Batch:
        size = self.config.files_per_shard
        paths = self._source.files[shard * size : (shard + 1) * size]
        documents, rejected = self._source.read(paths)
        for kind, count in self._source.private.items():
            self.context.metrics[f"private: {kind}"] = float(count)
        self._source.private.clear()
        rejected = [row.model_copy(update={"stage": self.name}) for row in rejected]
        return Batch(tables={"documents": documents}, rejected=rejected, rows_in=len(paths), kept_in=len(documents))
