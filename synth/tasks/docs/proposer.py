"""Questions over real documents: candidates by number, worded without a model, each checked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from synth.identity import derive_generator, digest
from synth.lexicon.reading import document_words
from synth.schemas.arrow import from_arrow
from synth.schemas.described import Described
from synth.schemas.details import details_with
from synth.schemas.documents import Edge, Entity
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult, QuestionRank, Task
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.corpus import Corpus, Documents
from synth.tasks.docs.doubts import NOUNS
from synth.tasks.docs.english import indefinite
from synth.tasks.docs.families import Item, Items
from synth.tasks.docs.gate import Gate
from synth.tasks.docs.joined import JOINED, Joined
from synth.tasks.docs.ranks import SHAPES, Candidate, Rank, order, rank_of_walk
from synth.tasks.docs.shapes import Shapes
from synth.tasks.docs.spoken import answered, on_page, statement_question
from synth.tasks.docs.wording import Words
from synth.tasks.docs.writer import Writer, around, one_of, value_node
from synth.tasks.draft import Draft, same_question
from synth.text.asked import AskedSentence
from synth.text.headings import how_to
from synth.text.subjects import is_identifier
from synth.text.verbs import VERBS

__all__ = ["DocsProposer", "DocsTasksConfig", "Proposed", "duplicate_key"]

_ACTS = re.compile(
    rf"the (?:[\w-]+ ){{1,4}}?[A-Za-z]+s (?:{'|'.join(sorted(VERBS - NOUNS))}) (?:on|the|an?|all|to|in)\b"
)
"""No meaning of a term: "the quota commands operate on mailbox trees"."""
_GAP = "____"
_NOTHING = Reason.NO_WALK


class DocsTasksConfig(Described):
    """Which questions, and how strictly they are judged."""

    ranks: tuple[Rank, ...] = Field(default=("good", "fair"), min_length=1)
    """Which kinds of questions are asked, those of each rank when the one before is used up: ``good`` (a thing by what
    it is or does, values, tables, two pages), ``fair`` (what one page alone tells, and the question names it), ``gap``
    (a sentence with a gap to fill, which no person asks: MaskSearch, arXiv 2505.20285). Without ``gap`` a build of
    pages that are all prose may end early, and says so; each task says its rank in ``details.rank``."""
    max_characters: int = Field(default=420, ge=80)
    """Longer questions are rejected (``unnatural``)."""
    k: int = Field(default=10, ge=1)
    """A hop is retrievable when its page is among this many best results."""
    overlap: float = Field(default=0.72, gt=0, le=1)
    """A description is not unique when another sentence that is not said of the same thing holds this share of its
    words, weighted by their rarity."""
    hub_share: float = Field(default=0.05, gt=0, le=1)
    """Pages that more than this share of all pages link to belong to no split, as index pages do."""


@dataclass(frozen=True)
class Proposed:
    """A task before its provenance: :func:`synth.tasks.draft.finish` makes the row."""

    draft: Draft
    checks: tuple[CheckResult, ...]

    @property
    def duplicate_key(self) -> str:
        """Candidates with equal keys ask the same thing, whatever the words."""
        return duplicate_key(self.draft)


def duplicate_key(task: Draft | Task) -> str:
    """A sentence is asked about once, in whatever way: by what it speaks of, with its page, or with a gap."""
    hops = task.walk.hops
    if len(hops) == 1 and hops[0].relation == "states":
        return digest("sentence", "".join(sign for sign in hops[0].evidence.quote.casefold() if sign.isalnum()))
    return same_question(task)


class DocsProposer:
    """Made once; then every candidate is a function of its number's generator alone.

    Args:
        documents: the ``documents`` table (:class:`synth.stages.contract.Table`).
        entities, edges: tables or lists of rows, as :func:`synth.sources.docs.graph.graph_tables` makes them.
        search: ``search(query, k)`` -> row numbers of the best documents, as the agent's tool ranks them. None: no
            question can be checked, so every candidate is rejected.
        config: see :class:`DocsTasksConfig`.
        seed: of the order in which candidates are tried.
    """

    def __init__(
        self,
        documents: Documents,
        entities: Any,
        edges: Any,
        search: Callable[[str, int], Sequence[int]] | None,
        config: DocsTasksConfig,
        seed: int = 0,
    ) -> None:
        self.config = config
        self.corpus = Corpus(documents, _rows(entities, Entity), _rows(edges, Edge), hub_share=config.hub_share)
        self._words = Words(self.corpus)
        self.items = Items(self.corpus, self._words, gaps="gap" in config.ranks)
        self._judge = Judge(self.corpus, search, k=config.k, overlap=config.overlap)
        self._gate = Gate(self.corpus)
        self._writer = Writer(self.corpus, self._words, self.items, self._judge, config.max_characters)
        self._joined = Joined(self._writer, self.items)
        self.items.add(self._joined.items())
        self.shapes = Shapes(self.corpus, self._words, self.items, self._judge, "docs_tasks")
        generator = derive_generator(seed, "docs_order")
        self.order = order(self.items.by_family, self.shapes.sizes, config.ranks, generator)
        """Every candidate, the best rank first."""
        self._of_split: dict[Split, list[Candidate]] = {}

    @property
    def hubs(self) -> list[str]:
        """Ids of the documents that no split owns (METHODS 9: declared and listed)."""
        return [self.corpus.columns.ids[row] for row in sorted(self.corpus.hubs)]

    def offers(self) -> dict[str, int]:
        """How many different candidates of each family there are; each is at most one question."""
        found = Counter(one.item.family for one in self.order if one.item is not None)
        if any(one.item is None for one in self.order):
            found[SHAPES] = self.shapes.sizes.total()
        return dict(found)

    def ranked(self) -> dict[str, int]:
        """How many candidates of each rank there are."""
        return dict(Counter(one.rank for one in self.order))

    def propose(self, index: int, split: Split | None, generator: np.random.Generator) -> Proposed | Rejection:
        """Candidate ``index`` among all of them or among those of one split; a rejection if there is none."""
        listed = self.order if split is None else self._listed(split)
        if index >= len(listed):
            where = "of this split " if split else ""
            failure = Failure(_NOTHING, f"the documents offer no candidate {where}that was not tried")
            return _rejection(index, split or "train", failure, "")
        return self._made(index, listed[index], generator)

    def _listed(self, split: Split) -> list[Candidate]:
        if split not in self._of_split:
            shaped = split if self.shapes.sizes[split] else None
            self._of_split[split] = [one for one in self.order if (one.split or shaped) == split]
        return self._of_split[split]

    def _made(self, index: int, candidate: Candidate, generator: np.random.Generator) -> Proposed | Rejection:
        item, ranked = candidate.item, QuestionRank(rank=candidate.rank)
        if item is None or candidate.split is None:
            made = self.shapes.propose(index, int(generator.integers(1 << 32)))
            if isinstance(made, Rejection):
                return made
            if rank_of_walk(made.draft.walk) != candidate.rank:
                failure = Failure(Reason.UNNATURAL, f"{made.draft.shape}: another rank asks it")
                return _rejection(index, made.draft.split, failure, made.draft.question)
            details = details_with(made.draft.details, ranked)
            return Proposed(made.draft.model_copy(update={"details": details}), made.checks)
        split = candidate.split
        draft = self._draft(item, split, generator)
        if isinstance(draft, Failure):
            return _rejection(index, split, Failure(draft.reason, f"{item.family}: {draft.detail}"), "")
        if (flaw := self._gate.flaw(draft)) is not None:
            return _rejection(index, split, Failure(Reason.UNNATURAL, f"{item.family}: {flaw}"), draft.question)
        judged = self._judge.run(draft)
        if isinstance(judged, Failure):
            judged = Failure(judged.reason, f"{item.family}: {judged.detail}")
            return _rejection(index, split, judged, draft.question)
        return Proposed(draft.model_copy(update={"details": details_with(draft.details, ranked)}), judged)

    # The families.

    def _draft(self, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        edges = [self.corpus.edges[number] for number in item.edges]
        if item.family in JOINED:
            return self._joined.draft(item, split, generator)
        if item.family == "identify":
            return self._identify(edges[0], item, split, generator)
        if item.family == "described":
            return self._described(edges[0], edges[1], item, split, generator)
        if item.family == "holder":
            return self._holder(edges[0], item, split)
        if item.family == "section":
            return self._section(edges[0], item, split)
        if item.family in ("subject", "plain", "told", "asked", "placed"):
            return self._subject(edges[0], item, split)
        return self._gap(edges[0], item, split, generator)

    def _identify(self, edge: Edge, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        found = self._writer.thing(edge)
        if isinstance(found, Failure):
            return found
        noun, clause = found
        said = clause.removeprefix("that ") if clause.startswith("that ") else f"is {clause}"
        kind, _, place = noun.partition(" ")
        if again := re.fullmatch(rf"is an? ((?:[\w-]+ )?{re.escape(kind)}) ([a-z]{{3,}}ed|sent|thrown) (.*)", said):
            noun, said = f"{again[1]} {place}".strip(), f"is {again[2]} {again[3]}"  # no "type that is an event type"
            clause = f"that {said}"
        if noun.partition(" ")[0] == "term":
            return self._term(edge, item, noun.partition(" in ")[2], clause, split)
        frame = one_of(document_words().identify, generator)
        question = frame.format(n=noun, said=said, clause=clause)
        cue = f"{noun} {said if '{said}' in frame else clause}"
        return self._writer.finish(item, question, [self._writer.told(edge, edge.subject, cue, clause)], split)

    def _holder(self, edge: Edge, item: Item, split: Split) -> Draft | Failure:
        """The page about one thing that has a part of which this is said: "Which class has a function that ..."."""
        entity, page = edge.subject, self.corpus.pages[edge.document]
        clause = self.items.told[entity][1]
        own = (edge.document, edge.start, edge.end)
        if (rival := self._judge.rival(clause, own, self._writer.names(page), outside=edge.document)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"another page says the same: {rival!r}")
        if (other := self.items.said_elsewhere(entity, clause)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"the same is said of {self.corpus.entities[other].name!r}")
        cue = f"{indefinite(self.corpus.entities[entity].kind)} {clause}"
        question = f"Which {self._words.noun(page)} has {cue}?"
        hop = self._writer.told(edge, page, cue, clause).model_copy(update={"relation": "part_of", "forward": True})
        return self._writer.finish(item, question, [hop], split)

    def _term(self, edge: Edge, item: Item, page: str, clause: str, split: Split) -> Draft | Failure:
        """A term by its meaning, since a question rarely asks for the name of a term."""
        meaning = clause.removeprefix("that is ")
        name = self.corpus.entities[edge.subject].name
        listed = self.corpus.called["term", name.casefold()] > 1
        plain = re.fullmatch(r"[A-Z][a-z]+", name) is not None and (name.endswith("ed") or self.corpus.is_common(name))
        if listed or plain or is_identifier(name) or (name.islower() and " " not in name):
            return Failure(Reason.UNNATURAL, "a word of a list is no term")
        several = re.match(r"an? (?:variety|list|set|number|collection|group|series|code|kind|type) ", meaning)
        if several or meaning == clause or not re.match(r"(?:an?|the) ", meaning) or _ACTS.match(meaning):
            return Failure(Reason.UNNATURAL, "what is said of the term is no meaning")
        question = f"What does {page} call {meaning}?" if page else f"What is the term for {meaning}?"
        return self._writer.finish(item, question, [self._writer.told(edge, edge.subject, meaning, clause)], split)

    def _described(
        self, edge: Edge, value: Edge, item: Item, split: Split, generator: np.random.Generator
    ) -> Draft | Failure:
        found = self._writer.thing(edge)
        if isinstance(found, Failure):
            return found
        if found[0].partition(" ")[0] == "term":
            return Failure(Reason.UNNATURAL, "a term has no value to ask for")
        if value.relation == "returns" and re.search(r"\breturns?\b", found[1]):
            return Failure(Reason.UNNATURAL, "what is said of it tells that it returns something")
        if "," in found[1]:
            return Failure(Reason.UNNATURAL, "a question goes on behind what is said in two parts")
        x = f"the {found[0]} {found[1]}"
        question = self._writer.asked(value.relation, x, generator, light=True)
        if question is None:
            return Failure(Reason.UNNATURAL, "no words for the value")
        told = self._writer.told(edge, edge.subject, x, found[1])
        return self._writer.finish(
            item, question, [told, self._writer.step(value, told.target, around(question, x), (0,))], split
        )

    def _subject(self, edge: Edge, item: Item, split: Split) -> Draft | Failure:
        asked = self._asks(edge, item.family)
        if asked is None or edge.value is None:
            return Failure(Reason.UNNATURAL, "the sentence makes no question")
        question, cue = asked
        if item.family == "told":
            page = self._words.page(edge.document)
            if not page:
                return Failure(Reason.UNNATURAL, "its page has no title of its own")
            question = on_page(question, page)
        if item.family == "placed":
            place = self._words.place(edge.document)
            if not place:
                return Failure(Reason.UNNATURAL, "its page has no title of its own")
            question = re.sub("^Which (?:option|flag)", rf"\g<0> {place}", question)
        return self._writer.finish(
            item, question, [self._writer.said_there(edge, value_node(edge.value, edge.value_kind), cue, cue)], split
        )

    def _asks(self, edge: Edge, family: str) -> tuple[str, str] | None:
        """(question, cue) of a sentence, for what it says or for what it speaks of."""
        quote = self.corpus.quote(edge)
        if family in ("asked", "told", "placed"):
            found = answered(quote, edge.value or "", self.corpus.commands)
            if found is not None or family != "told":
                return None if found is None else self._lowered(found)
        said = self._words.spoken_of(quote, edge.document)
        if said is None or said.name != edge.value:
            return None
        return statement_question(said, local=family == "told")

    def _lowered(self, asked: AskedSentence) -> tuple[str, str]:
        """(question, cue), without the capital of a word that only opened its sentence."""
        first = re.match(r"[A-Z][a-z]+(?= [a-z])", asked.cue)
        if first is None or not self.corpus.is_common(first.group()):
            return asked.question, asked.cue
        cue = f"{asked.cue[0].lower()}{asked.cue[1:]}"
        return asked.question.replace(asked.cue, cue), cue

    def _section(self, edge: Edge, item: Item, split: Split) -> Draft | Failure:
        """A page by what one of its sections, and no other page, shows how to do."""
        done = how_to(self.corpus.quote(edge)) or ""
        page = edge.object
        if self.corpus.titled[self.corpus.columns.titles[edge.document]] > 1 or not self._words.page(edge.document):
            return Failure(Reason.NOT_UNIQUE, "its page has no title of its own")
        own = (edge.document, edge.start, edge.end)
        if (rival := self._judge.rival(done, own, self._writer.names(page), outside=edge.document)) is not None:
            return Failure(Reason.NOT_UNIQUE, f"another page says the same: {rival!r}")
        hop = self._writer.told(edge, page, done, done).model_copy(update={"relation": "part_of", "forward": True})
        return self._writer.finish(item, f"Which page shows how to {done}?", [hop], split)

    def _gap(self, edge: Edge, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        corpus = self.corpus
        assert edge.value is not None
        title = corpus.columns.titles[edge.document]
        masked = _masked(corpus.quote(edge), edge.value)
        if masked is None:
            return Failure(Reason.UNNATURAL, "the sentence does not hold the word once")
        titled = corpus.titled[title] == 1 and not any(c in title for c in "“”")
        frames = document_words().gaps if titled else document_words().untitled
        question = one_of(frames, generator).format(p=title, s=masked)
        target = value_node(edge.value, edge.value_kind)
        return self._writer.finish(
            item, question, [self._writer.said_there(edge, target, masked, masked)], split, "masked"
        )


def _masked(sentence: str, name: str) -> str | None:
    """The sentence with a gap in place of a name that it holds once."""
    sentence = " ".join(sentence.split())
    pattern = re.compile(rf"(?<![\w-]){re.escape(name.removesuffix('()'))}(?:\(\))?(?!\w)")
    if any(c in sentence for c in "“”") or not 30 <= len(sentence) <= 300 or len(pattern.findall(sentence)) != 1:
        return None
    return pattern.sub(lambda _: _GAP, sentence)


def _rows(rows: Any, kind: type[Any]) -> list[Any]:
    if isinstance(rows, list):
        return rows

    return list(from_arrow(rows.arrow if hasattr(rows, "arrow") else rows, kind))


def _rejection(index: int, split: Split, failure: Failure, question: str) -> Rejection:
    return Rejection(
        stage="docs_tasks",
        row_id=str(index),
        reason=failure.reason,
        detail=failure.detail,
        split=split,
        preview=question[:500],
    )
