"""Bar charts of the figures that a question compares or adds up.

DocScope and VRAG-RL (arXiv 2505.22019) ask questions whose evidence is in charts. A chart here is drawn from the facts
of a dataset: the entities of one question, and distractors with the same relation.
"""

from __future__ import annotations

import io
from collections import defaultdict
from dataclasses import dataclass
from math import ceil

from synth.export.contract import Inexpressible, TaskPages
from synth.export.typesetting import (
    HEADING_SIZE,
    HEIGHT,
    LEADING,
    MARGIN,
    TEXT_SIZE,
    WIDTH,
    Region,
    check_letters,
    font,
    pillow,
)
from synth.identity import derive_generator
from synth.schemas.tasks import Hop

__all__ = ["MEASURED", "Chart", "chart_of"]

MEASURED = ("number", "quantity", "year")
"""Kinds of values that are drawn."""
_OTHERS = 5
"""Distractors at most."""
_LINE, _BAR, _GAP = ceil(TEXT_SIZE * LEADING), 18, 14
_TOP = MARGIN + 2 * ceil(HEADING_SIZE * LEADING)
_ROOM = 180
"""Pixels kept free for the figure behind the longest bar."""
_MOST = (HEIGHT - MARGIN - _TOP) // (_LINE + _BAR + _GAP)
_INK, _GREY = 0, 150


@dataclass(frozen=True)
class Bar:
    """One entity's figure."""

    name: str
    text: str
    amount: float
    hops: tuple[int, ...] = ()
    """Hops of the walk that state it; empty for a distractor."""

    @property
    def words(self) -> str:
        return f"{self.name}: {self.text}"


@dataclass(frozen=True)
class Chart:
    """Horizontal bars, top to bottom. Years (``points``) are marks on a line from the first to the last."""

    title: str
    points: bool
    bars: tuple[Bar, ...]

    def png(self) -> bytes:
        """Grey bars on white, each under its name and before its figure: WIDTH by at most HEIGHT."""
        image = pillow().Image.new("L", (WIDTH, self._row(len(self.bars)) - _GAP + MARGIN), 255)
        pen = pillow().ImageDraw.Draw(image)
        pen.text((MARGIN, MARGIN), self.title, fill=_INK, font=font(HEADING_SIZE))
        for number, bar in enumerate(self.bars):
            top, end = self._row(number), self._end(bar)
            pen.text((MARGIN, top), bar.name, fill=_INK, font=font(TEXT_SIZE))
            start = end - _BAR // 2 if self.points else MARGIN
            pen.rectangle((start, top + _LINE, end, top + _LINE + _BAR - 1), fill=_GREY)
            pen.text((end + 8, top + _LINE - 2), bar.text, fill=_INK, font=font(TEXT_SIZE))
        file = io.BytesIO()
        image.save(file, "PNG")
        return file.getvalue()

    def regions(self) -> dict[int, Region]:
        """Hop -> where its bar stands, with its name and figure."""
        made: dict[int, Region] = {}
        for number, bar in enumerate(self.bars):
            top = self._row(number)
            right = max(MARGIN + font(TEXT_SIZE).getlength(bar.name), self._end(bar) + 8 + _wide(bar.text))
            box = (MARGIN, top, ceil(right), top + _LINE + _BAR + 4)
            made |= {hop: Region(0, box, bar.words) for hop in bar.hops}
        return made

    def _row(self, number: int) -> int:
        return _TOP + number * (_LINE + _BAR + _GAP)

    def _end(self, bar: Bar) -> int:
        amounts = [one.amount for one in self.bars]
        least = min(amounts) if self.points else 0.0
        share = (bar.amount - least) / ((max(amounts) - least) or 1.0)
        return MARGIN + max(_BAR if self.points else 2, round(share * (WIDTH - 2 * MARGIN - _ROOM)))


def chart_of(item: TaskPages) -> Chart | None:
    """A chart of the relation that the task's walk states of the most entities, with distractors. None where no
    relation has two, or the figures can't share an axis (different units, negative values)."""
    groups: dict[str, list[tuple[int, Hop]]] = defaultdict(list)
    for number, hop in enumerate(item.row.walk.hops):
        if hop.target.document_id is None and hop.target.kind in MEASURED:
            groups[hop.relation].append((number, hop))
    sizes = {relation: len({hop.source.id for _, hop in found}) for relation, found in groups.items()}
    relation = max(sizes, key=sizes.__getitem__, default="")
    if sizes.get(relation, 0) < 2:
        return None
    kind = groups[relation][0][1].target.kind
    asked: dict[str, Bar] = {}
    for number, hop in groups[relation]:
        bar = _bar(hop.source.name, hop.target.id)
        if bar is None or hop.target.kind != kind or (held := asked.get(hop.source.id, bar)).text != bar.text:
            return None
        asked[hop.source.id] = Bar(bar.name, bar.text, bar.amount, (*held.hops, number))
    units = {_unit(bar.text) for bar in asked.values()}
    if len(units) > 1 or len(asked) > _MOST:
        return None
    for bar in asked.values():
        check_letters(bar.words)
        if not _fits(bar):
            return None
    bars = [*asked.values(), *_others(item, relation, asked, units.pop())[: min(_OTHERS, _MOST - len(asked))]]
    order = derive_generator(0, "chart", item.row.id).permutation(len(bars))
    title = relation.replace("_", " ")
    check_letters(title)
    return Chart(title[:1].upper() + title[1:], kind == "year", tuple(bars[int(at)] for at in order))


def _others(item: TaskPages, relation: str, asked: dict[str, Bar], unit: str) -> list[Bar]:
    """Distractors, shuffled by task. Entities with two different figures are left out."""
    stated: dict[str, set[str]] = defaultdict(set)
    names = {}
    for name, fact in item.alike:
        if fact.relation == relation and fact.value is not None:
            stated[fact.subject].add(fact.value)
            names[fact.subject] = name
    taken = {bar.name.casefold() for bar in asked.values()}
    found = []
    for subject, values in stated.items():
        name = names[subject]
        bar = _bar(name, next(iter(values))) if len(values) == 1 and subject not in asked else None
        if bar is None or name.casefold() in taken or _unit(bar.text) != unit or not _fits(bar):
            continue
        try:
            check_letters(bar.words)
        except Inexpressible:
            continue
        taken.add(name.casefold())
        found.append(bar)
    order = derive_generator(0, "others", item.row.id).permutation(len(found))
    return [found[int(at)] for at in order]


def _bar(name: str, value: str) -> Bar | None:
    """Of a plain number, a number with its unit, or a year; None for anything else."""
    number, _, unit = value.partition(" ")
    try:
        amount = float(number)
    except ValueError:
        return None
    if not 0 <= amount < 1e15:
        return None
    grouped = f"{int(number):,}" if number.isdigit() and len(number) > 4 else number
    return Bar(name, f"{grouped} {unit}".rstrip(), amount)


def _unit(text: str) -> str:
    return text.partition(" ")[2]


def _wide(text: str) -> float:
    return float(font(TEXT_SIZE).getlength(text))


def _fits(bar: Bar) -> bool:
    return len(bar.words) < WIDTH and _wide(bar.name) <= WIDTH - 2 * MARGIN and _wide(bar.text) <= _ROOM - 8
