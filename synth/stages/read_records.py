"""Read documents that are records of JSONL or Parquet files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.documents import Document
from synth.schemas.row import Row
from synth.sources.records.source import RecordsConfig, RecordsSource, content_digest
from synth.sources.records.triples import Triple
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["ReadRecords", "ReadRecordsConfig"]


class ReadRecordsConfig(RecordsConfig, StageConfig):
    pass


class ReadRecords(ShardStage[ReadRecordsConfig]):
    """One shard per file."""

    name = "read_records"
    version = 3
    config_type = ReadRecordsConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "triples": Triple}
    libraries = ("pyarrow",)

    def __init__(self, config: ReadRecordsConfig, context: Context) -> None:
        super().__init__(config, context)
        self._source = RecordsSource(config)

    @classmethod
    def content_digest(cls, config: ReadRecordsConfig) -> str:
        return content_digest(config)

    def shards(self) -> int:
        return len(self._source.files)

    def produce(self, shard: int) -> Batch:
        read = self._source.read([self._source.files[shard]])
        for kind, count in self._source.private.items():
            self.context.metrics[f"private: {kind}"] = float(count)
        self._source.private.clear()
        return Batch(
            tables={"documents": read.documents, "triples": read.triples},
            rejected=[row.model_copy(update={"stage": self.name}) for row in read.rejected],
            rows_in=read.records,
            kept_in=len(read.documents),
        )
