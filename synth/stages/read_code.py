"""Read a Python project and its tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from synth.schemas.code import CodeFile
from synth.schemas.row import Row
from synth.sources.code.source import CodeConfig, CodeFolder
from synth.stages.contract import Batch, ShardStage, StageConfig

__all__ = ["ReadCode", "ReadCodeConfig"]


class ReadCodeConfig(CodeConfig, StageConfig):
    pass


class ReadCode(ShardStage[ReadCodeConfig]):
    """The whole project in one shard."""

    name = "read_code"
    version = 2
    config_type = ReadCodeConfig
    writes: ClassVar[Mapping[str, type[Row]]] = {"code_files": CodeFile}

    @classmethod
    def content_digest(cls, config: ReadCodeConfig) -> str:
        return CodeFolder(config).digest()

    def shards(self) -> int:
        return 1

    def produce(self, shard: int) -> Batch:
        read = CodeFolder(self.config)
        rows_in = len(read.rows) + len(read.rejected)
        return Batch({"code_files": read.rows}, rejected=read.rejected, rows_in=rows_in, kept_in=len(read.rows))
