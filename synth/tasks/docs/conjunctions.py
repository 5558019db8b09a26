"""Conjunctions: one thing that alone satisfies several statements, none of which is enough.

Each constraint knows everything that satisfies it, or, where the layout does not prove completeness, everything that
might (a thing that a text names at all): uniqueness is then judged against too many rivals, never too few.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from synth.schemas.documents import Edge, Entity
from synth.schemas.row import Split
from synth.tasks.docs.corpus import Corpus
from synth.tasks.docs.kinds import PLACES
from synth.tasks.docs.strangers import strangers

__all__ = ["Conjunction", "Conjunctions", "Constraint"]

_KINDS = frozenset(
    "function class exception coroutine decorator module section package command program utility catalog view".split()
) | {"C function", "environment variable", "configuration parameter", "glossary term", "command-line option"}
_MENTIONED = _KINDS - {"section", "glossary term"}
"""Kinds of things that two pages can have in common by mentioning them."""
_NAMING = frozenset(("named_on", "see_also_of", "row_of"))
"""Statements that a page makes by naming things: what it names without an entry may satisfy them as well."""
_STATED = ("added_in", "deprecated_since", "availability", "set_when", "bare_unit", "default_setting")
_PER_ANSWER = 10
"""Conjunctions that are kept for one answer."""
_PER_SPLIT = 4000
"""Conjunctions that are kept for a split and a signature, in the order of the entities."""


@dataclass(frozen=True)
class Constraint:
    """A statement about the answer. ``source`` -1: it says a value."""

    relation: str
    edge: Edge
    source: int
    value: str
    fits: frozenset[int]
    """Entities of the answer's kind that satisfy it, or might; below 0 the names that have no entry."""


@dataclass(frozen=True)
class Conjunction:
    answer: int
    constraints: tuple[Constraint, ...]

    @property
    def signature(self) -> str:
        return "&".join(sorted(c.relation for c in self.constraints))

    @property
    def ends_at(self) -> int:
        return self.answer


class Conjunctions:
    """Conjunctions by split and signature. Their evidence is on two pages at least."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._by_kind: dict[str, set[int]] = defaultdict(set)
        for entity in corpus.entities:
            self._by_kind[entity.kind].add(entity.ordinal)
        self._words: dict[int, frozenset[str]] = {}
        self._known = {entity.name.rpartition(".")[2].removesuffix("()") for entity in corpus.entities}
        self._strange: dict[str, int] = {}
        self._fits: dict[tuple[str, int | str, str], frozenset[int]] = {}

    @cached_property
    def by_signature(self) -> dict[Split, dict[str, list[Conjunction]]]:
        found: dict[Split, dict[str, list[Conjunction]]] = defaultdict(lambda: defaultdict(list))
        for entity in self._corpus.entities:
            if entity.kind in _KINDS and self._usable(entity):
                for conjunction in self._of(entity.ordinal):
                    split = self._split(conjunction)
                    if split is not None and len(found[split][conjunction.signature]) < _PER_SPLIT:
                        found[split][conjunction.signature].append(conjunction)
        return {split: dict(sorted(groups.items())) for split, groups in found.items()}

    def _usable(self, entity: Entity) -> bool:
        name = entity.name
        if entity.kind == "section" and self._corpus.called[entity.kind, name.casefold()] > 1:
            return False
        return len(name) > 3 and name not in ("None", "True", "False") and not name.startswith("__")

    def _split(self, conjunction: Conjunction) -> Split | None:
        corpus = self._corpus
        rows = {c.edge.document for c in conjunction.constraints}
        page = corpus.page_of(conjunction.answer)
        rows |= {page} if page is not None else set()
        owners = {corpus.columns.partitions[row] for row in rows if row not in corpus.hubs}
        return next(iter(owners)) if len(owners) == 1 else None

    def _of(self, entity: int) -> Iterator[Conjunction]:
        constraints = self._constraints(entity)
        given = 0
        for size in (2, 3):
            for chosen in combinations(constraints, size):
                if len({c.relation for c in chosen}) < size and (size > 2 or not _paired(chosen)):
                    continue
                if len({c.edge.document for c in chosen}) < 2 or len({c.source for c in chosen if c.source >= 0}) < sum(
                    c.source >= 0 for c in chosen
                ):
                    continue
                if not _needed(chosen, entity):
                    continue
                yield Conjunction(entity, chosen)
                given += 1
                if given == _PER_ANSWER:
                    return

    def _constraints(self, entity: int) -> list[Constraint]:
        corpus = self._corpus
        kind = corpus.entities[entity].kind
        found: list[Constraint] = []
        own = corpus.page_of(entity)
        for number in corpus.out[entity].get("defined_in", ())[:1]:
            edge = corpus.edges[number]
            home = corpus.entities[edge.object]
            if home.kind == "module" and corpus.entities[entity].name.rpartition(".")[0] == home.name:
                fits = self._fit(kind, "defined_in", edge.object, corpus.sources(edge.object, "defined_in"))
                found.append(Constraint("defined_in", edge, edge.object, "", fits))
            elif kind == "configuration parameter":
                fits = self._fit(kind, "documented_in", edge.object, corpus.sources(edge.object, "defined_in"))
                found.append(Constraint("documented_in", edge, edge.object, "", fits))
        if kind == "catalog":
            for target in sorted(corpus.targets(entity, "references")):
                edge = next(e for n in corpus.out[entity]["references"] if (e := corpus.edges[n]).object == target)
                fits = self._fit(kind, "references", target, corpus.sources(target, "references"))
                found.append(Constraint("references", edge, target, "", fits))
        for number in corpus.out[entity].get("listed_in", ())[:1]:
            edge = corpus.edges[number]
            fits = self._fit(kind, "listed_in", edge.object, corpus.sources(edge.object, "listed_in"))
            found.append(Constraint("listed_in", edge, edge.object, "", fits))
        for relation in _STATED:
            for number in corpus.out[entity].get(relation, ())[:1]:
                edge = corpus.edges[number]
                if relation == "default_setting" and edge.value not in ("on", "off"):
                    continue
                if edge.value and not (relation == "availability" and ("not " in edge.value or "," in edge.value)):
                    partly = relation.split("_")[0] + "_partly"  # may be meant as well, so it counts as a rival
                    numbers = [*corpus.by_value[relation, edge.value], *corpus.by_value[partly, edge.value]]
                    stated = {corpus.edges[n].subject for n in numbers}
                    if relation == "default_setting":
                        # Defaults are written in many ways: where none was read, it may be the same.
                        stated |= {e for e in self._by_kind[kind] if not corpus.out[e].get(relation)}
                    fits = self._fit(kind, relation, edge.value, stated)
                    found.append(Constraint(relation, edge, -1, edge.value, fits))
        for number in corpus.out[entity].get("row_of", ()):
            edge = corpus.edges[number]
            # Those too far from the title to be asked for are in the list all the same.
            listed = corpus.sources(edge.object, "row_of") | corpus.sources(edge.object, "far_row_of")
            fits = self._fit(kind, "row_of", edge.object, listed)
            found.append(Constraint("row_of", edge, edge.object, "", fits))
        seen: set[int] = set()
        for number in corpus.into[entity].get("see_also", ()):
            edge = corpus.edges[number]
            source = corpus.entities[edge.subject]
            if (
                edge.document != own
                and edge.subject not in seen
                and source.kind != "index"
                and corpus.is_page(edge.subject)
            ):
                seen.add(edge.subject)
                fits = self._fit(kind, "see_also_of", edge.subject, corpus.targets(edge.subject, "see_also"))
                found.append(Constraint("see_also_of", edge, edge.subject, "", fits))
        for relation in ("links_to", "refers_for", "raises", "like") if kind in _MENTIONED else ():
            for number in corpus.into[entity].get(relation, ()):
                edge = corpus.edges[number]
                page = corpus.entities[edge.document]  # a page's entity has its row number
                if edge.document == own or edge.document in seen or page.kind == "index" or len(seen) > 5:
                    continue
                if page.kind in PLACES and len(corpus.text(edge.document)) > 60_000:
                    continue  # a book on one page: that it names something says little
                seen.add(edge.document)
                fits = self._named_fit(edge.document, kind)
                if entity in fits:
                    found.append(Constraint("named_on", edge, edge.document, "", fits))
        return [c for c in found if entity in c.fits and len(c.fits) > 1 and self._nameable(c.source)]

    def _nameable(self, source: int) -> bool:
        """Whether the question can name the page: no other page goes by its name."""
        if source < 0:
            return True
        return self._corpus.naming(source) is not None

    def _fit(self, kind: str, relation: str, key: int | str, entities: set[int]) -> frozenset[int]:
        known = self._fits.get((relation, key, kind))
        if known is None:
            fits = entities & self._by_kind[kind]
            if relation in _NAMING and isinstance(key, int):
                fits = fits | self._strangers(key, kind)
            known = self._fits[relation, key, kind] = frozenset(fits)
        return known

    def _strangers(self, source: int, kind: str) -> set[int]:
        """Numbers below 0 of the names on the page of ``source`` that have no entry and may be of the kind."""
        row = self._corpus.page_of(source)
        if row is None:
            return set()
        named = strangers(self._corpus.text(row), kind, self._known)
        return {self._strange.setdefault(name, -1 - len(self._strange)) for name in sorted(named)}

    def _named_fit(self, row: int, kind: str) -> frozenset[int]:
        known = self._fits.get(("named_on", row, kind))
        return self._fit(kind, "named_on", row, self._named_on(row, kind)) if known is None else known

    def _named_on(self, row: int, kind: str) -> set[int]:
        """Entities of a kind whose name, or its last part, stands anywhere on the page: linked or not."""
        words = self._words_of(row)
        linked = {self._corpus.edges[n].object for numbers in self._corpus.out[row].values() for n in numbers}
        return {
            e for e in self._by_kind[kind] if self._corpus.entities[e].name.rsplit(".", 1)[-1] in words or e in linked
        }

    def _words_of(self, row: int) -> frozenset[str]:
        known = self._words.get(row)
        if known is None:
            known = self._words[row] = frozenset(re.findall(r"\w+", self._corpus.text(row)))
        return known


def _paired(chosen: Sequence[Constraint]) -> bool:
    """Whether two statements of one relation can be told as "both A and B"."""
    return all(c.relation == chosen[0].relation for c in chosen) and chosen[0].relation in (
        "named_on", "see_also_of", "row_of", "references",
    )  # fmt: skip


def _needed(chosen: Sequence[Constraint], entity: int) -> bool:
    """Together they leave the answer only; without any one of them something else fits too."""
    if frozenset.intersection(*(c.fits for c in chosen)) != {entity}:
        return False
    return all(
        len(frozenset.intersection(*(c.fits for j, c in enumerate(chosen) if j != i))) > 1 for i in range(len(chosen))
    )
