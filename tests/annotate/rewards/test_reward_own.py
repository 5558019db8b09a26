"""A reward and a judge of the user's: what they are given, and what they may give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from reward_samples import BIRTHDAY, FULL, WRONG

from synth.annotate.rewards import compute_score, compute_scores, group_rewards, reward, trl_reward
from synth.annotate.rewards.own import OwnRater
from synth.errors import InputError
from synth.own_code import beside, source_of
from synth.schemas.rejections import Reason

CODE = """
def short(responses, truth):
    return [1 / (1 + len(text)) if truth.answer in text else 0 for text in responses]

def many(responses, truth, **more):
    return [len(one) / 10 if isinstance(one, list) else None for one in more["messages"]]

def bad(responses, truth):
    return GIVEN
"""
JUDGE = """
def judge(task, run):
    return GIVEN
"""


def written(folder: Path, code: str, given: Any = None) -> None:
    (folder / "own_reward_code.py").write_text(code.replace("GIVEN", repr(given)))
    beside(folder)
    source_of("own_reward_code:" + ("judge" if code is JUDGE else "bad"), "reward")


def test_every_way_in_gives_its_values(tmp_path: Path) -> None:
    written(tmp_path, CODE)
    rule, right = "own_reward_code:short", pytest.approx(1 / (1 + len(FULL)))
    assert [one.value for one in group_rewards([FULL, WRONG], BIRTHDAY, rule=rule)] == [right, 0]
    assert [one.correct for one in group_rewards([FULL, WRONG], BIRTHDAY, rule=rule)] == [True, False]
    assert reward(FULL, BIRTHDAY, rule=rule).value == right
    truth = BIRTHDAY.model_dump(mode="json")
    assert trl_reward(completions=[FULL, WRONG], reward_model=[{"ground_truth": truth}] * 2, rule=rule) == [right, 0]
    assert compute_score(solution_str=FULL, ground_truth=truth, rule=rule)["score"] == right
    scores = compute_scores(solution_strs=[FULL, WRONG], ground_truths=[truth] * 2, rule=rule)
    assert [one["score"] for one in scores] == [right, 0]


def test_it_is_told_more_where_it_asks(tmp_path: Path) -> None:
    written(tmp_path, CODE)
    said = [{"role": "user", "content": "?"}, {"role": "assistant", "content": FULL}]
    found = group_rewards([said, FULL], BIRTHDAY, rule="own_reward_code:many")
    assert [one.value for one in found] == [0.2, None]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (1.0, "gave 1.0 for 1 responses. Return a list"),
        ("0.5", "gave '0.5' for 1 responses"),
        ([1.0, 1.0], "gave 2 values for 1 responses"),
        ([1.5], "gave 1.5, no number from 0 to 1"),
        (["1"], "gave '1', no number from 0 to 1"),
    ],
)
def test_what_is_no_reward_is_one_line(given: Any, said: str, tmp_path: Path) -> None:
    written(tmp_path, CODE, given)
    with pytest.raises(InputError, match=f"^reward: own_reward_code:bad {said}"):
        group_rewards([FULL], BIRTHDAY, rule="own_reward_code:bad")


def test_what_it_raises_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "own_reward_code.py").write_text("def bad(responses, truth):\n    return [1 / 0]\n")
    beside(tmp_path)
    source_of("own_reward_code:bad", "reward")
    with pytest.raises(InputError, match=r"raised ZeroDivisionError: division by zero \(.*own_reward_code.py:2\)"):
        group_rewards([FULL], BIRTHDAY, rule="own_reward_code:bad")


@pytest.mark.parametrize(
    ("given", "value", "reason", "abstained"),
    [
        (4, 4.0, "own_reward_code:judge says so", None),
        ((1.5, "too  slow"), 1.5, "too slow", None),
        (None, None, "it can't tell", Reason.UNSURE),
    ],
)
def test_a_judge_rates(given: Any, value: float | None, reason: str, abstained: Reason | None, tmp_path: Path) -> None:
    written(tmp_path, JUDGE, given)
    rating: Any = OwnRater("own_reward_code:judge").rate(None, None)  # type: ignore[arg-type]
    assert (rating.reward, rating.reason, rating.abstained) == (value, reason, abstained)


@pytest.mark.parametrize("given", [0.5, 6, "good", [3]])
def test_what_is_no_rating_is_one_line(given: Any, tmp_path: Path) -> None:
    written(tmp_path, JUDGE, given)
    with pytest.raises(InputError, match="no number from 1 to 5"):
        OwnRater("own_reward_code:judge").rate(None, None)  # type: ignore[arg-type]
