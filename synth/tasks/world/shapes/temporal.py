"""A set narrowed by dates: "Which of the films directed by X was the first to come out after 1950?"

The bound is a year, a pair of years or a decade that the question names, or the date of another event, which has to be
found ("after the death of Y"). What is left is one member, or the first or last of several.

Unique because the set is complete, each member's date lies clearly on one side of the bound, and the one that is chosen
is alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from synth.graph.walks import WalkStep
from synth.schemas.row import Split
from synth.schemas.tasks import Node
from synth.tasks.draft import Draft
from synth.tasks.values import Measure, parse_measure
from synth.tasks.world.grammar import mark
from synth.tasks.world.links import Link, choose
from synth.tasks.world.measures import End, MeasureWording
from synth.tasks.world.plurals import set_phrases, several
from synth.tasks.world.registers import Core, put
from synth.tasks.world.shapes.pairs import measured_kinds
from synth.tasks.world.shapes.sets import pool_of
from synth.tasks.world.shapes.sketch import Known, pick
from synth.tasks.world.shapes.superlative import measured_set, singular
from synth.tasks.world.view import WorldView
from synth.tasks.world.wording import RELATIVE

__all__ = ["propose_temporal"]

_FOUND_SHARE = 0.4
"""Share of the bounds that are another event's date."""


@dataclass(frozen=True)
class _Bound:
    """A bound in words and as a range."""

    words: str
    """"after 1950"; with the slot ``{x}`` where another event stands."""
    least: str
    greatest: str
    """Ends of the range, as plain values; empty where it is open."""
    inside: tuple[int, ...]
    """Places of the members that lie in it."""
    end: End | None
    """Which of those is sought; None where there is one only."""
    step: WalkStep | None = None
    """The hop that finds the bound."""
    event: str = ""
    """Its words, unmarked: "the death of Y"."""

    @property
    def node(self) -> Node:
        return Node(id=f"{self.least}/{self.greatest}", name=self.words.replace("{x}", self.event), kind="range")


def propose_temporal(view: WorldView, split: Split, rng: np.random.Generator) -> Draft | None:
    """See :data:`synth.tasks.world.shapes.ShapeMaker`."""
    pool = pool_of(view, split)
    found = measured_set(view, split, pool, pool.dated, rng)
    if found is None:
        return None
    (relation, _), drawn, sketch, known, slot, members, measures, values = found
    dates = [value for value in values if value is not None]
    if len(dates) < len(values):
        return None
    taken = {drawn.source, *drawn.members, *(step.source for step, _, _ in sketch.hops)}
    if rng.random() < _FOUND_SHARE:
        bound = _event_bound(view, split, rng, dates, taken)
    else:
        bound = _year_bound(rng, dates)
    if bound is None:
        return None
    nodes = [view.node(sketch.hops[hop][0].target) for hop in members]
    left = [nodes[place] for place in bound.inside]
    last = slot + 2
    if bound.step is not None:
        last += 1
        sketch.hop(bound.step, last)
    one = sketch.operation("filter", measures, left, slot + 2, bound=bound.node)
    answer = left[0]
    if bound.end is not None:
        order = sorted(bound.inside, key=lambda place: dates[place].low)
        answer = nodes[order[0] if bound.end == "argmin" else order[-1]]
        sketch.operation(bound.end, measures, [answer], last + 1, within=one)
    families = _families(
        view.link(slot, drawn.steps[0], known=False), known, view.words.measures[relation], bound, slot, last, rng
    )
    worded = pick(families, known, rng)
    if worded is None:
        return None
    kind = "event" if bound.step is not None else "year"
    return sketch.draft("temporal", split, worded[0], view.answer(answer), f"temporal+{kind}+{worded[1]}")


def _outcome(
    dates: list[Measure], inside: tuple[int, ...], ends: tuple[End, ...], rng: np.random.Generator
) -> End | bool | None:
    """Which of those inside may be sought: an end of the order, None where there is one only, False where nothing can
    be asked (all lie inside, none does, or the end is shared)."""
    if not inside or len(inside) == len(dates):
        return False
    if len(inside) == 1:
        return None
    order = sorted(inside, key=lambda place: dates[place].low)
    fine = [
        end
        for end, (one, two) in {"argmin": (order[0], order[1]), "argmax": (order[-2], order[-1])}.items()
        if end in ends and dates[one].before(dates[two])
    ]
    return choose(rng, fine) if fine else False


def _year_bound(rng: np.random.Generator, dates: list[Measure]) -> _Bound | None:
    """A bound of years, none of which is a member's own."""
    years = sorted({date.year for date in dates})
    way = choose(rng, ("after", "before", "between", "decade"))
    plain = dates[0].kind == "year"
    if way in ("after", "before"):
        gaps = [(a, b) for a, b in pairwise(years) if b - a >= 2]
        if not gaps:
            return None
        low, high = choose(rng, gaps)
        year = int(rng.integers(low + 1, high))
        tens = [y for y in range(low + 1, high) if y % 10 == 0]
        if tens and rng.random() < 0.6:
            year = choose(rng, tens)
        if way == "after":
            inside = tuple(i for i, date in enumerate(dates) if date.year > year)
            end = _outcome(dates, inside, ("argmin",), rng)
            words, least, greatest = f"after {year}", _day(year + 1, plain, first=True), ""
        else:
            inside = tuple(i for i, date in enumerate(dates) if date.year < year)
            end = _outcome(dates, inside, ("argmax",), rng)
            words, least, greatest = f"before {year}", "", _day(year - 1, plain, first=False)
    else:
        if way == "decade":
            low = 10 * (choose(rng, years) // 10)
            high, words = low + 9, f"in the {low}s"
        else:
            spread = int(rng.integers(5, 41))
            low = choose(rng, years) - int(rng.integers(1, spread))
            high, words = low + spread, f"between {low} and {low + spread}"
        if way == "between" and {low, high} & set(years):
            return None
        inside = tuple(i for i, date in enumerate(dates) if low <= date.year <= high)
        end = _outcome(dates, inside, ("argmin", "argmax"), rng)
        least, greatest = _day(low, plain, first=True), _day(high, plain, first=False)
        if isinstance(end, str) and not _matters(dates, inside, end):
            return None
    return None if end is False else _Bound(words, least, greatest, inside, end)  # type: ignore[arg-type]


def _matters(dates: list[Measure], inside: tuple[int, ...], end: End) -> bool:
    """Whether the end of those inside is not the end of all."""
    outside = [date for place, date in enumerate(dates) if place not in inside]
    held = [dates[place] for place in inside]
    if end == "argmin":
        return any(date.before(min(held, key=lambda d: d.low)) for date in outside)
    return any(max(held, key=lambda d: d.low).before(date) for date in outside)


def _day(year: int, plain: bool, *, first: bool) -> str:
    """A year as a bound of years, or of dates."""
    return str(year) if plain else f"{year}-01-01" if first else f"{year}-12-31"


def _event_bound(
    view: WorldView, split: Split, rng: np.random.Generator, dates: list[Measure], taken: set[int]
) -> _Bound | None:
    """The date of something that the question names, clearly apart from every member's date."""
    pool = measured_kinds(view, split)
    for _ in range(12):
        found = pool.draw(rng)
        if found is None:
            return None
        (relation, _), node = found
        step = view.step_to_value(node, relation) if view.words.measures[relation].event and node not in taken else None
        value = parse_measure(*view.graph.value(step.target)) if step is not None else None
        if step is None or value is None or not value.dated:
            continue
        if any(not date.apart(value, 0) or date.year == value.year for date in dates):
            continue
        after = tuple(i for i, date in enumerate(dates) if value.before(date))
        before = tuple(i for i in range(len(dates)) if i not in after)
        text = view.graph.value(step.target)[1]
        event = view.words.measures[relation].event.replace("{x}", view.spoken(node))
        ways: list[tuple[str, str, str, tuple[int, ...], End]] = [
            ("after", text, "", after, "argmin"),
            ("before", "", text, before, "argmax"),
        ]
        for at in rng.permutation(2).tolist():
            words, least, greatest, inside, wanted = ways[at]
            end = _outcome(dates, inside, (wanted,), rng)
            if end is not False:
                return _Bound(f"{words} {{x}}", least, greatest, inside, end, step, event)  # type: ignore[arg-type]
    return None


def _families(
    link: Link, known: Known, wording: MeasureWording, bound: _Bound, slot: int, last: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    measure, narrowed, chosen = slot + 1, slot + 2, last + 1
    plural = choose(rng, link.noun.plurals)
    head = link.noun.heads[0]
    wh = "who" if link.person else "which"
    when = mark(narrowed, bound.words.replace("{x}", mark(last, bound.event)))
    sets = set_phrases(link, known.phrase, plural)
    statements = several(link, known.phrase, plural)
    direct: list[str] = []
    inline: list[str] = []
    phrases: list[str] = []
    families: dict[str, list[str]] = {}
    members = choose(rng, sets) if sets else ""
    told = choose(rng, statements) if statements else ""
    one = singular(members, plural, head) if members else None
    for finite, base in wording.happens:
        if bound.end is None:
            clause = f"{mark(measure, finite)} {when}"
        else:
            place = "first" if bound.end == "argmin" else "last"
            clause = f"{mark(chosen, f'was the {place}')} to {mark(measure, base)} {when}"
        if members:
            direct += [f"which of the {members} {clause}", f"of the {members}, {wh} {clause}"]
            direct += [f"of all the {members}, which one {clause}"]
            inline += [f"which of the {members} {clause}"]
            if one is not None:
                direct.append(f"which {one} {clause}")
                inline.append(f"which {one} {clause}")
            if bound.end is None:
                families.setdefault("only", []).extend(
                    [f"only one of the {members} {clause}. Which one?", f"just one of the {members} {clause}. Which?"]
                )
            else:
                place = choose(rng, ("earliest", "first") if bound.end == "argmin" else ("latest", "last"))
                if not RELATIVE.search(members):
                    phrases.append(f"{mark(chosen, f'the {place}')} of the {members} to {mark(measure, base)} {when}")
        if told:
            families.setdefault("several", []).extend(
                f"{told}. {opener} {clause}?" for opener in ("Which of them", "Which one")
            )
            if bound.end is None:
                families.setdefault("several, only", []).append(f"{told}. Only one of them {clause}. Which one?")
    return {**put(Core(link.noun, head, tuple(direct), tuple(inline), tuple(phrases))), **families}
