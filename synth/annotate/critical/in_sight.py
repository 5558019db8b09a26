"""What plain rules find in sight of a history, for the embedded expert.

The answer as it was read, pages and entities on the walk that were shown and not looked at, names of the question that
were not looked up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.agents.scripted.matching import quotable, strip
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading
from synth.annotate.critical.actions import action_kind
from synth.annotate.critical.contract import Point
from synth.annotate.evidence.assessment import missing_for_answer
from synth.annotate.evidence.view import EvidenceView, names_of
from synth.environments.contract import ToolCall
from synth.environments.passages import Passage
from synth.environments.rendering import plain
from synth.lexicon.reading import phrases
from synth.text.words import same_words, words_of

__all__ = ["turns_in_sight"]

_WORDS = phrases("expert")


def turns_in_sight(point: Point, reading: Reading, generator: np.random.Generator) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view."""
    view = EvidenceView(point.task, point.history)
    if point.task.environment == "graph":
        yield from _in_graph(point, reading, view, generator)
        return
    # Pairs of the same kind of action teach most.
    turns = _on_pages(point, reading, view, generator)
    yield from sorted(turns, key=lambda turn: action_kind(turn) != action_kind(point.recorded))


def _on_pages(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view; the tools must be there."""
    tools = {tool.name for tool in point.prompt.tools}
    yield from _answers(point, view, generator)
    if "open" in tools:
        yield from _links(point, view, generator)
        yield from _hits(point, view, generator)
    for search in sorted(name for name in tools if name.partition("_")[0] == "search"):
        yield from _searches(point, reading, view, generator, search)
    if "find" in tools and view.last_page:
        yield from _finds(point, reading, view, generator)


def _answers(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view) or task.walk.operations or task.answer_parts:
        return  # what has to be worked out is the teacher's to say
    texts = [plain(result.content) for _, result in view.results if result.error is None]
    for name in (task.answer, *task.answer_aliases, hops[-1].target.name):
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts):
            thoughts = Thoughts(task.question, generator, terse=False)
            passage = next((p for p in view.stated.get(len(hops) - 1, ()) if words_of(name) in words_of(p.text)), None)
            passage = passage or next(iter(view.stated.get(len(hops) - 1, ())), None)
            if passage is None:
                return  # an answer without what it rests on teaches nothing
            _quote(thoughts, passage)
            thoughts.add("answer", answer=name)
            yield Turn(thought=thoughts.text(), answer=name)
            return


def _links(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a text linked to and nobody opened, the passage that names them beside."""
    for document in _on_walk(view):
        if document in view.links:
            passage = view.links[document][-1]
            anchor = next(item.anchor for item in passage.links if item.document == document)
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
            else:
                thoughts.add("hit_try", title=title)
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
    """A name of the question, or one on the walk that was seen, not searched for yet; then words of the question."""
    made = [str(call.arguments.get("query", "")) for call, _ in view.searches if call.name == search]
    named = [clue.name for clue in reading.clues if clue.name]
    for hop in point.task.walk.hops:
        named += [name for name in names_of(hop.source) if words_of(name) in view.named]
    for name in dict.fromkeys(named):
        if not any(same_words(name, query) for query in made):
            thoughts = Thoughts(point.task.question, generator, terse=False)
            thoughts.add("search_name", name=name)
            yield _call_turn(point, thoughts, search, {"query": name})
    for clue in reading.clues:
        cue = strip(clue.cue)
        if cue and not any(same_words(cue, query) for query in made):
            phrase = _WORDS["in_its_words"][int(generator.integers(len(_WORDS["in_its_words"])))]
            yield _call_turn(point, phrase, search, {"query": cue})


def _finds(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Names of the question on the page that is open."""
    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name):
        thoughts = Thoughts(point.task.question, generator, terse=False)
        thoughts.add("verify_find", name=name)
        yield _call_turn(point, thoughts, "find", {"pattern": name})


def _quote(thoughts: Thoughts, passage: Passage | None) -> None:
    if passage is not None and passage.title and quotable(passage.text):
        thoughts.add("quote", quote=passage.text, title=passage.title)


def _call_turn(point: Point, thoughts: Thoughts | str, name: str, arguments: dict[str, Any]) -> Turn:
    call = ToolCall(id=f"call_{point.step}_0", name=name, arguments=arguments)
    return Turn(thought=thoughts if isinstance(thoughts, str) else thoughts.text(), calls=(call,))


def _in_graph(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    yield from _read_answer(point, view, generator)
    for hop in point.task.walk.hops:
        for end in (hop.source, hop.target):
            entity = end.document_id or end.id
            if entity not in view.named_documents:
                continue
            listed = view.relations.get(entity)
            if listed is None:
                yield _said_turn(
                    point, generator, "g_relations", {"name": end.name}, "get_relations", {"entity": entity}
                )
                continue
            ways = ("out", "both") if (end is hop.source) == hop.forward else ("in", "both")
            for way in ways:
                item = listed.get((" ".join(hop.relation.split()), way))
                if item is not None and not _was_read(view, entity, item.relation):
                    arguments = {"entity": entity, "relation": item.relation, "direction": way}
                    slots = {"name": end.name, "relation": item.relation}
                    yield _said_turn(point, generator, "g_triples", slots, "get_triples", arguments)
    looked = [str(call.arguments.get("name", "")) for call, _ in view.searches]
    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name and not clue.value):
        if not any(same_words(name, query) for query in looked):
            yield _said_turn(point, generator, "g_find", {"name": name}, "find_entity", {"name": name})


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
    if quotable(fact.text):
        thoughts.add("g_quote", quote=fact.text)
    thoughts.add("answer", answer=name)
    yield Turn(thought=thoughts.text(), answer=name)


def _said_turn(
    point: Point,
    generator: np.random.Generator,
    intent: str,
    slots: dict[str, Any],
    tool: str,
    arguments: dict[str, Any],
) -> Turn:
    thoughts = Thoughts(point.task.question, generator, terse=False)
    thoughts.add(intent, **slots)
    return _call_turn(point, thoughts, tool, arguments)
