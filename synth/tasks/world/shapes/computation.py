"""Answers that stand nowhere and are computed (after SciResearcher): years between two events, an age, sums and
differences of quantities of one unit.

Unique because each operand is one value of one node, and arithmetic has one result. A difference of dates is asked for
only where all ways of counting agree (see :func:`synth.tasks.values.difference`).
"""

from __future__ import annotations

import numpy as np

from synth.lexicon.names import written_value
from synth.schemas.row import Split
from synth.schemas.tasks import Node, OperationKind
from synth.tasks.draft import Draft
from synth.tasks.values import Measure, difference, parse_measure, plain_number, total
from synth.tasks.world.grammar import mark
from synth.tasks.world.links import choose
from synth.tasks.world.measures import MeasureWording
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.comparison import add_sides
from synth.tasks.world.shapes.pairs import Candidate, candidate, draw_candidates, measured_kinds
from synth.tasks.world.shapes.sketch import Sketch, pick
from synth.tasks.world.view import Answer, WorldView
from synth.tasks.world.wording import Noun

__all__ = ["computed", "propose_computation"]


def propose_computation(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    if rng.random() < 0.15:
        return _age(view, split, rng)
    drawn = draw_candidates(view, split, rng, 2, described=rng.random() < view.config.described)
    if drawn is None:
        return None
    relation, _, sides = drawn
    wording = view.words.measures[relation]
    operation: OperationKind = "difference"
    if wording.together and rng.random() < 0.5:
        operation = "sum"
    measures = [side.measure for side in sides]
    number = difference(*measures) if operation == "difference" else total(measures)
    if number is None or number[0] in (0, 1) or not _agreed(measures):
        return None  # "how many years lie between": several, or none would ask
    sketch = Sketch(view)
    slot, over = add_sides(sketch, sides)
    result, answer = computed(number)
    sketch.operation(operation, over, [result], slot + 1)
    ordered = sorted(sides, key=lambda side: side.measure.low)  # hops keep the order of the descriptions' slots
    worded = pick(_families(ordered, wording, operation, number[1], slot, rng), None, rng)
    if worded is None:
        return None
    return sketch.draft("computation", split, worded[0], answer, f"computation+{operation}+{worded[1]}")


def _agreed(measures: list[Measure]) -> bool:
    """Whether all ways of counting the years between two dates agree: completed years, and one year less the other."""
    if measures[0].kind != "date":
        return True
    found = difference(*measures)
    return found is not None and found[0] == abs(measures[0].year - measures[1].year)


def computed(number: tuple[int | float, str]) -> tuple[Node, Answer]:
    """The computed value as a node and as an answer."""
    amount, unit = number
    text = plain_number(amount, unit)
    kind = "quantity" if unit else "number"
    name = written_value(text, kind) if isinstance(amount, int) else text  # type: ignore[arg-type]
    bare = name.removesuffix(f" {unit}").strip() if unit else name
    aliases = dict.fromkeys((bare, str(amount)))
    node = Node(id=text, name=name, kind=kind)
    return node, Answer(name, kind, tuple(form for form in aliases if form != name))  # type: ignore[arg-type]


def _age(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """How old a person became: the completed years between two dates of one page, of a person who is described."""
    pool = measured_kinds(view, split).of(("death_date", "person"))
    if len(pool) == 0:
        return None
    person = int(pool[int(rng.integers(len(pool)))])
    side = candidate(view, split, rng, person, "death_date", 0, {person}, used=set(), described=True)
    born = view.step_to_value(person, "birth_date")
    if side is None or side.step is None or born is None:
        return None
    birth = parse_measure(*view.graph.value(born.target))
    number = difference(birth, side.measure) if birth is not None else None
    if number is None:
        return None
    sketch = Sketch(view)
    first = sketch.hop(side.step, 0)
    over = [sketch.hop(born, 1, (first,)), sketch.hop(side.value, 1, (first,))]
    result, answer = computed(number)
    sketch.operation("difference", over, [result], 2)
    who = side.text

    direct = (
        f"{mark(2, mark(1, 'at what age did'))} {who} die",
        f"{mark(2, mark(1, 'how many years did'))} {who} live",
    )
    clause = (
        f"{mark(2, mark(1, 'at what age'))} {who} died",
        f"{mark(2, mark(1, 'how old'))} {who} lived to be",
        f"{mark(2, mark(1, 'how many years'))} {who} lived",
    )
    phrase = (
        f"{mark(2, mark(1, 'the age at which'))} {who} died",
        f"{mark(2, mark(1, 'the number of years'))} that {who} lived",
    )
    worded = pick(put(Core(Noun("number"), direct=direct, clause=clause, phrase=phrase)), None, rng)
    if worded is None:
        return None
    return sketch.draft("computation", split, worded[0], answer, f"computation+age+{worded[1]}")


def _families(
    sides: list[Candidate],
    wording: MeasureWording,
    operation: OperationKind,
    unit: str,
    slot: int,
    rng: np.random.Generator,
) -> dict[str, list[str]]:
    """``sides``: the smaller (earlier) first."""
    small, large = sides[0].text, sides[1].text
    direct: list[str] = []
    inline: list[str] = []
    phrases: list[str] = []

    def whole(text: str) -> str:
        return mark(slot + 1, mark(slot, text))

    if operation == "difference" and wording.happens:
        one, two = wording.event.replace("{x}", small), wording.event.replace("{x}", large)
        if rng.random() < 0.5:
            ordered = f"{one} and {two}" if rng.random() < 0.7 else f"{two} and {one}"
            direct += [whole(f"how many years {verb} between {ordered}") for verb in ("passed", "lie", "went by")]
            direct += [whole(f"how many years apart are {ordered}")]
            inline += [whole(f"how many years {verb} between {ordered}") for verb in ("passed", "lie", "went by")]
            phrases += [
                whole(f"the number of years between {ordered}"),
                whole(f"the number of years that separate {ordered}"),
            ]
        else:
            finite, base = choose(rng, wording.happens)
            auxiliary, _, rest = finite.partition(" ")
            asked = f"was {large} {rest}" if auxiliary == "was" else f"did {large} {base}"
            direct += [
                whole(f"how many years after {one} {asked}"),
                whole(f"how many years later than {small} {asked}"),
            ]
            inline += [whole(f"how many years went by between {one} and {two}")]
            phrases += [whole(f"the number of years between {one} and {two}")]
        return put(Core(Noun("number"), direct=tuple(direct), clause=tuple(inline), phrase=tuple(phrases)))
    forms = wording.together if operation == "sum" else wording.exceeds
    for question, told in forms:
        first, second = (large, small) if operation == "difference" or rng.random() < 0.5 else (small, large)
        fill = {"{a}": first, "{b}": second, "{unit}": unit}
        for name, text in fill.items():
            question, told = question.replace(name, text), told.replace(name, text)
        direct.append(whole(question))
        inline.append(whole(told))
        if question.startswith("what is "):
            phrases.append(whole(question.removeprefix("what is ")))
    return put(
        Core(Noun("quantity" if unit else "number"), direct=tuple(direct), clause=tuple(inline), phrase=tuple(phrases))
    )
