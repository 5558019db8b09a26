"""Independent questions asked at once: "In which city was X born, and how long is the River Senn?"

Their searches have nothing to do with one another, so an agent may make them at the same time (HyperEyes). The answer
has a part for each, in the order of the questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.grammar import NAME, Phrase, capitalise, unmark
from synth.tasks.world.links import Link, choose, core_of, noun_phrases
from synth.tasks.world.registers import Core
from synth.tasks.world.view import WorldView, draw
from synth.text.lists import listed
from synth.text.numbers import NUMERALS

__all__ = ["propose_parallel"]

_PARTS = {2: 0.7, 3: 0.3}
"""Weights of the numbers of questions."""
_HOPS = {1: 0.4, 2: 0.6}
"""Weights of the lengths of each."""
_WALKS = 12
"""Walks that are tried for one question."""


def propose_parallel(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`. All parts are of one kind: names, or years, or numbers, ..."""
    parts: int = draw(rng, _PARTS)
    kind = ""
    walks: list[list[WalkStep]] = []
    seen: set[int] = set()
    for _ in range(_WALKS):
        if len(walks) == parts:
            break
        walk = _walk(view, split, draw(rng, _HOPS), seen, rng)
        if walk is None:
            continue
        end = _answer_kind(view, walk[-1].target)
        if (kind and end != kind) or any(walk[-1].relation == other[-1].relation for other in walks):
            continue
        kind = end
        walks.append(walk)
        seen |= {walk[0].source, *(step.target for step in walk)}
    if len(walks) < parts or all(len(walk) == 1 for walk in walks):
        return None
    cores = _cores(view, walks, rng)
    if cores is None:
        return None
    families = _together(cores)
    family = choose(rng, sorted(families))
    steps = [(step, place) for walk in walks for place, step in enumerate(walk)]
    question, cues = unmark(capitalise(choose(rng, families[family])), len(steps))
    hops = [view.hop(step, cues[number], (number - 1,) if place else ()) for number, (step, place) in enumerate(steps)]
    answer = view.answers([view.node(walk[-1].target) for walk in walks], ordered=True)
    return view.draft("parallel", split, question, hops, answer, f"parallel+{parts}+{family}")


def _answer_kind(view: WorldView, node: int) -> str:
    return view.kind(node) if view.graph.is_value(node) else "entity"


def _walk(view: WorldView, split: Split, hops: int, seen: set[int], rng: np.random.Generator) -> list[WalkStep] | None:
    """A chain of functional hops from an entity of the split; None when it gets stuck."""
    own = np.flatnonzero(view.own(split))
    if len(own) == 0:
        return None
    at = int(own[int(rng.integers(len(own)))])
    visited = {*seen, at}
    used: set[str] = set()
    walk: list[WalkStep] = []
    if at in seen:
        return None
    for number in range(hops):
        options = _options(view, split, at, visited, used, last=number == hops - 1)
        if not options:
            return None
        step = choose(rng, options)
        walk.append(step)
        at = step.target
        visited.add(at)
        used.add(step.relation)
    return walk


def _options(
    view: WorldView, split: Split, at: int, visited: set[int], used: set[str], *, last: bool
) -> list[WalkStep]:
    graph = view.graph
    found = []
    for group in range(int(graph.group_start[at]), int(graph.group_start[at + 1])):
        if int(graph.group_step[group + 1]) - int(graph.group_step[group]) != 1:
            continue
        (step,) = view.group_steps(group, at)
        if step.target in visited or step.relation in used or step.relation in view.blocked:
            continue
        if step.relation in view.words.crowds and not step.forward:
            continue
        if graph.is_value(step.target):
            if last:
                found.append(step)
        elif view.may_be_gold(step.target, split):
            found.append(step)
    return found


def _cores(view: WorldView, walks: Sequence[Sequence[WalkStep]], rng: np.random.Generator) -> list[Core] | None:
    """What each walk asks; None when one can't be said."""
    cores = []
    number = 0
    for walk in walks:
        known = Phrase(view.spoken(walk[0].source), NAME)
        link: Link | None = None
        for place, step in enumerate(walk):
            link = view.link(number, step, known=not place)
            number += 1
            if place < len(walk) - 1:
                ways = noun_phrases(link, known, choose(rng, link.noun.heads))
                if not ways:
                    return None
                known = choose(rng, choose(rng, ways))
        if link is None:
            return None
        core = core_of(link, known, "" if link.is_value else choose(rng, link.noun.heads))
        if not core.direct:
            return None
        cores.append(core)
    return cores


def _together(cores: Sequence[Core]) -> dict[str, list[str]]:
    """The questions in one, by family: at most one question mark each, none but the last where they stand apart."""
    count = NUMERALS[len(cores)]
    found: dict[str, list[str]] = {}
    direct = _rows([core.direct for core in cores])
    found["plain"] = [f"{_all(row)}?" for row in direct]
    found["counted"] = [
        f"{opener}: {_all(row)}?"
        for row in direct
        for opener in (f"{count} questions at once", f"I have {count} questions", f"{count} things I'd like to know")
    ]
    found["quiz"] = [f"{opener}: {_all(row)}?" for row in direct for opener in ("quick quiz", "for a pub quiz")]
    if all(core.clause for core in cores):
        clauses = _rows([core.clause for core in cores])
        openers: tuple[str, ...] = ("could you tell me", "can you find out", "do you know", "can you tell me")
        found["polite"] = [f"{opener} {_all(row)}?" for row in clauses for opener in openers]
        openers = ("I need to know", "I'd like to know", "I'm trying to find out")
        found["need"] = [f"{opener} {_all(row)}. Can you help?" for row in clauses for opener in openers]
        found["order"] = [f"{opener} {_all(row)}." for row in clauses for opener in ("tell me", "please find out")]
    if all(core.phrase for core in cores):
        phrases = _rows([core.phrase for core in cores])
        verb = "give me" if cores[0].is_value else "name"
        found["command"] = [f"{opener} {_all(row)}." for row in phrases for opener in (verb, f"please {verb}")]
        found["looking"] = [f"I'm looking for {count} things: {_all(row)}. Can you help?" for row in phrases]
        found["report"] = [f"for a report I need {_all(row)}. Can you look them up?" for row in phrases]
    return found


_all = partial(listed, comma=True)


def _rows(options: Sequence[Sequence[str]]) -> list[list[str]]:
    """Some ways to take one of each: as many as the shortest has."""
    most = max(len(texts) for texts in options)
    return [[texts[place % len(texts)] for texts in options] for place in range(most)]
