"""What every worker process needs, imported once by the fork server that workers are forked from."""

from __future__ import annotations

import datatrove.executor.local
import pyarrow as pa

import synth.engine.executors.pipeline
from synth.retrieval.bm25_library import load_bm25s

__all__ = ["LOADED"]

LOADED = (load_bm25s(), datatrove.executor.local, synth.engine.executors.pipeline)

pa.array([])  # pyarrow imports pandas when it makes its first array: over a second in every worker
