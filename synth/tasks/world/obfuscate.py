"""Obfuscation of what a question starts from, by levels (OpenSeeker 2603.15594; ASearcher 2508.07976).

0. Everything is named.
1. Values are blurred: dates to decades or centuries, numbers to comparisons ("fuzz").
2. One named entity is described instead, by a hop from a neighbour that is named ("a company from Orrin"), and, where
   that is not enough, by a blurred value of its own. Where constraints meet, no other one starts from an entity.
3. Nothing is named but one anchor, from which the search can start: values are blurred, and the anchor describes what
   describes the source ("injection": the facts of a neighbour stand for the name), or, where constraints meet, the
   other constraints are blurred values of the answer.

Each function returns a web of hops or None. The ranges are the widest of those with which the *other* hops still have
one result, so that each part is needed; that is a guess to save rejections: the checks prove every level again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.schemas.tasks import Shape
from synth.tasks.draft import Draft
from synth.tasks.text import distinctive_words, gives_away
from synth.tasks.world.lookups import SAME_EVENT, ends_of, incoming, only_range, own_values, ranges, value_of
from synth.tasks.world.view import WorldView
from synth.tasks.world.web import Thread, draft_of_web

__all__ = ["LEVELS", "describe", "obfuscated"]

LEVELS = (0, 1, 2, 3)
"""All there are."""
_SIBLINGS = 12
"""A description may fit so many entities at most: search shows few results, and a solver tests each."""
_TESTED = 8
"""Candidates at most that a range has to decide on: no search is for a range, so they are read one by one."""


def obfuscated(
    view: WorldView,
    steps: Sequence[WalkStep],
    shape: Shape,
    split: Split,
    level: int,
    rng: np.random.Generator,
    most: int | None = None,
) -> Draft | None:
    """A composition or conjunction of ``steps`` at a level of 1 to 3; None when it can't be put so.

    Args:
        most: Things at most to which what is described may lead, where a value that is named can't be searched for.

    Raises:
        ValueError: no such level, or a shape that is neither.
    """
    if level not in LEVELS[1:]:
        raise ValueError(f"no level {level} of obfuscation; there are {', '.join(map(str, LEVELS[1:]))}")
    if shape == "composition":
        web = _chain(view, steps, split, level, rng)
        base = "chain"
    elif shape == "conjunction":
        web = _joint(view, steps, split, level, rng, most)
        base = "both"
    else:
        raise ValueError(f"a {shape} has no levels of obfuscation")
    if web is None:
        return None
    threads, unique = web
    return draft_of_web(view, threads, shape, split, rng, level=level, unique=unique, base=f"{base}{level}")


_Web = tuple[list[Thread], list[int]]
"""Threads, and the nodes that their hops identify."""


def _chain(
    view: WorldView, steps: Sequence[WalkStep], split: Split, level: int, rng: np.random.Generator
) -> _Web | None:
    if level == 1:
        return None  # a chain starts from an entity: there is no value to blur
    start = steps[0].source
    visited = {start, *(step.target for step in steps)}
    used = {step.relation for step in steps}
    answer = steps[-1].target
    described = [Thread(step) for step in steps]
    unique = [step.target for step in steps]
    reach = _along(view, described)
    for _ in range(level - 1):
        found = describe(view, start, split, visited, used, rng, other=_other_than(answer, reach))
        if found is None:
            return None
        described = [*found, *described]
        unique.append(start)
        used |= {thread.step.relation for thread in found}
        start = found[0].step.source
        visited.add(start)
        reach = _along(view, described)
    return described, unique


def _other_than(answer: int, reach: Callable[[int], set[int]]) -> Callable[[int], bool]:
    """Whether a node leads to something else than the answer."""
    return lambda node: bool(reach(node) - {answer})


def _along(view: WorldView, web: Sequence[Thread]) -> Callable[[int], set[int]]:
    """Where a chain of threads leads from other nodes than its own: the ends, by any bridges. A range on a bridge is
    heeded."""

    def ends(node: int) -> set[int]:
        at = {node}
        for thread in web:
            step = thread.step
            if thread.blur is not None:
                at = {one for one in at if thread.blur.holds(value_of(view, one, step.relation) or "")}
            else:
                at = {to for one in at for to in ends_of(view, one, step.relation, step.forward)}
        return at

    return ends


def _joint(
    view: WorldView, steps: Sequence[WalkStep], split: Split, level: int, rng: np.random.Generator, most: int | None
) -> _Web | None:
    target = steps[0].target
    if any(step.target != target for step in steps):
        return None
    entities = [step for step in steps if not view.graph.is_value(step.source)]
    if not entities:
        return None
    if level == 1:
        return _blurred(view, steps, entities, rng)
    visited = {target, *(step.source for step in steps)}
    used = {step.relation for step in steps}
    for i in rng.permutation(len(entities)):
        step = entities[int(i)]
        found = describe(view, step.source, split, visited, used, rng)
        if found is None:
            continue
        if level == 2:
            rest = [other for other in steps if other is not step]
            if not all(view.graph.is_value(other.source) for other in rest):
                continue  # who is given a name starts there: then the description is no way to the answer
            pool = _meet(view, rest)
            led = _along(view, [*found, Thread(step)])(found[0].step.source)
            if most is not None and len(led) > most:
                continue
            fitting = led & pool
            # Whatever else the others fit must have such a source too: else it is not the description that decides.
            rivals = [node for node in pool - {target} if ends_of(view, node, step.relation, not step.forward)]
            if fitting == {target} and rivals:
                return [*found, Thread(step), *map(Thread, rest)], []
            continue
        facts = _distinguished(view, found, step, used, rng)
        if facts is not None:
            return [*found, Thread(step), *facts], []
    return None


def _blurred(
    view: WorldView, steps: Sequence[WalkStep], entities: Sequence[WalkStep], rng: np.random.Generator
) -> _Web | None:
    """Every value that has an order becomes a range. At least one entity stays, and at least one value is blurred."""
    target = steps[0].target
    pool = _meet(view, [step for step in steps if step in entities or not any(ranges(view, step))])
    if len(pool) > _TESTED:
        return None
    threads = [Thread(step) for step in entities]
    blurred = 0
    for step in steps:
        if not view.graph.is_value(step.source):
            continue
        options = list(ranges(view, step))
        if not options:
            threads.append(Thread(step))
            continue
        held = [
            (blur, {node for node in pool if blur.holds(value_of(view, node, step.relation) or "")}) for blur in options
        ]
        # The widest that leaves the answer alone; else, with more values to come, the narrowest.
        blur, pool = next(((b, left) for b, left in held if left == {target}), held[-1])
        threads.append(Thread(step, blur))
        blurred += 1
    return (threads, []) if blurred and pool == {target} else None


def _meet(view: WorldView, steps: Sequence[WalkStep]) -> set[int]:
    sets = [set(ends_of(view, step.source, step.relation, step.forward)) for step in steps]
    return set.intersection(*sets)


def describe(
    view: WorldView,
    node: int,
    split: Split,
    visited: set[int],
    used: set[str],
    rng: np.random.Generator,
    other: Callable[[int], bool] | None = None,
) -> list[Thread] | None:
    """Hops that describe ``node`` from a neighbour: one that fits a few entities and, with ``other``, a blurred value
    that only this one of them has; then one of the rest must be an ``other``: it would lead to another answer, or the
    value would say nothing that is needed. Nothing in ``visited`` describes it. ``node`` becomes gold, so the split
    must own it."""
    if view.graph.is_value(node) or not view.may_be_gold(node, split):
        return None
    options = [
        step
        for step in incoming(view, node, 2, _SIBLINGS, _SIBLINGS)
        if step.source not in visited and step.relation not in used and not _tells(view, step.source, node)
    ]
    for i in rng.permutation(len(options)):
        step = options[int(i)]
        if other is None:
            return [Thread(step)]
        siblings = ends_of(view, step.source, step.relation, step.forward)
        if not any(other(sibling) for sibling in siblings if sibling != node):
            continue
        said = {*used, step.relation, SAME_EVENT.get(step.relation, "")}
        for fact in own_values(view, node, said, rng):
            if fact.source in visited:
                continue  # the same year, say, as the answer: a hint at it
            blur = only_range(view, fact, siblings)
            if blur is not None:
                return [Thread(step), Thread(fact, blur)]
    return None


def _tells(view: WorldView, known: int, node: int) -> bool:
    """Whether the name of ``known`` gives away that of ``node``: Vuddmarkish is spoken in Vuddmark."""
    words = distinctive_words(view.node(node).name, (), person=view.kind(node) == "person")
    return gives_away(view.spoken(known), words) is not None


def _distinguished(
    view: WorldView, described: Sequence[Thread], step: WalkStep, used: set[str], rng: np.random.Generator
) -> list[Thread] | None:
    """Blurred values of the answer that tell it from everything else to which what is described may lead."""
    first = described[0].step
    sources = ends_of(view, first.source, first.relation, first.forward)
    pool = sorted({node for source in sources for node in ends_of(view, source, step.relation, step.forward)})
    if not 2 <= len(pool) <= _TESTED:
        return None
    said = {*used, first.relation} - {name for name in used if not view.words.wordings[name].object_does}
    said |= {SAME_EVENT.get(name, "") for name in (step.relation, first.relation)}
    facts = own_values(view, step.target, said, rng)  # a value that the question named may come back as a range
    for fact in facts:
        blur = only_range(view, fact, pool)
        if blur is not None:
            return [Thread(fact, blur)]
    for one in facts:
        for wide in ranges(view, one):
            left = [n for n in pool if wide.holds(value_of(view, n, one.relation) or "")]
            for two in facts:
                if two is one:
                    continue
                blur = only_range(view, two, left)
                if blur is not None:
                    return [Thread(one, wide), Thread(two, blur)]
    return None
