"""Plain rules for what else could be done at a step: answer what was read, open what is in sight, search for a name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from synth.agents.contract import Turn
from synth.agents.evidence import EvidenceView, Passage, names_of, same_words, words_of
from synth.agents.moves import missing_for_answer
from synth.agents.scripted.cues import quotable, strip
from synth.agents.scripted.phrases import Thoughts
from synth.agents.scripted.reading import Reading
from synth.critical.contract import Point
from synth.environments.contract import ToolCall
from synth.environments.rendering import plain

__all__ = ["proposals"]


_IN_ITS_WORDS = (
    "I search with the words of the question.",
    "Let me search for this part in the words of the question.",
    "Perhaps the question's own words find a page on this.",
    "I put this part of the question into a search as it stands.",
)


def proposals(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Turns in order of promise. Each needs what it rests on to be in view; the tools must be there."""
    tools = {tool.name for tool in point.prompt.tools}
    yield from _answers(point, view, generator)
    if "open" in tools:
        yield from _links(point, view, generator)
        yield from _hits(point, view, generator)
    if "search" in tools:
        yield from _searches(point, reading, view, generator)
    if "find" in tools and view.last_page:
        yield from _finds(point, reading, view, generator)


def _answers(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """The answer as it was read, once every hop was in view."""
    task = point.task
    hops = task.walk.hops
    if not hops or missing_for_answer(view):
        return
    texts = [plain(result.content) for _, result in view.results if result.error is None]
    for name in (task.answer, *task.answer_aliases, hops[-1].target.name):
        if any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) for text in texts):
            thoughts = Thoughts(task.question, generator)
            passage = next((p for p in view.stated[len(hops) - 1] if words_of(name) in words_of(p.text)), None)
            _quote(thoughts, passage)
            thoughts.add("answer", answer=name)
            yield Turn(thought=thoughts.text(), answer=name)
            return


def _links(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a text linked to and nobody opened, the passage that names them beside."""
    for document in _on_walk(view):
        if document in view.links:
            passage = view.links[document][-1]
            anchor = next(anchor for anchor, target in passage.links if target == document)
            thoughts = Thoughts(point.task.question, generator)
            _quote(thoughts, passage)
            thoughts.add("open_link", name=anchor)
            yield _call(point, thoughts, "open", {"document": document})


def _hits(point: Point, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Pages of the walk that a search listed and nobody opened."""
    for document in _on_walk(view):
        if document in view.listed and document not in view.links:
            _, hits = view.searches[view.listed[document][-1]]
            title = next(hit.title for hit in hits if hit.document == document)
            told = [p for passages in view.stated.values() for p in passages if p.about == document]
            thoughts = Thoughts(point.task.question, generator)
            if told and quotable(told[0].text):
                thoughts.add("hit_snippet", title=title, quote=told[0].text)
            else:
                thoughts.add("hit_try", title=title)
            yield _call(point, thoughts, "open", {"document": document})


def _on_walk(view: EvidenceView) -> list[str]:
    """Pages of the walk that were shown and not opened, in the order of the walk."""
    found: dict[str, None] = {}
    for hop in view.task.walk.hops:
        for document in (hop.source.document_id, hop.evidence.document_id, hop.target.document_id):
            if document is not None and document in view.named_documents and document not in view.read:
                found.setdefault(document)
    return list(found)


def _searches(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """A name of the question, or one on the walk that was seen, not searched for yet; then words of the question."""
    made = [str(call.arguments.get("query", "")) for call, _ in view.searches]
    named = [clue.name for clue in reading.clues if clue.name]
    for hop in point.task.walk.hops:
        named += [name for name in names_of(hop.source) if words_of(name) in view.named]
    for name in dict.fromkeys(named):
        if not any(same_words(name, query) for query in made):
            thoughts = Thoughts(point.task.question, generator)
            thoughts.add("search_name", name=name)
            yield _call(point, thoughts, "search", {"query": name})
    for clue in reading.clues:
        cue = strip(clue.cue)
        if cue and not any(same_words(cue, query) for query in made):
            phrase = _IN_ITS_WORDS[int(generator.integers(len(_IN_ITS_WORDS)))]
            yield _call(point, phrase, "search", {"query": cue})


def _finds(point: Point, reading: Reading, view: EvidenceView, generator: np.random.Generator) -> Iterator[Turn]:
    """Names of the question on the page that is open."""
    for name in dict.fromkeys(clue.name for clue in reading.clues if clue.name):
        thoughts = Thoughts(point.task.question, generator)
        thoughts.add("verify_find", name=name)
        yield _call(point, thoughts, "find", {"pattern": name})


def _quote(thoughts: Thoughts, passage: Passage | None) -> None:
    if passage is not None and passage.title and quotable(passage.text):
        thoughts.add("quote", quote=passage.text, title=passage.title)


def _call(point: Point, thoughts: Thoughts | str, name: str, arguments: dict[str, Any]) -> Turn:
    call = ToolCall(id=f"call_{point.step}_0", name=name, arguments=arguments)
    return Turn(thought=thoughts if isinstance(thoughts, str) else thoughts.text(), calls=(call,))
