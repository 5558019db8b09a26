"""``validate`` finds every way of breaking pairs and of telling of them otherwise."""

from __future__ import annotations

from functools import partial
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
    row,
    table,
)
from critical_breaking import FAILED, GOOD, ORIGINAL, PERTURBED, RUNS, STEP, critical, strength, swapped

from synth.schemas.adp import MessageAction, TextObservation

good = partial(row, PREFERENCES, GOOD)
of_runs = partial(row, PREFERENCES, RUNS)
of_step = partial(row, PREFERENCES, STEP)
perturbed = partial(row, PREFERENCES, PERTURBED)

MUTATIONS: dict[str, Mutation] = {
    # preferences
    "pair of no trajectory": of_step("trajectory_id: there is no trajectory nowhere", trajectory_id="nowhere"),
    "pair of another task": of_step("task_id: x", task_id="x"),
    "pair in another split": of_step("split: test, but its trajectory is of train", split="test"),
    "pair twice": (
        table(PREFERENCES, lambda t: pa.concat_tables([t, t.slice(STEP, 1)])),
        PREFERENCES,
        5,
        "id: another pair is pair-verified_step-trajectory-policy-0001 too",
    ),
    "prompt that is not a prefix": of_step(
        "prompt: is not what the trajectory holds before step 1",
        lambda p: {"prompt": (*p.prompt[:-1], p.prompt[-1].model_copy(update={"content": "x"}))},
    ),
    "prompt cut short": of_step(
        "prompt: is not what the trajectory holds before step 1", lambda p: {"prompt": p.prompt[:1]}
    ),
    "step of another prompt": of_step("prompt: is not what the trajectory holds before step 2", step=2),
    "sides that are the same": perturbed("rejected: is the same as chosen", lambda p: {"rejected": p.chosen}),
    "sides that do the same": of_step(
        "rejected: does the same as chosen",
        lambda p: {"chosen": (p.rejected[0].model_copy(update={"reasoning_content": "!"}),)},
    ),
    "side left empty": of_step("chosen: does not begin with an action", chosen=()),
    "side with the id of a call that nothing answers": of_step(
        "chosen: after the prompt: content[3].tool_call_id: no later observation answers 'call_1'",
        lambda p: {"chosen": (p.chosen[0].model_copy(update={"tool_call_id": "call_1"}),)},
    ),
    "side with an observation": of_step(
        "chosen: is more than one action, in a pair of kind verified_step",
        lambda p: {"chosen": (*p.chosen, TextObservation(content="x", source="environment"))},
    ),
    "rejected was not recorded": of_step(
        "rejected: is not what the trajectory did at step 1", rejected=(MessageAction(content="x"),), same_kind=False
    ),
    "chosen was not tried": of_step(
        "chosen: is not alternative 0 of the continuations",
        lambda p: {"chosen": (p.chosen[0].model_copy(update={"kwargs": {"query": "x"}}),)},
    ),
    "swapped pair of a failed run": of_step("strength.difference: -1 does not favour the chosen side", swapped),
    "swapped pair of a successful run": good("chosen: is not what the trajectory did at step 2", swapped),
    "swapped pair of runs": of_runs("chosen: is not the rest of trajectory-teacher-0001", swapped),
    "swapped perturbation": perturbed("chosen: is not what the trajectory did from step 1 on", swapped),
    "pair of runs that does not tell the other": of_runs(
        "other_trajectory_id: null in a pair of runs", other_trajectory_id=None
    ),
    "pair of runs on two tasks": of_runs(
        "but other_trajectory_id trajectory is of task-0000000000000003", other_trajectory_id="trajectory-policy-0003"
    ),
    "run that was cut": of_runs(
        "rejected: is not the rest of trajectory-policy-0001", lambda p: {"rejected": p.rejected[:2]}
    ),
    "selected against the rule": perturbed("selected: True, which is not what the selection says", selected=True),
    "not selected against the rule": of_step("selected: False, which is not what the selection says", selected=False),
    "a real failure called a rule": of_step("rejected_by: rule in a pair of kind verified_step", rejected_by="rule"),
    "a late error called the first": of_runs("first_deviation: True in a pair of nature whole", first_deviation=True),
    "one thought on both sides": of_step(
        "rejected: thinks word for word what the chosen side thinks",
        lambda p: {
            "chosen": (
                p.chosen[0].model_copy(update={"reasoning_content": p.rejected[0].reasoning_content}),
                *p.chosen[1:],
            )
        },
    ),
    "same kind that is another": perturbed("same_kind: True, but the sides do search and answer", same_kind=True),
    "verified pair without strength": of_step(
        "strength: null in a pair of kind verified_step", strength=None, selected=False
    ),
    "verified pair that is not verified": of_step(
        "strength.verified: false in a pair of kind verified_step",
        lambda p: {**strength(p, verified=False), "selected": False},
    ),
    "strength of other counts": of_step(
        "strength: 1 of 4 on the original side, but the continuations hold 0 of 4",
        lambda p: strength(p, rejected_successes=1, difference=0.75),
    ),
    "step that is not verified": (
        edit(STEPS, FAILED, lambda s: critical(s, verified=False)),
        PREFERENCES,
        STEP,
        "strength: step 1 is not verified in the table of steps",
    ),
    "later without an earlier one": of_step(
        "position: later, but the first verified step of trajectory-policy-0001 is 1", position="later"
    ),
    "whole run in a pair of actions": of_step(
        "nature: whole in a pair of kind verified_step", nature="whole", position="whole"
    ),
    "prefix of a run that failed, told as a success": of_step(
        "from_success: True, but the trajectory did not succeed", from_success=True
    ),
    "other tools": of_step("system_prompt, tool_schemas: are not those of the trajectory", tool_schemas=()),
    "other system prompt": of_runs(
        "system_prompt, tool_schemas: are not those of the trajectory", system_prompt="Guess."
    ),
    "licence of something else": of_step("licence: MIT, but that of the trajectory is CC0-1.0", licence="MIT"),
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
def test_every_break_is_found(name: str, small: Path) -> None:
    must_be_found(MUTATIONS[name], small)
