from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synth.environments.answers import judge, normalize, parse_date, parse_quantity
from synth.schemas.documents import ValueKind


@pytest.mark.parametrize(
    ("answer", "gold", "kind", "rule"),
    [
        ("Paris", "Paris", "entity", "exact"),
        ("  the PARIS. ", "Paris", "entity", "exact"),
        ("“Paris”", "Paris", "entity", "exact"),
        ("The answer is Paris.", "Paris", "entity", "exact"),
        ("Final answer: Paris", "Paris", "entity", "exact"),
        ("It is Paris", "Paris", "entity", "exact"),
        ("Lutetia", "Paris", "entity", "alias"),
        ("14 March 1871", "1871-03-14", "date", "date"),
        ("March 14th, 1871", "14 March 1871", "date", "date"),
        ("on 14 March 1871", "14 March 1871", "date", "date"),
        ("in 1871", "1871", "year", "date"),
        ("12,450", "12450", "number", "number"),
        ("12 450", "12,450", "number", "number"),
        ("1.5 million", "1500000", "number", "number"),
        ("412 metres", "412 m", "quantity", "number"),
        ("0.412 km", "412 metres", "quantity", "number"),
        ("1352 feet", "412 metres", "quantity", "number"),
        ("412", "412 metres", "quantity", "number"),
        ("about 412 metres", "412 metres", "quantity", "number"),
        ("250 square kilometres", "250 km²", "quantity", "number"),
    ],
)
def test_right(answer: str, gold: str, kind: ValueKind, rule: str) -> None:
    verdict = judge(answer, gold=gold, aliases=("Lutetia",) if gold == "Paris" else (), kind=kind)
    assert (verdict.correct, verdict.rule) == (True, rule), verdict


@pytest.mark.parametrize(
    ("answer", "gold", "kind"),
    [
        ("not Paris", "Paris", "entity"),
        ("Paris or London", "Paris", "entity"),
        ("Paris, France", "Paris", "entity"),
        ("Pari", "Paris", "entity"),
        ("aris", "Paris", "entity"),
        ("Parisian", "Paris", "entity"),
        ("incorrect", "correct", "text"),
        ("It is not Paris", "Paris", "entity"),
        ("The answer is not Paris.", "Paris", "entity"),
        ("Torrin", "Arvel Torrin", "entity"),
        ("1871", "14 March 1871", "date"),
        ("March 1871", "14 March 1871", "date"),
        ("14 March 1872", "14 March 1871", "date"),
        ("03/04/1871", "3 April 1871", "date"),
        ("31 February 18711", "14 March 1871", "date"),
        ("1871-1872", "1871", "year"),
        ("413 metres", "412 metres", "quantity"),
        ("412 feet", "412 metres", "quantity"),
        ("412 kg", "412 metres", "quantity"),
        ("412 or 413", "412", "number"),
        ("not 412", "412", "number"),
        ("-412", "412", "number"),
        ("4120", "412", "number"),
        ("12", "12,450", "number"),
        ("", "Paris", "entity"),
        ("...", "Paris", "entity"),
        (None, "Paris", "entity"),
    ],
)
def test_wrong(answer: str | None, gold: str, kind: ValueKind) -> None:
    assert judge(answer, gold=gold, kind=kind).correct is False


def test_what_no_rule_decides_is_neither_right_nor_wrong() -> None:
    assert judge("412 parsecs", gold="412 metres", kind="quantity").correct is None
    assert judge("next spring", gold="the spring of the great flood", kind="date").correct is None


def test_sets() -> None:
    items = ("Ilse Brandt", "Jon Maak")
    assert judge("Jon Maak and Ilse Brandt", gold="x", items=items).rule == "set"
    assert judge("1. Jon Maak\n2. Ilse Brandt", gold="x", items=items).correct is True
    assert judge("jon maak; ilse brandt", gold="x", items=items).correct is True
    for wrong in (
        "Jon Maak",
        "Jon Maak, Ilse Brandt, Per Holm",
        "not Jon Maak, Ilse Brandt",
        "Jon Maak or Ilse Brandt",
    ):
        assert judge(wrong, gold="x", items=items).correct is False


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_the_gold_answer_always_passes_and_nothing_raises(answer: str, gold: str) -> None:
    for kind in get_args(ValueKind):
        judge(answer, gold=gold, kind=kind)
        if normalize(gold):
            assert judge(gold, gold=gold, kind=kind).correct is True


@given(st.dates())
def test_forms_of_a_date_are_one_date(day: object) -> None:
    from datetime import date

    assert isinstance(day, date)
    if day.year < 1000:
        return
    month = day.strftime("%B")
    forms = (day.isoformat(), f"{day.day} {month} {day.year}", f"{month} {day.day}, {day.year}")
    assert {parse_date(form) for form in forms} == {(day.year, day.month, day.day)}


@given(st.integers(0, 10**12))
def test_groups_of_digits_are_one_number(number: int) -> None:
    read = [parse_quantity(form) for form in (str(number), f"{number:,}", f"{number:,} metres")]
    assert [quantity.number for quantity in read if quantity] == [number] * 3
