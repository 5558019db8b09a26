"""Small questions to the graph that proposing asks again and again: neighbours, own values, ranges that tell apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import numpy as np

from synth.graph.walks import WalkStep
from synth.tasks.values import MEASURED_KINDS
from synth.tasks.world.obfuscate_values import Blur, blurs
from synth.tasks.world.view import WorldView

__all__ = ["SAME_EVENT", "ends_of", "incoming", "only_range", "own_values", "ranges", "value_of"]

SAME_EVENT = {"born_in": "birth_date", "died_in": "death_date", "founded_by": "founding_year"}
"""Nobody says "who died in Orrin and died in the 1870s" of one death."""


def ends_of(view: WorldView, node: int, relation: str, forward: bool) -> list[int]:
    """All nodes to which a relation leads, ascending."""
    found = view.graph.objects(node, relation) if forward else view.graph.subjects(relation, node)
    return [int(item) for item in found]


def value_of(view: WorldView, node: int, relation: str) -> str | None:
    """Text of the entity's one value of a relation; None where it has none or several."""
    step = view.step_to_value(node, relation)
    return view.graph.value(step.target)[1] if step is not None else None


def incoming(view: WorldView, node: int, least: int, most: int, limit: int) -> list[WalkStep]:
    """Steps from entities to ``node`` that lead to ``least`` to ``most`` nodes, it among them, and that words can say;
    of a relation that leads from ``node`` to many only the first ``limit`` are looked at."""
    graph = view.graph
    found: list[WalkStep] = []
    for group in range(int(graph.group_start[node]), int(graph.group_start[node + 1])):
        for out in view.group_steps(group, node)[:limit]:
            if graph.is_value(out.target) or out.relation in view.blocked or out.target == node:
                continue
            forward = not out.forward or bool(graph.symmetric[graph.relations.index(out.relation)])
            size = len(ends_of(view, out.target, out.relation, forward))
            if least <= size <= most and view.words.wordings[out.relation].does(sought_is_object=forward):
                found.append(WalkStep(out.target, node, out.relation, forward, out.fact, size))
    return found


def own_values(view: WorldView, node: int, left_out: Set[str], rng: np.random.Generator) -> list[WalkStep]:
    """Steps from an entity's own measured values to it, in random order, without some relations."""
    graph = view.graph
    found = []
    for group in range(int(graph.group_start[node]), int(graph.group_start[node + 1])):
        steps = view.group_steps(group, node)
        step = steps[0]
        if len(steps) != 1 or step.relation in left_out or step.relation in view.blocked:
            continue
        if graph.is_value(step.target) and graph.kind(step.target) in MEASURED_KINDS:
            found.append(WalkStep(step.target, node, step.relation, False, step.fact, 0))
    return [found[int(i)] for i in rng.permutation(len(found))]


def ranges(view: WorldView, step: WalkStep) -> Iterator[Blur]:
    """Ranges around the value that ``step`` starts from, the widest first, that words can say."""
    predicates = view.words.wordings[step.relation].does(sought_is_object=False)
    dated = any(p.prep in ("in", "on") and not p.tail for p in predicates)
    measure = view.words.measures.get(step.relation)
    counted = measure is not None and any("fewer" in clause for clause in measure.less)
    for blur in blurs(*view.graph.value(step.source), counted=counted):
        if dated or not blur.timed:
            yield blur


def only_range(view: WorldView, step: WalkStep, nodes: Sequence[int]) -> Blur | None:
    """The widest range that holds, of the values of ``nodes``, only that of the step's own target."""
    texts = [value_of(view, other, step.relation) for other in nodes if other != step.target]
    return next((blur for blur in ranges(view, step) if not any(t and blur.holds(t) for t in texts)), None)
