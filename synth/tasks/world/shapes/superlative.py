"""The first or last of a set by a value: "Of the films directed by X, which came out first?"

Unique because the set is everything that one relation leads to, all of its members have the value, and the extreme one
is apart from the next (:meth:`synth.tasks.world.shapes.sets.Pool.ordered`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from synth.schemas.row import Split
from synth.tasks.draft import Draft
from synth.tasks.values import Measure, parse_measure
from synth.tasks.world.grammar import CLAUSE, mark
from synth.tasks.world.links import Link, choose
from synth.tasks.world.measures import End, MeasureWording
from synth.tasks.world.plurals import bracketed, set_phrases, several
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.sets import Drawn, Pool, Weighted, describe, pool_of
from synth.tasks.world.shapes.sketch import Known, Sketch, known_phrase, pick
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording import RELATIVE

__all__ = ["extreme", "measured_set", "propose_superlative", "set_hops", "singular", "start_set"]


def propose_superlative(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    pool = pool_of(view, split)
    found = measured_set(view, split, pool, pool.ordered, rng)
    if found is None:
        return None
    (relation, end, _), drawn, sketch, known, slot, members, measures, values = found
    best = extreme(values, end)
    if best is None:
        return None
    node = sketch.hops[members[best]][0].target
    answer = view.node(node)
    sketch.operation(end, measures, [answer], slot + 2)
    link = view.link(slot, drawn.steps[0], known=False)
    worded = pick(_families(link, known, view.words.measures[relation], end, slot, rng), known, rng)
    if worded is None:
        return None
    return sketch.draft("superlative", split, worded[0], view.answer(answer), f"superlative+{worded[1]}")


def start_set(
    view: WorldView, split: Split, drawn: Drawn, sketch: Sketch, rng: np.random.Generator
) -> tuple[Known | None, int]:
    """How the question speaks of the set's source (None where a description is wanted and there is none), with a hop if
    it is described; and the slot of the set."""
    step = None
    if rng.random() < view.config.described:
        used = {drawn.steps[0].relation}
        if not view.may_be_gold(drawn.source, split):
            return None, 0
        step = describe(view, split, rng, drawn.source, {drawn.source, *drawn.members}, used=used)
        if step is None:
            return None, 0
    known = known_phrase(view, drawn.source, step, 0, rng)
    if step is not None:
        sketch.hop(step, 0)
    return known, int(step is not None)


class MeasuredSet(NamedTuple):
    """A set that was drawn, on the sketch of its question: hops of its members and of their values."""

    key: tuple[Any, ...]
    """What it was drawn by: the relation that measures it first, its port last."""
    drawn: Drawn
    sketch: Sketch
    known: Known
    slot: int
    members: list[int]
    measures: list[int]
    values: list[Measure | None]


def measured_set(
    view: WorldView, split: Split, pool: Pool, sets: Weighted, rng: np.random.Generator
) -> MeasuredSet | None:
    """One of ``sets``, or None where there is none, or none that can be spoken of."""
    found = sets.draw(rng)
    if found is None:
        return None
    key, number = found
    drawn = pool.drawn(number, *key[:-1])
    sketch = Sketch(view)
    known, slot = start_set(view, split, drawn, sketch, rng)
    return None if known is None else MeasuredSet(key, drawn, sketch, known, slot, *set_hops(view, drawn, sketch, slot))


def set_hops(
    view: WorldView, drawn: Drawn, sketch: Sketch, slot: int
) -> tuple[list[int], list[int], list[Measure | None]]:
    """Adds a hop for every member and, where a measure was drawn, one for each member's value: (members, measures,
    values), in one order."""
    needs = (len(sketch.hops) - 1,) if sketch.hops else ()
    members = [sketch.hop(step, slot, needs) for step in drawn.steps]
    measures: list[int] = []
    values: list[Measure | None] = []
    if drawn.relation:
        for hop, step in zip(members, drawn.steps, strict=True):
            value = view.step_to_value(step.target, drawn.relation)
            if value is None:
                raise ValueError(f"member {step.target} has no {drawn.relation}")
            measures.append(sketch.hop(value, slot + 1, (hop,)))
            values.append(parse_measure(*view.graph.value(value.target)))
    return members, measures, values


def extreme(values: list[Measure | None], end: End) -> int | None:
    """The place of the least or greatest value; None when a value is missing or no value is alone at the end."""
    best: list[int] = []
    for place, value in enumerate(values):
        if value is None:
            return None
        others = [other for at, other in enumerate(values) if at != place and other is not None]
        if all(value.before(other) if end == "argmin" else other.before(value) for other in others):
            best.append(place)
    return best[0] if len(best) == 1 else None


def singular(phrase: str, plural: str, head: str) -> str | None:
    """A set phrase as one member of it: "films directed by X" -> "film directed by X"; None where the verb would have
    to change too."""
    at = phrase.find(plural)
    if at < 0:
        return None
    text = phrase[:at] + head + phrase[at + len(plural) :]
    finite = (" that are ", " that were ", " who are ", " who were ", " that have ", " who have ")
    if any(words in text for words in finite):
        return None
    return None if any(f"{head} {pronoun} " in text for pronoun in ("that", "who", "whose", "which", "whom")) else text


def _families(
    link: Link, known: Known, wording: MeasureWording, end: End, slot: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    measure, operation = slot + 1, slot + 2
    plural = choose(rng, link.noun.plurals)
    head = link.noun.heads[0]
    wh = "who" if link.person else "which"
    clauses = [bracketed(text, measure, operation) for text in wording.clauses(end, two=False)]
    adjectives = [mark(operation, mark(measure, text)) for text in wording.attributes(end)]
    sets = set_phrases(link, known.phrase, plural)
    if sets:
        members = choose(rng, sets)
        direct = [
            text
            for clause in clauses
            for text in (
                f"which of the {members} {clause}",
                f"of the {members}, {wh} {clause}",
                f"of all the {members}, which one {clause}",
                f"among the {members}, which one {clause}",
            )
        ]
        inline = [f"which of the {members} {clause}" for clause in clauses]
        phrases = [f"the {adjective} of the {members}" for adjective in adjectives]
        one = singular(members, plural, head)
        if one is not None:
            direct += [f"which {one} {clause}" for clause in clauses]
            inline += [f"which {one} {clause}" for clause in clauses]
            if known.phrase.weight < CLAUSE and not RELATIVE.search(one):
                phrases += [
                    f"the {one} that {clause}".replace("the person that", "the person who") for clause in clauses
                ]
        families = put(Core(link.noun, head, tuple(direct), tuple(inline), tuple(phrases)))
    else:
        families = {}
    statements = several(link, known.phrase, plural)
    if statements:
        told = choose(rng, statements)
        asks = [f"{opener} {clause}?" for clause in clauses for opener in ("Which of them", "Which one")]
        asks += [f"Which one is the {adjective}?" for adjective in adjectives]
        families["several"] = [f"{told}. {ask}" for ask in asks]
        families["several, named"] = [
            f"{told}. {opener} the one that {clause}." for clause in clauses for opener in ("Name", "Tell me")
        ]
    return families
