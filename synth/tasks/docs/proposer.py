"""Questions over real documents: candidates by number, worded without a model, each checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from synth.identity import digest
from synth.schemas.documents import Edge, Entity
from synth.schemas.rejections import Reason, Rejection
from synth.schemas.row import Split
from synth.schemas.tasks import AnswerPart, CheckResult, Difficulty, Hop, Node, Walk
from synth.tasks.docs.checks import Failure, Judge
from synth.tasks.docs.conjunctions import Conjunction, Conjunctions, Constraint
from synth.tasks.docs.corpus import Corpus, Documents
from synth.tasks.docs.describe import Description, Descriptions
from synth.tasks.docs.entries import Entries
from synth.tasks.docs.kinds import noun_of
from synth.tasks.docs.masked import Masked, Passage, frames
from synth.tasks.docs.steps import Step, Steps
from synth.tasks.docs.walks import Composition, Compositions
from synth.tasks.docs.wording import Worded, constraint_words, word_composition, word_conjunction
from synth.tasks.draft import Draft, gold_documents, gold_entities
from synth.text.inflection import plural
from synth.text.lists import listed

__all__ = ["DocsProposer", "DocsTasksConfig", "Proposed"]


class DocsTasksConfig(BaseModel):
    """Which questions, and how strictly they are judged."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    conjunction_share: float = Field(default=0.3, ge=0, le=1)
    """Share of candidates that are conjunctions; the others are compositions."""
    masked_share: float = Field(default=0.08, ge=0, le=1)
    """Share of candidates that are passages with masked names."""
    quoted_share: float = Field(default=0.15, ge=0, le=1)
    """Share of compositions that may quote a sentence, with a gap or for the reference that it gives."""
    max_characters: int = Field(default=420, ge=80)
    """Longer questions are rejected (``unnatural``)."""
    k: int = Field(default=10, ge=1)
    """A hop is retrievable when its page is among this many best results."""
    overlap: float = Field(default=0.72, gt=0, le=1)
    """A description is not unique when another thing's, or another page's, words hold this share of its own words,
    weighted by their rarity."""
    hub_share: float = Field(default=0.05, gt=0, le=1)
    """Pages that more than this share of all pages link to belong to no split, as index pages do."""


@dataclass(frozen=True)
class Proposed:
    """A task before its provenance: :func:`synth.tasks.draft.finish` makes the row."""

    draft: Draft
    checks: tuple[CheckResult, ...]

    @property
    def duplicate_key(self) -> str:
        """Candidates with equal keys ask the same thing, whatever the words: the walk's ends and relations."""
        hops = [
            [h.source.id if h.source.kind != "description" else "", h.relation, h.target.id]
            for h in self.draft.walk.hops
        ]
        return digest("docs question", sorted(hops))[:16]


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
        self.descriptions = Descriptions(self.corpus, overlap=config.overlap)
        self._compositions = Compositions(self.corpus, self.descriptions, Steps(self.corpus, Entries(self.corpus)))
        self._conjunctions = Conjunctions(self.corpus)
        self._masked = Masked(self.corpus)
        self._by_answer: dict[int, dict[Any, list[Any]]] = {}
        """Walks of a signature by their answers; the lists live as long as this object, so their ids stay theirs."""
        self._judge = Judge(self.corpus, self.descriptions, search, k=config.k, overlap=config.overlap)

    @property
    def hubs(self) -> list[str]:
        """Ids of the documents that no split owns (METHODS 9: declared and listed)."""
        return [self.corpus.columns.ids[row] for row in sorted(self.corpus.hubs)]

    def capacity(self, split: Split) -> int:
        """How many different walks there are for a split; each is at most one question."""
        compositions = self._compositions.by_signature.get(split, {})
        conjunctions = self._conjunctions.by_signature.get(split, {})
        masked = self._masked.by_signature.get(split, {}) if self.config.masked_share else {}
        return sum(sum(map(len, groups.values())) for groups in (compositions, conjunctions, masked))

    def propose(self, index: int, split: Split, generator: np.random.Generator) -> Proposed | Rejection:
        """Candidate ``index`` for ``split``, or why there is none."""
        draft = self._draft(split, generator)
        if isinstance(draft, Failure):
            return _rejection(index, split, draft, "")
        judged = self._judge.run(draft)
        if isinstance(judged, Failure):
            judged = Failure(judged.reason, f"{draft.shape}: {judged.detail}")
            return _rejection(index, split, judged, draft.question)
        return Proposed(draft, judged)

    def _draft(self, split: Split, generator: np.random.Generator) -> Draft | Failure:
        drawn = float(generator.random())
        if drawn >= 1 - self.config.masked_share:
            passage = self._pick(self._masked.by_signature.get(split, {}), generator)
            if passage:
                return self._passage(passage, split, generator)
        if drawn < self.config.conjunction_share:
            group = self._pick(self._conjunctions.by_signature.get(split, {}), generator)
            return self._conjunction(group, split, generator) if group else _NOTHING
        groups = self._compositions.by_signature.get(split, {})
        quoted = float(generator.random()) < self.config.quoted_share
        chosen = {s: w for s, w in groups.items() if ("quoted" in s or "cited_for" in s) == quoted} or groups
        walks = self._pick(chosen, generator)
        return self._composition(walks, split, generator) if walks else _NOTHING

    def _pick(self, groups: dict[str, list[Any]], generator: np.random.Generator) -> Any:
        """A walk: first its signature, by the root of how many have it (of a hundred at most), so that no template
        crowds out the others."""
        if not groups:
            return None
        weights = np.sqrt(np.array([min(len(walks), _ENOUGH) for walks in groups.values()], dtype=np.float64))
        names = list(groups)
        place = int(np.searchsorted(np.cumsum(weights), float(generator.random()) * weights.sum(), side="right"))
        walks = groups[names[min(place, len(names) - 1)]]
        # Then an answer, by the root of how many walks end at it: else a few things that all else refers to are asked
        # for again and again.
        by_answer = self._by_answer.get(id(walks))
        if by_answer is None:
            by_answer = self._by_answer[id(walks)] = {}
            for walk in walks:
                by_answer.setdefault(walk.ends_at, []).append(walk)
        weights = np.sqrt(np.array([len(same) for same in by_answer.values()], dtype=np.float64))
        place = int(np.searchsorted(np.cumsum(weights), float(generator.random()) * weights.sum(), side="right"))
        same = list(by_answer.values())[min(place, len(by_answer) - 1)]
        return same[int(generator.integers(len(same)))]

    # Compositions.

    def _composition(self, walk: Composition, split: Split, generator: np.random.Generator) -> Draft | Failure:
        kinds = [self.corpus.entities[s.target].kind if s.target >= 0 else "" for s in walk.steps]
        worded = word_composition(walk.start, walk.steps, kinds, generator)
        hops: list[Hop] = []
        cues = list(worded.cues)
        if walk.start.description is not None:
            hops.append(self._described(walk.start.description, cues.pop(0)))
        for step, cue in zip(walk.steps, cues, strict=True):
            source = hops[-1].target if hops else self.corpus.node(walk.start.entity)
            hops.append(self._hop(step, source, len(hops) - 1, cue))
        branching = [1] * (len(hops) - len(walk.steps)) + [step.branching for step in walk.steps]
        return self._finish("composition", worded, hops, branching, split)

    def _described(self, description: Description, cue: str) -> Hop:
        edge = self.corpus.edges[description.edge]
        return Hop(
            source=Node(id=f"description:{digest(cue)[:16]}", name=description.phrase, kind="description"),
            target=self.corpus.node(description.entity),
            relation="described_as",
            forward=False,
            evidence=self.corpus.evidence(edge),
            cue=cue,
        )

    def _hop(self, step: Step, source: Node, need: int, cue: str) -> Hop:
        target = self.corpus.node(step.target) if step.target >= 0 else _value(step.value)
        return Hop(
            source=source,
            target=target,
            relation=step.relation,
            forward=step.forward,
            needs=(need,) if need >= 0 else (),
            evidence=self.corpus.evidence(step.edge),
            cue=cue,
        )

    # Conjunctions.

    def _conjunction(self, found: Conjunction, split: Split, generator: np.random.Generator) -> Draft | Failure:
        corpus = self.corpus
        answer = corpus.entities[found.answer]
        noun = noun_of(answer.kind)
        described: dict[int, Description] = {}
        said = []
        masked = int(generator.integers(len(found.constraints) + 1))
        for number, constraint in enumerate(found.constraints):
            source = ""
            if constraint.source >= 0:
                description = self._mask(constraint, split) if number == masked else None
                if description is not None:
                    described[number] = description
                    source = f"the {description.phrase}"
                else:
                    source = corpus.naming(constraint.source) or ""
            said.append(constraint_words(constraint.relation, source, constraint.value, generator))
        worded = word_conjunction(noun, plural(noun), said, generator)
        hops: list[Hop] = []
        branching: list[int] = []
        target = corpus.node(found.answer)
        for number, (constraint, cue) in enumerate(zip(found.constraints, worded.cues, strict=True)):
            if description := described.get(number):
                hops.append(self._described(description, description.phrase))
                branching.append(1)
            start = hops[-1].target if number in described else self._source(constraint)
            hops.append(
                Hop(
                    source=start,
                    target=target,
                    relation=constraint.relation,
                    forward=constraint.relation in ("see_also_of", "named_on"),
                    needs=(len(hops) - 1,) if number in described else (),
                    evidence=corpus.evidence(constraint.edge),
                    cue=cue,
                )
            )
            branching.append(len(constraint.fits))
        return self._finish("conjunction", worded, hops, branching, split)

    def _source(self, constraint: Constraint) -> Node:
        return self.corpus.node(constraint.source) if constraint.source >= 0 else _value(constraint.value)

    def _mask(self, constraint: Constraint, split: Split) -> Description | None:
        """A description in place of the page's name, where one fits it alone and its page belongs to the split."""
        if constraint.relation == "listed_in":
            return None
        for option in self.descriptions.of.get(constraint.source, ()):
            page = self.corpus.edges[option.edge].document
            unique = self.descriptions.unique(option)
            if unique is not None and unique.context < 0 and self.corpus.owned([page], split):
                return unique
        return None

    # Masked passages.

    def _passage(self, passage: Passage, split: Split, generator: np.random.Generator) -> Draft | Failure:
        corpus = self.corpus
        written = self._masked.written(passage)
        if written is None:
            return Failure(Reason.ANSWER_IN_QUESTION, "the passage names a thing beside its mask")
        text, cues = written
        options = frames(len(passage.masks))
        number = int(generator.integers(len(options)))
        marks = [f"[{n}]" for n in range(1, len(cues) + 1)]
        place = f"{corpus.columns.ids[passage.row]}:{passage.start}-{passage.end}"
        hops = [
            Hop(
                source=Node(id=f"passage:{place}#{n}", name=cue, kind="description"),
                target=corpus.node(mask.entity),
                relation="masked",
                forward=False,
                evidence=corpus.evidence(mask.evidence),
                cue=cue,
            )
            for n, (mask, cue) in enumerate(zip(passage.masks, cues, strict=True), 1)
        ]
        worded = Worded(options[number].format(m=listed(marks), p=text), cues, f"masked/{number}/{len(hops)}")
        return self._finish("masked", worded, hops, [1 + mask.rivals for mask in passage.masks], split)

    # All of them.

    def _finish(
        self, shape: Any, worded: Worded, hops: list[Hop], branching: list[int], split: Split
    ) -> Draft | Failure:
        question = worded.question
        if len(question) > self.config.max_characters + (_PASSAGE if shape == "masked" else 0):
            return Failure(Reason.UNNATURAL, f"{len(question)} characters")
        if any(mark in question for mark in ("«", "»", "{", "}")):
            return Failure(Reason.UNNATURAL, "a mark of the grammar in the question")
        for hop in hops:
            if hop.cue not in question:
                return Failure(Reason.UNNATURAL, f"the words {hop.cue!r} are not in the question")
        last = hops[-1].target
        walk = Walk(shape=shape, hops=tuple(hops))
        documents = gold_documents(walk)
        licences = {self.corpus.columns.licences[self.corpus.columns.ids.index(name)] for name in documents}
        parts = tuple(
            AnswerPart(answer=hop.target.name, aliases=hop.target.aliases, kind="entity")
            for hop in hops
            if shape == "masked" and len(hops) > 1
        )
        return Draft(
            question=question,
            answer=listed([part.answer for part in parts]) if parts else last.name,
            answer_aliases=() if parts else last.aliases,
            answer_parts=parts,
            answer_ordered=bool(parts),
            answer_kind="entity" if last.document_id is not None else "text",
            shape=shape,
            walk=walk,
            gold_entities=gold_entities(walk),
            gold_documents=documents,
            difficulty=Difficulty(
                hops=len(hops),
                constraints=sum(not hop.needs for hop in hops),
                branching=round(float(np.exp(np.mean(np.log(np.maximum(branching, 1))))), 4),
                documents=len(documents),
            ),
            split=split,
            surface=worded.surface,
            licence=licences.pop() if len(licences) == 1 else None,
        )


_ENOUGH = 100
"""Walks of a signature beyond which it is drawn no more often."""
_PASSAGE = 300
"""A passage may be so much longer than a question of our own words."""
_NOTHING = Failure(Reason.NO_WALK, "the documents offer no walk for this split")


def _value(value: str) -> Node:
    bare = value.strip("'\"")
    return Node(id=value, name=value, aliases=(bare,) if bare != value else (), kind="text")


def _rows(rows: Any, kind: type[Any]) -> list[Any]:
    if isinstance(rows, list):
        return rows
    from synth.schemas.arrow import from_arrow

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
