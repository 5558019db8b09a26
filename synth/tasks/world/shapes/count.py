"""How many there are: "How many films did X direct?"

Unique because a count is: the walk lists every member in the whole graph, each with the sentence that states it.
"""

from __future__ import annotations

import numpy as np

from synth.schemas.row import Split
from synth.schemas.tasks import Node
from synth.tasks.draft import Draft
from synth.tasks.world.grammar import mark
from synth.tasks.world.links import Link, choose
from synth.tasks.world.plurals import counted, set_phrases, several
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.sets import pool_of
from synth.tasks.world.shapes.sketch import Known, Sketch, pick
from synth.tasks.world.shapes.superlative import set_hops, start_set
from synth.tasks.world.view import Answer, WorldView
from synth.tasks.world.wording import Noun
from synth.text.numbers import NUMERALS

__all__ = ["propose_count"]


def propose_count(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    pool = pool_of(view, split)
    size = pool.by_size.draw(rng)
    found = pool.of_size[size[0]].draw(rng) if size is not None else None
    if found is None:
        return None
    drawn = pool.drawn(found[1])
    sketch = Sketch(view)
    known, slot = start_set(view, split, drawn, sketch, rng)
    if known is None:
        return None
    members, _, _ = set_hops(view, drawn, sketch, slot)
    count = len(members)
    result = Node(id=str(count), name=str(count), kind="number")
    sketch.operation("count", members, [result], slot + 1)
    worded = pick(_families(view.link(slot, drawn.steps[0], known=False), known, slot, rng), known, rng)
    if worded is None:
        return None
    answer = Answer(str(count), "number", tuple(NUMERALS[count : count + 1]))
    return sketch.draft("count", split, worded[0], answer, f"count+{worded[1]}")


def _families(link: Link, known: Known, slot: int, rng: np.random.Generator) -> dict[str, list[str]]:
    operation = slot + 1
    plural = choose(rng, link.noun.plurals)
    direct, inline = counted(link, known.phrase, plural)
    sets = set_phrases(link, known.phrase, plural)
    many = f"how many {plural}"

    def asked(text: str) -> str:
        """ "how many films" is the operation's, the rest the set's; all of it is one run of words."""
        return text.replace(many, mark(operation, "how many") + f" {plural}", 1)

    phrases: list[str] = []
    if sets:
        members = choose(rng, sets)
        phrases = [
            f"{mark(operation, f'the {number}')} of {members}" for number in ("number", "total number", "exact number")
        ]
    families = put(
        Core(
            Noun("number"),
            direct=tuple(asked(text) for text in direct),
            clause=tuple(asked(text) for text in inline),
            phrase=tuple(phrases),
        )
    )
    if sets:
        families["counted"] = [
            f"if you {mark(operation, 'count')} the {members}, how many do you get?",
            f"{mark(operation, 'count')} the {members}. How many are there?",
        ]
    statements = several(link, known.phrase, plural)
    if statements:
        told = choose(rng, statements)
        families["several"] = [
            f"{told}. {ask}?"
            for ask in (mark(operation, "How many exactly"), mark(operation, "How many are there in all"))
        ]
    return families
