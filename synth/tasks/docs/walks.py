"""All compositions that a corpus offers, found once: a described thing and the hops from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from synth.schemas.row import Split
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.describe import Description, Descriptions
from synth.tasks.docs.steps import Step, Steps

__all__ = ["Composition", "Compositions"]

_MAX_STEPS = 3


@dataclass(frozen=True)
class Composition:
    description: Description
    steps: tuple[Step, ...]

    @property
    def signature(self) -> str:
        """The relations, by which questions are balanced."""
        return ">".join(step.relation for step in self.steps)


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
        for entity in self._descriptions.candidates():
            for option in self._descriptions.of[entity]:
                described = self._descriptions.unique(option)
                if described is None:
                    continue
                for walk in self._from(described):
                    for split in self._splits(walk):
                        found[split][walk.signature].append(walk)
                break
        return {split: dict(sorted(groups.items())) for split, groups in found.items()}

    def _splits(self, walk: Composition) -> list[Split]:
        corpus = self._corpus
        rows = {corpus.edges[walk.description.edge].document, *(step.edge.document for step in walk.steps)}
        targets = {
            page for step in walk.steps if step.target >= 0 and (page := corpus.page_of(step.target)) is not None
        }
        owners = {corpus.columns.partitions[row] for row in rows | targets if row not in corpus.hubs}
        if len(owners) == 1:
            return [next(iter(owners))]
        return []

    def _from(self, described: Description) -> Iterator[Composition]:
        corpus = self._corpus
        home = corpus.edges[described.edge].document
        pending: list[tuple[Step, ...]] = [()]
        while pending:
            steps = pending.pop()
            at = steps[-1].target if steps else described.entity
            visited = {described.entity, described.context, *(step.target for step in steps)}
            if steps:
                for step in self.final(at):
                    if step.edge.document != home and self._fresh(step, visited):
                        yield Composition(described, (*steps, step))
            for step in self.onward(at):
                if not self._fresh(step, visited) or (step.relation == "defined_in" and described.context >= 0):
                    continue
                # Only one gap to fill per question, and a module is not walked into from what only it can define.
                used = [s.relation for s in steps]
                if (step.relation == "quoted" and "quoted" in used) or (used and step.relation == "defined_in"):
                    continue
                walk = (*steps, step)
                if len(walk) > 1 and step.edge.document != home:
                    yield Composition(described, walk)
                if len(walk) < _MAX_STEPS - 1:
                    pending.append(walk)

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
