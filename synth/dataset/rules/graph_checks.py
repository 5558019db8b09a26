"""Rules that tie the published graph to the documents: spans that lie in their text."""

from __future__ import annotations

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import DocumentCheck
from synth.schemas.facts import FactRow

__all__ = ["FactCheck"]


class FactCheck:
    def __init__(self, found: Problems, documents: DocumentCheck) -> None:
        self.found = found
        self.documents = documents

    def see(self, file: DataFile, row: int, fact: FactRow) -> None:
        add, place = self.found.add, (file.label, row)
        if (fact.object is None) == (fact.value is None):
            add(*place, "object: a fact ends at an entity or at a value, and at one of them only")
        elif (fact.object is not None) != (fact.value_kind == "entity"):
            add(*place, f"value_kind: {fact.value_kind}, but the object is {'an entity' if fact.object else 'a value'}")
        length = self.documents.lengths.get(fact.document_id)
        if length is not None and not 0 <= fact.start < fact.end <= length:
            add(*place, f"start: span {fact.start} to {fact.end} is not in the text (0 to {length})")

    def finish(self) -> None:
        """Nothing is left open."""
