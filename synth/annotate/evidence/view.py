"""What of a task's evidence the observations have shown: which hops of the gold walk an agent could know by now.

Pure reading of observations, for whoever judges steps (scorer, labels).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from synth.agents.contract import Step
from synth.agents.plan_view import PlanView
from synth.environments.answers import answer_pieces
from synth.environments.contract import ToolCall, ToolResult, ToolSchema
from synth.environments.observed import observe
from synth.environments.passages import End, Passage, Triple
from synth.environments.shown import Hit, Listed
from synth.environments.simulated import is_simulated
from synth.schemas.tasks import Hop, Node, Task
from synth.tasks.ranges import lies_in
from synth.tasks.values import MEASURED_KINDS
from synth.text.dates import parse_date
from synth.text.numbers import ungrouped
from synth.text.words import same_words, words_of

__all__ = [
    "EvidenceView",
    "Sought",
    "collected",
    "names_of",
    "stands_verbatim",
    "states_answer",
]

_YES_NO = frozenset(("yes", "no", "true", "false"))


def names_of(node: Node) -> tuple[str, ...]:
    """All that texts may call ``node``."""
    return tuple(dict.fromkeys(name for name in (node.name, *node.aliases, *_value_id(node)) if name))


def _value_id(node: Node) -> tuple[str, ...]:
    return (node.id,) if node.document_id is None else ()


class Sought:
    """A hop, and the words that say that a passage states it: made once, and asked of all that a run shows."""

    __slots__ = ("_quote", "_source", "_target", "hop")

    def __init__(self, hop: Hop) -> None:
        self.hop = hop
        self._quote = words_of(hop.evidence.quote)
        self._source, self._target = _words_of_names(hop.source), _words_of_names(hop.target)

    def stated(self, passage: Passage) -> bool:
        """Whether ``passage`` is the evidence of the hop, or says of one end something that names the other. What a
        model wrote in the place of a page (``synth.environments.simulated``) is evidence of nothing. The line of a fact
        states a hop by the same relation between the same ends, and no other."""
        return not is_simulated(passage.document) and self.states(passage, words_of(passage.text))

    def may_be_in(self, shown: _Worded) -> bool:
        """Whether a passage may state it: it names or links to an end, or is a piece of the evidence."""
        pages = ("", self.hop.evidence.document_id, self.hop.source.document_id, self.hop.target.document_id)
        if shown.facts or not shown.documents.isdisjoint(pages):
            return True
        return any(words in shown.text for words in (*self._source, *self._target))

    def states(self, passage: Passage, text: str) -> bool:
        """:meth:`stated` of a passage that no model wrote, whose ``words_of`` are ``text``."""
        hop = self.hop
        if passage.fact is not None:
            return _is_fact(hop, passage.fact) or (passage.symmetric and _is_fact(hop, passage.fact, turned=True))
        if passage.document in ("", hop.evidence.document_id) and self._quote.strip() and _covers(text, self._quote):
            return True
        source = _named(hop.source, self._source, passage, text)
        target = _named(hop.target, self._target, passage, text)
        if source and target:
            return True
        return (source and _is_about(hop.target, passage)) or (target and _is_about(hop.source, passage))


@lru_cache(maxsize=64)
def _sought(hops: tuple[Hop, ...]) -> tuple[Sought, ...]:
    """One of each walk, for all who look at runs on it."""
    return tuple(map(Sought, hops))


@lru_cache(maxsize=8192)  # runs on a task show the same pages again and again
def _stating(sought: Sought, content: str) -> tuple[Passage, ...]:
    """The passages of an observation that state a hop."""
    shown = _worded(content)
    if not sought.may_be_in(shown):
        return ()
    return tuple(passage for passage, text in shown.passages if sought.states(passage, text))


class _Worded(NamedTuple):
    """What every hop asks of an observation."""

    passages: tuple[tuple[Passage, str], ...]
    """Each with its words, without those that a model wrote in the place of pages."""
    text: str
    """The words of all of them."""
    documents: frozenset[str]
    """Where they stand, and where their links lead."""
    facts: bool
    """Whether it shows the lines of facts."""
    links: tuple[tuple[str, str, Passage], ...]
    """Of all links: the words of the anchor, the document, and the passage (simulated ones included)."""


@lru_cache(maxsize=512)
def _worded(content: str) -> _Worded:
    every = observe(content).passages
    links = tuple((words_of(item.anchor), item.document, one) for one in every for item in one.links)
    found = tuple((one, words_of(one.text)) for one in every if not is_simulated(one.document))
    documents = frozenset((*(one.document for one, _ in found), *(document for _, document, _ in links)))
    text = "\n".join(words for _, words in found)
    return _Worded(found, text, documents, any(one.fact is not None for one, _ in found), links)


def states_answer(task: Task, answer: str, contents: Iterable[str], *, right: bool) -> bool:
    """Whether observations state ``answer``, each part of it somewhere. One that is ``right`` is the gold answer,
    whatever words it was given in: then any name of that will do."""
    texts = [words_of(collected(content)) for content in contents]
    parts: list[tuple[str, ...]]
    if not right:
        parts = [(piece,) for piece in (answer_pieces(answer) if task.answer_parts else [answer])]
    elif task.answer_parts:
        parts = [(part.answer, *part.aliases) for part in task.answer_parts]
    else:
        parts = [(answer, task.answer, *task.answer_aliases)]
    named = [{words for name in names if (words := words_of(name)).strip()} for names in parts]
    return any(named) and all(any(words in text for words in one for text in texts) for one in named if one)


def stands_verbatim(task: Task) -> bool:
    """Whether what supports the answer states it word for word, as it does names. Numbers and dates may be worked out
    or written in another form, and "yes" stands in no page."""
    return task.answer_kind in ("entity", "text") and task.answer.strip().casefold() not in _YES_NO


def collected(content: str) -> str:
    """The words of an observation, without those that a model wrote in the place of pages."""
    seen = observe(content)
    if not any(is_simulated(name) for name in (seen.about, *(hit.document for hit in seen.results))):
        return content
    return "\n".join(passage.text for passage in seen.passages if not is_simulated(passage.document))


def _is_fact(hop: Hop, fact: Triple, *, turned: bool = False) -> bool:
    if " ".join(hop.relation.split()) != fact.relation:
        return False
    subject, object = (hop.source, hop.target) if hop.forward != turned else (hop.target, hop.source)
    return _is_end(subject, fact.subject) and _is_end(object, fact.object)


def _is_end(node: Node, end: End) -> bool:
    if end.id:
        return end.id in (node.id, node.document_id)
    if node.kind == "range":
        plain_value = _plain_value(end.name)
        return any(lies_in(kind, plain_value, node.id) for kind in MEASURED_KINDS)
    return node.document_id is None and any(same_words(end.name, name) for name in names_of(node))


def _plain_value(text: str) -> str:
    """A date as ISO, a number without its separators: what ranges are compared with."""
    found = parse_date(text)
    if found is not None and found[1] and found[2]:
        return f"{found[0]:04d}-{found[1]:02d}-{found[2]:02d}"
    return ungrouped(text)


def _covers(text: str, quote: str) -> bool:
    return quote in text or (text in quote and 2 * len(text.split()) > len(quote.split()))


def _words_of_names(node: Node) -> tuple[str, ...]:
    return tuple(words for name in names_of(node) if (words := words_of(name)).strip())


def _named(node: Node, names: Sequence[str], passage: Passage, text: str) -> bool:
    for words in names:
        if words in text:
            return True
    document = node.document_id
    if document is None:
        return False
    linked = [item for item in passage.links if item.place.startswith(document) and item.document == document]
    return any(same_words(item.anchor, name) for item in linked for name in names_of(node))


def _is_about(node: Node, passage: Passage) -> bool:
    """The passage stands on the node's own page. An entry on a page of many things must be named."""
    if node.document_id is None or passage.document != node.document_id:
        return False
    return any(words_of(name) in words_of(passage.title) for name in names_of(node))


class EvidenceView:
    """What a history has shown of ``task``'s evidence. Grows step by step."""

    def __init__(self, task: Task, history: Iterable[Step] = (), tools: Sequence[ToolSchema] = ()) -> None:
        self.task = task
        self.tools = tools
        """By their defaults, calls are told to be equal."""
        self.hops: set[int] = set()
        """Hops of the walk whose evidence was in view."""
        self.read: list[str] = []
        """Documents that were opened, in order, each once."""
        self.last_page = ""
        """The document that was opened or searched last; empty before any was."""
        self.stated: dict[int, list[Passage]] = {}
        """Hop -> the passages that state it."""
        self.links: dict[str, list[Passage]] = {}
        """Document -> the passages that link to it."""
        self.listed: dict[str, list[int]] = {}
        """Document -> the searches (places in ``searches``) that listed it."""
        self.searches: list[tuple[ToolCall, tuple[Hit, ...]]] = []
        self.shown_by_link: dict[str, bool] = {}
        """Document -> whether it was last shown by a link in a text, rather than by a list of results."""
        self.named: dict[str, set[str]] = {}
        """Words of a title or link -> the documents that go by it."""
        self.relations: dict[str, dict[tuple[str, str], Listed]] = {}
        """Thing -> (relation, direction) that it was said to have."""
        self.results: list[tuple[ToolCall, ToolResult]] = []
        """Every call that was carried out, with its observation."""
        self.sought = _sought(task.walk.hops)
        self.plan = PlanView.of(task)
        """How far the plan of a reverse task is carried out; None where there is none."""
        for step in history:
            self.take(step)

    def take(self, step: Step) -> frozenset[int]:
        """Add the next step; gives the hops that it brought into view."""
        before = frozenset(self.hops)
        if self.plan is not None:
            self.plan.take(step)
        for call, result in zip(step.turn.calls, step.results, strict=False):
            self.results.append((call, result))
            if result.error is None:
                self._show(call, result.content)
                self.hops |= set(result.proves)
        return frozenset(self.hops - before)

    def _show(self, call: ToolCall, content: str) -> None:
        seen = observe(content)
        if seen.about and seen.about not in self.read:
            self.read.append(seen.about)
        self.last_page = seen.about or self.last_page
        for has in seen.relations:
            self.relations.setdefault(seen.about, {})[has.relation, has.direction] = has
        if seen.results:
            self.searches.append((call, seen.results))
        for hit in seen.results:
            self.listed.setdefault(hit.document, []).append(len(self.searches) - 1)
            self.named.setdefault(words_of(hit.title), set()).add(hit.document)
            self.shown_by_link[hit.document] = False
        for words, document, passage in _worded(content).links:
            self.named.setdefault(words, set()).add(document)
            if document != passage.document:
                self.links.setdefault(document, []).append(passage)
                self.shown_by_link[document] = True
        for number, sought in enumerate(self.sought):
            found = _stating(sought, content)
            if found:
                self.hops.add(number)
                self.stated.setdefault(number, []).extend(found)

    @property
    def named_documents(self) -> frozenset[str]:
        """Documents that were shown by a title or a link, or opened."""
        return frozenset(self.listed) | frozenset(self.links) | frozenset(self.read)

    @property
    def progress(self) -> float:
        """Share of the walk's hops in view, 0 to 1; 0 where there is no walk."""
        return len(self.hops) / len(self.task.walk.hops) if self.task.walk.hops else 0.0

    def would_show(self, result: ToolResult) -> frozenset[int]:
        """Hops that ``result`` would bring into view. Changes nothing."""
        if result.error is not None:
            return frozenset()
        shown = {number for number, sought in enumerate(self.sought) if _stating(sought, result.content)}
        return frozenset(shown | set(result.proves)) - self.hops
