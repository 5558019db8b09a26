"""Rules that tie the published graph to the documents: ids that exist, spans that lie in their text."""

from __future__ import annotations

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import DocumentCheck
from synth.schemas.facts import EntityRow, FactRow

__all__ = ["EntityCheck", "FactCheck"]


class EntityCheck:
    """Sees all entities before the facts about them."""

    def __init__(self, found: Problems, documents: DocumentCheck) -> None:
        self.found = found
        self.documents = documents
        self.ids: set[str] = set()

    def see(self, file: DataFile, row: int, entity: EntityRow) -> None:
        add, place = self.found.add, (file.label, row)
        if entity.id in self.ids:
            add(*place, f"id: another entity is {entity.id} too")
        self.ids.add(entity.id)
        if entity.document_id is not None and entity.document_id not in self.documents.lengths:
            add(*place, f"document_id: there is no document {entity.document_id}")

    def finish(self) -> None:
        """Nothing is left open."""


class FactCheck:
    def __init__(self, found: Problems, documents: DocumentCheck, entities: EntityCheck) -> None:
        self.found = found
        self.documents = documents
        self.entities = entities

    def see(self, file: DataFile, row: int, fact: FactRow) -> None:
        add, place = self.found.add, (file.label, row)
        for name in ("subject", "object"):
            end = getattr(fact, name)
            if end is not None and end not in self.entities.ids:
                add(*place, f"{name}: there is no entity {end}")
        if (fact.object is None) == (fact.value is None):
            add(*place, "object: a fact ends at an entity or at a value, and at one of them only")
        elif (fact.object is not None) != (fact.value_kind == "entity"):
            add(*place, f"value_kind: {fact.value_kind}, but the object is {'an entity' if fact.object else 'a value'}")
        length = self.documents.lengths.get(fact.document_id)
        if length is None:
            add(*place, f"document_id: there is no document {fact.document_id}")
        elif not 0 <= fact.start < fact.end <= length:
            add(*place, f"start: span {fact.start} to {fact.end} is not in the text (0 to {length})")

    def finish(self) -> None:
        """Nothing is left open."""
