"""Pages that so many others link to that no split can own them (METHODS 9: declared, exempt and listed)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

__all__ = ["hub_documents"]

_STRUCTURE = frozenset({"defined_in", "part_of", "listed_in"})
"""Relations by which a thing stands in its own page or list: no link to it."""
_LEAST = 25.0


def hub_documents(
    kinds: Sequence[str],
    entity_documents: Sequence[int],
    edges: Iterable[tuple[str, int, int]],
    hub_share: float,
) -> frozenset[int]:
    """Rows of the documents that are hubs.

    Args:
        kinds: ``kind`` of every document; an ``index`` is a hub always.
        entity_documents: ``document`` of every entity, -1 for none.
        edges: (relation, object, document) of every edge.
        hub_share: pages that more than this share of all pages, and more than 25, link to are hubs.
    """
    linking: dict[int, set[int]] = defaultdict(set)
    for relation, target, document in edges:
        if target >= 0 and relation not in _STRUCTURE:
            page = entity_documents[target]
            if page >= 0 and page != document:
                linking[page].add(document)
    least = max(_LEAST, hub_share * len(kinds))
    return frozenset(row for row, kind in enumerate(kinds) if kind == "index" or len(linking.get(row, ())) > least)
