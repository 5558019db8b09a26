"""First error, pivots and segments, on planted tasks whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest
from stand_ins.planted import (
    PlantedEnvironment,
    PlantedPolicy,
    failed_run,
    generators,
    is_critical,
    planted_task,
)

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.annotate.critical.advantages import advantages
from synth.annotate.critical.branching import Refusal
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.firsterror import FirstErrorOutcome, PrefixState, first_error
from synth.annotate.critical.pivots import spreads
from synth.annotate.critical.search import open_pool
from synth.annotate.critical.segments import find_segments, segment_trajectory
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

CONFIG = CriticalConfig(first_error_samples=24, first_error_budget=200)
ENVIRONMENT = PlantedEnvironment()


def pool_of(task: Task, policy: PlantedPolicy, row: TrajectoryRow) -> ContinuationPool:
    pool = open_pool(row, task, ENVIRONMENT, policy, CONFIG, generators())
    assert isinstance(pool, ContinuationPool)
    return pool


def wrong_runs(
    count: int, skill: float, right: float = 0.95, wrong: float = 0.05
) -> list[tuple[Task, ContinuationPool]]:
    """Runs that failed by their decisive step."""
    found: list[tuple[Task, ContinuationPool]] = []
    for number in range(2000):
        task = planted_task(number, steps=6)
        policy = PlantedPolicy(task, right, wrong, skill)
        row = failed_run(ENVIRONMENT, task, policy)
        if is_critical(task, row, task.details["decisive"]):
            found.append((task, pool_of(task, policy, row)))
            if len(found) == count:
                break
    return found


class TestFirstError:
    def test_it_is_the_decisive_step(self) -> None:
        """The policy is good (it would take the right way 9 times in 10); this run took the wrong one."""
        right = 0
        for task, pool in wrong_runs(20, skill=0.9):
            found = first_error(pool, CONFIG)
            right += found.step == task.details["decisive"]
            assert pool.spent <= CONFIG.first_error_budget
            assert found.confidence == 0.9
            if found.outcome is FirstErrorOutcome.FOUND:
                assert found.step == found.low
                assert found.high == found.step + 1  # type: ignore[operator]
                assert found.single_fall is not False or found.step != task.details["decisive"]
        assert right >= 18

    def test_a_task_that_is_too_hard_has_none(self) -> None:
        for _, pool in wrong_runs(5, skill=0.0):
            found = first_error(pool, CONFIG)
            assert (found.outcome, found.step, found.high) == (FirstErrorOutcome.NEVER_FINE, None, 0)
            assert (found.prefixes[0].steps, found.prefixes[0].state) == (0, PrefixState.LOST)

    def test_in_between_it_stays_undecided(self) -> None:
        outcomes = [first_error(pool, CONFIG).outcome for _, pool in wrong_runs(12, skill=0.33)]
        assert FirstErrorOutcome.UNDECIDED in outcomes

    def test_an_unlucky_run_is_not_lost_before_its_last_step(self) -> None:
        """It took the right way everywhere and failed by bad luck: its error is its answer."""
        task = planted_task(5, steps=6)
        policy = PlantedPolicy(task, 0.8, 0.8)
        row = failed_run(ENVIRONMENT, task, policy)
        found = first_error(pool_of(task, policy, row), CONFIG)
        assert (found.outcome, found.step) == (FirstErrorOutcome.FOUND, 6)

    def test_a_run_that_recovered_is_reported_as_such(self) -> None:
        """V falls, rises again, and falls for good: bisection finds one fall, and what was drawn for other tests shows
        that it is not the only one."""
        task = planted_task(7, steps=6)
        row = failed_run(ENVIRONMENT, task, PlantedPolicy(task, 0.5, 0.5))
        for drawn_before, single in ((0, True), (8, False)):
            pool = open_pool(row, task, ENVIRONMENT, ByLength(task, (0, 2, 3, 4)), CONFIG, generators())
            assert isinstance(pool, ContinuationPool)
            for _ in range(drawn_before):
                pool.draw(pool.original(0))
            found = first_error(pool, CONFIG)
            assert (found.outcome, found.step, found.single_fall) == (FirstErrorOutcome.FOUND, 4, single)

    def test_what_is_left_of_a_run_that_could_not_be_replayed(self) -> None:
        task = planted_task(7, steps=6)
        row = failed_run(ENVIRONMENT, task, PlantedPolicy(task, 0.5, 0.5))
        content = list(row.content)
        content[8] = content[8].model_copy(update={"content": "something else"})  # step 3
        broken = row.model_copy(update={"content": tuple(content)})
        for good, outcome, step in (
            ((0, 1, 2, 3), FirstErrorOutcome.NOT_LOST, None),
            ((0, 1), FirstErrorOutcome.FOUND, 1),
        ):
            pool = open_pool(broken, task, ENVIRONMENT, ByLength(task, good), CONFIG, generators())
            assert isinstance(pool, ContinuationPool)
            found = first_error(pool, CONFIG)
            assert (found.outcome, found.step) == (outcome, step)

    def test_the_budget_is_kept(self) -> None:
        _, pool = wrong_runs(1, skill=0.9)[0]
        for budget in (0, 1, 10):
            spent = pool.spent
            found = first_error(pool, CONFIG.model_copy(update={"first_error_budget": budget}))
            assert pool.spent - spent <= budget
            assert found.outcome is FirstErrorOutcome.UNDECIDED


class ByLength:
    """Answers at once, rightly or not by how many steps were taken before."""

    privileged = False

    def __init__(self, task: Task, good: tuple[int, ...]) -> None:
        self.answers = [task.answer if at in good else "nothing" for at in range(99)]

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(Turn(answer=self.answers[len(history)]))


class TestPivots:
    def test_they_are_where_outcomes_vary_most(self) -> None:
        """Before the decisive step the policy wins or loses by its choice there; after it, all is decided."""
        task, pool = next((t, p) for t, p in wrong_runs(20, skill=0.5) if 0 < t.details["decisive"] < 5)
        decisive = task.details["decisive"]
        for step in range(6):
            for _ in range(24):
                pool.draw(pool.original(step))
        found = spreads(pool, CONFIG)
        assert [one.step for one in found] == [1, 2, 3, 4, 5, 6]
        pivots = [one.step for one in found if one.pivot]
        assert pivots
        assert all(at <= decisive for at in pivots)
        for one in found:
            assert one.variance == pytest.approx(np.var([1] * one.successes + [0] * (one.n - one.successes), ddof=1))
            assert one.step <= decisive or one.variance < 0.15

    def test_few_continuations_and_little_variance_make_none(self) -> None:
        _, pool = wrong_runs(1, skill=0.0, right=1.0, wrong=0.0)[0]
        for _ in range(3):
            pool.draw(pool.original(0))
        assert spreads(pool, CONFIG) == ()
        for _ in range(5):
            pool.draw(pool.original(0))
        (only,) = spreads(pool, CONFIG)
        assert (only.successes, only.variance, only.pivot) == (0, 0.0, False)


class TestAdvantages:
    def test_the_decisive_step_loses_what_the_policy_could_have_won(self) -> None:
        """Good by itself, the policy wins before the decisive step of a failed run and no more behind it."""
        task, pool = next((t, p) for t, p in wrong_runs(20, skill=0.9) if 0 < t.details["decisive"] < 5)
        gained = advantages(pool, CONFIG.model_copy(update={"advantages": 16}))
        assert None not in gained
        assert min(range(len(gained)), key=lambda step: gained[step] or 0.0) == task.details["decisive"]
        assert gained[task.details["decisive"]] < -0.5
        from_question = np.mean(pool.outcomes(pool.original(-1)))
        assert sum(gained) == pytest.approx(0.0 - from_question), "what is won and lost on the way adds up"

    def test_nothing_is_drawn_unless_asked_and_what_was_not_measured_is_null(self) -> None:
        _, pool = wrong_runs(1, skill=0.9)[0]
        assert set(advantages(pool, CONFIG)) == {None}
        assert pool.spent == 0
        for step in (1, 2):
            pool.draw(pool.original(step))
        known = [step for step, value in enumerate(advantages(pool, CONFIG)) if value is not None]
        assert known == [2]


class TestSegments:
    def test_a_segment_that_turns_failing_into_succeeding_is_kept(self) -> None:
        """A better agent took the right way at the decisive step and failed afterwards: that segment is kept."""
        useful: list[tuple[int, int, int]] = []
        others = 0
        for number in range(12):
            task = planted_task(number, steps=6)
            expert = PlantedPolicy(task, 0.2, 0.0, skill=1.0)
            row = failed_run(ENVIRONMENT, task, expert)
            found = segment_trajectory(
                row,
                task,
                ENVIRONMENT,
                PlantedPolicy(task, 0.95, 0.05, skill=0.05),
                every=2,
                config=CONFIG,
                generator=generators(),
            )
            assert [(one.start, one.stop) for one in found.segments] == [(0, 2), (2, 4), (4, 6)]
            for one in found.segments:
                assert one.low <= one.difference <= one.high
                if one in found.useful:
                    useful.append((one.start, task.details["decisive"], one.stop))
                    assert one.difference > 0
                else:
                    others += one.start <= task.details["decisive"] < one.stop
            assert len(found.continuations) >= max(one.before_n + one.after_n for one in found.segments)
        assert all(start <= decisive < stop for start, decisive, stop in useful)
        assert len(useful) >= 11
        assert others <= 1

    def test_it_is_for_failed_runs_and_refuses_what_it_cannot_replay(self) -> None:
        task = planted_task(0)
        policy = PlantedPolicy(task, 0.5, 0.5)
        row = failed_run(ENVIRONMENT, task, policy)
        with pytest.raises(ValueError, match="not failed"):
            segment_trajectory(
                row.model_copy(update={"success": True}),
                task,
                ENVIRONMENT,
                policy,
                every=2,
                config=CONFIG,
                generator=generators(),
            )
        refused = segment_trajectory(
            row.model_copy(update={"environment": "search"}),
            task,
            ENVIRONMENT,
            policy,
            every=2,
            config=CONFIG,
            generator=generators(),
        )
        assert refused.refused is not None
        assert refused.refused.reason is Refusal.OTHER_ENVIRONMENT
        with pytest.raises(ValueError, match="0 steps"):
            find_segments(pool_of(task, policy, row), CONFIG, 0)

    def test_one_segment_may_be_the_whole_run(self) -> None:
        task = planted_task(0)
        policy = PlantedPolicy(task, 0.5, 0.5)
        found = find_segments(pool_of(task, policy, failed_run(ENVIRONMENT, task, policy)), CONFIG, 99)
        assert [(one.start, one.stop) for one in found.segments] == [(0, 5)]
