"""All compositions that a corpus offers, found once: a described thing and the hops from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from synth.schemas.row import Split
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.describe import Descriptions, Start
from synth.tasks.docs.steps import Step, Steps

__all__ = ["Composition", "Compositions"]

_MAX_STEPS = 3
"""Steps from a named start; a described one is a step itself."""
_WEAK = frozenset(
    "mentions introduction_mentions sole_mention see_also seen_also_from cross_reference cited_for quoted".split()
)
"""Relations that tell little of what the things have to do with each other: one per question is enough."""
_WITHIN = ("listed_in", "part_of", "defined_in")
_PER_SIGNATURE = 3000
"""Compositions that are kept for a split and a signature, in the order of the entities."""
_NAMED = frozenset(("configuration parameter", "section", "glossary term", "package"))
"""Kinds of places in pages that a question may begin with by name; whole pages are named anyway."""


@dataclass(frozen=True)
class Composition:
    start: Start
    steps: tuple[Step, ...]

    @property
    def signature(self) -> str:
        """The relations, by which questions are balanced."""
        return ("" if self.start.description else "named:") + ">".join(step.relation for step in self.steps)

    @property
    def ends_at(self) -> int | str:
        """The answer: an entity or a value."""
        return self.steps[-1].target if self.steps[-1].target >= 0 else self.steps[-1].value


class Compositions:
    """Compositions by split and signature. Rules that every one keeps:

    * its evidence is on two pages at least, and what states the answer is on another page than the description;
    * no thing twice; no step back to what is named beside the description;
    * every page that is no hub belongs to the split.
    """

    def __init__(self, corpus: Corpus, descriptions: Descriptions, steps: Steps) -> None:
        self._corpus = corpus
        self._descriptions = descriptions
        self._steps = steps
        self._onward: dict[int, list[Step]] = {}
        self._final: dict[int, list[Step]] = {}

    @cached_property
    def by_signature(self) -> dict[Split, dict[str, list[Composition]]]:
        found: dict[Split, dict[str, list[Composition]]] = defaultdict(lambda: defaultdict(list))
        for start in self._starts():
            for walk in self._from(start):
                for split in self._splits(walk):
                    if len(found[split][walk.signature]) < _PER_SIGNATURE:
                        found[split][walk.signature].append(walk)
        return {split: dict(sorted(groups.items())) for split, groups in found.items()}

    def _starts(self) -> Iterator[Start]:
        corpus = self._corpus
        for entity in self._descriptions.candidates():
            for option in self._descriptions.of[entity]:
                described = self._descriptions.unique(option)
                if described is not None:
                    yield Start(entity, f"the {described.phrase}", corpus.entities[entity].kind, described)
        for found in corpus.entities:
            if (corpus.is_page(found.ordinal) and found.kind != "index") or found.kind in _NAMED:
                name = corpus.naming(found.ordinal)
                if name is not None:
                    yield Start(found.ordinal, name, found.kind)

    def _splits(self, walk: Composition) -> list[Split]:
        corpus = self._corpus
        rows = {step.edge.document for step in walk.steps}
        if walk.start.description is not None:
            rows.add(corpus.edges[walk.start.description.edge].document)
        targets = {
            page for step in walk.steps if step.target >= 0 and (page := corpus.page_of(step.target)) is not None
        }
        owners = {corpus.columns.partitions[row] for row in rows | targets if row not in corpus.hubs}
        if len(owners) == 1:
            return [next(iter(owners))]
        return []

    def _from(self, start: Start) -> Iterator[Composition]:
        corpus = self._corpus
        home = -1 if start.description is None else corpus.edges[start.description.edge].document
        most = _MAX_STEPS - (start.description is not None and start.phrase != "")
        pending: list[tuple[Step, ...]] = [()]
        while pending:
            steps = pending.pop()
            at = steps[-1].target if steps else start.entity
            first = home if home >= 0 or not steps else steps[0].edge.document
            visited = {start.entity, start.context, *(step.target for step in steps)}
            if steps or home >= 0:
                for step in self.final(at):
                    if (len(steps) > 1 and not self._distinct(start, steps)) or self._shared(start, step):
                        continue
                    if step.edge.document != first and self._fresh(step, visited) and not self._told(step, first):
                        yield Composition(start, (*steps, step))
            for step in self.onward(at):
                if not self._fresh(step, visited) or (step.relation == "defined_in" and start.context >= 0):
                    continue
                if step.relation == "also_listed" and step.edge.document == first:
                    continue
                walk = (*steps, step)
                if sum(s.relation in _WEAK for s in walk) > 1 or [s.relation for s in walk].count(step.relation) > 2:
                    continue
                if len(walk) > 2 and not self._distinct(start, steps):
                    continue
                elsewhere = (steps or home >= 0) and step.edge.document != first
                whole = len(walk) > 1 or step.relation == "also_listed"
                if elsewhere and whole and step.relation != "introduction_mentions":
                    yield Composition(start, walk)
                # A module is not walked into from what only it can define, and a gap is the end of a question.
                if len(walk) < most and step.relation != "quoted" and not (steps and step.relation == "defined_in"):
                    pending.append(walk)

    def _shared(self, start: Start, step: Step) -> bool:
        """Whether the chapter that is asked for is the one that the start stands in as well: then the rest is idle."""
        if step.relation not in ("listed_in", "chapter_of"):
            return False
        corpus = self._corpus
        found = corpus.entities[start.entity]
        return any(step.target in corpus.targets(e, r) for e in (start.entity, found.document) for r in _WITHIN)

    def _told(self, step: Step, row: int) -> bool:
        """Whether the page that the question begins with says the value itself."""
        numbers = self._corpus.out[step.source].get(step.relation, ())
        return any(self._corpus.edges[number].document == row for number in numbers)

    def _distinct(self, start: Start, steps: tuple[Step, ...]) -> bool:
        """Whether every thing on the way is of a kind of its own, so that "that class" means one of them."""
        kinds = [start.kind, *(self._corpus.entities[step.target].kind for step in steps)]
        return len(set(kinds)) == len(kinds)

    def _fresh(self, step: Step, visited: set[int]) -> bool:
        if step.target < 0:
            return True
        if step.target in visited:
            return False
        # A thing and its own module or class count as one: the name of the one tells the other.
        name = self._corpus.entities[step.target].name
        others = (self._corpus.entities[v].name for v in visited if v >= 0 and step.relation != "defined_in")
        return not any(name.startswith(other + ".") or other.startswith(name + ".") for other in others)

    def onward(self, entity: int) -> list[Step]:
        known = self._onward.get(entity)
        if known is None:
            known = self._onward[entity] = list(self._steps.onward(entity))
        return known

    def final(self, entity: int) -> list[Step]:
        known = self._final.get(entity)
        if known is None:
            known = self._final[entity] = list(self._steps.final(entity))
        return known
