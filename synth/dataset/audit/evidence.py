"""What documents and facts really say where a hop cites them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from synth.dataset.audit.documentation import Documentation
from synth.dataset.audit.facts import VALUE_KINDS, Facts, forms, is_value, key_of, text_of, value_key
from synth.dataset.audit.findings import Findings, Place, raw
from synth.dataset.audit.values import contains, measure, normalized, said_forms, span_of
from synth.dataset.audit.walk_rules import TaskAudit
from synth.dataset.reader import Dataset
from synth.schemas.tasks import Hop, Node, Taken, Task

__all__ = ["EVIDENCE_RULES", "NOT_A_QUERY", "EvidenceAudit", "Page", "asks_pages", "is_given", "states"]

NOT_A_QUERY = "a person's or a model's own question names no relation, so no query of facts can answer it"
_OWN_WORDS = frozenset(("given", "proposed"))

EVIDENCE_RULES: Mapping[str, str] = {
    "evidence": "The quote is in the document at its span, and quote or page name both ends of the hop.",
    "stated": "A fact with the very span of the evidence joins the two ends of the hop.",
}


def asks_pages(task: Task) -> bool:
    """Whether the relations of a task are readings of pages, which no query of facts can answer whole."""
    stage = (Taken.of(task.details).taken_from or task.provenance).stage
    if stage == "model_assisted_tasks":
        # Every walk over a graph is checked for a direct hit, and no question of pages is.
        return not is_given(task) and all(one.check != "no_direct_hit" for one in task.checks)
    described = any(hop.source.kind == "description" for hop in task.walk.hops)
    return stage == "docs_tasks" and described


def is_given(task: Task) -> bool:
    """Whether question and answer are a person's or a model's own, with sentences of documents as evidence."""
    return task.walk.shape in _OWN_WORDS


class EvidenceAudit:
    """The evidence of a bounded number of tasks, until the documents and facts come by."""

    def __init__(self, found: Findings, facts: Facts | None, walks: TaskAudit) -> None:
        self._found = found
        self._facts = facts or Facts()
        self._known = facts is not None
        self._walks = walks
        self._documentation = Documentation(self._facts)
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
        if self._known and asks_pages(task):
            self._questions.append((place, task))
            self._pages |= self._documentation.pages(task)

    def settle(self, dataset: Dataset) -> None:
        """Read the documents and facts that the tasks cite, and forget the tasks."""
        if self._known:
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
                    for what in states(page, hop, self._facts):
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
            for rule, what in self._documentation.judge(task):
                self._found.add(place, task.id, rule, what)
            self._walks.checked.update(("unique", "shortcut"))
        self._documentation.forget()
        self._pages.clear()
        self._questions.clear()

    def _stated(self, dataset: Dataset) -> None:
        open_: dict[tuple[str, int, int], list[tuple[Place, str, int, Hop]]] = defaultdict(list)
        for name, cited in self._waiting.items():
            for item in cited:
                if item[3].relation in _OWN_WORDS:
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
        facts, source, goal = self._facts, key_of(hop.source), key_of(hop.target)
        if hop.source.kind == "description":
            held = hop.relation == "part_of" and goal in facts.step(subject, "part_of", True)
            # What another page says of a thing is said of its name there.
            called = {repr(name).casefold() for name in (hop.target.name, *hop.target.aliases)}
            named = not called.isdisjoint((facts.name(subject).casefold(), facts.name(target).casefold()))
            return held or named or goal in (subject, target)
        if hop.relation == "part_of" and not hop.forward and hop.needs:
            # A part by what its page says of it.
            return goal in (subject, target) and source in facts.step(goal, "part_of", True)
        if hop.relation not in facts.relations:
            # What pages say in words of their own (``mentions``, ``default``): the fact is about one end, and about the
            # other or on its page; a value may be a part of what it says.
            ends = {subject, target, document}
            return source in ends and (goal in ends or is_value(goal))
        if not facts.same(hop.relation, relation):
            return False
        if hop.source.kind == "range":
            span, value = span_of(hop.source.id), measure(text_of(target))
            return subject == goal and span is not None and value is not None and span.holds(value) is True
        return {subject, target} == {source, goal}


@dataclass(frozen=True)
class Page:
    """A document, as far as evidence is read in it."""

    id: str
    title: str
    text: str
    links: Sequence[tuple[int, int, str]]
    """(start, end, id of the document it leads to)"""


def states(page: Page, hop: Hop, facts: Facts) -> Iterator[str]:
    """What is wrong with the evidence of a hop: nothing where the quote is there and names both ends.

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
    said = normalized(quote)
    near = [
        (start, end, target) for start, end, target in page.links if evidence.start <= start and end <= evidence.end
    ]
    left = 0
    for node in (hop.source, hop.target):
        if node.kind == "description" or _says(said, quote, node, hop, facts):
            continue
        if any(target == node.document_id for _, _, target in near) and node.document_id is not None:
            continue
        titled = contains(normalized(page.title), forms(node)) is not None
        if node.document_id == page.id and (titled or node.id.startswith(f"{page.id}#")):
            left += 1
            continue
        yield f"{quote[:80]!r} does not name {node.name!r}"
        return
    if left > 1:
        yield f"{quote[:80]!r} names neither end"


def _says(said: str, quote: str, node: Node, hop: Hop, facts: Facts) -> bool:
    if node.kind == "range":
        # The page states the value itself; the question states the range that it lies in. Which it is, facts know.
        if not facts.relations:
            return True
        span = span_of(node.id)
        values = facts.step(key_of(hop.target), hop.relation, not hop.forward)
        for key in values:
            text = text_of(key)
            value = measure(text)
            inside = span is not None and value is not None and span.holds(value)
            if inside and contains(said, said_forms(text, facts.kind(key))):
                return True
        return False
    if node.kind in VALUE_KINDS and node.document_id is None:
        return contains(said, said_forms(node.id, node.kind, node.name)) is not None or node.id in quote
    return contains(said, forms(node)) is not None
