"""What a document really says where a hop cites it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synth.schemas.tasks import Hop, Node
from synth.tasks.audit.graph import VALUE_KINDS, FactGraph, key_of
from synth.tasks.audit.measures import measure, said_forms, span_of
from synth.tasks.audit.words import contains, forms, plain

__all__ = ["Page", "states"]


@dataclass(frozen=True)
class Page:
    """A document, as far as evidence is read in it."""

    id: str
    title: str
    text: str
    links: Sequence[tuple[int, int, str]]
    """(start, end, id of the document it leads to)"""


def states(page: Page, hop: Hop, graph: FactGraph) -> Iterator[str]:
    """What is wrong with the evidence of a hop: nothing where the quote stands there and names both ends.

    One end may be left to the page: to its title, or to a link inside the quote that leads to the page of that end.
    """
    evidence = hop.evidence
    if not 0 <= evidence.start < evidence.end <= len(page.text):
        yield f"span {evidence.start} to {evidence.end} is not in {page.id} (0 to {len(page.text)})"
        return
    quote = page.text[evidence.start : evidence.end]
    if quote != evidence.quote or not quote.strip():
        yield f"{page.id} says {quote[:60]!r} there, not {evidence.quote[:60]!r}"
        return
    said = plain(quote)
    near = [
        (start, end, target) for start, end, target in page.links if evidence.start <= start and end <= evidence.end
    ]
    left = 0
    for node in (hop.source, hop.target):
        if node.kind == "description" or _says(said, quote, node, hop, graph):
            continue
        if any(target == node.document_id for _, _, target in near) and node.document_id is not None:
            continue
        titled = contains(plain(page.title), forms(node)) is not None
        if node.document_id == page.id and (titled or node.id.startswith(f"{page.id}#")):
            left += 1
            continue
        yield f"{quote[:80]!r} does not name {node.name!r}"
        return
    if left > 1:
        yield f"{quote[:80]!r} names neither end"


def _says(said: str, quote: str, node: Node, hop: Hop, graph: FactGraph) -> bool:
    if node.kind == "range":
        # The page states the value itself; the question states the range that it lies in. Which it is, facts know.
        if not graph.relations:
            return True
        span = span_of(node.id)
        values = graph.step(key_of(hop.target), hop.relation, not hop.forward)
        for key in values:
            text = key.removeprefix("\0")
            value = measure(text)
            inside = span is not None and value is not None and span.holds(value)
            if inside and contains(said, said_forms(text, graph.kind(key))):
                return True
        return False
    if node.kind in VALUE_KINDS and node.document_id is None:
        return contains(said, said_forms(node.id, node.kind, node.name)) is not None or node.id in quote
    return contains(said, forms(node)) is not None
