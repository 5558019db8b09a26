"""Rules about tasks that need all of them, or the documents: duplicates, splits, provenance, evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b

from synth.dataset.audit.findings import Findings, Place
from synth.dataset.audit.reading import raw
from synth.dataset.reader import Dataset
from synth.environments.app.state import AppBeginning
from synth.environments.web.storage import WebBeginning
from synth.identity import digest
from synth.schemas.reports import BuildReport
from synth.schemas.tasks import Hop, Task
from synth.tasks.audit.auditor import GraphAudit
from synth.tasks.audit.documentation import Documentation
from synth.tasks.audit.graph import FactGraph, key_of, value_key
from synth.tasks.audit.measures import measure, span_of
from synth.tasks.audit.pages import Page, states
from synth.tasks.audit.words import squeezed

__all__ = ["EVIDENCE_RULES", "NOT_A_QUERY", "TABLE_RULES", "Evidences", "Tasks", "asks_pages", "is_given"]

NOT_A_QUERY = "a question that was given names no relation, so no query of facts can answer it"

TABLE_RULES: Mapping[str, str] = {
    "duplicate": "No question is asked twice, in other case or other words over the same walk.",
    "overlap": "No gold entity is gold in two splits, and no gold document of one split is evidence in another.",
    "beginning": "No data of an application and no start of a site is where tasks of two splits begin.",
    "provenance": "Ids are the hash of what the task is; stage, seed and source are those of the report.",
}
EVIDENCE_RULES: Mapping[str, str] = {
    "evidence": "The quote stands in the document at its span, and quote or page name both ends of the hop.",
    "stated": "A fact with the very span of the evidence joins the two ends of the hop.",
}


def asks_pages(task: Task) -> bool:
    """Whether the relations of a task are readings of pages, which no query of facts can answer whole."""
    return task.provenance.stage.endswith("docs_tasks")


def is_given(task: Task) -> bool:
    """Whether question and answer are the user's own, with a sentence of a document as evidence."""
    return task.walk.shape == "given"


class Tasks:
    """Sees every task once."""

    def __init__(self, found: Findings, exempt: Collection[str], report: BuildReport | None) -> None:
        self._found = found
        self._exempt = exempt
        self._questions: dict[bytes, tuple[str, Place]] = {}
        self._walks: dict[bytes, tuple[str, Place]] = {}
        self._gold: dict[str, tuple[str, str]] = {}
        self._pages: dict[str, tuple[str, str]] = {}
        self._starts: dict[tuple[str, ...], tuple[str, str]] = {}
        self._report = report
        self._stages = {stage.fingerprint for stage in report.stages} if report is not None else set()

    def see(self, place: Place, task: Task, exempt_pages: Collection[str]) -> None:
        for rule, problems in (
            ("duplicate", self._duplicates(place, task)),
            ("overlap", self._splits(task, exempt_pages)),
            ("provenance", self._provenance(task)),
        ):
            self._found.rows[rule] += 1
            for what in problems:
                self._found.add(place, task.id, rule, what)
        if (start := _beginning(task)) is not None:
            self._found.rows["beginning"] += 1
            split, other = self._starts.setdefault(start, (task.split, task.id))
            if split != task.split:
                self._found.add(place, task.id, "beginning", f"{other} begins there too, in {split}")

    def _duplicates(self, place: Place, task: Task) -> Iterator[str]:
        twin = self._questions.setdefault(_short(squeezed(task.question)), (task.id, place))
        if twin[1] != place:
            yield f"{twin[0]} asks the same in the same words"
        if not task.walk.hops:
            return
        twin = self._walks.setdefault(_short(repr(_meaning(task))), (task.id, place))
        if twin[1] != place:
            yield f"{twin[0]} asks for the same walk"

    def _splits(self, task: Task, exempt_pages: Collection[str]) -> Iterator[str]:
        for held, names, free in (
            (self._gold, task.gold_entities, self._exempt),
            (self._pages, task.gold_documents, exempt_pages),
        ):
            for name in names:
                if name not in free:
                    split, other = held.setdefault(name, (task.split, task.id))
                    if split != task.split:
                        yield f"{name!r} is gold of {other} in {split} too"

    def _provenance(self, task: Task) -> Iterator[str]:
        made = task.provenance
        if task.walk.hops or task.shape == "reverse":
            walk = task.walk.model_dump(mode="json")
            wanted = digest("task", task.question, task.answer, walk, made.source)[:16]
            if task.id.rpartition("-")[2] != wanted:
                yield f"the id is not the hash of question, answer, walk and source: {wanted}"
        report = self._report
        if report is None:
            return
        if self._stages and made.fingerprint not in self._stages:
            yield f"no stage of the report has the fingerprint {made.fingerprint[:16]}"
        if made.seed != report.seed:
            yield f"made with seed {made.seed}, the report says {report.seed}"
        if made.source_sha256 != report.source.sha256:
            yield f"made of a source with sha256 {made.source_sha256[:16]}, the report says {report.source.sha256[:16]}"


def _beginning(task: Task) -> tuple[str, ...] | None:
    """Where a task begins, of those that begin with data or a page of their own."""
    app = AppBeginning.of(task.details)
    if app.app_seed is not None:
        return "app", str(app.app), str(app.app_seed)
    web = WebBeginning.of(task.details)
    return None if web.web_start is None else ("web", str(web.site), web.web_start)


def _short(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=12).digest()


def _meaning(task: Task) -> object:
    """Equal for walks that ask the same, in whatever order a conjunction puts its constraints."""
    hops = [(hop.source.id, hop.relation, hop.forward, hop.target.id) for hop in task.walk.hops]
    operations = [
        (
            op.kind,
            sorted(map(repr, (hops[n] for n in op.over if 0 <= n < len(hops)))),
            op.within,
            op.bound and op.bound.id,
        )
        for op in task.walk.operations
    ]
    return task.shape, hops if task.shape == "composition" else sorted(hops), operations


class Evidences:
    """The evidence of a bounded number of tasks, until the documents and facts come by."""

    def __init__(self, found: Findings, graph: FactGraph | None, walks: GraphAudit) -> None:
        self._found = found
        self._graph = graph or FactGraph()
        self._facts = graph is not None
        self._walks = walks
        self._documentation = Documentation(self._graph)
        self._pages: set[str] = set()
        """Documents whose words the tasks below hang on."""
        self._questions: list[tuple[Place, Task]] = []
        """Tasks that are asked of pages rather than of facts."""
        self._waiting: dict[str, list[tuple[Place, str, int, Hop]]] = defaultdict(list)
        self.tasks = 0

    def see(self, place: Place, task: Task) -> None:
        self.tasks += 1
        for number, hop in enumerate(task.walk.hops):
            self._waiting[hop.evidence.document_id].append((place, task.id, number, hop))
        if self._facts and asks_pages(task):
            self._questions.append((place, task))
            self._pages |= self._documentation.pages(task)

    def settle(self, dataset: Dataset) -> None:
        """Read the documents and facts that the tasks cite, and forget the tasks."""
        if self._facts:
            self._stated(dataset)
        for _, _, batch in raw(dataset, "documents", ["id", "title", "text", "links"], 100):
            for row, name in enumerate(batch.column(0).to_pylist()):
                if name in self._pages:
                    self._documentation.read(name, batch.column(2)[row].as_py())
                cited = self._waiting.pop(name, None)
                if cited is None:
                    continue
                links = [(link["start"], link["end"], link["target"]) for link in batch.column(3)[row].as_py() or ()]
                page = Page(name, batch.column(1)[row].as_py(), batch.column(2)[row].as_py(), links)
                for place, task_id, number, hop in cited:
                    self._found.rows["evidence"] += 1
                    for what in states(page, hop, self._graph):
                        self._found.add(place, task_id, "evidence", f"hop {number}: {what}")
        for name, cited in sorted(self._waiting.items()):
            for place, task_id, number, _ in cited:
                self._found.rows["evidence"] += 1
                self._found.add(place, task_id, "evidence", f"hop {number}: there is no document {name!r}")
        self._asked()
        self._waiting.clear()
        self.tasks = 0

    def _asked(self) -> None:
        for place, task in self._questions:
            problems, unsure = self._documentation.judge(task)
            for rule, what in problems:
                self._found.add(place, task.id, rule, what)
            for rule in ("unique", "shortcut"):
                if rule in unsure:
                    self._walks.leave([rule], unsure[rule])
                else:
                    self._walks.checked[rule] += 1
        self._documentation.forget()
        self._pages.clear()
        self._questions.clear()

    def _stated(self, dataset: Dataset) -> None:
        open_: dict[tuple[str, int, int], list[tuple[Place, str, int, Hop]]] = defaultdict(list)
        for name, cited in self._waiting.items():
            for item in cited:
                if item[3].relation == "given":
                    self._found.leave("stated", NOT_A_QUERY)
                else:
                    open_[name, item[3].evidence.start, item[3].evidence.end].append(item)
        self._found.rows["stated"] += sum(map(len, open_.values()))
        names = ["subject", "relation", "object", "value", "document_id", "start", "end"]
        for _, _, batch in raw(dataset, "facts", names, 10_000):
            columns = [column.to_pylist() for column in batch.columns]
            for row, span in enumerate(zip(*columns[4:], strict=True)):
                if span in open_:
                    subject, relation, target, value = (column[row] for column in columns[:4])
                    key = target if target is not None else value_key(value or "")
                    left = [item for item in open_[span] if not self._joins(item[3], subject, relation, key, span[0])]
                    if left:
                        open_[span] = left
                    else:
                        del open_[span]
        for items in open_.values():
            for place, task_id, number, hop in items:
                what = f"no fact at this span joins {hop.source.name!r} and {hop.target.name!r} by {hop.relation}"
                self._found.add(place, task_id, "stated", f"hop {number}: {what}")

    def _joins(self, hop: Hop, subject: str, relation: str, target: str, document: str) -> bool:
        graph, source, goal = self._graph, key_of(hop.source), key_of(hop.target)
        if hop.source.kind == "description":
            return goal in (subject, target)
        if hop.relation not in graph.relations:
            # What pages say in words of their own (``mentions``, ``default``): the fact is about one end, and about the
            # other or on its page; a value may be a part of what it says.
            ends = {subject, target, document}
            return source in ends and (goal in ends or goal[:1] == "\0")
        if not graph.same(hop.relation, relation):
            return False
        if hop.source.kind == "range":
            span, value = span_of(hop.source.id), measure(target.removeprefix("\0"))
            return subject == goal and span is not None and value is not None and span.holds(value) is True
        return {subject, target} == {source, goal}
