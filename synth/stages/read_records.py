"""Read documents that are records: of JSONL or Parquet files, or rows of a dataset of the Hub."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from synth.schemas.documents import Document
from synth.schemas.row import Row
from synth.sources.records.hub import HubConfig, HubRecords
from synth.sources.records.source import RecordReader, RecordsConfig, RecordsSource
from synth.sources.records.triples import Triple
from synth.stages.contract import Batch, Context, ShardStage, StageConfig

__all__ = ["ReadHub", "ReadHubConfig", "ReadRecords", "ReadRecordsConfig"]


class ReadRecordsConfig(RecordsConfig, StageConfig):
    pass


class ReadHubConfig(HubConfig, StageConfig):
    pass


C = TypeVar("C", bound=StageConfig)


class _ReadRecords(ShardStage[C]):
    """One shard per file."""

    reader: ClassVar[type[Any]]
    """A :class:`~synth.sources.records.source.RecordReader`, made of the config."""
    writes: ClassVar[Mapping[str, type[Row]]] = {"documents": Document, "triples": Triple}
    libraries = ("pyarrow",)

    def __init__(self, config: C, context: Context) -> None:
        super().__init__(config, context)
        self._source: RecordReader = self.reader(config)

    @classmethod
    def content_digest(cls, config: C) -> str:
        found: str = cls.reader(config).digest()
        return found

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
            rows_in=len(read.documents) + len(read.rejected),
            kept_in=len(read.documents),
        )


class ReadRecords(_ReadRecords[ReadRecordsConfig]):
    """Of files."""

    name = "read_records"
    version = 64
    config_type = ReadRecordsConfig
    reader = RecordsSource


class ReadHub(_ReadRecords[ReadHubConfig]):
    """Of a dataset of the Hub."""

    name = "read_hub"
    version = 62
    config_type = ReadHubConfig
    reader = HubRecords
