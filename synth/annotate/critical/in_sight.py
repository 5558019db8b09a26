"""What plain rules find in sight of a history, for the embedded expert.

The answer as it was read, pages and entities on the walk that were shown and not looked at, names of the question that
were not looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.matching import dangling, quotable, strip
from synth.agents.scripted.options import Option, holds, listed_with
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading, clue_hops
from synth.agents.scripted.state import State, state_of
from synth.annotate.critical.actions import action_kind
from synth.annotate.critical.contract import Point
from synth.annotate.evidence.assessment import missing_for_answer
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.observed import observe
from synth.environments.passages import Passage
from synth.environments.rendering import plain
from synth.lexicon.reading import phrases
from synth.schemas.tasks import Hop, Node
from synth.text.words import places_of, same_words, words_of

__all__ = ["proves", "turns_in_sight"]

_WORDS = phrases("expert")


Says = Callable[..., bool | None]
"""Whether a sentence says a relation of the world: :func:`synth.sources.world.statements.says`."""


def turns_in_sight(
    point: Point, reading: Reading, generator: np.random.Generator, says: Says | None = None
) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view."""
    view = EvidenceView(point.task, point.history)
    if point.task.environment == "graph":
        yield from _in_graph(point, reading, view, generator)
        return
    # Pairs of the same kind of action teach most.
    turns = _on_pages(point, reading, view, generator, says)
    yield from sorted(turns, key=lambda turn: action_kind(turn) != action_kind(point.recorded))


def _on_pages(
    point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator, says: Says | None
) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view; the tools must be there."""
    tools = {tool.name for tool in point.prompt.tools}
    yield from _answers(point, view, generator, says)
    searched = bool(point.history) and any("query" in call.arguments for call in point.history[-1].turn.calls)
    if "open" in tools:
        if not searched:  # else the results are left without a word
            yield from _links(point, view, generator, says)
        yield from _hits(point, view, generator)
    for search in sorted(name for name in tools if name.partition("_")[0] == "search"):
        yield from _searches(point, reading, view, generator, search)


def _answers(point: Point, view: EvidenceView, generator: np.random.Generator, says: Says | None) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view) or task.walk.operations or task.answer_parts:
        return  # what has to be worked out is the teacher's to say
    texts = [plain(result.content) for _, result in view.results if result.error is None]
    for name in (task.answer, *task.answer_aliases, hops[-1].target.name):
        if any(any(places_of(text, name)) for text in texts):
            thoughts = Thoughts(task.question, generator, terse=False)
            passages = [
                _stating(view, number, name, says) for number, hop in enumerate(hops) if _is_answer(hop.target, hops)
            ]
            if any(passage is None or passage.document not in view.read for passage in passages):
                return  # an answer without what it rests on teaches nothing, and a snippet is no page
            for passage in [one for at, one in enumerate(passages) if one not in passages[:at]]:
                _quote(thoughts, passage)
            thoughts.add("answer", answer=name)
            yield Turn(thought=thoughts.text(), answer=name)
            return


def _is_answer(node: Node, hops: Sequence[Hop]) -> bool:
    """Whether a hop leads to what the last one leads to: all conditions on the answer count."""
    return node.id == hops[-1].target.id


def _stating(view: EvidenceView, number: int, name: str, says: Says | None = None) -> Passage | None:
    """The passage that states a hop, one with the answer in it first. A line that names both ends and says something
    else of them ("held a chair at" of who founded it) proves nothing."""
    stated = [one for one in view.stated.get(number, ()) if proves(view, number, one, says)]
    return next((p for p in stated if words_of(name) in words_of(p.text)), next(iter(stated), None))


def proves(view: EvidenceView, number: int, passage: Passage, says: Says | None) -> bool:
    """Whether a passage that names both ends of a hop is not known to say something else of them."""
    hop = view.task.walk.hops[number]
    return says is None or says(passage.text, hop.relation, hop.forward) is not False


def _links(point: Point, view: EvidenceView, generator: np.random.Generator, says: Says | None) -> Iterator[Turn]:
    """Pages of the walk that a text linked to and nobody opened, the passage that says why beside: the first of those
    that it lists."""
    for document in _on_walk(view):
        for passage in view.links.get(document, ()):
            anchor = next(item.anchor for item in passage.links if item.document == document)
            stating = (number for number, stated in view.stated.items() if passage in stated)
            told = any(proves(view, number, passage, says) for number in stating)
            if not told or not _points_to(passage, anchor):
                continue
            thoughts = Thoughts(point.task.question, generator, terse=False)
            _quote(thoughts, passage)
            thoughts.add("open_link", name=anchor)
            yield _call_turn(point, thoughts, "open", {"document": document})


def _hits(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a search listed and nobody opened."""
    for document in _on_walk(view):
        if document in view.listed and document not in view.links:
            _, hits = view.searches[view.listed[document][-1]]
            title = next(hit.title for hit in hits if hit.document == document)
            told = [p for passages in view.stated.values() for p in passages if p.document == document]
            thoughts = Thoughts(point.task.question, generator, terse=False)
            if told and quotable(told[0].text):
                thoughts.add("hit_snippet", title=title, quote=told[0].text)
            elif holds(point.task.question, title):
                thoughts.add("hit_named", title=title)
            else:
                continue
            yield _call_turn(point, thoughts, "open", {"document": document})


def _on_walk(view: EvidenceView) -> list[str]:
    """Pages of the walk that were shown and not opened, in the order of the walk."""
    found: dict[str, None] = {}
    for hop in view.task.walk.hops:
        for document in (hop.source.document_id, hop.evidence.document_id, hop.target.document_id):
            if document is not None and document in view.named_documents and document not in view.read:
                found.setdefault(document)
    return list(found)


def _searches(
    point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator, search: str
) -> Iterator[Turn]:
    """What was not searched for yet, and why it should be: a name of the question, a name on the walk with the passage
    that brought it up, words of the question that nothing so far states."""
    made = [str(call.arguments.get("query", "")) for call, _ in view.searches if call.name == search]

    def is_new(name: str) -> bool:
        return not any(same_words(name, query) for query in made) and view.named.get(words_of(name), set()).isdisjoint(
            view.read
        )

    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name and not clue.value):
        if is_new(name):
            yield _call_turn(point, _why("search_asked", generator, name=name), search, {"query": name})
    for number, hop in enumerate(point.task.walk.hops):
        for name in names_of(hop.target):
            said = [p for p in view.stated.get(number, ()) if p.document == hop.evidence.document_id]
            passage = next((p for p in said if holds(p.text, name) and _points_to(p, name)), None)
            if passage is not None and hop.target.document_id and is_new(name):
                thoughts = Thoughts(point.task.question, generator, terse=False)
                _quote(thoughts, passage, read=passage.document in view.read)
                thoughts.add("search_name", name=name)
                yield _call_turn(point, thoughts, search, {"query": name})
    for clue, numbers in zip(reading.clues, clue_hops(point.task), strict=False):
        cue = strip(clue.cue)
        unsaid = view.results and not any(number in view.stated for number in numbers)
        if unsaid and not dangling(cue) and '"' not in cue and not any(same_words(cue, query) for query in made):
            yield _call_turn(point, _why("search_unsaid", generator, cue=cue), search, {"query": cue})


def _points_to(passage: Passage, name: str) -> bool:
    """Whether a passage is a reason to go on with ``name``: of those that it lists, with the first. A snippet has no
    links that would tell what it lists."""
    first = listed_with(Option(name, passage))[:1] in ([], [name]) and (passage.links or " and " not in passage.text)
    return first and bool(passage.title) and quotable(passage.text)


def _quote(thoughts: Thoughts, passage: Passage | None, *, read: bool = True) -> None:
    """Quote a line of a page that was ``read``, or of a result."""
    if passage is not None and passage.title and quotable(passage.text):
        thoughts.add("quote" if read else "quote_result", quote=passage.text, title=passage.title)


def _why(intent: str, generator: np.random.Generator, **slots: str) -> str:
    options = _WORDS[intent]
    return options[int(generator.integers(len(options)))].format(**slots)


def _call_turn(point: Point, thoughts: Thoughts | str, name: str, arguments: dict[str, Any]) -> Turn:
    call = ToolCall(id=f"call_{point.step}_0", name=name, arguments=arguments)
    return Turn(thought=thoughts if isinstance(thoughts, str) else thoughts.text(), calls=(call,))


def _in_graph(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Each says which part of the question it is for."""
    yield from _read_answer(point, view, generator)
    state = state_of(reading, point.history)
    if not _leads_on(point, view):
        return  # what came last has to be judged first, which is the teacher's to do
    parts = {
        number: clue for clue, numbers in zip(reading.clues, clue_hops(point.task), strict=False) for number in numbers
    }
    last = [result for call, result in _last_calls(point) if call.name == "find_entity"]
    found = {hit.document for result in last for hit in observe(result.content).results}
    for number, hop in enumerate(point.task.walk.hops):
        clue = parts.get(number)
        cue = strip(clue.cue) if clue is not None else ""
        if clue is None or dangling(cue) or '"' in cue:
            continue
        if clue.target in state.values or state.members.get(clue.target):
            continue  # it was settled: who thinks otherwise says why, which is the teacher's to do
        for end in (hop.source, hop.target):
            entity = end.document_id or end.id
            if entity not in view.named_documents or _passes_over(view, state, entity):
                continue
            if found and entity not in found:
                continue  # what was found has to be looked at first
            listed = view.relations.get(entity)
            if listed is None:
                yield _said_turn(
                    point, generator, cue, "g_relations", {"name": end.name}, "get_relations", {"entity": entity}
                )
                continue
            ways = ("out", "both") if (end is hop.source) == hop.forward else ("in", "both")
            for way in ways:
                item = listed.get((" ".join(hop.relation.split()), way))
                if item is not None and not _was_read(view, entity, item.relation):
                    arguments = {"entity": entity, "relation": item.relation, "direction": way}
                    slots = {"name": end.name, "relation": item.relation}
                    yield _said_turn(point, generator, cue, "g_triples", slots, "get_triples", arguments)
    if found:
        return
    looked = [str(call.arguments.get("name", "")) for call, _ in view.searches]
    for clue in reading.clues:
        if clue.name and not clue.value and not any(same_words(clue.name, query) for query in looked):
            arguments = {"name": clue.name}
            yield _call_turn(point, _why("search_asked", generator, **arguments), "find_entity", arguments)


def _passes_over(view: EvidenceView, state: State, entity: str) -> bool:
    """Whether something of a relation stands before ``entity`` that was not put aside."""
    gone = {key for _, key in state.dismissed}
    for _, result in view.results:
        facts = [passage.fact for passage in observe(result.content).passages if passage.fact is not None]
        ids = [end.id for fact in facts for end in (fact.subject, fact.object)]
        fan = [one for one in dict.fromkeys(ids) if one and ids.count(one) < len(facts)]
        if entity in fan and any(one not in gone for one in fan[: fan.index(entity)]):
            return True
    return False


def _last_calls(point: Point) -> list[tuple[ToolCall, ToolResult]]:
    last = point.history[-1] if point.history else None
    return list(zip(last.turn.calls, last.results, strict=False)) if last is not None else []


def _leads_on(point: Point, view: EvidenceView) -> bool:
    """Whether what the last turn showed of an entity is on the walk: going on elsewhere without a word on it would drop
    it unread."""
    on_walk = {
        part for hop in point.task.walk.hops for end in (hop.source, hop.target) for part in (end.id, end.document_id)
    }
    proof = {passage.text for stated in view.stated.values() for passage in stated}
    for call, result in _last_calls(point):
        shown = observe(result.content)
        if call.name == "get_triples" and not any(passage.text in proof for passage in shown.passages):
            return False
        if call.name == "get_relations" and shown.about not in on_walk:
            return False
    return True


def _was_read(view: EvidenceView, entity: str, relation: str) -> bool:
    return any(
        call.name == "get_triples"
        and call.arguments.get("entity") == entity
        and call.arguments.get("relation") == relation
        and result.error is None
        for call, result in view.results
    )


def _read_answer(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view) or task.walk.operations or task.answer_parts:
        return  # what has to be worked out is the teacher's to say
    last = hops[-1]
    fact = next((passage for passage in view.stated.get(len(hops) - 1, ()) if passage.fact is not None), None)
    if fact is None:
        return
    name = next((name for name in names_of(last.target) if words_of(name) in words_of(fact.text)), None)
    if name is None:
        return
    thoughts = Thoughts(task.question, generator, terse=False)
    others = [_stating(view, number, name) for number, hop in enumerate(hops[:-1]) if _is_answer(hop.target, hops)]
    if None in others:
        return
    for text in dict.fromkeys(one.text for one in (*others, fact) if one is not None and quotable(one.text)):
        thoughts.add("g_quote", quote=text)
    thoughts.add("answer", answer=name)
    yield Turn(thought=thoughts.text(), answer=name)


def _said_turn(
    point: Point,
    generator: np.random.Generator,
    cue: str,
    intent: str,
    slots: dict[str, Any],
    tool: str,
    arguments: dict[str, Any],
) -> Turn:
    thoughts = Thoughts(point.task.question, generator, terse=False)
    thoughts.add("next_clue", cue=cue)
    thoughts.add(intent, **slots)
    return _call_turn(point, thoughts, tool, arguments)
