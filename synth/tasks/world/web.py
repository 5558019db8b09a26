"""Webs of hops: a walk in which any node may be described by several hops, and its draft.

What chains and conjunctions with described or blurred sources, cycles and parallel questions have in common: hops come
grouped by the node that they end at, a hop whose source is no earlier node starts from what the question names, or from
a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.schemas.tasks import Hop, Shape
from synth.tasks.draft import Draft
from synth.tasks.world.links import Link
from synth.tasks.world.obfuscate_values import Blur
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording_web import Knot, word_web

__all__ = ["Thread", "draft_of_web", "hops_of", "knots_of"]


@dataclass(frozen=True)
class Thread:
    """One hop of a web."""

    step: WalkStep
    blur: Blur | None = None
    """What the question says in place of the step's source, a value."""


def knots_of(view: WorldView, web: Sequence[Thread], unique: Sequence[int] = ()) -> list[Knot]:
    """The nodes of a web in the order in which they are found, with the hops to them; ``unique`` are those that their
    hops identify. Hops are numbered in order of the knots."""
    order = list(dict.fromkeys(thread.step.target for thread in web))
    place = {node: number for number, node in enumerate(order)}
    knots = []
    number = 0
    for at, node in enumerate(order):
        links: list[Link] = []
        sources: list[int | None] = []
        for thread in _onto(web, node):
            step = thread.step
            source = place.get(step.source)
            if source is not None and source >= at:
                raise ValueError("a hop starts from what is found later")
            link = Link(number, view.words.wordings[step.relation], step.forward, view.noun(node))
            if thread.blur is not None:
                link = replace(link, known=thread.blur.words, timed=thread.blur.timed)
            elif source is None:
                link = replace(link, known=view.spoken(step.source))
            links.append(link)
            sources.append(source)
            number += 1
        knots.append(Knot(tuple(links), tuple(sources), view.noun(node), node in unique))
    return knots


def _onto(web: Sequence[Thread], node: int) -> list[Thread]:
    return [thread for thread in web if thread.step.target == node]


def hops_of(view: WorldView, web: Sequence[Thread], cues: Sequence[str]) -> list[Hop]:
    """The hops, in the order of :func:`knots_of`; a hop needs all hops that end at its source."""
    order = list(dict.fromkeys(thread.step.target for thread in web))
    threads = [thread for node in order for thread in _onto(web, node)]
    hops: list[Hop] = []
    for thread, cue in zip(threads, cues, strict=True):
        needs = tuple(i for i, other in enumerate(threads[: len(hops)]) if other.step.target == thread.step.source)
        hop = view.hop(thread.step, cue, needs)
        hops.append(hop if thread.blur is None else hop.model_copy(update={"source": thread.blur.node}))
    return hops


def draft_of_web(
    view: WorldView,
    web: Sequence[Thread],
    shape: Shape,
    split: Split,
    rng: np.random.Generator,
    *,
    level: int = 0,
    unique: Sequence[int] = (),
    base: str,
) -> Draft | None:
    """The question for the node that the last thread ends at; None when no wording fits."""
    worded = word_web(knots_of(view, web, unique), rng, base)
    if worded is None:
        return None
    hops = hops_of(view, web, worded.cues)
    answer = view.answer(hops[-1].target)
    draft = view.draft(shape, split, worded.question, hops, answer, worded.surface)
    return draft.model_copy(update={"obfuscation": level}) if level else draft
