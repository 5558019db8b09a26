"""The checks' :class:`synth.tasks.contract.Search` over the index that the search environment uses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

__all__ = ["IndexSearch"]


class _Found(Protocol):
    @property
    def document(self) -> int: ...


class _Index(Protocol):
    def search(self, query: str, k: int) -> Sequence[_Found]: ...


class IndexSearch:
    """Ranks as the tool ranks: it asks the same index with the same words."""

    def __init__(self, index: _Index, ids: pa.ChunkedArray) -> None:
        """``ids``: the ``id`` column of the ``documents`` table that the index was built from."""
        self._index, self._ids = index, ids

    def ranked(self, queries: Sequence[str], k: int) -> list[list[str]]:
        """See :meth:`synth.tasks.contract.Search.ranked`."""
        return [[self._ids[hit.document].as_py() for hit in self._index.search(query, k)] for query in queries]
