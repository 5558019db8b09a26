"""The search against planted truth, its bookkeeping, and what is made of the same continuations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from critical_baselines import cso, monte_carlo
from stand_ins.planted import (
    PlantedEnvironment,
    PlantedExpert,
    PlantedPolicy,
    PlantedScorer,
    failed_run,
    generators,
    is_critical,
    planted_task,
    record_run,
    tally,
)

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.branching import BranchPoint, Continuation, Refusal
from synth.annotate.critical.comparisons import Finding
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.continuations import ContinuationPool
from synth.annotate.critical.contract import Point, Score
from synth.annotate.critical.search import Searched, open_pool, search, search_trajectory
from synth.environments.contract import ToolCall
from synth.schemas.adp import ApiAction
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

CONFIG = CriticalConfig(strategy="audit")
ENVIRONMENT = PlantedEnvironment()
EXPERT = PlantedExpert()


def case(number: int, right: float, wrong: float, steps: int = 5) -> tuple[Task, PlantedPolicy, TrajectoryRow]:
    task = planted_task(number, steps=steps)
    policy = PlantedPolicy(task, right, wrong)
    return task, policy, failed_run(ENVIRONMENT, task, policy)


def critical_case(right: float = 0.9, wrong: float = 0.1) -> tuple[Task, PlantedPolicy, TrajectoryRow]:
    """A failed run that was wrong at its decisive step, with steps on both sides of it."""
    for number in range(1000):
        task, policy, row = case(number, right, wrong)
        if 0 < task.details["decisive"] < 4 and is_critical(task, row, task.details["decisive"]):
            return task, policy, row
    raise AssertionError


def searched(number: int, right: float, wrong: float, *, blind: bool = False) -> tuple[Task, TrajectoryRow, Searched]:
    task, policy, row = case(number, right, wrong)
    scorer = PlantedScorer(blind)
    found = search_trajectory(
        row, task, ENVIRONMENT, policy, scorer=scorer, expert=EXPERT, config=CONFIG, generator=generators()
    )
    return task, row, found


def pool_of(task: Task, policy: PlantedPolicy, row: TrajectoryRow, config: CriticalConfig = CONFIG) -> ContinuationPool:
    pool = open_pool(row, task, ENVIRONMENT, policy, config, generators())
    assert isinstance(pool, ContinuationPool)
    return pool


class TestPlantedTruth:
    @pytest.mark.parametrize(("right", "wrong"), [(0.9, 0.1), (0.8, 0.2)])
    def test_decisive_steps_are_found_and_no_others(self, right: float, wrong: float) -> None:
        counts = tally([searched(number, right, wrong) for number in range(50)])
        assert counts["critical"] >= 40
        assert counts["true"] / counts["verified"] >= 0.95
        assert counts["found"] / counts["critical"] >= 0.95

    def test_a_small_gap_stays_open_more_often_than_not(self) -> None:
        counts = tally([searched(number, 0.6, 0.4) for number in range(20)])
        assert counts["found"] / counts["critical"] < 0.5

    def test_luck_alone_convinces_in_few_runs(self) -> None:
        """Every alternative is a candidate, and every one is worth the same as the recorded action."""
        found = [searched(number, 0.5, 0.5, blind=True) for number in range(15)]
        assert min(one.counts["candidates"] for *_, one in found) == 15
        assert tally(found)["accepted_runs"] <= 2

    def test_on_successful_runs_it_goes_the_other_way_round(self) -> None:
        """The policy's own other choice at the decisive step is worse; the recorded action is verified."""
        right = wrong = 0
        for number in range(12):
            task = planted_task(number)
            policy = PlantedPolicy(task, 0.95, 0.05)
            row = next(row for at in range(99) if (row := record_run(ENVIRONMENT, task, policy, at)).success)
            found = search_trajectory(
                row,
                task,
                ENVIRONMENT,
                policy,
                scorer=PlantedScorer(),
                expert=_Nobody(),
                config=CONFIG,
                generator=generators(),
            )
            assert found.direction == "succeeded"
            for one in found.verified:
                assert one.criticality is not None
                assert one.criticality.difference < 0
                assert one.criticality.verified
                taken = row.content[1 + 2 * one.step]
                assert isinstance(taken, ApiAction)
                assert taken.kwargs["way"] == task.details["right"] or one.step != task.details["decisive"]
                right += one.step == task.details["decisive"]
                wrong += one.step != task.details["decisive"]
        assert right >= 8
        assert wrong <= 1


class _Passes:
    """Never goes way 7 by itself, and finds the treasure if that way was taken once."""

    privileged = False

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        if len(history) < 5:
            return Decision(Turn(calls=(ToolCall(id=f"call_{len(history)}", name="go", arguments={"way": 50}),)))
        taken = [call.arguments["way"] for step in history for call in step.turn.calls]
        return Decision(Turn(answer="treasure" if 7 in taken else "nothing"))

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        return (Turn(calls=(ToolCall(id=f"call_{point.step}", name="go", arguments={"way": 7}),)),)


@pytest.mark.parametrize(("steps", "verified"), [(1, [0]), (3, [0, 1, 2]), (16, [0, 1, 2, 3, 4])])
def test_from_the_first_deviation_on_each_step_may_be_verified(steps: int, verified: list[int]) -> None:
    task, policy = planted_task(1), _Passes()
    pool = pool_of(task, policy, failed_run(ENVIRONMENT, task, policy), CriticalConfig(steps=steps))  # type: ignore[arg-type]
    found = search(pool, scorer=PlantedScorer(blind=True), expert=policy, config=CriticalConfig(steps=steps))
    assert [one.step for one in found.verified] == verified
    assert found.counts["continuations"] == 4 * len(verified)


class _Nobody:
    """An expert that must not be asked."""

    def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
        raise AssertionError("on a successful run the alternatives are the policy's own")


class _Fixed:
    """Scores by step and by whether the turn is the recorded one."""

    def __init__(self, recorded: dict[int, float | None], other: dict[int, float | None]) -> None:
        self.recorded = recorded
        self.other = other

    def score(self, point: Point, turns: Sequence[Turn]) -> tuple[Score, ...]:
        recorded, *keys = (action_key(turn, point.prompt.tools) for turn in (point.recorded, *turns))
        of = [self.recorded if key == recorded else self.other for key in keys]
        return tuple(Score(value=scores.get(point.step), reason="fixed") for scores in of)


class TestCandidates:
    def test_both_thresholds_are_strict_and_abstentions_make_none(self) -> None:
        task, policy, row = case(1, 0.5, 0.5)
        recorded = {0: 0.5, 1: 0.49, 2: 0.49, 3: None, 4: 0.0, 5: 0.0}
        other = {0: 0.9, 1: 0.6, 2: 0.61, 3: 0.9, 4: None, 5: 0.9}
        found = search(pool_of(task, policy, row), scorer=_Fixed(recorded, other), expert=EXPERT, config=CONFIG)
        assert {one.step for one in found.candidates} == {2}  # at step 5 the expert has nothing to propose
        assert len(found.candidates) == 3
        assert found.scores == (0.5, 0.49, 0.49, None, 0.0, 0.0)
        assert found.counts["abstentions"] == 1 + 3
        assert found.counts["proposed"] == 3 * 3  # steps 1, 2 and 4: no one is asked where the recorded score is enough
        assert all(one.same_kind and "0.61" in one.why for one in found.candidates)

    def test_the_greatest_gap_is_tested_first(self) -> None:
        task, policy, row = case(1, 0.5, 0.5)
        scorer = _Fixed(dict.fromkeys(range(5), 0.1), {0: 0.7, 1: 0.9, 2: 0.8, 3: 0.9, 4: 0.65})
        found = search(pool_of(task, policy, row), scorer=scorer, expert=EXPERT, config=CONFIG)
        order = list(dict.fromkeys(one.step for one in found.candidates))
        assert order == [1, 3, 2, 0, 4]

    def test_proposals_that_change_nothing_are_dropped(self) -> None:
        class Parrot:
            def propose(self, point: Point, n: int, generator: np.random.Generator) -> tuple[Turn, ...]:
                again = point.recorded.model_copy(update={"thought": "Once more."})
                other = Turn(calls=(ToolCall(id="a", name="go", arguments={"way": 50}),))
                return (again, other, other.model_copy(update={"said": "So."}))

        task, policy, row = case(1, 0.5, 0.5)
        found = search(pool_of(task, policy, row), scorer=PlantedScorer(blind=True), expert=Parrot(), config=CONFIG)
        assert found.counts["same_action"] == 2 * 5
        assert len(found.candidates) == 5


class TestBookkeeping:
    def test_counts_are_those_of_the_continuations(self) -> None:
        task, policy, row = critical_case()
        found = search_trajectory(
            row,
            task,
            ENVIRONMENT,
            policy,
            scorer=PlantedScorer(blind=True),
            expert=EXPERT,
            config=CONFIG.model_copy(update={"first_error": True}),
            generator=generators(),
        )
        assert found.counts["continuations"] == len(found.continuations)
        by_place = Counter(one.place for one in found.continuations)
        good = Counter(one.place for one in found.continuations if one.success)
        for candidate in found.candidates:
            place = BranchPoint(candidate.step, "alternative", candidate.alternative)
            original = BranchPoint(candidate.step, "original")
            if candidate.criticality is None:
                assert not (by_place[place] and by_place[original])
                continue
            of = candidate.criticality
            assert (of.alternative_n, of.alternative_successes) == (by_place[place], good[place])
            assert (of.original_n, of.original_successes) == (by_place[original], good[original])
            assert of.alternative == candidate.alternative
            assert of.verified == candidate.verified
        for place, n in by_place.items():
            assert sorted(one.sample for one in found.continuations if one.place == place) == list(range(n))
        (verified,) = found.verified
        assert verified.step == task.details["decisive"]
        assert found.criticality(verified.step) == verified.criticality
        assert Searched.model_validate_json(found.model_dump_json()) == found

    def test_an_interrupted_search_runs_no_continuation_twice(self) -> None:
        task, policy, row = critical_case()
        config = CONFIG.model_copy(update={"first_error": True})

        class Killed(Exception):
            pass

        def attempt(stop_after: int | None, done: dict[str, Continuation], ran: Counter[str]) -> Searched:
            def record(key: str, value: Continuation) -> None:
                ran[key] += 1
                # As a journal does: what comes back has been written and read.
                done[key] = Continuation.model_validate_json(value.model_dump_json())
                if stop_after is not None and sum(ran.values()) >= stop_after:
                    raise Killed

            return search_trajectory(
                row,
                task,
                ENVIRONMENT,
                policy,
                scorer=PlantedScorer(blind=True),
                expert=EXPERT,
                config=config,
                generator=generators(),
                done=dict(done),
                record=record,
            )

        whole: Counter[str] = Counter()
        straight = attempt(None, {}, whole)
        assert len(whole) == straight.counts["continuations"]
        done: dict[str, Continuation] = {}
        ran: Counter[str] = Counter()
        for stop in (1, 7, 40, 41):
            with pytest.raises(Killed):
                attempt(stop, done, ran)
        assert attempt(None, done, ran) == straight
        assert ran == whole
        assert set(ran.values()) == {1}
        assert attempt(None, done, Counter()) == straight

    def test_budgets_hold_for_what_was_done_before_too(self) -> None:
        task, policy, row = critical_case(0.5, 0.5)
        config = CONFIG.model_copy(update={"step_budget": 9, "trajectory_budget": 30})
        found = search(
            pool_of(task, policy, row, config), scorer=PlantedScorer(blind=True), expert=EXPERT, config=config
        )
        assert found.counts["continuations"] <= 30
        assert max(Counter(one.step for one in found.continuations).values()) <= 9
        assert found.counts["finding.over_budget"] > 0
        assert sum(n for key, n in found.counts.items() if key.startswith("finding.")) == found.counts["candidates"]

    def test_what_cannot_be_replayed_is_counted_and_the_rest_is_searched(self) -> None:
        task, policy, row = critical_case()
        content = list(row.content)
        content[6] = content[6].model_copy(update={"content": "something else"})  # the observation of step 2
        broken = row.model_copy(update={"content": tuple(content)})
        scorer = PlantedScorer(blind=True)
        found = search(pool_of(task, policy, broken), scorer=scorer, expert=EXPERT, config=CONFIG)
        assert found.refused is not None
        assert found.counts["refused.other_observation"] == 1
        assert {one.step for one in found.candidates} == {0, 1}
        assert found.scores[2:] == (None,) * 4
        other = search_trajectory(
            row.model_copy(update={"environment": "search"}),
            task,
            ENVIRONMENT,
            policy,
            scorer=scorer,
            expert=EXPERT,
            config=CONFIG,
            generator=generators(),
        )
        assert other.refused is not None
        assert other.refused.reason is Refusal.OTHER_ENVIRONMENT
        assert {key: n for key, n in other.counts.items() if n} == {"refused.other_environment": 1}
        assert not other.candidates


class TestBaselines:
    def test_cso_takes_one_continuation_and_no_control(self) -> None:
        task, policy, row = critical_case()
        found = cso(pool_of(task, policy, row), scorer=PlantedScorer(blind=True), expert=EXPERT, config=CONFIG)
        assert found.counts["continuations"] == found.counts["candidates"] == 15
        assert {one.side for one in found.continuations} == {"alternative"}
        won = {(one.step, one.alternative) for one in found.continuations if one.success}
        assert won == {(one.step, one.alternative) for one in found.verified}
        assert all(one.criticality is None for one in found.candidates)

    def test_cso_is_fooled_by_luck_where_the_search_is_not(self) -> None:
        fooled = 0
        for number in range(10):
            task, policy, row = case(number, 0.5, 0.5)
            fooled += bool(
                cso(pool_of(task, policy, row), scorer=PlantedScorer(blind=True), expert=EXPERT, config=CONFIG).verified
            )
        assert fooled == 10

    def test_monte_carlo_tries_everything_alike(self) -> None:
        task, policy, row = critical_case()
        pool = pool_of(task, policy, row)
        found = monte_carlo(pool, scorer=_Fixed({}, {}), expert=EXPERT, config=CONFIG, k=10)
        assert found.counts["candidates"] == 15
        assert found.counts["continuations"] == 10 * (15 + 5)
        assert set(Counter(one.place for one in found.continuations).values()) == {10}
        (verified,) = found.verified
        assert verified.step == task.details["decisive"]
        assert verified.finding is Finding.VERIFIED
        assert found.counts["abstentions"] == 0
