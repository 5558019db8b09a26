"""What an agent says that it has computed: a few fixed forms, read and recomputed.

A value that no observation shows may be named only as the result of a computation that is said in the open: it names
its operands, every one of them was observed, and doing it again gives the same. Anything else is ungrounded
(``synth.agents.grounding.check``).

The forms are ``Counting A, B and C gives 3``, ``from D to E makes 37 full years``, ``a - b = c`` and
``a + b + c = d``; quantities may have units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from synth.environments.observed import observe
from synth.environments.shown import Rows
from synth.schemas.tasks import Task
from synth.tasks.values import Measure, difference, parse_measure, total
from synth.text.dates import parse_date
from synth.text.numbers import parse_quantity

__all__ = ["Computation", "answer_is_computed", "computations", "counted", "holds", "measure_of", "worked_out"]

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_QUANTITY = rf"{_NUMBER}(?: (?:square |cubic )?[^\W\d_]+²?)?"
_COUNT = re.compile(rf"\bCounting (?P<names>.+?) gives (?P<result>{_NUMBER})")
_YEARS = re.compile(
    rf"\b[Ff]rom (?P<early>[^.:;]+?) to (?P<late>[^.:;]+?) makes (?P<result>{_NUMBER}) (?:full )?years?\b"
)
_SUM = re.compile(rf"(?P<left>{_QUANTITY}(?: [+−-] {_QUANTITY})+) = (?P<result>{_QUANTITY})")
_CALL = re.compile(r"\w+\(.*\)")
_BORDER = re.compile(r", and |, | and ")


@dataclass(frozen=True)
class Computation:
    """One statement of a result. ``operands`` of a count are what it lists, as one text."""

    form: str
    """``count``, ``years``, ``difference`` or ``sum``."""
    text: str
    operands: tuple[str, ...]
    result: str


def answer_is_computed(task: Task) -> bool:
    """Whether the task asks for a number that has to be counted or reckoned."""
    operations = task.walk.operations
    return task.walk.shape != "parallel" and bool(operations) and operations[-1].kind in ("count", "difference", "sum")


def computations(text: str) -> Iterator[Computation]:
    """Every statement of a computation in ``text``, in order of the forms."""
    for match in _COUNT.finditer(text):
        yield Computation("count", match.group(), (match["names"],), match["result"])
    for match in _YEARS.finditer(text):
        yield Computation("years", match.group(), (match["early"], match["late"]), match["result"])
    for match in _SUM.finditer(text):
        minus = re.search(r" [−-] ", match["left"]) is not None
        operands = tuple(re.split(r" [+−-] ", match["left"]))
        mixed = minus and " + " in match["left"]
        yield Computation(
            "mixed" if mixed else "difference" if minus else "sum", match.group(), operands, match["result"]
        )


def holds(made: Computation, is_seen: Callable[[str], bool]) -> bool:
    """Whether every operand was seen, and the computation done again gives the same result."""
    if made.form == "count":
        number = parse_quantity(made.result)
        return number is not None and counted(made.operands[0], int(number.number), is_seen)
    if not all(is_seen(operand) for operand in made.operands):
        return False
    measures = [measure_of(operand) for operand in made.operands]
    if any(measure is None for measure in measures):
        return False
    known = [measure for measure in measures if measure is not None]
    result = parse_quantity(made.result)
    if result is None:
        return False
    if made.form == "years":
        found = difference(known[0], known[1]) if all(measure.dated for measure in known) else None
        return found is not None and known[0].low <= known[1].low and found[0] == result.number
    plain = [_undated(measure, operand) for measure, operand in zip(known, made.operands, strict=True)]
    if made.form == "sum":
        found = total(plain)
    elif made.form == "difference" and len(plain) == 2 and plain[0].low >= plain[1].low:
        found = difference(plain[0], plain[1])
    else:
        return False
    return (
        found is not None and abs(float(found[0]) - result.number) < 1e-6 and result.unit in ("", found[1].casefold())
    )


def worked_out(observation: str) -> Iterator[str]:
    """What a query of tables worked out: the cells under headings that call a function ("SUM(population)")."""
    shown = observe(observation)
    if not isinstance(shown, Rows):
        return
    for row in shown.rows:
        yield from (cell for name, cell in zip(shown.heading, row, strict=True) if _CALL.match(name) and cell)


def counted(listed: str, number: int, is_seen: Callable[[str], bool]) -> bool:
    """Whether ``listed`` ("A, B and C") can be cut into ``number`` different names that were seen."""
    borders = [(match.start(), match.end()) for match in _BORDER.finditer(listed)]
    starts, ends = [0, *(end for _, end in borders)], [*(start for start, _ in borders), len(listed)]
    return _cut(listed, starts, ends, 0, (), number, is_seen)


def _cut(
    text: str,
    starts: Sequence[int],
    ends: Sequence[int],
    at: int,
    names: tuple[str, ...],
    number: int,
    is_seen: Callable[[str], bool],
) -> bool:
    if at == len(starts):
        return len(names) == number
    if len(names) == number:
        return False
    for stop in range(at, len(ends)):
        piece = text[starts[at] : ends[stop]].strip()
        new = bool(piece) and piece.casefold() not in names and is_seen(piece)
        if new and _cut(text, starts, ends, stop + 1, (*names, piece.casefold()), number, is_seen):
            return True
    return False


def measure_of(text: str) -> Measure | None:
    """A date, a year, a number or a quantity as pages write it; None when ``text`` is none. A bare number of four
    digits is taken for a year."""
    found = parse_date(text)
    if found is not None:
        year, month, day = found
        if month is None and day is None:
            return parse_measure("year", f"{year:04d}")
        return parse_measure("date", f"{year:04d}-{month:02d}-{day:02d}") if month and day else None
    quantity = parse_quantity(text)
    if quantity is None:
        return None
    return Measure("quantity" if quantity.unit else "number", quantity.number, quantity.number, quantity.unit)


def _undated(measure: Measure, text: str) -> Measure:
    """A bare number that looks like a year, as the number that it is."""
    quantity = parse_quantity(text) if measure.kind == "year" else None
    return measure if quantity is None else Measure("number", quantity.number, quantity.number)
