"""Whole-run pairs and the selection, against brute force."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from preference_world import PreferenceWorld, adp_problems
from stand_ins.bare import bare

from synth.annotate.preferences.select import Selection, balance_lengths, select
from synth.annotate.preferences.trajectory import trajectory_pairs
from synth.schemas.adp import ApiAction, ContentItem, MessageAction, TextObservation
from synth.schemas.preferences import PairKind, PreferenceRow, Strength, selected_by_default
from synth.schemas.rejections import Reason
from synth.schemas.trajectories import Role, StopReason, TrajectoryRow, Verdict
from synth.schemas.turns import turn_ranges
from synth.testing.corpus import PROVENANCE

QUESTION = TextObservation(content="Which city is it?", source="user", name="user")


def content(turns: int) -> tuple[ContentItem, ...]:
    items: list[ContentItem] = [QUESTION]
    for number in range(turns - 1):
        items.append(
            ApiAction(function="search", kwargs={"query": "city", "k": 5 + number}, tool_call_id=f"call_{number}_0")
        )
        items.append(
            TextObservation(content="Nothing.", source="environment", name="search", tool_call_id=f"call_{number}_0")
        )
    return (*items, MessageAction(content="I can't find it"))


def run(number: int, turns: int, correct: bool | None, role: Role = "policy", task: str = "t") -> TrajectoryRow:
    return bare(
        TrajectoryRow,
        id=f"trajectory-{number:03d}",
        content=content(turns),
        task_id=task,
        rollout=number,
        role=role,
        success=correct is True,
        verdict=Verdict(correct=correct, rule="exact", evidence="e"),
        answer="x",
        stop_reason=StopReason.ANSWERED,
        turns=turns,
        tool_calls=turns - 1,
        split="train",
    )


ROLES: tuple[Role, ...] = ("policy", "teacher")
RUNS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from((True, False, None)), st.sampled_from(ROLES)), max_size=9
).map(lambda drawn: [run(number, *one) for number, one in enumerate(drawn)])


@given(runs=RUNS, ratio=st.sampled_from((1.0, 1.5, 2.0)), per_task=st.integers(1, 4), data=st.data())
def test_whole_runs(runs: list[TrajectoryRow], ratio: float, per_task: int, data: st.DataObject) -> None:
    made = trajectory_pairs(runs, provenance=PROVENANCE, ratio=ratio, per_task=per_task)
    mixed = data.draw(st.permutations(runs))
    assert trajectory_pairs(mixed, provenance=PROVENANCE, ratio=ratio, per_task=per_task) == made
    by_id = {row.id: row for row in runs}
    used = [name for pair in made.rows for name in (pair.trajectory_id, pair.other_trajectory_id)]
    assert len(set(used)) == len(used)
    assert len(made.rows) <= per_task
    for pair in made.rows:
        good, bad = by_id[pair.trajectory_id], by_id[pair.other_trajectory_id or ""]
        assert good.verdict.correct is True
        assert bad.verdict.correct is False
        assert max(good.turns, bad.turns) <= ratio * min(good.turns, bad.turns)
        assert pair.prompt == (QUESTION,)
        assert pair.step == 0
        assert pair.selected
        assert pair.chosen == good.content[1:]
        assert pair.rejected == bad.content[1:]
        assert adp_problems(pair, pair.chosen) == () == adp_problems(pair, pair.rejected)
    fits = [
        (good, bad)
        for good, bad in product(runs, runs)
        if good.verdict.correct is True
        and bad.verdict.correct is False
        and max(good.turns, bad.turns) <= ratio * min(good.turns, bad.turns)
    ]
    assert bool(made.rows) == bool(fits)
    if fits:  # the best pair that there is comes first
        best = min((good.role != bad.role, abs(good.turns - bad.turns), good.id, bad.id) for good, bad in fits)
        first = made.rows[0]
        assert (first.trajectory_id, first.other_trajectory_id) == best[2:]
    if len(made.rows) < per_task:  # and none is left out that could still be made
        assert all(good.id in used or bad.id in used for good, bad in fits)


def test_whole_runs_of_a_real_world(world: PreferenceWorld) -> None:
    rows = [
        pair
        for task in world.tasks
        for pair in trajectory_pairs(
            [run for run in world.runs if run.task_id == task], provenance=PROVENANCE, per_task=2
        ).rows
    ]
    assert len(rows) >= 5
    answers = {run.id: run.verdict.correct for run in world.runs}
    for pair in rows:
        assert answers[pair.trajectory_id] is True
        assert answers[pair.other_trajectory_id or ""] is False
        assert adp_problems(pair, pair.chosen) == () == adp_problems(pair, pair.rejected)
    surplus = balance_lengths(rows)
    gaps = [gap(row) for row in rows if row.id not in surplus]
    assert sum(size > 0 for size in gaps) == sum(size < 0 for size in gaps)
    assert len(gaps) + len(surplus) == len(rows)


def test_a_run_that_knows_too_much_is_no_chosen_side() -> None:
    knows = run(0, 2, True)
    last = MessageAction(content="Xanadu Quentrill")
    knows = knows.model_copy(update={"content": (*knows.content[:-1], last)})
    made = trajectory_pairs([knows, run(1, 2, False)], provenance=PROVENANCE)
    assert not made.rows
    assert [item.reason for item in made.rejected] == [Reason.UNGROUNDED]


def test_runs_of_two_tasks_are_no_pair() -> None:
    with pytest.raises(ValueError, match="several tasks"):
        trajectory_pairs([run(0, 2, True), run(1, 2, False, task="u")], provenance=PROVENANCE)


Position = Literal["earliest", "later", "whole"]


def pair(
    number: int, kind: PairKind, step: int, same: bool, verified: bool, lengths: tuple[int, int] = (1, 1), of: str = "t"
) -> PreferenceRow:
    step_pair = kind in (PairKind.VERIFIED_STEP, PairKind.VERIFIED_STEP_SUCCESS)
    whole = kind is PairKind.TRAJECTORY
    strength = Strength(
        alternative=0,
        difference=0.5,
        low=0.1,
        high=0.9,
        confidence=0.95,
        chosen_successes=3,
        chosen_n=4,
        rejected_successes=1,
        rejected_n=4,
        verified=verified,
    )
    return bare(
        PreferenceRow,
        id=f"p{number:03d}",
        kind=kind,
        task_id="t",
        trajectory_id=of,
        step=step,
        prompt=(QUESTION,),
        chosen=content(lengths[0])[1:],
        rejected=content(lengths[1])[1:],
        same_kind=same,
        position="whole" if whole else "later",
        nature="whole" if whole else "decision",
        strength=strength if step_pair else None,
        split="train",
    )


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(list(PairKind)),
        st.integers(0, 4),
        st.booleans(),
        st.booleans(),
        st.tuples(st.integers(1, 6), st.integers(1, 6)),
        st.sampled_from("uvw"),
    ),
    max_size=12,
).map(lambda drawn: [pair(number, *one) for number, one in enumerate(drawn)])


@given(rows=PAIRS, data=st.data())
def test_the_default_selection(rows: list[PreferenceRow], data: st.DataObject) -> None:
    done = select(rows)
    assert [row.id for row in done] == [row.id for row in rows]
    for row in done:
        assert row.selected == selected_by_default(row.kind, row.strength)
    mixed = data.draw(st.permutations(rows))
    wanted = Selection(
        kinds=tuple(data.draw(st.sets(st.sampled_from(list(PairKind))))),
        same_kind=data.draw(st.booleans()),
        answers=data.draw(st.booleans()),
        earliest=data.draw(st.booleans()),
        per_trajectory=data.draw(st.none() | st.integers(1, 3)),
    )
    chosen = {row.id for row in select(rows, wanted) if row.selected}
    assert chosen == {row.id for row in select(mixed, wanted) if row.selected}
    for row in rows:
        if row.id in chosen:
            assert row.kind in wanted.kinds
            assert row.strength is None or row.strength.verified
            assert row.same_kind or not wanted.same_kind or row.position == "whole"
            assert wanted.answers or row.strength is None or len(row.chosen) > 1, "an answer is one message"
    for name in "uvw":
        mine = [row for row in rows if row.id in chosen and row.trajectory_id == name]
        assert wanted.per_trajectory is None or len(mine) <= wanted.per_trajectory
        assert not wanted.earliest or len({row.step for row in mine if row.strength is not None}) <= 1


@given(rows=PAIRS)
def test_without_answers_nothing_else_goes(rows: list[PreferenceRow]) -> None:
    whole, left = ({row.id for row in select(rows, Selection(answers=one)) if row.selected} for one in (True, False))
    answers = {row.id for row in rows if len(row.chosen) == 1 and row.strength is not None}
    assert left == whole - answers


@given(rows=PAIRS)
def test_lengths_are_balanced(rows: list[PreferenceRow]) -> None:
    surplus = balance_lengths(rows)
    kept = [row for row in rows if row.id not in surplus]
    whole = [gap(row) for row in kept if row.position == "whole"]
    assert sum(size > 0 for size in whole) == sum(size < 0 for size in whole)
    assert sum(whole) == 0
    assert all(row.position == "whole" and gap(row) for row in rows if row.id in surplus)
    left = Counter(gap(row) for row in rows if row.id in surplus)
    assert not any(left[-size] for size in left), "no two of the surplus would even each other out"


def gap(row: PreferenceRow) -> int:
    return len(turn_ranges(row.chosen)) - len(turn_ranges(row.rejected))


@given(rows=PAIRS)
def test_more_pairs_take_none_of_the_balanced_ones_away(rows: list[PreferenceRow]) -> None:
    for count in range(len(rows)):
        first = rows[:count]
        kept = {row.id for row in first} - balance_lengths(first)
        assert kept <= {row.id for row in rows} - balance_lengths(rows)
