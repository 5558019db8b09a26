"""The stretch of text in which a page speaks about one entity."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict

from synth.schemas.documents import Anchor
from synth.sources.docs.outline import Outline
from synth.tasks.docs.corpus import Corpus

__all__ = ["Entries", "parameters"]

_PARAMETER = re.compile(r"(?<![\w.'\"=])\*{0,2}([A-Za-z_]\w*)(?=\s*[,)=\[\]:/]|\s*$)")
_KEPT = 256


class Entries:
    """Texts of entries and of the heads of pages, on demand."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._outlines: OrderedDict[int, Outline] = OrderedDict()
        self._on: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Row of a page -> (place of the term, entity) of its entries."""
        self._term: dict[int, tuple[int, int, int]] = {}
        for edge in corpus.edges:
            if edge.relation == "defined_in":
                self._on[edge.document].append((edge.start, edge.subject))
                self._term.setdefault(edge.subject, (edge.document, edge.start, edge.end))
        for entries in self._on.values():
            entries.sort()
        self._bodies: dict[int, tuple[int, str]] = {}

    def signature(self, entity: int) -> str:
        """The line of the entry's term; "" for pages."""
        place = self._term.get(entity)
        return self._corpus.text(place[0])[place[1] : place[2]] if place else ""

    def is_entry(self, entity: int) -> bool:
        return entity in self._term

    def body(self, entity: int) -> str:
        """What is said under the entity's own term (inner entries left out); of a page, what stands before its first
        section or entry; "" when there is nothing."""
        known = self._bodies.get(entity)
        if known is None:
            known = self._bodies[entity] = (entity, self._body(entity))
        return known[1]

    def _outline(self, row: int) -> Outline:
        outline = self._outlines.get(row)
        if outline is None:
            if len(self._outlines) >= _KEPT:
                self._outlines.popitem(last=False)
            outline = self._outlines[row] = Outline(self._corpus.text(row))
        return outline

    def _body(self, entity: int) -> str:
        corpus = self._corpus
        place = self._term.get(entity)
        if place is None:
            return self._head(entity)
        row, start, end = place
        outline = self._outline(row)
        entry = outline.entry(Anchor(name="term", start=start, end=end, kind="term"))
        if entry is None:
            return ""
        text = corpus.text(row)
        stop = outline.lines[entry.stop - 1].end
        inner = [s for s, other in self._on[row] if start < s < stop and other != entity]
        skip: set[int] = set()
        for s in inner:
            within = outline.entry(Anchor(name="term", start=s, end=s + 1, kind="term"))
            if within is not None:
                skip.update(range(within.line, within.stop))
        lines = [n for n in range(entry.first, entry.stop) if n not in skip]
        return "\n".join(text[outline.lines[n].start : outline.lines[n].end] for n in lines)

    def _head(self, entity: int) -> str:
        corpus = self._corpus
        found = corpus.entities[entity]
        if found.document < 0 or found.id != corpus.columns.ids[found.document]:
            return ""
        document = corpus.document(found.document)
        sections = [s for s in document.sections if s.heading != document.title]
        stop = min((s.start - len(s.heading) for s in sections), default=len(document.text))
        if self._on[found.document]:
            stop = min(stop, self._on[found.document][0][0])
        return document.text[:stop]


def parameters(signature: str) -> list[str]:
    """Names of the parameters in a signature, and the letters that stand for operands: they mean nothing elsewhere."""
    head, bracket, inside = signature.partition("(")
    return [*dict.fromkeys(_PARAMETER.findall(inside)), "self", "x", "y", "n", "s"] if bracket and head else []
