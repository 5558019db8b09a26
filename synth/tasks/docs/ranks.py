"""In which order the candidates of a corpus are tried: the best rank first, and each of a finite number once.

``good``  asks for the name of what is described, reads structure (options, values, rows), or joins two pages
``fair``  can be asked of one page only, and names that page; or asks what a program does
``gap``   a sentence with a word left out: correct by construction, but not a question that people ask

A question is *wrong* when a reader of the page would not give the answer; such candidates get no rank at all. A correct
question that reads badly only moves down.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from synth.schemas.row import Split
from synth.schemas.tasks import Walk
from synth.tasks.docs.families import Item
from synth.tasks.draft import Draft

__all__ = ["RANKS", "SHAPES", "Candidate", "Rank", "frame_of", "order", "rank_of", "rank_of_walk"]

Rank = Literal["good", "fair", "gap"]
RANKS: tuple[Rank, ...] = get_args(Rank)
SHAPES = "shapes"
"""The family of what is asked by the general shapes, whose candidates are drawn and not listed."""
_FAIR = frozenset(("plain", "told", "section"))
_GAP = "cloze"
_ENOUGH = 400
"""Candidates of a family beyond which it comes no more often."""
_WEIGHTS = {SHAPES: 0.8, "via": 6.0, "within": 4.0, "pair": 2.0, "holder": 0.3}
"""How gladly each family is asked, beside others of its rank."""
_VALUES = frozenset(("text", "number", "date", "year", "quantity"))
_DRAWS = 4
"""Draws of the shapes for each fact: two facts meet in more than one question."""


def rank_of_walk(walk: Walk) -> Rank:
    """Of a question of the shapes: readers of a manual ask for the value of a thing, and for what came in a version,
    and hardly for a thing by its default, its type or what stands in a column ("Which package has size 183?")."""
    by_value = any(hop.source.kind in _VALUES and hop.relation != "since" for hop in walk.hops)
    return "fair" if by_value else "good"


@dataclass(frozen=True)
class Candidate:
    """One place in the order."""

    rank: Rank
    split: Split | None
    item: Item | None
    """None: whatever the shapes draw, whose walk decides the split; of another rank it is dropped."""


def frame_of(draft: Draft) -> str:
    """What makes questions alike to a reader, whatever thing they name: the value that they ask for or go by, and, of
    those that name a thing by what is said of it, each sentence by itself."""
    family = draft.surface.partition("/")[0]
    relations = {hop.relation for hop in draft.walk.hops} - _SAID
    if family == "section" or (draft.walk.shape == "masked"):
        return family
    return "/".join(sorted(relations)) if relations else draft.walk.hops[0].source.id


_SAID = frozenset(("described_as", "subtitle", "states", "part_of"))


def rank_of(family: str) -> Rank:
    if family == _GAP:
        return "gap"
    return "fair" if family in _FAIR else "good"


def order(
    items: Mapping[Split, Mapping[str, Sequence[Item]]],
    facts: Mapping[Split, int],
    ranks: Sequence[Rank],
    generator: np.random.Generator,
) -> list[Candidate]:
    """Every candidate of the wanted ranks, rank by rank.

    Inside a rank the order is that of weighted draws without replacement (Efraimidis and Spirakis 2006: by ``E / w``
    with ``E`` exponential): a split by how many candidates it has, a family by the root of that and how well it reads,
    a label and an answer by the roots of theirs, so that no template and no answer crowds out others.

    Args:
        items: candidates by split and family.
        facts: of the shapes, by split.
    """
    found: list[Candidate] = []
    for rank in ranks:
        listed: list[Candidate] = []
        weights: list[float] = []
        for split in sorted(items.keys() | facts.keys()):
            families = {name: of for name, of in sorted(items.get(split, {}).items()) if rank_of(name) == rank}
            sizes = {name: len(of) for name, of in families.items()}
            if rank != "gap" and facts.get(split, 0):
                sizes[SHAPES] = facts[split]
            shares = {name: min(size, _ENOUGH) ** 0.5 * _WEIGHTS.get(name, 1.0) for name, size in sizes.items()}
            whole = sum(shares.values())
            for name, size in sizes.items():
                share = sum(sizes.values()) * shares[name] / whole
                if name == SHAPES:
                    listed += [Candidate(rank, None, None)] * (_DRAWS * size)
                    weights += [share / (_DRAWS * size)] * (_DRAWS * size)
                else:
                    listed += [Candidate(rank, split, item) for item in families[name]]
                    weights += [share * weight for weight in _balanced(families[name])]
        if listed:
            keys = generator.exponential(size=len(listed)) / np.array(weights, dtype=np.float64)
            found += [listed[place] for place in np.argsort(keys, kind="stable").tolist()]
    return found


def _balanced(items: Sequence[Item]) -> list[float]:
    """The chance of each: labels by the roots of their answers, answers by the roots of their candidates."""
    same = Counter((item.label, item.ends_at) for item in items)
    roots: dict[str, float] = defaultdict(float)
    answers = Counter(label for label, _ in same)
    for (label, _), count in same.items():
        roots[label] += count**0.5
    labels = sum(count**0.5 for count in answers.values())
    return [
        answers[item.label] ** 0.5 / labels / (roots[item.label] * same[item.label, item.ends_at] ** 0.5)
        for item in items
    ]
