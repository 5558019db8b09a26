"""The audit of tasks whose source is at hand as rows, before there is a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.tasks import Hop, Task
from synth.tasks.audit.auditor import GraphAudit, Problem
from synth.tasks.audit.graph import FactGraph, Thing, key_of, value_key
from synth.tasks.audit.pages import Page, states

__all__ = ["Auditor"]


class Auditor:
    """Audits tasks of one source by its rows."""

    def __init__(
        self,
        documents: Iterable[Document],
        entities: Iterable[Entity],
        edges: Iterable[Edge],
        *,
        inverses: Mapping[str, str] | None = None,
        hub_kinds: Collection[str] = (),
    ) -> None:
        """``inverses`` maps a relation to the one that reads the same fact from its other end (itself if symmetric)."""
        self._documents = {document.id: document for document in documents}
        pages = list(self._documents)
        people = list(entities)
        both = {**{primary: reading for reading, primary in (inverses or {}).items()}, **(inverses or {})}
        graph = FactGraph()
        for entity in people:
            page = pages[entity.document] if entity.document >= 0 else None
            graph.add_thing(Thing(entity.id, entity.name, entity.kind, entity.aliases, page, entity.partition))
        for edge in edges:
            target = people[edge.object].id if edge.object >= 0 else value_key(str(edge.value))
            subject = people[edge.subject].id
            graph.add(subject, edge.relation, target, edge.value_kind, both.get(edge.relation))
        graph.freeze()
        exempt = frozenset(entity.id for entity in people if entity.kind in set(hub_kinds))
        partitions = {name: str(document.partition) for name, document in self._documents.items()}
        self._audit = GraphAudit(graph, exempt, partitions)

    def audit(self, tasks: Iterable[Task]) -> list[Problem]:
        """All problems of all tasks, in order."""
        found: list[Problem] = []
        for task in tasks:
            found += self._audit.audit(task)
            for number, hop in enumerate(task.walk.hops):
                found += [Problem(task.id, "evidence", f"hop {number}: {what}") for what in self._evidence(hop)]
        return found

    def _evidence(self, hop: Hop) -> Iterator[str]:
        document = self._documents.get(hop.evidence.document_id)
        if document is None:
            yield f"there is no document {hop.evidence.document_id!r}"
            return
        graph = self._audit.graph
        page = Page(
            document.id, document.title, document.text, [(link.start, link.end, link.target) for link in document.links]
        )
        yield from states(page, hop, graph)
        found = graph.step(key_of(hop.source), hop.relation, hop.forward)
        if hop.source.kind not in ("range", "description") and key_of(hop.target) not in found:
            yield "no fact says so"
