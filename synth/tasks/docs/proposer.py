"""Questions over real documents: candidates by number, worded without a model, each checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import Field

from synth.lexicon.reading import document_words
from synth.schemas.arrow import from_arrow
from synth.schemas.described import Described
from synth.schemas.documents import Edge, Entity
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import CheckResult
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.corpus import Corpus, Documents
from synth.tasks.docs.doubts import NOUNS
from synth.tasks.docs.english import indefinite
from synth.tasks.docs.families import Item, Items
from synth.tasks.docs.gate import Gate
from synth.tasks.docs.joined import JOINED, Joined
from synth.tasks.docs.shapes import Shapes
from synth.tasks.docs.spoken import statement_question
from synth.tasks.docs.wording import Words
from synth.tasks.docs.writer import Writer, around, one_of, value_node
from synth.tasks.draft import Draft, same_question
from synth.text.subjects import is_identifier
from synth.text.verbs import VERBS

__all__ = ["DocsProposer", "DocsTasksConfig", "Proposed"]

_ENOUGH = 400
"""Candidates of a family beyond which it is drawn no more often."""
_WEIGHTS = {"shapes": 2.0, "plain": 0.05, "via": 6.0, "within": 4.0, "pair": 2.0}
"""How gladly each family is asked."""
_SHAPES = "shapes"
_ACTS = re.compile(
    rf"the (?:[\w-]+ ){{1,4}}?[A-Za-z]+s (?:{'|'.join(sorted(VERBS - NOUNS))}) (?:on|the|an?|all|to|in)\b"
)
"""No meaning of a term: "the quota commands operate on mailbox trees"."""
_GAP = "____"
_NOTHING = Reason.NO_WALK


class DocsTasksConfig(Described):
    """Which questions, and how strictly they are judged."""

    cloze_share: float = Field(default=0.0, ge=0, le=1)
    """Share of candidates that are sentences with a gap to fill (MaskSearch, arXiv 2505.20285)."""
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
        return same_question(self.draft)


class DocsProposer:
    """Made once; then every candidate is a function of its number's generator alone.

    Args:
        documents: the ``documents`` table (:class:`synth.stages.contract.Table`).
        entities, edges: tables or lists of rows, as :func:`synth.sources.docs.graph.graph_tables` makes them.
        search: ``search(query, k)`` -> row numbers of the best documents, as the agent's tool ranks them. None: no
            question can be checked, so every candidate is rejected.
        config: see :class:`DocsTasksConfig`.
    """

    def __init__(
        self,
        documents: Documents,
        entities: Any,
        edges: Any,
        search: Callable[[str, int], Sequence[int]] | None,
        config: DocsTasksConfig,
    ) -> None:
        self.config = config
        self.corpus = Corpus(documents, _rows(entities, Entity), _rows(edges, Edge), hub_share=config.hub_share)
        self._words = Words(self.corpus)
        self.items = Items(self.corpus, self._words, gaps=config.cloze_share > 0)
        self._judge = Judge(self.corpus, search, k=config.k, overlap=config.overlap)
        self._gate = Gate(self.corpus)
        self._writer = Writer(self.corpus, self._words, self.items, self._judge, config.max_characters)
        self._joined = Joined(self._writer, self.items)
        self.items.add(self._joined.items())
        self.shapes = Shapes(self.corpus, self._words, self.items, self._judge, "docs_tasks")
        self._by_answer: dict[int, dict[tuple[str, str], list[Item]]] = {}

    @property
    def hubs(self) -> list[str]:
        """Ids of the documents that no split owns (METHODS 9: declared and listed)."""
        return [self.corpus.columns.ids[row] for row in sorted(self.corpus.hubs)]

    def offers(self, split: Split) -> dict[str, int]:
        """How many different candidates of each family there are for a split; each is at most one question."""
        found = {family: len(items) for family, items in self.items.by_family.get(split, {}).items()}
        return {**found, _SHAPES: self.shapes.sizes[split]} if self.shapes.sizes[split] else found

    def propose(self, index: int, split: Split, generator: np.random.Generator) -> Proposed | Rejection:
        """Candidate ``index`` for ``split``, or why there is none."""
        family = self._family(split, generator)
        if family is None:
            return _rejection(index, split, Failure(_NOTHING, "the documents offer nothing for this split"), "")
        if family == _SHAPES:
            made = self.shapes.propose(index, int(generator.integers(1 << 32)))
            return made if isinstance(made, Rejection) else Proposed(made.draft, made.checks)
        item = self._pick(self.items.by_family[split][family], generator)
        draft = self._draft(item, split, generator)
        if isinstance(draft, Failure):
            return _rejection(index, split, Failure(draft.reason, f"{item.family}: {draft.detail}"), "")
        if (flaw := self._gate.flaw(draft)) is not None:
            return _rejection(index, split, Failure(Reason.UNNATURAL, f"{item.family}: {flaw}"), draft.question)
        judged = self._judge.run(draft)
        if isinstance(judged, Failure):
            judged = Failure(judged.reason, f"{item.family}: {judged.detail}")
            return _rejection(index, split, judged, draft.question)
        return Proposed(draft, judged)

    def _family(self, split: Split, generator: np.random.Generator) -> str | None:
        """A family, by the root of how many candidates it has and by how well its questions read."""
        offers = self.offers(split)
        if not offers:
            return None
        weights = {
            family: min(size, _ENOUGH) ** 0.5 * _WEIGHTS.get(family, 1.0) for family, size in sorted(offers.items())
        }
        share = self.config.cloze_share
        rest = sum(weight for family, weight in weights.items() if family != "cloze")
        if "cloze" in offers and rest:
            weights = {family: weight / rest * (1 - share) for family, weight in weights.items()} | {"cloze": share}
        return str(_drawn(weights, generator))

    def _pick(self, items: Sequence[Item], generator: np.random.Generator) -> Item:
        """A label and an answer by the roots of their numbers, so that no template and no answer crowds out others."""
        by_answer = self._by_answer.get(id(items))
        if by_answer is None:
            by_answer = self._by_answer[id(items)] = {}
            for item in items:
                by_answer.setdefault((item.label, item.ends_at), []).append(item)
        labels: dict[str, list[tuple[str, str]]] = {}
        for key in by_answer:
            labels.setdefault(key[0], []).append(key)
        label = _drawn({name: len(keys) ** 0.5 for name, keys in labels.items()}, generator)
        answer = _drawn({key: len(by_answer[key]) ** 0.5 for key in labels[label]}, generator)
        same = by_answer[answer]
        return same[int(generator.integers(len(same)))]

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
        if item.family in ("subject", "plain"):
            return self._subject(edges[0], item, split)
        return self._gap(edges[0], item, split, generator)

    def _identify(self, edge: Edge, item: Item, split: Split, generator: np.random.Generator) -> Draft | Failure:
        found = self._writer.thing(edge)
        if isinstance(found, Failure):
            return found
        noun, clause = found
        said = clause.removeprefix("that ") if clause.startswith("that ") else f"is {clause}"
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
        if listed or is_identifier(name) or (name.islower() and " " not in name):
            return Failure(Reason.UNNATURAL, "a word of a list is no term")
        if meaning == clause or not re.match(r"(?:an?|the) ", meaning) or _ACTS.match(meaning):
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
        if "," in found[1]:
            return Failure(Reason.UNNATURAL, "a question goes on behind what is said in two parts")
        x = f"the {found[0]} {found[1]}"
        question = self._writer.asked(value.relation, x, generator)
        if question is None:
            return Failure(Reason.UNNATURAL, "no words for the value")
        told = self._writer.told(edge, edge.subject, x, found[1])
        return self._writer.finish(
            item, question, [told, self._writer.step(value, told.target, around(question, x), (0,))], split
        )

    def _subject(self, edge: Edge, item: Item, split: Split) -> Draft | Failure:
        said = self._words.spoken_of(self.corpus.quote(edge), edge.document)
        asked = None if said is None else statement_question(said)
        if asked is None or edge.value is None:
            return Failure(Reason.UNNATURAL, "the sentence makes no question")
        question, cue = asked
        return self._writer.finish(
            item, question, [self._writer.said_there(edge, value_node(edge.value, edge.value_kind), cue, cue)], split
        )

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


def _drawn(weights: dict[Any, float], generator: np.random.Generator) -> Any:
    names = list(weights)
    totals = np.cumsum(np.array([weights[name] for name in names], dtype=np.float64))
    place = int(np.searchsorted(totals, float(generator.random()) * totals[-1], side="right"))
    return names[min(place, len(names) - 1)]


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
