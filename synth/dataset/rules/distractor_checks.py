"""Rules of the tables ``distractors`` and ``planted_misinformation``: spans, false statements, no gold."""

from __future__ import annotations

from collections import defaultdict

from synth.dataset.files import DataFile
from synth.dataset.problems import Problems
from synth.dataset.rules.row_checks import DocumentCheck, Place, TaskCheck, TrajectoryCheck, stated_there
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
        """Planted misinformation -> the page that it is on."""
        self.quotes: dict[str, list[tuple[Place, str, Evidence]]] = defaultdict(list)
        self.claims: dict[tuple[str, str], list[tuple[Place, PlantedMisinformation]]] = defaultdict(list)

    def see(self, file: DataFile, row: int, falsehood: PlantedMisinformation) -> None:
        add, place = self.found.add, (file.label, row)
        if falsehood.id in self.ids:
            add(*place, f"id: another falsehood is {falsehood.id} too")
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

    def __init__(self, falsehoods: MisinformationCheck, *, withheld: bool = False) -> None:
        self.falsehoods = falsehoods
        self.withheld = withheld

    def see(self, file: DataFile, row: int, document: Document) -> None:
        for place, name, evidence in self.falsehoods.quotes.pop(document.id, ()):
            stated = stated_there(document, evidence.start, evidence.end, withheld=self.withheld)
            if stated != evidence.quote:
                words = f"{document.id} says {stated[:80]!r} there, not {evidence.quote[:80]!r}"
                self.falsehoods.found.add(*place, f"{name}: {words}")

    def finish(self) -> None:
        for name, cites in self.falsehoods.quotes.items():
            for place, part, _ in cites:
                self.falsehoods.found.add(*place, f"{part}: there is no document {name}")


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
    """Ties distractors to tasks, documents, runs and falsehoods."""

    def __init__(
        self,
        found: Problems,
        tasks: TaskCheck,
        gold: GoldPages,
        documents: DocumentCheck,
        trajectories: TrajectoryCheck,
        falsehoods: MisinformationCheck,
    ) -> None:
        self.found = found
        self.tasks = tasks
        self.gold = gold
        self.documents = documents
        self.trajectories = trajectories
        self.falsehoods = falsehoods
        self.written: dict[str, str] | None = None
        self.seen: set[tuple[str, str]] = set()

    def see(self, file: DataFile, row: int, distractor: Distractor) -> None:
        for what in self._problems(file, distractor):
            self.found.add(file.label, row, what)

    def _problems(self, file: DataFile, row: Distractor) -> list[str]:
        wrong = []
        split = self.tasks.splits.get(row.task_id)
        if split is None:
            wrong.append(f"task_id: there is no task {row.task_id}")
        elif row.split != split or row.split != file.split:
            wrong.append(f"split: {row.split}; the task is of {split}, the file of {file.split}")
        if row.document_id not in self.documents.lengths:
            wrong.append(f"document_id: there is no document {row.document_id}")
        if row.document_id in self.gold.gold.get(row.task_id, ()):
            wrong.append(f"document_id: {row.document_id} is a gold document of {row.task_id}")
        if (row.task_id, row.document_id) in self.seen:
            wrong.append(f"document_id: {row.document_id} is a distractor of {row.task_id} twice")
        self.seen.add((row.task_id, row.document_id))
        if _TIERS[row.kind] != row.tier:
            wrong.append(f"tier: {row.tier}, and the kind is {row.kind}")
        if (row.trajectory_id is None) != (row.tier == 3) or (row.method is None) != (row.tier != 3):
            wrong.append(f"tier: {row.tier} with trajectory_id {row.trajectory_id} and method {row.method}")
        if row.trajectory_id is not None and row.trajectory_id not in self.trajectories.ids:
            wrong.append(f"trajectory_id: there is no trajectory {row.trajectory_id}")
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
