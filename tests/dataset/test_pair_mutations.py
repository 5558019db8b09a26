"""``validate`` finds every way of breaking pairs and of telling of them otherwise."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from breaking import (
    CONTINUATIONS,
    PREFERENCES,
    STEPS,
    TRAJECTORIES,
    Mutation,
    card,
    edit,
    item,
    must_be_found,
    report,
    table,
)
from critical_breaking import (
    FAILED,
    GOOD,
    ORIGINAL,
    PERTURBED,
    RUNS,
    STEP,
    critical,
    strength,
    swapped,
)

from synth.schemas.adp import MessageAction, TextObservation

MUTATIONS: dict[str, Mutation] = {
    # preferences
    "pair of no trajectory": (
        edit(PREFERENCES, STEP, lambda p: {"trajectory_id": "nowhere"}),
        PREFERENCES,
        STEP,
        "trajectory_id: there is no trajectory nowhere",
    ),
    "pair of another task": (edit(PREFERENCES, STEP, lambda p: {"task_id": "x"}), PREFERENCES, STEP, "task_id: x"),
    "pair in another split": (
        edit(PREFERENCES, STEP, lambda p: {"split": "test"}),
        PREFERENCES,
        STEP,
        "split: test, but its trajectory is of train",
    ),
    "pair twice": (
        table(PREFERENCES, lambda t: pa.concat_tables([t, t.slice(STEP, 1)])),
        PREFERENCES,
        5,
        "id: another pair is pair-verified_step-trajectory-policy-0001 too",
    ),
    "prompt that is no prefix": (
        edit(
            PREFERENCES, STEP, lambda p: {"prompt": (*p.prompt[:-1], p.prompt[-1].model_copy(update={"content": "x"}))}
        ),
        PREFERENCES,
        STEP,
        "prompt: is not what the trajectory holds before step 1",
    ),
    "prompt cut short": (
        edit(PREFERENCES, STEP, lambda p: {"prompt": p.prompt[:1]}),
        PREFERENCES,
        STEP,
        "prompt: is not what the trajectory holds before step 1",
    ),
    "step of another prompt": (
        edit(PREFERENCES, STEP, lambda p: {"step": 2}),
        PREFERENCES,
        STEP,
        "prompt: is not what the trajectory holds before step 2",
    ),
    "sides that are the same": (
        edit(PREFERENCES, PERTURBED, lambda p: {"rejected": p.chosen}),
        PREFERENCES,
        PERTURBED,
        "rejected: is the same as chosen",
    ),
    "sides that do the same": (
        edit(PREFERENCES, STEP, lambda p: {"chosen": (p.rejected[0].model_copy(update={"reasoning_content": "!"}),)}),
        PREFERENCES,
        STEP,
        "rejected: does the same as chosen",
    ),
    "side left empty": (
        edit(PREFERENCES, STEP, lambda p: {"chosen": ()}),
        PREFERENCES,
        STEP,
        "chosen: does not begin with an action",
    ),
    "side with the id of a call that nothing answers": (
        edit(PREFERENCES, STEP, lambda p: {"chosen": (p.chosen[0].model_copy(update={"tool_call_id": "call_1"}),)}),
        PREFERENCES,
        STEP,
        "chosen: after the prompt: content[3].tool_call_id: no later observation answers 'call_1'",
    ),
    "side with an observation": (
        edit(
            PREFERENCES,
            STEP,
            lambda p: {"chosen": (*p.chosen, TextObservation(content="x", source="environment"))},
        ),
        PREFERENCES,
        STEP,
        "chosen: is more than one action, in a pair of kind verified_step",
    ),
    "rejected was not recorded": (
        edit(PREFERENCES, STEP, lambda p: {"rejected": (MessageAction(content="x"),), "same_kind": False}),
        PREFERENCES,
        STEP,
        "rejected: is not what the trajectory did at step 1",
    ),
    "chosen was not tried": (
        edit(PREFERENCES, STEP, lambda p: {"chosen": (p.chosen[0].model_copy(update={"kwargs": {"query": "x"}}),)}),
        PREFERENCES,
        STEP,
        "chosen: is not alternative 0 of the continuations",
    ),
    "swapped pair of a failed run": (
        edit(PREFERENCES, STEP, swapped),
        PREFERENCES,
        STEP,
        "strength.difference: -1 does not speak for the chosen side",
    ),
    "swapped pair of a successful run": (
        edit(PREFERENCES, GOOD, swapped),
        PREFERENCES,
        GOOD,
        "chosen: is not what the trajectory did at step 2",
    ),
    "swapped pair of runs": (
        edit(PREFERENCES, RUNS, swapped),
        PREFERENCES,
        RUNS,
        "chosen: is not the rest of trajectory-teacher-0001",
    ),
    "swapped perturbation": (
        edit(PREFERENCES, PERTURBED, swapped),
        PREFERENCES,
        PERTURBED,
        "chosen: is not what the trajectory did from step 1 on",
    ),
    "pair of runs that does not tell the other": (
        edit(PREFERENCES, RUNS, lambda p: {"other_trajectory_id": None}),
        PREFERENCES,
        RUNS,
        "other_trajectory_id: null in a pair of runs",
    ),
    "pair of runs on two tasks": (
        edit(PREFERENCES, RUNS, lambda p: {"other_trajectory_id": "trajectory-policy-0003"}),
        PREFERENCES,
        RUNS,
        "but other_trajectory_id trajectory is of task-0000000000000003",
    ),
    "run that was cut": (
        edit(PREFERENCES, RUNS, lambda p: {"rejected": p.rejected[:2]}),
        PREFERENCES,
        RUNS,
        "rejected: is not the rest of trajectory-policy-0001",
    ),
    "selected against the rule": (
        edit(PREFERENCES, GOOD, lambda p: {"selected": True}),
        PREFERENCES,
        GOOD,
        "selected: True, which is not what the selection says",
    ),
    "not selected against the rule": (
        edit(PREFERENCES, STEP, lambda p: {"selected": False}),
        PREFERENCES,
        STEP,
        "selected: False, which is not what the selection says",
    ),
    "same kind that is another": (
        edit(PREFERENCES, PERTURBED, lambda p: {"same_kind": True}),
        PREFERENCES,
        PERTURBED,
        "same_kind: True, but the sides do search and answer",
    ),
    "verified pair without strength": (
        edit(PREFERENCES, STEP, lambda p: {"strength": None, "selected": False}),
        PREFERENCES,
        STEP,
        "strength: null in a pair of kind verified_step",
    ),
    "verified pair that is not verified": (
        edit(PREFERENCES, STEP, lambda p: {**strength(p, verified=False), "selected": False}),
        PREFERENCES,
        STEP,
        "strength.verified: false in a pair of kind verified_step",
    ),
    "strength of other counts": (
        edit(PREFERENCES, STEP, lambda p: strength(p, rejected_successes=1, difference=0.75)),
        PREFERENCES,
        STEP,
        "strength: 1 of 4 on the original side, but the continuations hold 0 of 4",
    ),
    "step that is not verified": (
        edit(STEPS, FAILED, lambda s: critical(s, verified=False)),
        PREFERENCES,
        STEP,
        "strength: step 1 is not verified in the table of steps",
    ),
    "later without an earlier one": (
        edit(PREFERENCES, STEP, lambda p: {"position": "later"}),
        PREFERENCES,
        STEP,
        "position: later, but the first verified step of trajectory-policy-0001 is 1",
    ),
    "whole run in a pair of actions": (
        edit(PREFERENCES, STEP, lambda p: {"nature": "whole", "position": "whole"}),
        PREFERENCES,
        STEP,
        "nature: whole in a pair of kind verified_step",
    ),
    "prefix of a run that failed, told as a success": (
        edit(PREFERENCES, STEP, lambda p: {"from_success": True}),
        PREFERENCES,
        STEP,
        "from_success: True, but the trajectory did not succeed",
    ),
    "other tools": (
        edit(PREFERENCES, STEP, lambda p: {"tool_schemas": ()}),
        PREFERENCES,
        STEP,
        "system_prompt, tool_schemas: are not those of the trajectory",
    ),
    "other system prompt": (
        edit(PREFERENCES, RUNS, lambda p: {"system_prompt": "Guess."}),
        PREFERENCES,
        RUNS,
        "system_prompt, tool_schemas: are not those of the trajectory",
    ),
    "licence of something else": (
        edit(PREFERENCES, STEP, lambda p: {"licence": "MIT"}),
        PREFERENCES,
        STEP,
        "licence: MIT, but that of the trajectory is CC0-1.0",
    ),
    # trajectories that others rest on
    "trajectory lost": (
        table(TRAJECTORIES, lambda t: t.filter(pc.not_equal(t["id"], "trajectory-policy-0001"))),
        CONTINUATIONS,
        ORIGINAL,
        "trajectory_id: there is no trajectory trajectory-policy-0001",
    ),
    "trajectory changed": (
        edit(TRAJECTORIES, 1, lambda t: item(t, 3, kwargs={"query": "else"})),
        PREFERENCES,
        STEP,
        "rejected: is not what the trajectory did at step 1",
    ),
    "observation changed": (
        edit(TRAJECTORIES, 1, lambda t: item(t, 2, content="something else")),
        PREFERENCES,
        STEP,
        "prompt: is not what the trajectory holds before step 1",
    ),
    # report and card
    "report of other labels": (report(lambda r: r["labels"][0].update(harms=1)), "report.json", None, "labels: "),
    "report of other finds": (report(lambda r: r["critical"][0].update(verified=1)), "report.json", None, "critical: "),
    "report of other pairs": (report(lambda r: r["pairs"][0].update(selected=1)), "report.json", None, "pairs: "),
    "card tells another share": (card("| 33.3 % | 16 |", "| 3.3 % | 16 |"), "README.md", None, "| 33.3 % | 16 |"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_break_is_found(name: str, little: Callable[[], Path]) -> None:
    must_be_found(MUTATIONS[name], little())
