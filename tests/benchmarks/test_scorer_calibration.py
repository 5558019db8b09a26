"""What a scorer is worth, from measured actions."""

from __future__ import annotations

import pytest
from scorer_calibration import MeasuredAction, candidates_right, within_steps


def action(place: str, score: float | None, right: int, tried: int = 4, recorded: bool = False) -> MeasuredAction:
    return MeasuredAction(place=place, recorded=recorded, score=score, right=right, tried=tried)


def test_within_steps_compares_nothing_across_steps() -> None:
    """Every action of the easy step scores below every one of the hard step; within each the order is right."""
    actions = [action("easy", 0.2, 4), action("easy", 0.1, 3), action("hard", 0.9, 1), action("hard", 0.8, 0)]
    assert within_steps(actions) == 1.0
    turned = [one.model_copy(update={"score": 1 - (one.score or 0)}) for one in actions]
    assert within_steps(turned) == 0.0


def test_ties_count_half_and_abstentions_not_at_all() -> None:
    assert within_steps([action("a", 0.5, 4), action("a", 0.5, 0)]) == 0.5
    assert within_steps([action("a", 0.9, 4), action("a", None, 0)]) is None
    assert within_steps([action("a", 0.9, 4), action("b", 0.1, 0)]) is None


def test_pairs_of_continuations_are_what_is_counted() -> None:
    """3 of 4 against 1 of 4: nine pairs speak for the first action, one for the other."""
    assert within_steps([action("a", 0.9, 3), action("a", 0.1, 1)]) == pytest.approx(9 / 10)


def test_candidates_are_those_that_a_search_would_try() -> None:
    actions = [
        action("a", 0.4, 1, recorded=True),
        action("a", 0.7, 3),  # tried and better
        action("a", 0.65, 1),  # tried, no better
        action("a", 0.55, 4),  # not tried
        action("a", None, 4),  # abstained
        action("b", 0.5, 0, recorded=True),  # not below
        action("b", 0.9, 4),
        action("c", None, 0, recorded=True),  # abstained
        action("c", 0.9, 4),
        action("d", 0.9, 4),  # no recorded action
    ]
    assert candidates_right(actions) == (2, 1)
