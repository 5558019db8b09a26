"""Failed runs made into good ones, on planted tasks whose decisive step is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from stand_ins.planted import PlantedEnvironment, PlantedPolicy, failed_run, generators, is_critical, planted_task

from synth.agents.contract import Decision, History, Prompt
from synth.agents.loop import Limits
from synth.agents.trajectory import history_of, to_row
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.labels.label import StepLabel, label
from synth.annotate.preferences.refined import refined_pairs
from synth.annotate.refinement.refiner import Refiner, Unrefined, label_hint
from synth.schemas.details import details_with
from synth.schemas.preferences import PairKind
from synth.schemas.refined import How, Refined
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import TrajectoryRow

ENVIRONMENT = PlantedEnvironment("you saw treasure")
"""Its answer is read, so that no run is refused for that."""


def lost_run(skill: float = 0.3) -> tuple[Task, TrajectoryRow, StepLabel]:
    """A run that failed by its decisive step, which stands behind others, and that step with a label that says so."""
    for number in range(200):
        task = planted_task(number, steps=6)
        task = task.model_copy(update={"question": f"{task.question} The ways are 0, 1, 2 and 3."})
        row = failed_run(ENVIRONMENT, task, PlantedPolicy(task, 1.0, 0.0, skill))
        if task.details["decisive"] >= 2 and is_critical(task, row, task.details["decisive"]):
            wrong = label(row, task)[task.details["decisive"]]
            said = {"first_error": True, "label": -1, "label_detail": "it took a wrong way"}
            return task, row, wrong.model_copy(update=said)
    raise AssertionError("no run")


def refiner(task: Task, skill: float, **more: Any) -> Refiner:
    policy = PlantedPolicy(task, 1.0, 0.0, skill)
    made = Refiner(task, ENVIRONMENT, policy, None, None, Limits(), 4, generators())
    return replace(made, **more)


class Reader:
    """Takes the right way where it was told that it went wrong."""

    privileged = False

    def __init__(self, task: Task) -> None:
        self._plain, self._told = (PlantedPolicy(task, 1.0, 0.0, skill) for skill in (0.0, 1.0))
        self.systems: list[str] = []

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        self.systems.append(prompt.system)
        who = self._told if "went wrong" in prompt.system else self._plain
        return who.act(prompt, history, generator)


def row_of(failed: TrajectoryRow, made: Refiner, how: How, wrong: StepLabel) -> TrajectoryRow:
    done, refinement = made.refine(failed, how, wrong)
    row = to_row(done, ENVIRONMENT, role="policy", number=9, privileged=False, provenance=failed.provenance)
    details = details_with(row.details, Refined(refined=refinement))
    return row.model_copy(update={"retry_of": failed.id, "details": details})


def test_it_keeps_what_came_before_the_wrong_step_and_ends_right() -> None:
    task, failed, wrong = lost_run()
    row = row_of(failed, refiner(task, 0.8), "regenerate", wrong)
    made = Refined.of(row.details).refined
    before, after = history_of(failed)[1], history_of(row)[1]
    assert row.success
    assert made.step == wrong.step
    assert after[: made.step] == before[: made.step]
    assert after[made.step] != before[made.step]


def test_a_hint_helps_who_reads_it_and_is_no_part_of_the_row() -> None:
    task, failed, wrong = lost_run()
    reader = Reader(task)
    with pytest.raises(Unrefined) as error:
        refiner(task, 0.0, policy=reader).refine(failed, "regenerate", wrong)
    assert error.value.reason is Reason.NOT_REFINED
    row = row_of(failed, refiner(task, 0.0, policy=reader), "hint", wrong)
    made = Refined.of(row.details).refined
    assert made.hint is not None
    assert "it took a wrong way" in made.hint
    assert made.hint in reader.systems[-1]
    assert row.system_prompt == failed.system_prompt
    assert made.hint not in row.model_dump_json(exclude={"details"})
    whole = row_of(failed, refiner(task, 0.0, policy=reader), "hint_from_start", wrong)
    assert Refined.of(whole.details).refined.step == 0


def test_a_script_that_reads_no_hints_has_another_take_the_hinted_turn() -> None:
    task, failed, wrong = lost_run()
    told = PlantedPolicy(task, 1.0, 0.0, 1.0)
    row = row_of(failed, refiner(task, 0.0, hinted=told), "hint", wrong)
    assert row.success
    assert Refined.of(row.details).refined.tries == 1


def test_a_hint_that_holds_the_answer_is_none() -> None:
    task, _, wrong = lost_run()
    leak = wrong.model_copy(update={"label_detail": "it should have said treasure"})
    with pytest.raises(Unrefined, match="answer_in_reflection"):
        label_hint(leak, task)


def test_a_stretch_behind_which_the_policy_succeeds_is_gone_on_from() -> None:
    """A better agent took the right way and failed afterwards."""
    task = next(one for one in map(planted_task, range(50)) if one.details["decisive"] in (2, 3))
    failed = failed_run(ENVIRONMENT, task, PlantedPolicy(task, 0.2, 0.0, skill=1.0))
    search = CriticalConfig(max_pairs=16, error=0.1)
    weak = PlantedPolicy(task, 0.95, 0.05, skill=0.05)
    made = refiner(task, 0.0, policy=weak)
    done, refinement = made.refine_segments(failed, every=2, config=search, done={}, record=lambda key, one: None)
    assert refinement.segment == (2, 4)
    assert refinement.before is not None
    assert refinement.after is not None
    assert refinement.before[0] / refinement.before[1] < refinement.after[0] / refinement.after[1]
    assert done.history[:4] == history_of(failed)[1][:4]
    blind = refiner(task, 0.0, policy=PlantedPolicy(task, 0.0, 0.0))
    with pytest.raises(Unrefined, match="no_useful_segment"):
        blind.refine_segments(failed, every=2, config=search, done={}, record=lambda key, one: None)


def test_the_sides_of_a_pair_part_at_the_wrong_step() -> None:
    task, failed, wrong = lost_run()
    good = row_of(failed, refiner(task, 0.8), "regenerate", wrong)
    steps = {run.id: [one.row(run.provenance) for one in label(run, task)] for run in (failed, good)}
    steps[failed.id][wrong.step] = wrong.row(failed.provenance)
    steps[good.id][wrong.step] = steps[good.id][wrong.step].model_copy(update={"label": 0})
    found = refined_pairs([failed, good], steps, provenance=failed.provenance, stage="refined_pairs")
    assert not found.rejected
    (pair,) = found.rows
    assert (pair.kind, pair.step, pair.other_trajectory_id) == (PairKind.REFINED, wrong.step, good.id)
    ways = [side[0].kwargs["way"] for side in (pair.chosen, pair.rejected)]  # type: ignore[union-attr]
    assert ways[0] == task.details["right"] != ways[1]
    steps[good.id][wrong.step] = steps[good.id][wrong.step].model_copy(update={"label": -1})
    refused = refined_pairs([failed, good], steps, provenance=failed.provenance, stage="refined_pairs")
    assert not refused.rows
    assert [one.reason for one in refused.rejected] == [Reason.NO_PAIR]
