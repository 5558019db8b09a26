"""Predicted difficulty, its calibration, and the choice of a curriculum."""

from __future__ import annotations

import json
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synth.errors import InputError
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Difficulty, Task
from synth.tasks.aimed import AimFilter
from synth.tasks.difficulty import (
    MONOTONE,
    SuccessModel,
    Target,
    choose,
    cross_fit,
    expected_calibration_error,
    fit,
    fit_tasks,
    fold_of,
    measures,
    predict,
    reliability,
)
from synth.testing.corpus import small_tasks


def made(count: int, seed: int = 0, rollouts: int = 4) -> tuple[list[Task], list[int], list[int], list[float]]:
    """Tasks whose chance of success falls with hops and obfuscation, the policy's luck on them, and the chances."""
    rng = np.random.default_rng(seed)
    base = small_tasks()[0]
    tasks, right, chances = [], [], []
    for number in range(count):
        hops, level = int(rng.integers(1, 7)), int(rng.integers(0, 4))
        difficulty = Difficulty(hops=hops, constraints=1, branching=2.0, documents=hops)
        tasks.append(base.model_copy(update={"id": f"t{number}", "difficulty": difficulty, "obfuscation": level}))
        chance = 1 / (1 + np.exp(0.7 * hops + 0.5 * level - 3.0))
        chances.append(float(chance))
        right.append(int(rng.binomial(rollouts, chance)))
    return tasks, right, [rollouts] * count, chances


def test_predictions_are_calibrated_on_tasks_that_were_left_out() -> None:
    tasks, right, tried, chances = made(600)
    predicted, folds = cross_fit(tasks, right, tried)
    assert set(folds) == set(range(5))
    table = reliability(predicted, right, tried)
    assert len(table) >= 5
    assert sum(row.rollouts for row in table) == 2400
    assert expected_calibration_error(table) < 0.05
    assert float(np.corrcoef(predicted, chances)[0, 1]) > 0.95
    mean = sum(right) / sum(tried)
    assert np.mean((np.array(predicted) - chances) ** 2) < 0.1 * np.mean((mean - np.array(chances)) ** 2)


def test_an_aim_takes_tasks_whose_chance_is_as_wanted() -> None:
    model = fit_tasks(*made(600)[:3])
    assert SuccessModel.of(json.loads(json.dumps(model.plain()))).plain() == model.plain()
    others, _, _, chances = made(400, seed=1)
    for low, high in ((0.0, 0.2), (0.4, 0.6), (0.8, 1.0)):
        found = AimFilter(low=low, high=high, model=model.plain()).look(others)
        taken = [chance for chance, verdict in zip(chances, found, strict=True) if verdict is None]
        assert len(taken) > 20
        assert low - 0.05 < float(np.mean(taken)) < high + 0.05
        assert all(verdict is None or verdict[0] is Reason.OUTSIDE_BAND for verdict in found)


def test_a_prediction_never_saw_its_own_task() -> None:
    tasks, right, tried, _ = made(80)
    before, folds = cross_fit(tasks, right, tried)
    for victim in (3, 17):
        other = list(right)
        other[victim] = tried[victim] - right[victim]
        after, _ = cross_fit(tasks, other, tried)
        mine = [n for n, fold in enumerate(folds) if fold == folds[victim]]
        assert [after[n] for n in mine] == [before[n] for n in mine]


def test_order_and_further_tasks_move_no_fold() -> None:
    tasks, right, tried, _ = made(60)
    predicted, _ = cross_fit(tasks, right, tried)
    back, _ = cross_fit(tasks[::-1], right[::-1], tried[::-1])
    assert back[::-1] == pytest.approx(predicted, abs=2e-6)
    assert [fold_of(task.id, 5) for task in tasks] == [fold_of(task.id, 5) for task in made(90)[0][:60]]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_more_of_anything_hard_never_makes_easier(seed: int) -> None:
    """Also where luck would have it otherwise."""
    tasks, _, tried, _ = made(40, seed)
    rng = np.random.default_rng(seed)
    right = np.array([int(rng.integers(0, n + 1)) for n in tried], dtype=np.float64)
    features = np.stack([measures(task) for task in tasks])
    groups = np.arange(40) % 4
    model = fit(features, right, np.array(tried, dtype=np.float64), groups)
    base = predict(model, features)
    for column in range(len(MONOTONE)):
        harder = features.copy()
        harder[:, column] += 1.0
        assert (predict(model, harder) <= base).all()


def test_with_nothing_to_learn_it_says_about_the_mean() -> None:
    tasks = made(60)[0]
    rng = np.random.default_rng(5)
    right = [int(rng.binomial(1, 0.4)) for _ in tasks]
    predicted, _ = cross_fit(tasks, right, [1] * 60)
    assert max(predicted) - min(predicted) < 0.3
    assert cross_fit(tasks, [0] * 60, [0] * 60)[0] == [0.5] * 60
    assert cross_fit([], [], []) == ([], [])
    with pytest.raises(ValueError, match="rollout"):
        fit(np.zeros((2, 18)), np.zeros(2), np.zeros(2), np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="between 0"):
        fit(np.zeros((2, 18)), np.array([2.0, 0.0]), np.ones(2), np.zeros(2, dtype=np.int64))


TARGETS = st.lists(st.integers(0, 9), min_size=0, max_size=4, unique=True)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60), TARGETS, st.integers(10, 100), st.integers(1, 60))
def test_a_curriculum_is_what_was_asked_for_or_refused_in_one_line(
    rates: list[float], tenths: list[int], percent: int, wanted: int
) -> None:
    ids = [f"t{number}" for number in range(len(rates))]
    targets = [Target(low / 10, (low + 1) / 10, percent / 100 / len(tenths)) for low in sorted(tenths)]
    known = dict(zip(ids, rates, strict=True))
    chosen, refused = {}, ""
    try:
        chosen = choose(ids, rates, targets, wanted)
    except InputError as error:
        refused = str(error)
    if refused:
        assert refused.startswith("difficulty: ")
        assert "\n" not in refused
        possible = re.search(r"a curriculum of (\d+) tasks is possible", refused, re.IGNORECASE)
        if possible:  # the line keeps its word
            assert len(choose(ids, rates, targets, int(possible.group(1)))) == int(possible.group(1))
            assert len(choose(ids, rates, targets, None)) == int(possible.group(1))
        return
    assert len(chosen) == wanted
    counts = Counter(chosen.values())
    for number, target in enumerate(targets):
        assert abs(counts[number] - target.share * wanted) < 1
        assert counts[number] > 0
        assert all(target.takes(known[name]) for name, of in chosen.items() if of == number)
    for name, of in chosen.items():
        assert (of is None) == (not any(target.takes(known[name]) for target in targets))
    assert choose(ids[::-1], rates[::-1], targets, wanted) == chosen


def test_targets_are_met_where_there_are_enough() -> None:
    ids = [f"t{number}" for number in range(1000)]
    rates = [number / 1000 for number in range(1000)]
    targets = [Target(0.2, 0.4, 0.3), Target(0.9, 1.0, 0.105)]
    chosen = choose(ids, rates, targets, 200)
    assert Counter(chosen.values()) == {0: 60, 1: 21, None: 119}
    # Without a number: as many as the scarcest target lets have its share. 200 tasks of 0.2 to 0.4 are 30 % of 669.
    assert Counter(choose(ids, rates, targets[:1], None).values()) == {0: 200, None: 469}
    assert choose(ids, rates, [], None) == dict.fromkeys(ids)
    assert list(choose(ids, rates, [Target(0.0, 1.0, 1.0)], 1000).values()) == [0] * 1000


@pytest.mark.parametrize(
    ("targets", "wanted", "words"),
    [
        ([Target(0.0, 0.01, 1.0)], 30, "asks for 30 tasks .* rate of 0 to 0.01, there are 10. A curriculum of 10"),
        ([Target(0.2, 0.4, 0.3)], 900, "target 0 asks for 270 .* there are 200. A curriculum of 669"),
        ([Target(0.0, 0.9, 0.1)], 500, "leave 450 tasks to such as no target takes, there are 100. A curriculum of 1"),
        ([Target(0.2, 0.4, 0.1)], 5, "5 tasks are too few for the share of target 0"),
        ([], 1001, "1001 tasks are wanted for the curriculum, there are 1000. A curriculum of 1000"),
        ([Target(0, 0.5, 0.7), Target(0.5, 1, 0.7)], 10, "more than 1"),
        ([Target(0.5, 0.5, 0.7)], 10, "lower one first"),
        ([Target(0.1, 0.3, 0.2), Target(0.2, 0.4, 0.2)], 10, "two targets overlap"),
    ],
)  # fmt: skip
def test_what_can_not_be_met_is_refused(targets: list[Target], wanted: int, words: str) -> None:
    ids = [f"t{number}" for number in range(1000)]
    with pytest.raises(InputError, match=words):
        choose(ids, [number / 1000 for number in range(1000)], targets, wanted)


def test_rates_that_too_few_rollouts_leave_are_said() -> None:
    """With one rollout each, a rate is 0 or 1."""
    ids = [f"t{number}" for number in range(100)]
    for wanted in (None, 20):
        with pytest.raises(InputError, match=r"there are 0\. More rollouts .*roles\.policy\.rollouts"):
            choose(ids, [float(number % 2) for number in range(100)], [Target(0.2, 0.4, 0.3)], wanted)


def test_rollouts_of_one_task_count_for_less_when_they_are_alike() -> None:
    chances = [0.5] * 40
    alike = reliability(chances, [0, 4] * 20, [4] * 40)[0]
    assert alike.effective == pytest.approx(40, rel=0.05)  # four rollouts of a task say no more than one
    spread = reliability(chances, [2] * 40, [4] * 40)[0]
    assert spread.effective == 40  # no variance is seen: nothing to go by, so the careful end
    rng = np.random.default_rng(4)
    independent = reliability([0.5] * 500, rng.binomial(4, 0.5, 500).tolist(), [4] * 500)[0]
    assert independent.effective == pytest.approx(2000, rel=0.12)
    assert reliability([0.5] * 3, [4, 4, 4], [4] * 3)[0].effective == 3
