"""What a task's row must say of itself, whatever the facts are: walk, cues, answer, names, gold, leaks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.audit.graph import VALUE_KINDS, Thing, key_of
from synth.tasks.audit.measures import measure
from synth.tasks.audit.reading import Reading, Unreadable
from synth.tasks.audit.words import contains, forms, plain, squeezed

__all__ = ["aliases", "answer", "answer_nodes", "cues", "gold", "leaks", "names", "walk"]


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
            yield f"operation {number} is over hops that there are not"
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
    """The words of each hop and operation stand in the question."""
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
            if text and not contains(plain(task.answer), [part.answer]):
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


def aliases(task: Task, things: Mapping[str, Thing]) -> Iterator[str]:
    """Whatever is accepted in place of the answer means the answer."""
    ends = answer_nodes(task)
    accepted = [(part.answer, part.aliases) for part in task.answer_parts] or [(task.answer, task.answer_aliases)]
    for text, others in accepted:
        node = next((node for node in ends if _bare(node.name) == _bare(text)), ends[0] if len(ends) == 1 else None)
        if node is None:
            continue
        known = {squeezed(form) for form in forms(node)}
        if (thing := things.get(node.id)) is not None:
            known |= {squeezed(name) for name in (thing.name, *thing.aliases)}
        for alias in others:
            if squeezed(alias) not in known and not _same_number(alias, node):
                yield f"{alias!r} is no name of {node.name!r}"


def _same_number(alias: str, node: Node) -> bool:
    if node.kind not in ("number", "year", "quantity"):
        return False
    one, two = measure(alias), measure(node.id)
    return one is not None and two is not None and one.number == two.number and one.unit in ("", two.unit)


def names(task: Task, things: Mapping[str, Thing]) -> Iterator[str]:
    """Every entity of the walk is there, under the name and on the page that the walk says."""
    nodes = [node for hop in task.walk.hops for node in (hop.source, hop.target)]
    seen: set[tuple[str, str]] = set()
    for node in nodes:
        if (node.kind in VALUE_KINDS and node.document_id is None) or node.kind in ("range", "description"):
            continue
        if (node.id, node.name) in seen:
            continue
        seen.add((node.id, node.name))
        thing = things.get(node.id)
        if thing is None:
            yield f"there is no entity {node.id!r}"
        elif thing.name != node.name:
            yield f"{node.id} is called {thing.name!r}, the walk says {node.name!r}"
        elif thing.document_id != node.document_id:
            yield f"the page of {node.id} is {thing.document_id}, the walk says {node.document_id}"
        elif not set(node.aliases) <= set(thing.aliases):
            yield f"{sorted(set(node.aliases) - set(thing.aliases))[0]!r} is no alias of {node.name!r}"


def leaks(task: Task) -> Iterator[str]:
    """Nothing that is sought stands in the question: no answer, no bridge, no member, in whatever form.

    What the question names itself, as a comparison names the things that it compares, is no secret.
    """
    question = plain(task.question)
    named = {key_of(hop.source) for hop in task.walk.hops if not hop.needs}
    spoken = {plain(hop.source.name) for hop in task.walk.hops if not hop.needs}
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
        if plain(form) not in spoken and contains(question, [form]):
            yield f"the question holds {form!r}"


def gold(task: Task, hub: Collection[str] = ()) -> Iterator[str]:
    """``gold_entities`` and ``gold_documents`` are those of the walk."""
    sought = {hop.target.id: None for hop in task.walk.hops if hop.target.document_id is not None}
    allowed = {**sought, **{node.id: None for node in answer_nodes(task)}}
    if task.shape == "comparison":  # any of the things that are compared could be the answer
        over = {hop for operation in task.walk.operations for hop in operation.over}
        allowed |= {task.walk.hops[hop].source.id: None for hop in over if hop < len(task.walk.hops)}
    for name in sought:
        if name not in task.gold_entities:
            yield f"{name!r} must be found, yet is not gold"
    for name in task.gold_entities:
        if name not in allowed:
            yield f"{name!r} is gold, yet nobody has to find it"
    pages = {hop.evidence.document_id for hop in task.walk.hops}
    if pages != set(task.gold_documents) and task.walk.hops:
        odd = sorted(pages ^ set(task.gold_documents))[0]
        yield f"the gold documents are not the documents of the evidence: {odd!r}"
    if len(set(task.gold_entities)) < len(task.gold_entities) or len(set(task.gold_documents)) < len(
        task.gold_documents
    ):
        yield "something is gold twice"
