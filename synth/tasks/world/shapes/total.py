"""The sum of a value over a set: "How many inhabitants do all the cities in X have altogether?" (after SciResearcher,
arXiv 2605.01489, whose answers are computed from tables).

Unique because the set is everything that one relation leads to and each member has one value.
"""

from __future__ import annotations

import numpy as np

from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.values import total
from synth.tasks.world.grammar import mark
from synth.tasks.world.links import Link, choose
from synth.tasks.world.measures import MeasureWording
from synth.tasks.world.plurals import set_phrases
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.computation import computed
from synth.tasks.world.shapes.sets import pool_of
from synth.tasks.world.shapes.sketch import Known, pick
from synth.tasks.world.shapes.superlative import measured_set
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording import Noun

__all__ = ["propose_total"]

_TWO = "{a} and {b}"


def propose_total(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    pool = pool_of(view, split)
    found = measured_set(view, split, pool, pool.sized, rng)
    if found is None:
        return None
    (relation, _), drawn, sketch, known, slot, _, measures, values = found
    summed = total([value for value in values if value is not None]) if None not in values else None
    if summed is None:
        return None
    result, answer = computed(summed)
    sketch.operation("sum", measures, [result], slot + 2)
    link = view.link(slot, drawn.steps[0], known=False)
    worded = pick(_families(link, known, view.words.measures[relation], summed[1], slot, rng), known, rng)
    if worded is None:
        return None
    return sketch.draft("total", split, worded[0], answer, f"total+{worded[1]}")


def _families(
    link: Link, known: Known, wording: MeasureWording, unit: str, slot: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    sets = set_phrases(link, known.phrase, choose(rng, link.noun.plurals))
    if not sets:
        return {}
    members = f"all the {choose(rng, sets)}"
    frames = [(question, clause) for question, clause in wording.together if _TWO in question and _TWO in clause]
    told = [tuple(text.replace(_TWO, members).replace("{unit}", unit) for text in frame) for frame in frames]
    direct = tuple(mark(slot + 2, mark(slot + 1, question)) for question, _ in told)
    inline = tuple(mark(slot + 2, mark(slot + 1, clause)) for _, clause in told)
    return put(Core(Noun("quantity" if unit else "number"), direct=direct, clause=inline))
