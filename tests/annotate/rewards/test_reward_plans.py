"""Plans are scored by the parts that the walk proves, in words and in order."""

from __future__ import annotations

import pytest

from synth.annotate.rewards.plans import plan_reward, plan_score
from synth.errors import InputError

PARTS = ("Find the founder of the Orl Museum.", "Find the birthplace of #1.", "Which river flows through #2?")
GOLD = "\n".join(f"{number}. {part}" for number, part in enumerate(PARTS, 1))


def test_the_plan_itself_is_worth_one_and_nothing_is_worth_nothing() -> None:
    assert plan_score(GOLD, PARTS) == 1
    assert plan_score("", PARTS) == 0
    assert plan_score("I would ask somebody.", PARTS) < 0.2


def test_what_is_left_out_added_or_out_of_order_costs() -> None:
    two = "\n".join(GOLD.splitlines()[:2])
    assert plan_score(two, PARTS) == pytest.approx(2 / 3)
    assert plan_score(f"{GOLD}\n4. Which lake is near #3?", PARTS) == pytest.approx(3 / 4)
    assert plan_score(GOLD.replace("#1", "#3"), PARTS) == pytest.approx(2 / 3), "it waits for the wrong part"
    assert plan_score(GOLD.replace("#1", "him"), PARTS) < 0.7, "it waits for nothing"
    other = "1. Which river flows through #3?\n2. Find the founder of the Orl Museum.\n3. Find the birthplace of #2."
    assert plan_score(other, PARTS) == 1, "numbers are names"
    assert 0.5 < plan_score(GOLD.replace("founder", "maker"), PARTS) < 1


def test_trainers_call_it_with_columns() -> None:
    said = [{"role": "assistant", "content": GOLD}]
    assert plan_reward(completions=[said, GOLD, "x"], parts=[PARTS] * 3) == [1.0, 1.0, 0.0]
    with pytest.raises(InputError, match="got no parts"):
        plan_reward(completions=["x"])
