"""How questions order things by a value: "came out first", "is the longest", "how much longer is X than Y".

Clauses are written with the words that name the measure in brackets: in "[was founded] first" the brackets say by what,
the rest says which end of the order. A clause without brackets says both at once ("is the oldest").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = ["MEASURES", "End", "MeasureWording"]

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


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _dated(
    relation: str,
    noun: str,
    event: str,
    *happens: str,
    old: tuple[str, str] = ("", ""),
    new: tuple[str, str] = ("", ""),
) -> MeasureWording:
    """``happens``: "came out/come out"; ``old`` and ``new``: comparative and superlative, where things have an age."""
    pairs = tuple((finite, base) for finite, _, base in (text.partition("/") for text in happens))
    less = [form for f, b in pairs for form in (f"[{f}] first", f"[{f}] earlier")]
    more = [form for f, b in pairs for form in (f"[{f}] later", f"[{f}] more recently")]
    least = [form for f, b in pairs for form in (f"[{f}] first", f"was the first to [{b}]", f"[{f}] earliest")]
    most = [form for f, b in pairs for form in (f"[{f}] last", f"was the last to [{b}]", f"[{f}] most recently")]
    if old[0]:
        less.append(f"is {old[0]}")
        least.append(f"is the {old[1]}")
    if new[0]:
        more.append(f"is {new[0]}")
        most.append(f"is the {new[1]}")
    return MeasureWording(
        relation,
        noun,
        tuple(less),
        tuple(more),
        tuple(least),
        tuple(most),
        least_of=(old[1],) if old[1] else (),
        most_of=(new[1],) if new[1] else (),
        happens=pairs,
        event=event,
    )


def _sized(
    relation: str,
    noun: str,
    more: str,
    less: str,
    most: str,
    least: str,
    *,
    most_of: str = "",
    least_of: str = "",
    exceeds: tuple[tuple[str, str], ...] = (),
    together: tuple[tuple[str, str], ...] = (),
) -> MeasureWording:
    return MeasureWording(
        relation,
        noun,
        _split(less),
        _split(more),
        _split(least),
        _split(most),
        least_of=_split(least_of),
        most_of=_split(most_of),
        exceeds=exceeds,
        together=together,
    )


def _longer(adjective: str, noun: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"how much {adjective} is {{a}} than {{b}}", f"how much {adjective} {{a}} is than {{b}}"),
        (
            f"by how many {{unit}} is {{a}} {adjective} than {{b}}",
            f"by how many {{unit}} {{a}} is {adjective} than {{b}}",
        ),
        (
            f"what is the difference in {noun} between {{a}} and {{b}}",
            f"what the difference in {noun} is between {{a}} and {{b}}",
        ),
    )


def _combined(noun: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"what is the combined {noun} of {{a}} and {{b}}", f"what the combined {noun} of {{a}} and {{b}} is"),
        (f"what is the {noun} of {{a}} and {{b}} taken together", f"what {noun} {{a}} and {{b}} have together"),
    )


def _more(things: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"how many more {things} does {{a}} have than {{b}}", f"how many more {things} {{a}} has than {{b}}"),
        (
            f"by how many {things} does {{a}} exceed {{b}}",
            f"by how many {things} {{a}} exceeds {{b}}",
        ),
        (
            f"what is the difference between the numbers of {things} of {{a}} and {{b}}",
            f"what the difference is between the numbers of {things} of {{a}} and {{b}}",
        ),
    )


def _altogether(things: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"how many {things} do {{a}} and {{b}} have altogether", f"how many {things} {{a}} and {{b}} have altogether"),
        (
            f"what is the total number of {things} of {{a}} and {{b}}",
            f"what the total number of {things} of {{a}} and {{b}} is",
        ),
        (
            f"how many {things} do {{a}} and {{b}} have between them",
            f"how many {things} {{a}} and {{b}} have between them",
        ),
    )


MEASURES: Mapping[str, MeasureWording] = MappingProxyType(
    {
        item.relation: item
        for item in (
            _dated("birth_date", "date of birth", "the birth of {x}", "was born/be born"),
            _dated("death_date", "date of death", "the death of {x}", "died/die", "passed away/pass away"),
            _dated(
                "founding_year", "year of foundation", "the foundation of {x}",
                "was founded/be founded", "was established/be established",
                old=("older", "oldest"), new=("younger", "youngest"),
            ),
            _dated(
                "opening_year", "year of opening", "the opening of {x}", "was opened/be opened", "opened/open",
                old=("older", "oldest"), new=("newer", "newest"),
            ),
            _dated(
                "publication_year", "year of publication", "the publication of {x}",
                "was published/be published", "came out/come out", "appeared/appear",
                old=("older", "oldest"),
            ),
            _dated(
                "release_year", "year of release", "the release of {x}",
                "was released/be released", "came out/come out", "reached the cinemas/reach the cinemas",
                old=("older", "oldest"),
            ),
            _dated(
                "completion_year", "year of completion", "the completion of {x}",
                "was completed/be completed", "was finished/be finished",
                old=("older", "oldest"),
            ),
            _dated(
                "described_year", "year of scientific description", "the scientific description of {x}",
                "was described by science/be described by science", "became known to science/become known to science",
            ),
            _dated(
                "independence_year", "year of independence", "the independence of {x}",
                "became independent/become independent", "gained independence/gain independence",
            ),
            _sized(
                "population", "population",
                "has more inhabitants; has the larger population; is more populous; is home to more people",
                "has fewer inhabitants; has the smaller population; is less populous; is home to fewer people",
                "has the most inhabitants; has the largest population; is the most populous; "
                "is home to the most people",
                "has the fewest inhabitants; has the smallest population; is the least populous; "
                "is home to the fewest people",
                most_of="most populous", least_of="least populous",
                exceeds=_more("inhabitants"), together=_altogether("inhabitants"),
            ),
            _sized(
                "area", "area",
                "covers more ground; has the larger area; covers the larger area; extends over a larger area",
                "covers less ground; has the smaller area; covers the smaller area; extends over a smaller area",
                "covers the most ground; has the largest area; covers the largest area; extends over the largest area",
                "covers the least ground; has the smallest area; covers the smallest area; "
                "extends over the smallest area",
                exceeds=_longer("larger", "area"), together=_combined("area"),
            ),
            _sized(
                "elevation", "elevation",
                "lies higher above sea level; has the higher elevation; stands at a higher elevation; "
                "is higher above sea level",
                "lies lower above sea level; has the lower elevation; stands at a lower elevation; "
                "lies at the lower elevation",
                "lies highest above sea level; has the highest elevation; stands at the highest elevation; "
                "is the highest above sea level",
                "lies lowest above sea level; has the lowest elevation; stands at the lowest elevation; "
                "lies at the lowest elevation",
                exceeds=(
                    (
                        "what is the difference in elevation between {a} and {b}",
                        "what the difference in elevation is between {a} and {b}",
                    ),
                    (
                        "by how many {unit} does {a} lie higher above sea level than {b}",
                        "by how many {unit} {a} lies higher above sea level than {b}",
                    ),
                    (
                        "how many {unit} higher above sea level is {a} than {b}",
                        "how many {unit} higher above sea level {a} is than {b}",
                    ),
                ),
            ),
            _sized(
                "length", "length", "is longer; has the greater length", "is shorter",
                "is the longest; has the greatest length", "is the shortest",
                most_of="longest", least_of="shortest",
                exceeds=_longer("longer", "length"), together=_combined("length"),
            ),
            _sized(
                "bridge_length", "length", "is longer; has the greater length", "is shorter",
                "is the longest; has the greatest length", "is the shortest",
                most_of="longest", least_of="shortest",
                exceeds=_longer("longer", "length"), together=_combined("length"),
            ),
            _sized(
                "height", "height", "is higher; rises higher; has the greater height",
                "is lower",
                "is the highest; rises highest; has the greatest height",
                "is the lowest",
                most_of="highest", least_of="lowest", exceeds=_longer("higher", "height"),
            ),
            _sized(
                "depth", "depth", "is deeper; has the greater depth; reaches a greater depth",
                "is shallower",
                "is the deepest; has the greatest depth; reaches the greatest depth",
                "is the shallowest",
                most_of="deepest", least_of="shallowest", exceeds=_longer("deeper", "depth"),
            ),
            _sized(
                "speakers", "number of speakers", "has more speakers; is spoken by more people",
                "has fewer speakers; is spoken by fewer people", "has the most speakers; is spoken by the most people",
                "has the fewest speakers; is spoken by the fewest people",
                most_of="most widely spoken", least_of="least widely spoken",
                exceeds=_more("speakers"), together=_altogether("speakers"),
            ),
            _sized(
                "body_length", "body length",
                "grows longer; has the greater body length; reaches a greater body length",
                "stays shorter; has the smaller body length; reaches a smaller body length",
                "grows longest; has the greatest body length; reaches the greatest body length",
                "stays shortest; has the smallest body length; reaches the smallest body length",
                exceeds=(
                    (
                        "what is the difference in body length between {a} and {b}",
                        "what the difference in body length is between {a} and {b}",
                    ),
                    (
                        "by how many {unit} does {a} outgrow {b} in body length",
                        "by how many {unit} {a} outgrows {b} in body length",
                    ),
                    (
                        "how many {unit} longer is the body of {a} than that of {b}",
                        "how many {unit} longer the body of {a} is than that of {b}",
                    ),
                ),
            ),
            _sized(
                "student_count", "number of students", "has more students; enrols more students; teaches more students",
                "has fewer students; enrols fewer students; teaches fewer students",
                "has the most students; enrols the most students; teaches the most students",
                "has the fewest students; enrols the fewest students; teaches the fewest students",
                exceeds=_more("students"), together=_altogether("students"),
            ),
            _sized(
                "employee_count", "number of employees",
                "has more employees; employs more people; has the larger workforce",
                "has fewer employees; employs fewer people; has the smaller workforce",
                "has the most employees; employs the most people; has the largest workforce",
                "has the fewest employees; employs the fewest people; has the smallest workforce",
                exceeds=_more("employees"), together=_altogether("employees"),
            ),
            _sized(
                "circulation", "daily circulation",
                "sells more copies a day; has the larger daily circulation; has the larger circulation",
                "sells fewer copies a day; has the smaller daily circulation; has the smaller circulation",
                "sells the most copies a day; has the largest daily circulation; has the largest circulation",
                "sells the fewest copies a day; has the smallest daily circulation; has the smallest circulation",
                exceeds=(
                    (
                        "how many more copies a day does {a} sell than {b}",
                        "how many more copies a day {a} sells than {b}",
                    ),
                    (
                        "what is the difference in daily circulation between {a} and {b}",
                        "what the difference in daily circulation is between {a} and {b}",
                    ),
                ),
                together=(
                    (
                        "how many copies a day do {a} and {b} sell altogether",
                        "how many copies a day {a} and {b} sell altogether",
                    ),
                    (
                        "what is the combined daily circulation of {a} and {b}",
                        "what the combined daily circulation of {a} and {b} is",
                    ),
                ),
            ),
            _sized(
                "capacity", "capacity", "holds more spectators; has the larger capacity; seats more spectators",
                "holds fewer spectators; has the smaller capacity; seats fewer spectators",
                "holds the most spectators; has the largest capacity; seats the most spectators",
                "holds the fewest spectators; has the smallest capacity; seats the fewest spectators",
                exceeds=(
                    (
                        "how many more spectators does {a} hold than {b}",
                        "how many more spectators {a} holds than {b}",
                    ),
                    (
                        "what is the difference in capacity between {a} and {b}",
                        "what the difference in capacity is between {a} and {b}",
                    ),
                ),
                together=(
                    (
                        "how many spectators do {a} and {b} hold together",
                        "how many spectators {a} and {b} hold together",
                    ),
                    (
                        "what is the combined capacity of {a} and {b}",
                        "what the combined capacity of {a} and {b} is",
                    ),
                ),
            ),
            _sized(
                "page_count", "number of pages", "has more pages; runs to more pages; fills more pages",
                "has fewer pages; runs to fewer pages; fills fewer pages",
                "has the most pages; runs to the most pages; fills the most pages",
                "has the fewest pages; runs to the fewest pages; fills the fewest pages",
                most_of="longest", least_of="shortest",
                exceeds=_more("pages"), together=_altogether("pages"),
            ),
            _sized(
                "running_time", "running time", "runs longer; has the longer running time; lasts longer",
                "has the shorter running time; is shorter",
                "runs longest; has the longest running time; lasts longest",
                "has the shortest running time; is the shortest",
                most_of="longest", least_of="shortest",
                exceeds=_longer("longer", "running time"), together=_combined("running time"),
            ),
        )
    }
)  # fmt: skip
"""One wording for each value relation by which things are ordered."""
