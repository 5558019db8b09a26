"""How questions order things by a value: "came out first", "is the longest", "how much longer is X than Y".

Clauses are written with the words that name the measure in brackets: in "[was founded] first" the brackets say by what,
the rest says which end of the order. A clause without brackets says both at once ("is the oldest").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from synth.lexicon.model import Comparison, FramedComparison, InSize, InTime, RelationEntry
from synth.lexicon.reading import comparison_frames, order_frames

__all__ = ["End", "MeasureWording", "measure_of"]

End = Literal["argmin", "argmax"]


@dataclass(frozen=True)
class MeasureWording:
    """How one value relation orders its subjects. All strings stand after the subject or in its place."""

    relation: str
    noun: str
    """What is compared: "length", "year of release"."""
    less: tuple[str, ...]
    """Of two, the earlier or smaller: "is shorter"."""
    more: tuple[str, ...]
    """Of two, the later or larger."""
    least: tuple[str, ...]
    """Of many, the earliest or smallest: "is the shortest"."""
    most: tuple[str, ...]
    """Of many, the latest or largest."""
    least_of: tuple[str, ...] = ()
    """Before "of the rivers": "shortest"."""
    most_of: tuple[str, ...] = ()
    happens: tuple[tuple[str, str], ...] = ()
    """Dated events: (finite, base) as in ("came out", "come out"): what stands before "in 1874" and "after 1874"."""
    event: str = ""
    """The dated event as a noun phrase: "the release of {x}"."""
    exceeds: tuple[tuple[str, str], ...] = ()
    """How a larger one exceeds: (question, clause) with {a} (the larger), {b} (the smaller) and {unit}."""
    together: tuple[tuple[str, str], ...] = ()
    """The sum of two: (question, clause) with {a} and {b}."""

    def clauses(self, end: End, *, two: bool) -> tuple[str, ...]:
        """Finite clauses for an end of the order, among two or among more."""
        if two:
            return self.less if end == "argmin" else self.more
        return self.least if end == "argmin" else self.most

    def attributes(self, end: End) -> tuple[str, ...]:
        """Adjectives for an end of the order: "longest"."""
        return self.least_of if end == "argmin" else self.most_of


def _in_time(relation: str, words: InTime) -> MeasureWording:
    def clauses(end: str, age: str | None) -> tuple[str, ...]:
        told = [
            frame.format(finite=event.finite, base=event.base) for event in words.happens for frame in order_frames(end)
        ]
        return (*told, f"is {age}") if age else tuple(told)

    older, younger = words.older, words.younger
    return MeasureWording(
        relation,
        words.noun,
        clauses("less", older and older[0]),
        clauses("more", younger and younger[0]),
        clauses("least", older and f"the {older[1]}"),
        clauses("most", younger and f"the {younger[1]}"),
        least_of=(older[1],) if older else (),
        most_of=(younger[1],) if younger else (),
        happens=tuple((event.finite, event.base) for event in words.happens),
        event=words.event,
    )


def _in_size(relation: str, words: InSize) -> MeasureWording:
    return MeasureWording(
        relation,
        words.noun,
        words.less,
        words.more,
        words.least,
        words.most,
        least_of=words.least_of,
        most_of=words.most_of,
        exceeds=_compared(words.exceeds, words.noun),
        together=_compared(words.together, words.noun),
    )


def _compared(words: FramedComparison | tuple[Comparison, ...], noun: str) -> tuple[tuple[str, str], ...]:
    """(question, clause) with what is compared filled in; {a}, {b} and {unit} stay."""
    if not isinstance(words, FramedComparison):
        return tuple((item.question, item.clause) for item in words)
    slots = {"{noun}": noun, "{adjective}": words.adjective, "{things}": words.things}

    def filled(frame: str) -> str:
        for slot, text in slots.items():
            frame = frame.replace(slot, text)
        return frame

    return tuple((filled(item.question), filled(item.clause)) for item in comparison_frames(words.frame))


def measure_of(relation: str, entry: RelationEntry) -> MeasureWording | None:
    """The words of a lexicon, read; None where the relation orders nothing."""
    if entry.in_time is not None:
        return _in_time(relation, entry.in_time)
    return None if entry.in_size is None else _in_size(relation, entry.in_size)
