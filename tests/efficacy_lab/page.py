"""Results as one page of HTML that opens without a network: endpoints first, then all that was seen, whichever way it
fell.

It says what the table says (``efficacy_lab.table``), with intervals and seeds drawn. The arm that others are held
against, those that differ in the number of runs and those whose base learned otherwise are found by what the plan says
of them, not by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from efficacy_lab.drawing import Point, Scale, axis, curve, scale_of, strip
from efficacy_lab.experiment import BY_HOPS, Measured, Results
from efficacy_lab.plan import Arm, Endpoint, Plan, Teach
from efficacy_lab.statistics import Compared, Interval, compare, interval
from efficacy_lab.table import asked_text, few_text, kind_text, mean_text, table_of
from synth.dataset.show.pages import render_page
from synth.store.files import write_file

__all__ = ["page_of", "write_findings", "write_results"]

_TONES = {"higher": "good", "lower": "bad", "not shown": "flat"}


class _Cell(NamedTuple):
    text: str
    more: str = ""
    """What stands below it: an interval, or a verdict's reason."""


@dataclass(frozen=True)
class _Line:
    """One line of a forest plot, with the numbers beside it."""

    name: str
    says: str
    drawn: str = ""
    """SVG."""
    cells: tuple[_Cell, ...] = ()
    missing: str = ""
    """Why there is nothing to draw."""
    note: str = ""
    tone: str = ""


@dataclass(frozen=True)
class _Forest:
    first: str
    """What a line is about: the head of the first column."""
    heads: tuple[str, ...]
    axis: str
    """SVG; empty where nothing is drawn."""
    lines: tuple[_Line, ...]
    shaded: bool = False
    """Whether a line shows which differences would not be found."""


@dataclass(frozen=True)
class _Place:
    name: str
    asked: str
    base: float | None
    core: bool
    """Whether the core arms alone are tested there."""
    forest: _Forest
    heads: tuple[str, ...]
    """Of the table with the rest of the numbers."""
    rows: tuple[tuple[str, ...], ...]
    waiting: tuple[str, ...]
    """Arms of the plan without a result there."""


@dataclass(frozen=True)
class _Scaling:
    drawn: str
    rows: tuple[tuple[str, str, str, _Cell], ...]
    """Arm, what the plan says of it, runs, success."""
    sentence: str
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class _Parts:
    forest: _Forest | None
    fell: dict[str, list[str]]
    """Verdict -> arms."""
    waiting: tuple[str, ...]


def write_findings(folder: Path, plan: Plan, results: Results, command: str = "") -> None:
    """Write ``results.json``, ``table.md`` and ``report.html``, all of the same results, into ``folder``."""
    write_results(folder, results)
    write_file(folder / "table.md", table_of(plan, results).encode())
    write_file(folder / "report.html", page_of(plan, results, command).encode())


def write_results(folder: Path, results: Results) -> None:
    """Write ``results.json`` alone: what a part of a run is, before the others are there."""
    folder.mkdir(parents=True, exist_ok=True)
    write_file(folder / "results.json", results.model_dump_json(indent=1).encode())


def page_of(plan: Plan, results: Results, command: str = "") -> str:
    """The whole page.

    Args:
        command: What goes on with the run, or makes it again.
    """
    view = _View(plan, results)
    return render_page(
        "efficacy.html.j2",
        style="efficacy.css",
        package="efficacy_lab",
        results=results,
        kind=kind_text(results.purpose),
        seeds=view.seeds,
        open=view.open,
        of=plan.seeds_for(results.purpose),
        place=plan.first_place,
        base=view.base,
        endpoints=view.endpoints(),
        summary=view.summary(),
        places=[view.place(name) for name in plan.data.places if name in results.measured],
        missing=[
            (name, plan.arms[name].says, few_text(results, name)) for name in plan.arms if name in results.missing
        ],
        scaling=view.scaling(),
        parts=view.parts(),
        command=command,
    )


class _View:
    """What the page shows, taken from a plan and its results."""

    def __init__(self, plan: Plan, results: Results) -> None:
        self._plan, self._results = plan, results
        self._rates = results.rates(plan.first_place)
        self.base = next((name for name, arm in plan.arms.items() if _is_base(arm) and arm.teach == Teach()), None)
        """The arm that is the base alone; None where the plan has none."""

    @property
    def seeds(self) -> list[int]:
        """Those that anything is known of."""
        return sorted({seed for seeds in self._begun.values() for seed in seeds})

    @property
    def open(self) -> bool:
        """Whether an arm that was begun lacks a seed."""
        wanted = set(self._plan.seeds_for(self._results.purpose))
        return any(seeds < wanted for seeds in self._begun.values())

    @property
    def _begun(self) -> dict[str, set[int]]:
        """Arm -> seeds that something is known of."""
        results, found = self._results, dict[str, set[int]]()
        known: list[Mapping[str, Mapping[int, object]]] = [results.trained, results.missing, *results.measured.values()]
        for arms in known:
            for arm, seeds in arms.items():
                found.setdefault(arm, set()).update(seeds)
        return found

    # -- endpoints -----------------------------------------------------------------------------------------------------

    def endpoints(self) -> _Forest:
        """The differences that were named before the run, those not measured with the reason."""
        ends = [(end, self._compared(end.arm, end.against)) for end in self._plan.endpoints]
        scale = self._scale(one for _, one in ends if one is not None)
        lines = []
        for end, one in ends:
            name, says = f"{end.arm} − {end.against}", self._both(end)
            if one is None:
                lines.append(_Line(name, says, missing=f"not measured ({self._why(end.arm, end.against)})"))
                continue
            least = "-" if one.detectable is None else f"{one.detectable:.3f}"
            cells = (_difference_cell(one), _Cell(str(one.difference.n)), _Cell(least), _verdict(one))
            drawn = self._difference(one, scale, unseen=one.detectable)
            lines.append(_Line(name, says, drawn, cells, tone=_TONES[one.verdict], note=self._left_out(end)))
        heads = ("difference (95\N{NO-BREAK SPACE}%)", "seeds", "smallest that would be found", "verdict")
        shaded = any(one is not None and one.detectable is not None for _, one in ends)
        numbers = axis(scale) if any(line.drawn for line in lines) else ""
        return _Forest("endpoint", heads, numbers, tuple(lines), shaded)

    def summary(self) -> str:
        """How many of the endpoints fell which way."""
        found = [self._compared(end.arm, end.against) for end in self._plan.endpoints]
        told = [one.verdict for one in found if one is not None]
        parts = [f"{told.count(word)} {word}" for word in _TONES]
        if found.count(None):
            parts.append(f"{found.count(None)} not measured")
        return f"Of {len(found)} difference{'' if len(found) == 1 else 's'} named before the run: {', '.join(parts)}."

    def _both(self, end: Endpoint) -> str:
        return f"{self._plan.arms[end.arm].says}; against: {self._plan.arms[end.against].says}"

    def _left_out(self, end: Endpoint) -> str:
        few = [
            f"{arm}: {few_text(self._results, arm)}" for arm in (end.arm, end.against) if arm in self._results.missing
        ]
        return f"seeds left out: {'; '.join(few)}" if few else ""

    def _why(self, *arms: str) -> str:
        """Why there is nothing to compare."""
        found = []
        for arm in arms:
            if arm in self._results.missing:
                found.append(f"{arm}: {few_text(self._results, arm)}")
            elif arm not in self._rates:
                found.append(f"{arm}: no result yet")
        return "; ".join(found) or "no seed has both"

    # -- places --------------------------------------------------------------------------------------------------------

    def place(self, place: str) -> _Place:
        """What the arms did there, in the plan's order."""
        plan, results = self._plan, self._results
        arms, rates = results.measured[place], results.rates(place)
        here = [name for name in plan.arms if plan.tested(name, [place])]
        found = {name: interval(list(rates[name].values())) for name in here if name in arms}
        base = found[self.base].mean if self.base in found else None
        scale = scale_of(_extent(found.values(), (rates[name] for name in found)), least=0.0, most=1.0)
        lines, rows = [], []
        hops = sorted({fact for seeds in arms.values() for one in seeds.values() for fact in one.facts if _hops(fact)})
        for name in here:
            says, few = plan.arms[name].says, few_text(results, name) if name in results.missing else ""
            if name in found:
                against = self._compared(name, self.base, rates) if name != self.base else None
                difference = _difference_cell(against) if against else _Cell("-")
                cells = (_rate_cell(found[name]), difference, _Cell(str(found[name].n)))
                label = f"{name}: success {_spoken(found[name], rates[name])}"
                drawn = strip(scale, label, found[name], rates[name], reference=base)
                lines.append(_Line(name, says, drawn, cells, note=f"seeds left out: {few}" if few else ""))
                rows.append((name, *self._rest(name, list(arms[name].values()), hops)))
            elif few:
                lines.append(_Line(name, says, missing=few))
        heads = ("success (95\N{NO-BREAK SPACE}%)", f"against {self.base or 'the base'}", "seeds")
        return _Place(
            name=place,
            asked=asked_text(one for seeds in arms.values() for one in seeds.values()),
            base=base,
            core=plan.data.places[place].arms == "core",
            forest=_Forest("arm", heads, axis(scale), tuple(lines)),
            heads=("arm", *hops, "turns", "learned from", "share of failed steps"),
            rows=tuple(rows),
            waiting=tuple(name for name in here if name not in found and name not in results.missing),
        )

    def _rest(self, arm: str, measured: Sequence[Measured], hops: Sequence[str]) -> tuple[str, ...]:
        figures = list(self._results.trained.get(arm, {}).values())
        what = "pairs" if any("pairs" in one for one in figures) else "rows"
        number = mean_text(figures, what)
        return (
            *(f"{fmean(one.facts.get(fact, 0.0) for one in measured):.2f}" for fact in hops),
            f"{fmean(one.turns for one in measured):.1f}",
            number if number == "-" else f"{number} {what}",
            mean_text(figures, "share", percent=True),
        )

    # -- what the base learned from ------------------------------------------------------------------------------------

    def scaling(self) -> _Scaling | None:
        """Success by the number of training runs; None where the plan asks nothing of the kind."""
        named = [
            name
            for name, arm in self._plan.arms.items()
            if name == self.base or (_is_base(arm) and arm.teach.rows and arm.teach == Teach(rows=arm.teach.rows))
        ]
        if self.base is None or len(named) < 2:
            return None
        points = []
        for name in named:
            runs = self._runs(name)
            if name in self._rates and runs:
                seeds = self._rates[name]
                points.append(Point(name, runs, interval(list(seeds.values())), seeds))
        points.sort(key=lambda point: point.runs)
        waiting = tuple(name for name in named if name not in {point.name for point in points})
        if len(points) < 2:
            return _Scaling("", (), "", waiting)
        scale = scale_of(
            _extent((point.found for point in points), (point.seeds for point in points)), least=0.0, most=1.0
        )
        rows = tuple(
            (point.name, self._plan.arms[point.name].says, f"{point.runs:,.0f}", _rate_cell(point.found))
            for point in points
        )
        said = "; ".join(
            f"{point.name}, {point.runs:,.0f} runs: {_spoken(point.found, point.seeds)}" for point in points
        )
        label = f"Success at {self._plan.first_place} against the number of training runs: {said}"
        return _Scaling(curve(label, points, scale), rows, self._ends(points[0], points[-1]), waiting)

    def _runs(self, arm: str) -> float | None:
        """Runs that the arm's base learned from, mean over seeds: fewer than were asked for, where some don't fit."""
        figures = [one["rows"] for one in self._results.trained.get(arm, {}).values() if "rows" in one]
        return fmean(figures) if figures else self._plan.arms[arm].teach.rows

    def _ends(self, few: Point, many: Point) -> str:
        one = self._compared(many.name, few.name)
        if one is None:
            return ""
        cell, verdict = _difference_cell(one), _verdict(one)
        found = f"{cell.text} ({cell.more})" if cell.more else cell.text
        said = {"higher": "more runs are better", "lower": "more runs are worse"}
        return (
            f"{many.name} against {few.name}, {many.runs / few.runs:.1f} times as many runs: {found}. "
            + said.get(one.verdict, f"That more runs are better is {verdict.text}: {verdict.more}").capitalize()
        )

    def parts(self) -> _Parts | None:
        """Arms whose base learned otherwise, against the base; None where the plan has none."""
        named = [
            name
            for name, arm in self._plan.arms.items()
            if _is_base(arm) and arm.teach != Teach() and arm.teach.rows is None
        ]
        if self.base is None or not named:
            return None
        found = [one for name in named if (one := self._compared(name, self.base)) is not None]
        waiting = tuple(name for name in named if name not in {one.arm for one in found})
        if not found:
            return _Parts(None, {}, waiting)
        scale = self._scale(found)
        lines = tuple(
            _Line(
                one.arm,
                self._plan.arms[one.arm].says,
                self._difference(one, scale),
                (_difference_cell(one), _Cell(str(one.difference.n)), _verdict(one)),
                tone=_TONES[one.verdict],
            )
            for one in found
        )
        heads = (f"difference to {self.base} (95\N{NO-BREAK SPACE}%)", "seeds", "verdict")
        fell = {verdict: [one.arm for one in found if one.verdict == verdict] for verdict in _TONES}
        return _Parts(_Forest("arm", heads, axis(scale), lines), fell, waiting)

    # -- differences ---------------------------------------------------------------------------------------------------

    def _compared(
        self, arm: str, against: str | None, rates: Mapping[str, Mapping[int, float]] | None = None
    ) -> Compared | None:
        rates = self._rates if rates is None else rates
        if against is None or not rates.get(arm, {}).keys() & rates.get(against, {}).keys():
            return None
        return compare(arm, against, rates)

    def _seeds_of(self, one: Compared) -> dict[int, float]:
        arm, against = self._rates[one.arm], self._rates[one.against]
        return {seed: arm[seed] - against[seed] for seed in sorted(arm.keys() & against.keys())}

    def _scale(self, found: Iterable[Compared]) -> Scale:
        found = list(found)
        extent = _extent((one.difference for one in found), (self._seeds_of(one) for one in found))
        return scale_of([0.0, *extent], least=-1.0, most=1.0, signed=True)

    def _difference(self, one: Compared, scale: Scale, unseen: float | None = None) -> str:
        seeds = self._seeds_of(one)
        label = f"{one.arm} minus {one.against}: {_spoken(one.difference, seeds, sign='+')}"
        return strip(scale, label, one.difference, seeds, reference=0.0, unseen=unseen)


def _is_base(arm: Arm) -> bool:
    """Whether the arm is a base alone, whatever that learned from."""
    return arm.rows is None and arm.pairs is None


def _hops(fact: str) -> bool:
    return fact.startswith(BY_HOPS)


def _extent(found: Iterable[Interval], seeds: Iterable[Mapping[int, float]]) -> list[float]:
    """All that a scale must hold."""
    ends = [end for one in found for end in (one.mean, one.low, one.high) if end is not None]
    return [*ends, *(value for of in seeds for value in of.values())]


def _spoken(found: Interval, seeds: Mapping[int, float], sign: str = "") -> str:
    within = "one seed, no interval"
    if found.low is not None and found.high is not None:
        within = f"95 % interval {found.low:{sign}.3f} to {found.high:{sign}.3f}"
    single = ", ".join(f"{value:{sign}.3f}" for _, value in sorted(seeds.items()))
    return f"{found.mean:{sign}.3f}, {within}; by seed {single}"


def _rate_cell(found: Interval) -> _Cell:
    if found.low is None or found.high is None:
        return _Cell(f"{found.mean:.3f}")
    return _Cell(f"{found.mean:.3f}", f"{max(0.0, found.low):.3f} to {min(1.0, found.high):.3f}")


def _difference_cell(one: Compared) -> _Cell:
    found = one.difference
    text = f"{found.mean:+.3f}" + ("" if one.relative is None else f", {one.relative:+.0%}")
    more = "" if found.low is None else f"{found.low:+.3f} to {found.high:+.3f}"
    return _Cell(text.replace("-", "−"), more.replace("-", "−"))


def _verdict(one: Compared) -> _Cell:
    """In words."""
    if one.verdict != "not shown":
        return _Cell(one.verdict, f"{one.arm} is {'better' if one.verdict == 'higher' else 'worse'} than {one.against}")
    if one.difference.n < 3:
        return _Cell("not shown", "fewer than three seeds can't show it")
    return _Cell("not shown", "the interval holds 0")
