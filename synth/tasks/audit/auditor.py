"""The audit of one task after another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from synth.schemas.tasks import Task
from synth.tasks.audit import rows
from synth.tasks.audit.graph import FactGraph, key_of
from synth.tasks.audit.query import Undecided
from synth.tasks.audit.reading import Reading, Unreadable
from synth.tasks.audit.solving import Solving

__all__ = ["WALK_RULES", "GraphAudit", "Problem"]

WALK_RULES: Mapping[str, str] = {
    "walk": "The walk hangs together, its checks are recorded and passed, its difficulty is that of its hops.",
    "cue": "The words of every hop and operation stand in the question.",
    "answer": "The answer is what the walk ends at.",
    "alias": "Whatever is accepted in place of the answer is a name of it.",
    "name": "Every entity of the walk exists, under that name and on that page.",
    "leak": "Neither the answer nor a bridge or member stands in the question, in whatever form.",
    "unique": "All facts together give this answer and no other.",
    "members": "Sets are complete, and every member is measured as the facts say.",
    "operation": "Counts, extremes, filters, differences and sums come out as stated.",
    "shortcut": "Without any one of its constraints the question has another answer, or several.",
    "gold": "Gold entities and documents are those of the walk.",
    "split": "Gold belongs to the split of the task, unless it is exempt.",
}
"""Rules that a task and the graph decide; a sentence each."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a task."""

    task_id: str
    rule: str
    """A key of ``WALK_RULES``, or ``evidence``."""
    detail: str


@dataclass
class GraphAudit:
    """Tasks against a graph."""

    graph: FactGraph
    exempt: Collection[str]
    """Ids of entities that no split owns."""
    partitions: Mapping[str, str]
    """Split of every document; may be empty, then documents are not asked for theirs."""
    checked: Counter[str] = field(default_factory=Counter)
    """Rule -> tasks that it judged."""
    undecided: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Rule -> tasks that it could not judge, and why not."""

    def audit(self, task: Task, *, known: bool = True, solve: bool = True) -> list[Problem]:
        """Everything that is wrong with a task but for its evidence.

        Args:
            known: whether there are facts to ask.
            solve: whether the relations of the walk are those of the facts, so that a query can answer it.
        """
        things = self.graph.things
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "walk": lambda: rows.walk(task),
            "cue": lambda: rows.cues(task),
            "answer": lambda: rows.answer(task),
            "alias": lambda: rows.aliases(task, things),
            "leak": lambda: rows.leaks(task),
            "gold": lambda: rows.gold(task),
        }
        if known:
            checks |= {"name": lambda: rows.names(task, things), "split": lambda: self._split(task)}
        found = [Problem(task.id, rule, what) for rule, check in checks.items() for what in check()]
        self.checked.update(list(checks))
        if not known:
            self.leave(["name", "split", "unique", "shortcut"], "the dataset holds no facts")
        elif solve and task.walk.hops:
            found += self._solved(task)
        return found

    def leave(self, rules: Iterable[str], why: str) -> None:
        """Say that a task can't be judged by these rules."""
        for rule in rules:
            self.undecided[rule] = (self.undecided.get(rule, (0, ""))[0] + 1, why)

    def _solved(self, task: Task) -> list[Problem]:
        rules = ["unique", "shortcut"]
        reading = Reading(task.walk)
        try:
            rules += ["members"] if reading.sets else []
            rules += ["operation"] if task.walk.operations else []
            problems = Solving(self.graph, reading).run()
        except Unreadable:
            return []  # the rule ``walk`` says so
        except Undecided:
            self.leave(rules, "the search for other answers took too many steps")
            return [Problem(task.id, "unique", "the search for other answers took too many steps: not proven")]
        self.checked.update(rules)
        return [Problem(task.id, rule, what) for rule, what in problems]

    def _split(self, task: Task) -> Iterator[str]:
        things = self.graph.things
        for name in task.gold_entities:
            if name in self.exempt:
                continue
            thing = things.get(name)
            if thing is None:
                yield f"nobody owns {name!r}"
            elif thing.partition != task.split:
                yield f"entity {name!r} belongs to {thing.partition}, the task to {task.split}"
        pages = {thing.document_id for name in self._ends(task) & set(self.exempt) if (thing := things.get(name))}
        for name in task.gold_documents if self.partitions else ():
            owner = self.partitions.get(name)
            if owner is not None and owner != task.split and name not in pages:
                yield f"document {name!r} belongs to {owner}, the task to {task.split}"

    @staticmethod
    def _ends(task: Task) -> set[str]:
        return {key_of(node) for hop in task.walk.hops for node in (hop.source, hop.target)}
