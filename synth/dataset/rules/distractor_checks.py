"""Rules of the tables ``distractors`` and ``planted_misinformation``: spans, false statements, no gold."""

from __future__ import annotations

from collections import defaultdict

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import Place, stated_there
from synth.schemas.distractors import Distractor, PlantedMisinformation
from synth.schemas.documents import Document, Evidence
from synth.schemas.facts import FactRow
from synth.schemas.tasks import Task

__all__ = ["DistractorCheck", "GoldPages", "MisinformationCheck", "MisinformationFacts", "MisinformationPages"]

_TIERS = {"opened_not_cited": 1, "retrieved_not_opened": 2, "bm25": 3, "embedding": 3}


class GoldPages:
    """Remembers the gold documents of every task."""

    def __init__(self) -> None:
        self.gold: dict[str, tuple[str, ...]] = {}

    def see(self, file: DataFile, row: int, task: Task) -> None:
        self.gold[task.id] = task.gold_documents

    def finish(self) -> None:
        """Nothing is left open."""


class MisinformationCheck:
    """Sees all falsehoods before documents and facts are read; those two then ask it."""

    def __init__(self, found: Problems) -> None:
        self.found = found
        self.ids: dict[str, str] = {}
        """PlantedMisinformation -> the page that it is on."""
        self.quotes: dict[str, list[tuple[Place, str, Evidence]]] = defaultdict(list)
        self.claims: dict[tuple[str, str], list[tuple[Place, PlantedMisinformation]]] = defaultdict(list)

    def see(self, file: DataFile, row: int, falsehood: PlantedMisinformation) -> None:
        add, place = self.found.add, (file.label, row)
        self.ids[falsehood.id] = falsehood.document_id
        for name in ("statement", "cue_words"):
            if getattr(falsehood, name).document_id != falsehood.document_id:
                add(*place, f"{name}: it is not on the page {falsehood.document_id}")
        if falsehood.truth.document_id == falsehood.document_id:
            add(*place, "truth: the page that misleads can't state it")
        if falsehood.stated_object == falsehood.true_object:
            add(*place, f"stated_object: {falsehood.stated_object} is what is true")
        if (falsehood.stated_object is None) != (falsehood.kind == "partial"):
            add(*place, f"stated_object: {falsehood.stated_object}, and the kind is {falsehood.kind}")
        for name in ("statement", "cue_words", "truth"):
            evidence: Evidence = getattr(falsehood, name)
            self.quotes[evidence.document_id].append((place, name, evidence))
        self.claims[falsehood.subject, falsehood.relation].append((place, falsehood))

    def finish(self) -> None:
        """What is open is closed by pages and facts."""


class MisinformationPages:
    """Re-reads the spans of falsehoods in the documents."""

    def __init__(self, falsehoods: MisinformationCheck, *, redacted: bool = False) -> None:
        self.falsehoods = falsehoods
        self.redacted = redacted

    def see(self, file: DataFile, row: int, document: Document) -> None:
        for place, name, evidence in self.falsehoods.quotes.pop(document.id, ()):
            stated = stated_there(document, evidence.start, evidence.end, redacted=self.redacted)
            if stated != evidence.quote:
                words = f"{document.id} says {stated[:80]!r} there, not {evidence.quote[:80]!r}"
                self.falsehoods.found.add(*place, f"{name}: {words}")

    def finish(self) -> None:
        """Nothing is left open."""


class MisinformationFacts:
    """Asks the facts: the true object is one, at the span that ``truth`` names; the stated object is none."""

    def __init__(self, falsehoods: MisinformationCheck) -> None:
        self.falsehoods = falsehoods
        self.proved: set[str] = set()

    def see(self, file: DataFile, row: int, fact: FactRow) -> None:
        ends = [(fact.subject, fact.relation, fact.object or fact.value)]
        if fact.inverse is not None and fact.object is not None:
            ends.append((fact.object, fact.inverse, fact.subject))
        for number, (subject, relation, target) in enumerate(ends):
            for place, claim in self.falsehoods.claims.get((subject, relation), ()):
                if target == claim.stated_object:
                    words = f"{target} is a fact: {fact.document_id} states it at {fact.start}"
                    self.falsehoods.found.add(*place, f"stated_object: {words}")
                span = (claim.truth.document_id, claim.truth.start, claim.truth.end)
                if not number and target == claim.true_object and (fact.document_id, fact.start, fact.end) == span:
                    self.proved.add(claim.id)

    def finish(self) -> None:
        for claims in self.falsehoods.claims.values():
            for place, claim in claims:
                if claim.id not in self.proved:
                    words = f"no fact at that span says {claim.subject} {claim.relation} {claim.true_object}"
                    self.falsehoods.found.add(*place, f"truth: {words}")


class DistractorCheck:
    """Ties distractors to tasks and falsehoods."""

    def __init__(
        self,
        found: Problems,
        gold: GoldPages,
        falsehoods: MisinformationCheck,
    ) -> None:
        self.found = found
        self.gold = gold
        self.falsehoods = falsehoods
        self.written: dict[str, str] | None = None

    def see(self, file: DataFile, row: int, distractor: Distractor) -> None:
        for what in self._problems(distractor):
            self.found.add(file.label, row, what)

    def _problems(self, row: Distractor) -> list[str]:
        wrong = []
        if row.document_id in self.gold.gold.get(row.task_id, ()):
            wrong.append(f"document_id: {row.document_id} is a gold document of {row.task_id}")
        if _TIERS[row.kind] != row.tier:
            wrong.append(f"tier: {row.tier}, and the kind is {row.kind}")
        if (row.trajectory_id is None) != (row.tier == 3) or (row.method is None) != (row.tier != 3):
            wrong.append(f"tier: {row.tier} with trajectory_id {row.trajectory_id} and method {row.method}")
        wrong += [f"checks: {one.check} {one.outcome}" for one in row.checks if one.outcome != "passed"]
        if not {"not_gold", "does_not_answer"} <= {one.check for one in row.checks}:
            wrong.append("checks: not_gold and does_not_answer must both be there")
        if self.written is None:
            self.written = {page: name for name, page in self.falsehoods.ids.items()}
        if self.written.get(row.document_id) != row.misinformation_id:
            wrong.append(
                f"misinformation_id: {row.misinformation_id}; "
                f"the page was written for {self.written.get(row.document_id)}"
            )
        return wrong

    def finish(self) -> None:
        """Nothing is left open."""
