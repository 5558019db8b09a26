"""Which of two or three came first or is larger: "Which is older, the university that A attended or the one behind B?"

Unique because each side is one thing (a name, or a description that leads to one node), and their values are apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.world.grammar import mark
from synth.tasks.world.measures import End, MeasureWording
from synth.tasks.world.plurals import bracketed
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.pairs import Candidate, draw_candidates
from synth.tasks.world.shapes.sketch import Sketch, pick
from synth.tasks.world.shapes.superlative import extreme
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording import Noun
from synth.text.lists import listed
from synth.text.numbers import NUMERALS

__all__ = ["add_sides", "propose_comparison"]


def propose_comparison(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    count = 3 if rng.random() < 0.25 else 2
    described = rng.random() < max(view.config.described, 0.8 if view.config.described else 0)
    drawn = draw_candidates(view, split, rng, count, described=described)
    if drawn is None:
        return None
    relation, kind, sides = drawn
    end: End = "argmin" if rng.random() < 0.5 else "argmax"
    best = extreme([side.measure for side in sides], end)
    if best is None:
        return None
    sketch = Sketch(view)
    slot, measures = add_sides(sketch, sides)
    answer = view.node(sides[best].node)
    sketch.operation(end, measures, [answer], slot + 1)
    texts = [side.text for side in sides]
    worded = pick(_families(texts, view.words.noun(kind), view.words.measures[relation], end, slot, rng), None, rng)
    if worded is None:
        return None
    return sketch.draft("comparison", split, worded[0], view.answer(answer), f"comparison+{worded[1]}")


def add_sides(sketch: Sketch, sides: Sequence[Candidate]) -> tuple[int, list[int]]:
    """Adds each side's description (slots 0, 1, ...) and then each side's measure; the slot and numbers of those."""
    needs: list[tuple[int, ...]] = []
    slot = 0
    for side in sides:
        needs.append((sketch.hop(side.step, slot),) if side.step is not None else ())
        slot += side.step is not None
    return slot, [sketch.hop(side.value, slot, need) for side, need in zip(sides, needs, strict=True)]


def _families(
    texts: Sequence[str], noun: Noun, wording: MeasureWording, end: End, slot: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    head, plural = noun.heads[0], noun.plurals[0]
    wh, number = ("who" if noun.person else "which"), NUMERALS[len(texts)]
    direct: list[str] = []
    inline: list[str] = []
    families: dict[str, list[str]] = {}
    for clause in wording.clauses(end, two=len(texts) == 2):
        marked = bracketed(clause, slot, slot + 1)
        ordered = [texts[int(i)] for i in rng.permutation(len(texts))]
        both, either = listed(ordered), listed(ordered, "or")
        asked = dict.fromkeys((wh, wh if noun.person else f"which {head}"))  # "who died first", never "which person"
        inline += [f"{one} {marked}, {either}" for one in asked]
        direct += [
            *(f"{one} {marked}, {either}" for one in asked),
            f"which of the {number} {plural} {marked}, {either}",
            f"of {both}, {wh} {marked}",
            f"between {both}, {wh} {marked}" if len(texts) == 2 else f"among {both}, {wh} {marked}",
        ]
        families.setdefault("compare", []).append(f"Compare {both}. Which of the {number} {marked}?")
        families.setdefault("say", []).extend(
            f"{opener} which of these {number} {marked}: {either}."
            for opener in ("Tell me", "Please tell me", "Find out", "Please find out")
        )
    for adjective in wording.attributes(end) if len(texts) > 2 else ():
        families.setdefault("compare", []).append(
            f"Compare {listed(texts)}. Which one is the {mark(slot + 1, mark(slot, adjective))}?"
        )
    return {**put(Core(noun, head, tuple(direct), tuple(inline))), **families}
