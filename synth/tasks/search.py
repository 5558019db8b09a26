"""The agent's own search, as the checks ask for it."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from synth.retrieval.bm25 import Bm25Index

__all__ = ["IndexSearch"]


class IndexSearch:
    """A ``synth.tasks.contract.Search`` over the index that the search environment uses, so that both rank alike."""

    def __init__(self, index: Bm25Index, documents: pa.Table) -> None:
        self._index = index
        self._ids = documents.column("id")

    def ranked(self, queries: Sequence[str], k: int) -> list[list[str]]:
        """For each query the ids of its ``k`` best documents, best first."""
        return [[str(self._ids[hit.document].as_py()) for hit in self._index.search(query, k)] for query in queries]
