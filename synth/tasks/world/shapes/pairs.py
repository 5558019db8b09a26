"""Things of one kind that can be compared: the candidates of comparisons and the operands of computations.

A pool holds, for each measure and kind, a split's entities with that measure, by value: two candidates whose values are
far enough apart are drawn without looking at the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.tasks.values import Measure, parse_measure
from synth.tasks.world.grammar import NAME, Phrase
from synth.tasks.world.links import choose, noun_phrases
from synth.tasks.world.shapes.sets import Weighted, describe, remember
from synth.tasks.world.view import WorldView

__all__ = ["Candidate", "candidate", "draw_candidates", "measured_kinds"]

Ints = NDArray[Any]


class Candidate:
    """One side of a comparison: a node, its value, and the step that describes it (None: it is named)."""

    def __init__(self, node: int, step: WalkStep | None, value: WalkStep, measure: Measure, text: str) -> None:
        self.node, self.step, self.value, self.measure, self.text = node, step, value, measure, text


def measured_kinds(view: WorldView, split: Split) -> Weighted:
    """Entities of a split by (relation, kind) of measures that they have; kinds with fewer than four are left out."""

    def make() -> Weighted:
        groups: dict[Any, Ints] = {}
        own = view.own(split)
        for relation in sorted(set(view.words.measures) - view.blocked):
            subjects = view.facts.relations.measured(relation).subjects
            subjects = subjects[subjects < view.graph.n_entities]
            subjects = subjects[own[subjects]]
            kinds = np.asarray(view.graph.node_kind[subjects])
            for kind in np.unique(kinds).tolist():
                if np.count_nonzero(kinds == kind) >= 4:
                    groups[relation, view.graph.kinds[kind]] = subjects[kinds == kind]
        return Weighted(groups)

    found: Weighted = remember(view, ("measured", split), make)
    return found


def candidate(
    view: WorldView,
    split: Split,
    rng: np.random.Generator,
    node: int,
    relation: str,
    slot: int,
    avoid: set[int],
    *,
    used: set[str],
    described: bool,
) -> Candidate | None:
    """A candidate with its words: described by one hop (marked ``slot``) or named. None where that can not be."""
    value = view.step_to_value(node, relation)
    if value is None:
        return None
    measure = parse_measure(*view.graph.value(value.target))
    if measure is None:
        return None
    if not described:
        return Candidate(node, None, value, measure, view.spoken(node))
    step = describe(view, split, rng, node, avoid, used=used)
    if step is None:
        return None
    link = view.link(slot, step, known=True)
    ways = noun_phrases(link, Phrase(link.known, NAME), link.noun.heads[0])
    if not ways:
        return None
    return Candidate(node, step, value, measure, choose(rng, choose(rng, ways)).text)


def draw_candidates(
    view: WorldView, split: Split, rng: np.random.Generator, count: int, *, described: bool
) -> tuple[str, str, list[Candidate]] | None:
    """(relation, kind, candidates) whose values are told apart; slots of their descriptions are 0, 1, ..."""
    pool = measured_kinds(view, split)
    found = pool.draw(rng)
    if found is None:
        return None
    (relation, kind), first = found
    members = view.alike(pool.of((relation, kind)), first)
    chosen = [first]
    for _ in range(8 * count):
        if len(chosen) == count:
            break
        other = int(members[int(rng.integers(len(members)))])
        if other not in chosen:
            chosen.append(other)
    if len(chosen) < count:
        return None
    sides: list[Candidate] = []
    avoid = set(chosen)
    for node in chosen:
        side = candidate(view, split, rng, node, relation, len(sides), avoid, used={"predecessor"}, described=described)
        if side is None or any(not side.measure.apart(other.measure, view.config.checks.margin) for other in sides):
            return None
        sides.append(side)
        if side.step is not None:
            avoid.add(side.step.source)
    return relation, kind, sides
