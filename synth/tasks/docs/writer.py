"""Hops and drafts of questions over documents: what is said of a thing, and what a question makes of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.identity import digest
from synth.schemas.documents import Edge
from synth.schemas.rejections import Reason
from synth.schemas.row import Split
from synth.schemas.tasks import Hop, Node, Shape, Walk
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.families import Item, Items
from synth.tasks.docs.wording import Words
from synth.tasks.draft import Draft, draft_of, gold_documents

__all__ = ["Writer", "around", "one_of", "value_node"]


_LIGHT = 2


class Writer:
    """Makes hops of facts, and drafts of hops.

    Args:
        longest: longer questions are rejected (``unnatural``).
    """

    def __init__(self, corpus: Corpus, words: Words, items: Items, judge: Judge, longest: int) -> None:
        self.corpus, self.words, self.judge = corpus, words, judge
        self._items, self._longest = items, longest

    def thing(self, edge: Edge) -> tuple[str, str] | Failure:
        """(noun, with the page where it needs that; clause) of a thing by what is said of it."""
        entity = edge.subject
        said = self._items.said(entity)
        noun = self.words.noun(entity)
        if said is None or noun is None:
            return Failure(Reason.UNNATURAL, "nothing is said of the thing")
        clause = said[1]
        row = self.corpus.entities[entity].document
        names = self.names(entity)
        own = (edge.document, edge.start, edge.end)
        page = row if self.corpus.is_page(entity) else None
        alone = (
            self.judge.rival(clause, own, names, outside=page) is None
            and self._items.also_said(entity, clause, None) is None
        )
        if not self.words.is_local(entity) and alone:
            return noun, clause
        if page is not None:
            return Failure(Reason.NOT_UNIQUE, "the same is said elsewhere")
        place = self.words.place(row)
        if not place:
            return Failure(Reason.NOT_UNIQUE, "its page has no title of its own")
        if (rival := self.judge.rival(clause, own, names, within=row)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"the page says the same elsewhere: {rival!r}")
        if (other := self._items.also_said(entity, clause, row)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"the same is said of {self.corpus.entities[other].name!r}")
        return f"{noun} {place}", clause

    def names(self, entity: int) -> tuple[str, ...]:
        """What the thing alone goes by: a short name that others have, too, tells nothing."""
        found = self.corpus.entities[entity]
        own = found.name.replace("::", ".").rpartition(".")[2]
        short = (own,) if self.corpus.ends[found.kind, own] == 1 else ()
        return (found.name, *short, *(alias for alias in found.aliases if self.corpus.alone(alias)))

    def asked(self, relation: str, x: str, generator: np.random.Generator, *, light: bool = False) -> str | None:
        """``light``: nothing but the last word stands behind the thing, which many words describe."""
        options = self.words.asks(relation, x)
        if light:
            options = tuple(text for text in options if len(text.partition(x)[2].split()) < _LIGHT) or options
        return one_of(options, generator) if options else None

    def told(self, edge: Edge, entity: int, cue: str, said: str) -> Hop:
        """From words that say what a thing is, or stand around it, to the thing."""
        return self.said_there(edge, self.corpus.node(entity), cue, said)

    def said_there(self, edge: Edge, target: Node, cue: str, said: str) -> Hop:
        source = Node(id=f"description:{digest(said)[:16]}", name=said, kind="description")
        evidence = self.corpus.evidence(edge)
        return Hop(source=source, target=target, relation=edge.relation, forward=False, evidence=evidence, cue=cue)

    def step(self, edge: Edge, source: Node, cue: str, needs: tuple[int, ...] = ()) -> Hop:
        target = self.corpus.node(edge.object) if edge.object >= 0 else value_node(edge.value or "", edge.value_kind)
        evidence = self.corpus.evidence(edge)
        return Hop(
            source=source, target=target, relation=edge.relation, forward=True, needs=needs, evidence=evidence, cue=cue
        )

    def finish(
        self, item: Item, question: str, hops: list[Hop], split: Split, shape: Shape = "composition"
    ) -> Draft | Failure:
        if len(question) > self._longest:
            return Failure(Reason.UNNATURAL, f"{len(question)} characters")
        for hop in hops:
            if not hop.cue or hop.cue not in question:
                return Failure(Reason.UNNATURAL, f"the words {hop.cue!r} are not in the question")
        last = hops[-1].target
        walk = Walk(shape=shape, hops=tuple(hops))
        licences = self.corpus.columns.licences
        return draft_of(
            walk,
            (licences[self.corpus.row_of[name]] for name in gold_documents(walk)),
            question=question,
            answer=last.name,
            answer_aliases=last.aliases,
            answer_kind="entity" if last.document_id is not None else last.kind,
            split=split,
            surface=f"{item.family}/{item.label}",
        )


def one_of(options: Sequence[str], generator: np.random.Generator) -> str:
    return options[int(generator.integers(len(options)))]


def around(question: str, inner: str) -> str:
    """The words of a question in front of what it asks about, or those behind it where none stand in front."""
    before, _, after = question.partition(inner)
    return before.strip() if len(before.split()) > 1 else after.strip(" ?")


def value_node(value: str, kind: str) -> Node:
    bare = value.strip("'\"")
    return Node(id=value, name=value, aliases=(bare,) if bare and bare != value else (), kind=kind)
