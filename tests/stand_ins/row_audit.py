"""The audit of tasks whose source is at hand as rows, before there is a dataset."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from synth.dataset.audit.evidence import Page, states
from synth.dataset.audit.facts import Entity, Facts, key_of, value_key
from synth.dataset.audit.walk_rules import TaskAudit
from synth.schemas.documents import Document, Edge
from synth.schemas.documents import Entity as Thing
from synth.schemas.tasks import Hop, Task

__all__ = ["Auditor", "facts_of"]


def facts_of(
    facts: Iterable[tuple[str, str, str]], entities: Iterable[Entity] = (), inverses: Mapping[str, str | None] = {}
) -> Facts:
    """(subject, relation, target) of things alone."""
    made = Facts()
    made.add_entities(entities)
    made.add_facts((subject, relation, target, "entity", inverses.get(relation)) for subject, relation, target in facts)
    made.freeze()
    return made


class Found(NamedTuple):
    task_id: str
    rule: str
    what: str


class Auditor:
    """Audits tasks of one source by its rows."""

    def __init__(
        self,
        documents: Iterable[Document],
        entities: Iterable[Thing],
        edges: Iterable[Edge],
        *,
        inverses: Mapping[str, str] | None = None,
        hub_kinds: Collection[str] = (),
    ) -> None:
        """``inverses`` maps a relation to the one that reads the same fact from its other end (itself if symmetric)."""
        self._documents = {document.id: document for document in documents}
        pages, things = list(self._documents), list(entities)
        both = {**{primary: reading for reading, primary in (inverses or {}).items()}, **(inverses or {})}
        facts = Facts()
        facts.add_entities(
            Entity(
                id=one.id,
                name=one.name,
                kind=one.kind,
                aliases=one.aliases,
                document_id=pages[one.document] if one.document >= 0 else None,
                partition=one.partition,
            )
            for one in things
        )
        facts.add_facts(
            (
                things[edge.subject].id,
                edge.relation,
                things[edge.object].id if edge.object >= 0 else value_key(str(edge.value)),
                edge.value_kind,
                both.get(edge.relation),
            )
            for edge in edges
        )
        facts.freeze()
        exempt = frozenset(entity.id for entity in things if entity.kind in set(hub_kinds))
        partitions = {name: str(document.partition) for name, document in self._documents.items()}
        self._audit = TaskAudit(facts, exempt, partitions)

    def audit(self, tasks: Iterable[Task]) -> list[Found]:
        """What is wrong with all tasks, in order."""
        found: list[Found] = []
        for task in tasks:
            found += [Found(task.id, rule, what) for rule, what in self._audit.audit(task)]
            for number, hop in enumerate(task.walk.hops):
                found += [Found(task.id, "evidence", f"hop {number}: {what}") for what in self._evidence(hop)]
        return found

    def _evidence(self, hop: Hop) -> Iterator[str]:
        document = self._documents.get(hop.evidence.document_id)
        if document is None:
            yield f"there is no document {hop.evidence.document_id!r}"
            return
        facts = self._audit.facts
        page = Page(
            document.id, document.title, document.text, [(link.start, link.end, link.target) for link in document.links]
        )
        yield from states(page, hop, facts)
        found = facts.step(key_of(hop.source), hop.relation, hop.forward)
        if hop.source.kind not in ("range", "description") and key_of(hop.target) not in found:
            yield "no fact says so"
