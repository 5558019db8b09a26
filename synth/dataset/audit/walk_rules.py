"""One task at a time: what its row must say of itself, and what the facts say of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from synth.dataset.audit.facts import VALUE_KINDS, Facts, Undecided, forms, key_of
from synth.dataset.audit.solving import Solving
from synth.dataset.audit.values import contains, measure, normalized, squeezed
from synth.dataset.audit.walks import Reading, Unreadable
from synth.schemas.tasks import Hop, Node, Task

__all__ = ["WALK_RULES", "TaskAudit"]

WALK_RULES: Mapping[str, str] = {
    "walk": "The walk hangs together, its checks are recorded and passed, its difficulty is that of its hops.",
    "cue": "The question contains the words of every hop and operation.",
    "answer": "The answer is what the walk ends at.",
    "alias": "Whatever is accepted in place of the answer is a name of it.",
    "name": "Every entity of the walk exists, under that name and on that page.",
    "leak": "The question reveals neither the answer nor a bridge or member, in any form.",
    "unique": "All facts together give this answer and no other.",
    "members": "Sets are complete, and every member is measured as the facts say.",
    "operation": "Counts, extremes, filters, differences and sums come out as stated.",
    "shortcut": "Without any one of its constraints the question has another answer, or several.",
    "gold": "Gold entities and documents are those of the walk.",
    "split": "Gold belongs to the split of the task, unless it is exempt.",
}
"""Rules that a task and the graph decide; a sentence each."""


@dataclass
class TaskAudit:
    """Tasks, one by one, against the facts."""

    facts: Facts
    exempt: Collection[str]
    """Ids of entities that no split owns."""
    partitions: Mapping[str, str]
    """Split of every document; may be empty, then documents are not asked for theirs."""
    checked: Counter[str] = field(default_factory=Counter)
    """Rule -> tasks that it judged."""
    undecided: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Rule -> tasks that it could not judge, and why not."""

    def audit(self, task: Task, *, known: bool = True, solve: bool = True) -> list[tuple[str, str]]:
        """(rule, what is wrong) of a task, but for its evidence.

        Args:
            known: whether there are facts to ask.
            solve: whether the relations of the walk are those of the facts, so that a query can answer it.
        """
        checks: dict[str, Callable[[], Iterator[str]]] = {
            "walk": lambda: walk(task),
            "cue": lambda: cues(task),
            "answer": lambda: answer(task),
            "alias": lambda: aliases(task, self.facts),
            "leak": lambda: leaks(task),
            "gold": lambda: gold(task),
        }
        if known:
            checks |= {"name": lambda: names(task, self.facts), "split": lambda: self._split(task)}
        found = [(rule, what) for rule, check in checks.items() for what in check()]
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

    def _solved(self, task: Task) -> list[tuple[str, str]]:
        rules = ["unique", "shortcut"]
        reading = Reading(task.walk)
        try:
            rules += ["members"] if reading.sets else []
            rules += ["operation"] if task.walk.operations else []
            problems = Solving(self.facts, reading).run()
        except Unreadable:
            return []  # the rule ``walk`` says so
        except Undecided:
            self.leave(rules, "the search for other answers took too many steps")
            return [("unique", "the search for other answers took too many steps: not proven")]
        self.checked.update(rules)
        return problems

    def _split(self, task: Task) -> Iterator[str]:
        for name in task.gold_entities:
            if name in self.exempt:
                continue
            entity = self.facts.entity(name)
            if entity is None:
                yield f"no split owns {name!r}"
            elif entity.partition != task.split:
                yield f"entity {name!r} belongs to {entity.partition}, the task to {task.split}"
        pages = {
            entity.document_id for name in self._ends(task) & set(self.exempt) if (entity := self.facts.entity(name))
        }
        for name in task.gold_documents if self.partitions else ():
            owner = self.partitions.get(name)
            if owner is not None and owner != task.split and name not in pages:
                yield f"document {name!r} belongs to {owner}, the task to {task.split}"

    @staticmethod
    def _ends(task: Task) -> set[str]:
        return {key_of(node) for hop in task.walk.hops for node in (hop.source, hop.target)}


def walk(task: Task) -> Iterator[str]:
    """The walk hangs together; every recorded check passed; the measures of difficulty are those of the walk."""
    reading = Reading(task.walk)
    for number in range(len(task.walk.hops)):
        try:
            reading.source(number)
        except Unreadable as error:
            yield str(error)
    if task.shape != task.walk.shape:
        yield f"the task is a {task.shape}, its walk a {task.walk.shape}"
    if not task.checks:
        yield "no check is recorded"
    for check in task.checks:
        if check.outcome != "passed":
            yield f"check {check.check} {check.outcome}"
    if task.shape == "composition" and not _is_chain(task.walk.hops):
        yield "a composition is a chain"
    for number, operation in enumerate(task.walk.operations):
        if any(not 0 <= hop < len(task.walk.hops) for hop in operation.over) or not operation.over:
            yield f"operation {number} is over hops that do not exist"
        if operation.within is not None and not 0 <= operation.within < number:
            yield f"operation {number} works on operation {operation.within}"
    if task.walk.hops and task.difficulty.hops != len(task.walk.hops):
        yield f"difficulty says {task.difficulty.hops} hops, the walk has {len(task.walk.hops)}"


def _is_chain(hops: Sequence[Hop]) -> bool:
    """Whether each hop needs what ends at its source; a range tests the node before it and leads nowhere."""
    here: tuple[int, ...] = ()
    for number, hop in enumerate(hops):
        if hop.source.kind == "range" and here:
            if hop.needs or hop.target.id != hops[here[-1]].target.id:
                return False
            here = (*here, number)
            continue
        if hop.needs != here:
            return False
        here = (number,)
    return True


def cues(task: Task) -> Iterator[str]:
    """The question contains the words of each hop and operation."""
    said = [(f"hop {number}", hop.cue) for number, hop in enumerate(task.walk.hops)]
    said += [(f"operation {number}", operation.cue) for number, operation in enumerate(task.walk.operations)]
    for what, cue in said:
        if not cue or cue not in task.question:
            yield f"{what}: {cue!r} is not in the question"


def answer_nodes(task: Task) -> list[Node]:
    """What the walk ends at: the one answer, the members of a list, or the ends of parallel questions in order."""
    hops, operations = task.walk.hops, task.walk.operations
    if task.walk.shape == "parallel":
        return _parallel(task)
    if task.walk.shape == "masked":  # a mask each
        return [hop.target for hop in hops]
    if operations:
        return list(operations[-1].result)
    return [hops[-1].target] if hops else []


def _parallel(task: Task) -> list[Node]:
    reading = Reading(task.walk)
    inner = {operation.within for operation in task.walk.operations}
    placed: list[tuple[int, Node]] = [(number, task.walk.hops[number].target) for number in reading.ends]
    for number, operation in enumerate(task.walk.operations):
        if number not in inner and operation.result:
            placed.append((max(operation.over, default=0), operation.result[0]))
    return [node for _, node in sorted(placed, key=lambda item: item[0])]


def answer(task: Task) -> Iterator[str]:
    """The answer is what the walk ends at."""
    ends = answer_nodes(task)
    if not ends:
        return
    if task.answer_parts:
        stated = [_bare(part.answer) for part in task.answer_parts]
        wanted = [_bare(node.name) for node in ends]
        if (stated != wanted) if task.answer_ordered else (sorted(stated) != sorted(wanted)):
            yield f"the walk ends at {', '.join(wanted)}; the parts of the answer are {', '.join(stated)}"
        for part, text in zip(task.answer_parts, stated, strict=True):
            if text and not contains(normalized(task.answer), [part.answer]):
                yield f"the answer {task.answer!r} lacks its part {part.answer!r}"
        return
    if len(ends) != 1:
        yield f"the walk ends at {len(ends)} things, the answer has no parts"
    elif _bare(task.answer) != _bare(ends[0].name) and not _same_value(task.answer, ends[0]):
        yield f"the walk ends at {ends[0].name!r}, the answer is {task.answer!r}"


def _bare(text: str) -> str:
    return " ".join(text.split())


def _same_value(text: str, node: Node) -> bool:
    """Whether a text says the value of a node: the same number in words or digits, with or without its unit."""
    return node.kind in VALUE_KINDS and squeezed(text) in {squeezed(form) for form in forms(node)}


def aliases(task: Task, facts: Facts) -> Iterator[str]:
    """Whatever is accepted in place of the answer means the answer."""
    ends = answer_nodes(task)
    accepted = [(part.answer, part.aliases) for part in task.answer_parts] or [(task.answer, task.answer_aliases)]
    for text, others in accepted:
        node = next((node for node in ends if _bare(node.name) == _bare(text)), ends[0] if len(ends) == 1 else None)
        if node is None:
            continue
        known = {squeezed(form) for form in forms(node)}
        if (entity := facts.entity(node.id)) is not None:
            known |= {squeezed(name) for name in (entity.name, *entity.aliases)}
        for alias in others:
            if squeezed(alias) not in known and not _same_number(alias, node):
                yield f"{alias!r} is not a name of {node.name!r}"


def _same_number(alias: str, node: Node) -> bool:
    if node.kind not in ("number", "year", "quantity"):
        return False
    one, two = measure(alias), measure(node.id)
    return one is not None and two is not None and one.number == two.number and one.unit in ("", two.unit)


def names(task: Task, facts: Facts) -> Iterator[str]:
    """Every entity of the walk is there, under the name and on the page that the walk says."""
    nodes = [node for hop in task.walk.hops for node in (hop.source, hop.target)]
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        if (node.kind in VALUE_KINDS and node.document_id is None) or node.kind in ("range", "description"):
            continue
        if (node.id, node.name) in seen:
            continue
        seen.add((node.id, node.name))
        entity = facts.entity(node.id)
        if entity is None:
            yield f"there is no entity {node.id!r}"
        elif entity.name != node.name:
            yield f"{node.id} is called {entity.name!r}, the walk says {node.name!r}"
        elif entity.document_id != node.document_id:
            yield f"the page of {node.id} is {entity.document_id}, the walk says {node.document_id}"
        elif not set(node.aliases) <= set(entity.aliases):
            yield f"{sorted(set(node.aliases) - set(entity.aliases))[0]!r} is not an alias of {node.name!r}"


def leaks(task: Task) -> Iterator[str]:
    """The question reveals nothing that is sought: no answer, no bridge, no member, in any form.

    What the question names itself, as a comparison names the things that it compares, may be there.
    """
    question = normalized(task.question)
    named = {key_of(hop.source) for hop in task.walk.hops if not hop.needs}
    spoken = {normalized(hop.source.name) for hop in task.walk.hops if not hop.needs}
    sought: dict[str, None] = {}
    targets = [hop.target for hop in task.walk.hops] + [n for op in task.walk.operations for n in op.result]
    for node in targets:
        if key_of(node) in named:
            continue
        sought |= dict.fromkeys(forms(node))
        found = measure(node.id) if node.kind == "date" and node.document_id is None else None
        if found is not None and contains(question, [f"{found.number:.0f}"]):
            yield f"the question holds the year {found.number:.0f} of a date that is sought"
    if not any(key_of(node) in named for node in answer_nodes(task)):
        sought |= dict.fromkeys([task.answer, *task.answer_aliases])
        sought |= dict.fromkeys(form for part in task.answer_parts for form in (part.answer, *part.aliases))
    for form in sought:
        if normalized(form) not in spoken and contains(question, [form]):
            yield f"the question holds {form!r}"


def gold(task: Task) -> Iterator[str]:
    """``gold_entities`` and ``gold_documents`` are those of the walk."""
    sought = {hop.target.id: None for hop in task.walk.hops if hop.target.document_id is not None}
    allowed = {**sought, **{node.id: None for node in answer_nodes(task)}}
    if task.shape == "comparison":  # any of the things that are compared could be the answer
        over = {hop for operation in task.walk.operations for hop in operation.over}
        allowed |= {task.walk.hops[hop].source.id: None for hop in over if hop < len(task.walk.hops)}
    for name in sought:
        if name not in task.gold_entities:
            yield f"{name!r} must be found, but is not gold"
    for name in task.gold_entities:
        if name not in allowed:
            yield f"{name!r} is gold, but the walk does not need it"
    pages = {hop.evidence.document_id for hop in task.walk.hops}
    if pages != set(task.gold_documents) and task.walk.hops:
        odd = sorted(pages ^ set(task.gold_documents))[0]
        yield f"the gold documents are not the documents of the evidence: {odd!r}"
    if len(set(task.gold_entities)) < len(task.gold_entities) or len(set(task.gold_documents)) < len(
        task.gold_documents
    ):
        yield "something is gold twice"
