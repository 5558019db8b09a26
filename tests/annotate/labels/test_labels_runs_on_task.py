"""What turns are worth by the other runs on the task: equal states (GiGPO), and what runs reliably end with (SIOP)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from stand_ins.model_server.listed import Listed, body

from synth.agents.imported import import_trajectory
from synth.annotate.labels.answer_probability import AnswerProbability
from synth.annotate.labels.label import label
from synth.annotate.labels.outcome_potential import outcome_modes, outcome_potential
from synth.annotate.labels.step_groups import DISCOUNT, group_advantages
from synth.registry import find
from synth.schemas.trajectories import TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

TASK = small_tasks()[0].model_copy(update={"answer": "Jon Maak"})


def run_of(name: str, shown: Sequence[str], answer: str, **changes: Any) -> TrajectoryRow:
    """One call for each of ``shown``, then the answer."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": TASK.question}]
    for number, text in enumerate(shown):
        call = {"name": "search", "arguments": f'{{"query": "{name} {number}"}}'}
        messages.append(
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})
    messages.append({"role": "assistant", "content": answer})
    made = import_trajectory(find("importers", "openai").read({"messages": messages}), TASK, provenance=PROVENANCE)
    return made.model_copy(update={"id": name, **changes})


def test_turns_from_one_state_are_compared_by_how_soon_their_runs_succeed() -> None:
    short = run_of("short", ["the Atlas", "Jon Maak"], "Jon Maak")
    long = run_of("long", ["the Globe", "the Atlas", "Jon Maak"], "Jon Maak")
    wrong = run_of("wrong", ["the Atlas"], "Per Maak")
    again = run_of("again", ["the Atlas"], "Jon Maak", retry_of="wrong")
    open_ = run_of("open", ["the Atlas"], "x")
    open_ = open_.model_copy(update={"verdict": open_.verdict.model_copy(update={"correct": None})})
    found = group_advantages([short, long, wrong, again, open_])
    assert found.keys() == {"short", "long", "wrong"}
    first = (DISCOUNT**2 + DISCOUNT**3 + 0) / 3
    at_atlas = (DISCOUNT + DISCOUNT + 0) / 3  # two turns before the end, in both runs that are right
    assert found["short"] == pytest.approx((DISCOUNT**2 - first, DISCOUNT - at_atlas, 0))
    assert found["long"][0] == pytest.approx(DISCOUNT**3 - first)
    assert found["long"][1] is None  # nobody else was shown the Globe
    assert found["long"][2:] == pytest.approx((DISCOUNT - at_atlas, 0))
    assert found["wrong"] == pytest.approx((-first, -at_atlas))


def test_a_state_outlasts_an_error_and_a_run_alone_has_none() -> None:
    failed = run_of("failed", ["the Atlas", "no such page"], "Jon Maak")
    failed = failed.model_copy(update={"details": {**failed.details, "tool_errors": {"c1": "bad_arguments"}}})
    other = run_of("other", ["the Atlas"], "Per Maak")
    found = group_advantages([failed, other])
    assert None not in found["failed"]
    assert math.fsum(value for values in found.values() for value in values if value is not None) == pytest.approx(0)
    assert group_advantages([failed]) == {"failed": (None, None, None)}


def test_modes_are_answers_that_mean_the_same_and_count_where_a_tool_showed_them() -> None:
    runs = [
        run_of("a", ["Jon Maak was born here."], "Jon Maak"),
        run_of("b", ["the Atlas"], "The answer is Jon Maak."),
        run_of("c", ["A painter, Per Maak."], "Per Maak"),
        run_of("d", ["Per Maak"], "per maak"),
        run_of("e", ["nothing"], "Ida Orl"),
        run_of("f", ["Ida Orl"], "Ida Orl", retry_of="e"),
    ]
    assert outcome_modes(TASK, runs) == (("Jon Maak", 1 / 3), ("Per Maak", 2 / 3), ("Ida Orl", 0.0))
    assert outcome_modes(TASK, [runs[1], runs[4]]) == ()  # nothing that a tool showed


def test_a_turn_is_worth_by_how_much_it_leans_to_the_reliable_modes() -> None:
    run = run_of("a", ["Jon Maak was born here."], "Jon Maak")
    held = {"Jon Maak": (0.1, 0.6), "Per Maak": (0.3, 0.2)}
    replies = [
        body(
            {"content": "x"},
            prompt_logprobs=[None, {"1": {"logprob": math.log(value), "rank": 1, "decoded_token": answer}}],
        )
        for answer, values in held.items()
        for value in values
    ]
    model = Listed(replies)
    modes = (("Jon Maak", 0.75), ("Per Maak", 0.25))
    potential = outcome_potential(AnswerProbability(model), TASK, run, modes)
    before, after = 0.75 * 0.25 + 0.25 * 0.75, 0.75 * 0.75 + 0.25 * 0.25
    assert potential == pytest.approx((before, after))
    (first, last) = (one.row(PROVENANCE, potential=potential) for one in label(run, TASK))
    assert (first.outcome_potential, first.outcome_gain) == pytest.approx((after, after - before))
    assert (last.outcome_potential, last.outcome_gain) == (None, None)
    assert outcome_potential(AnswerProbability(Listed([])), TASK, run, modes[:1]) == ()  # runs agree: nobody is asked
