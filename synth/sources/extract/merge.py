"""Triples from several passes over the same documents, merged by the hash of what they say (GraphGen, 2505.20416)."""

from __future__ import annotations

from collections.abc import Iterable

from synth.identity import digest
from synth.sources.records.triples import Triple

__all__ = ["content_key", "merge"]


def content_key(triple: Triple) -> str:
    """sha256 (64 hex) of what the triple says, spelling of case and white space apart; not of where it says it."""
    return digest(
        "triple", *(" ".join(part.split()).casefold() for part in (triple.subject, triple.relation, triple.object))
    )


def merge(*passes: Iterable[Triple]) -> list[Triple]:
    """One triple per fact and document, with the first pass that has it and its first place; facts that are spelt in
    several ways take the spelling that comes first. In the order of the documents of the first pass, then of places:
    it depends on no order within a pass.
    """
    order: dict[str, int] = {}
    best: dict[tuple[str, str], tuple[int, int, int, Triple]] = {}
    for number, triples in enumerate(passes):
        for triple in triples:
            order.setdefault(triple.document_id, len(order))
            key = (triple.document_id, content_key(triple))
            rank = (number, triple.start, triple.end, triple)
            if key not in best or rank[:3] < best[key][:3]:
                best[key] = rank
    kept = [rank[3] for rank in best.values()]
    kept.sort(key=lambda t: (order[t.document_id], t.start, t.end, t.relation, t.object, t.subject))
    spelling: dict[str, str] = {}
    for triple in kept:
        for name in (triple.subject, triple.object):
            spelling.setdefault(name.casefold(), name)
    return [
        triple.model_copy(
            update={"subject": spelling[triple.subject.casefold()], "object": spelling[triple.object.casefold()]}
        )
        for triple in kept
    ]
