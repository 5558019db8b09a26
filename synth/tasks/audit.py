"""A second opinion on finished tasks, by brute force.

The checks (:mod:`synth.tasks.checks`) judge a candidate with indexes and a graph in memory. The audit judges the row
that came out of it, and shares no code with them: it reads the ``entities``, ``edges`` and ``documents`` tables row by
row, follows every edge, and asks the same questions again. It is slow (O(edges) once, then O(neighbourhood) per task)
and meant for tests and for ``synth validate --deep``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from synth.schemas.documents import Document, Edge, Entity
from synth.schemas.tasks import Hop, Node, Task

__all__ = ["Auditor", "Problem"]


@dataclass(frozen=True)
class Problem:
    """What is wrong with a task."""

    task_id: str
    rule: str
    """``answer``, ``cue``, ``evidence``, ``leak``, ``needs``, ``shortcut``, ``split`` or ``unique``."""
    detail: str


class Auditor:
    """Audits tasks of one source."""

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
        people = list(entities)
        self._entities = {entity.id: entity for entity in people}
        self._hub_kinds = frozenset(hub_kinds)
        inverses = dict(inverses or {})
        self._out: dict[tuple[str, str], set[str]] = defaultdict(set)
        """(node, relation) -> objects, both ways of saying a fact entered under both names."""
        self._in: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._touch: dict[str, set[str]] = defaultdict(set)
        back = {other: name for name, other in inverses.items()}
        for edge in edges:
            subject = people[edge.subject].id
            target = people[edge.object].id if edge.object >= 0 else str(edge.value)
            self._enter(subject, edge.relation, target)
            for other in {inverses.get(edge.relation), back.get(edge.relation)} - {None}:
                self._enter(target, str(other), subject)

    def _enter(self, subject: str, relation: str, target: str) -> None:
        self._out[subject, relation].add(target)
        self._in[target, relation].add(subject)
        self._touch[subject].add(target)
        self._touch[target].add(subject)

    def audit(self, tasks: Iterable[Task]) -> list[Problem]:
        """All problems of all tasks, in order."""
        found: list[Problem] = []
        for task in tasks:
            for rule, details in (
                ("needs", self._needs(task)),
                ("answer", self._answer(task)),
                ("cue", self._cues(task)),
                ("leak", self._leaks(task)),
                ("evidence", self._evidence(task)),
                ("unique", self._unique(task)),
                ("shortcut", self._shortcuts(task)),
                ("split", self._splits(task)),
            ):
                found += [Problem(task.id, rule, detail) for detail in details]
        return found

    # -- the row itself ----------------------------------------------------------------------------------------------

    def _needs(self, task: Task) -> list[str]:
        problems = []
        for number, hop in enumerate(task.walk.hops):
            for need in hop.needs:
                if not 0 <= need < number:
                    problems.append(f"hop {number} needs hop {need}")
                elif task.walk.hops[need].target.id != hop.source.id:
                    problems.append(f"hop {number} starts where hop {need} does not end")
        if not all(check.outcome == "passed" for check in task.checks) or not task.checks:
            problems.append("a stored check is no pass, or there is none")
        if task.shape == "composition":
            chain = all(hop.needs == ((number - 1,) if number else ()) for number, hop in enumerate(task.walk.hops))
            if not chain:
                problems.append("a composition is a chain")
        return problems

    def _answer(self, task: Task) -> list[str]:
        if not task.walk.hops:
            return []
        last = task.walk.hops[-1].target
        return [] if task.answer == last.name else [f"the walk ends at {last.name!r}, the answer is {task.answer!r}"]

    def _cues(self, task: Task) -> list[str]:
        return [
            f"hop {number}: {hop.cue!r} is not in the question"
            for number, hop in enumerate(task.walk.hops)
            if not hop.cue or task.question.find(hop.cue) < 0
        ]

    def _leaks(self, task: Task) -> list[str]:
        question = f" {_plain(task.question)} "
        sought = {task.answer, *task.answer_aliases}
        for hop in task.walk.hops:
            sought |= {hop.target.name, *hop.target.aliases}
        return [f"the question holds {name!r}" for name in sorted(sought) if f" {_plain(name)} " in question]

    # -- against the source ------------------------------------------------------------------------------------------

    def _evidence(self, task: Task) -> list[str]:
        problems = []
        for number, hop in enumerate(task.walk.hops):
            document = self._documents.get(hop.evidence.document_id)
            if document is None:
                problems.append(f"hop {number}: no document {hop.evidence.document_id!r}")
                continue
            quote = document.text[max(0, hop.evidence.start) : max(0, hop.evidence.end)]
            if not quote or quote != hop.evidence.quote:
                problems.append(f"hop {number}: the quote is not in the document")
            said = f" {_plain(quote)} "
            title = f" {_plain(document.title)} "
            named = [_named(node, said) for node in (hop.source, hop.target)]
            titled = [_named(node, title) for node in (hop.source, hop.target)]
            if not any(named) or not all(one or two for one, two in zip(named, titled, strict=True)):
                problems.append(f"hop {number}: {quote!r} does not name both ends")
            if hop.target.id not in self._step({hop.source.id}, hop):
                problems.append(f"hop {number}: no edge says so")
        if {hop.evidence.document_id for hop in task.walk.hops} != set(task.gold_documents) and task.walk.hops:
            problems.append("the gold documents are not the documents of the evidence")
        return problems

    def _step(self, starts: Collection[str], hop: Hop) -> set[str]:
        found: set[str] = set()
        for start in starts:
            found |= (self._out if hop.forward else self._in)[start, hop.relation]
        return found

    def _solve(self, hops: Sequence[Hop], answer: str) -> set[str]:
        """Every node that satisfies ``hops``: the constraint graph is solved backwards from each candidate answer."""
        if not hops:
            return set()
        last = [hop for hop in hops if hop.target.id == answer]
        found: set[str] | None = None
        for hop in last:
            inner = [other for other in hops if other.target.id == hop.source.id]
            starts = {hop.source.id}
            if hop.needs and inner:
                before = _ancestors(hops, hop.source.id)
                starts = self._solve(before, hop.source.id)
            reached = self._step(starts, hop)
            found = reached if found is None else found & reached
        return found or set()

    def _unique(self, task: Task) -> list[str]:
        if not task.walk.hops:
            return []
        answer = task.walk.hops[-1].target.id
        found = self._solve(task.walk.hops, answer)
        return [] if found == {answer} else [f"the answers are {sorted(found)[:5]}, not only {answer!r}"]

    def _shortcuts(self, task: Task) -> list[str]:
        hops = task.walk.hops
        if not hops:
            return []
        problems = []
        answer = hops[-1].target.id
        together: dict[str, list[Hop]] = defaultdict(list)
        for hop in hops:
            together[hop.target.id].append(hop)
        for target, constraints in together.items():
            if len(constraints) == 1:
                continue
            for left_out in constraints:
                kept = [hop for hop in hops if hop is not left_out]
                if len(self._solve(_ancestors(kept, target), target)) < 2:
                    problems.append(f"{left_out.relation} of {left_out.source.name!r} is not needed")
        for hop in hops:
            if not hop.needs and hop.target.id != answer and answer in self._touch[hop.source.id]:
                problems.append(f"one edge joins {hop.source.name!r} to the answer")
        return problems

    def _splits(self, task: Task) -> list[str]:
        problems = []
        exempt: set[str | None] = set()
        for hop in task.walk.hops:
            for node in (hop.source, hop.target):
                entity = self._entities.get(node.id)
                if entity is not None and entity.kind in self._hub_kinds:
                    exempt |= {node.id, node.document_id}
            if hop.target.document_id is not None and hop.target.id not in task.gold_entities:
                problems.append(f"{hop.target.id!r} must be found, yet is not gold")
        for name in task.gold_entities:
            owner = self._entities[name].partition if name in self._entities else None
            if name not in exempt and owner != task.split:
                problems.append(f"entity {name!r} belongs to {owner}, the task to {task.split}")
        for name in task.gold_documents:
            document = self._documents.get(name)
            if document is not None and name not in exempt and document.partition != task.split:
                problems.append(f"document {name!r} belongs to {document.partition}, the task to {task.split}")
        return problems


def _ancestors(hops: Sequence[Hop], target: str) -> list[Hop]:
    """The hops that lead to ``target``, directly or not, in order."""
    wanted = {target}
    kept = []
    for hop in reversed(hops):
        if hop.target.id in wanted:
            kept.append(hop)
            if hop.needs:
                wanted.add(hop.source.id)
    return kept[::-1]


def _named(node: Node, text: str) -> bool:
    return any(f" {_plain(name)} " in text for name in (node.name, node.id, *node.aliases) if _plain(name))


def _plain(text: str) -> str:
    """Lower-case words joined by single spaces; possessive endings, accents and the commas of numbers gone."""
    text = unicodedata.normalize("NFKD", text)
    text = "".join(char for char in text if not unicodedata.combining(char)).casefold()
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"['’]s\b", "", text)
    words = re.sub(r"[^\w.'’]+|_", " ", text)
    return " ".join(word.strip(".'’") for word in words.split() if word.strip(".'’"))
