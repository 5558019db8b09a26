from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, Rollout, replay
from synth.agents.scripted.players import ScriptedPolicy, ScriptedTeacher
from synth.agents.trajectory import history_of, injected_rows, to_row
from synth.environments.contract import ToolCall
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.schemas import adp
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, small_tasks

Run = Callable[..., Rollout]


class Script:
    """Plays given turns."""

    privileged = False

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = list(turns)

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(self.turns[len(history)])


def call(name: str, /, **arguments: Any) -> ToolCall:
    return ToolCall(id="same", name=name, arguments=arguments)


SEARCH = Turn(thought="I search.", said="One moment.", calls=(call("search", query="Orl"),))
PARALLEL = Turn(thought="Both.", calls=(call("open", document="orl"), call("find", pattern="river")))
WRONG = Turn(calls=(call("nothing"),))
ANSWER = Turn(thought="Done.", said="Here:", answer="Dessau Ferry")
GIVE_UP = Turn(thought="No way.", said="I can't find it.")

SCRIPTS: dict[str, tuple[list[Turn], StopReason]] = {
    "answer": ([SEARCH, PARALLEL, ANSWER], StopReason.ANSWERED),
    "at once": ([ANSWER], StopReason.ANSWERED),
    "gave up": ([SEARCH, GIVE_UP], StopReason.GAVE_UP),
    "gave up silently": ([Turn()], StopReason.GAVE_UP),
    "empty answer": ([Turn(answer="")], StopReason.ANSWERED),
    "too long": ([SEARCH, PARALLEL, SEARCH, PARALLEL], StopReason.MAX_TURNS),
    "invalid": ([WRONG, WRONG], StopReason.INVALID_CALLS),
    "recovers": ([WRONG, SEARCH, WRONG, ANSWER], StopReason.ANSWERED),
}


def row_of(rollout: Rollout, environment: SearchEnvironment, number: int = 0) -> TrajectoryRow:
    return to_row(rollout, environment, role="policy", number=number, privileged=False, provenance=PROVENANCE)


@pytest.mark.parametrize("name", SCRIPTS)
def test_stops_rows_and_back(name: str, run: Run, environment: SearchEnvironment) -> None:
    turns, stop = SCRIPTS[name]
    made = run(Script(turns), small_tasks()[0], limits=Limits(max_turns=4, max_invalid=2))
    assert made.stop_reason is stop
    assert len(made.history) == len(turns)
    row = row_of(made, environment)
    columns = {key: getattr(row, key) for key in adp.Trajectory.model_fields}
    adp.Trajectory(**columns)
    assert history_of(row) == (made.prompt, made.history)
    assert row.turns == len(turns)
    assert row.tool_calls == sum(len(turn.calls) for turn in turns)
    assert row.success is (name in ("answer", "at once", "recovers"))
    assert TrajectoryRow.model_validate_json(row.model_dump_json()) == row


def test_call_ids_are_unique_and_by_place(run: Run) -> None:
    made = run(Script([SEARCH, PARALLEL, ANSWER]), small_tasks()[0])
    ids = [made_call.id for step in made.history for made_call in step.turn.calls]
    assert ids == ["call_0_0", "call_1_0", "call_1_1"]


def test_the_last_call_of_a_full_rollout_is_not_carried_out(run: Run, environment: SearchEnvironment) -> None:
    made = run(Script([SEARCH, SEARCH]), small_tasks()[0], limits=Limits(max_turns=2))
    assert made.history[-1].results == ()
    last = row_of(made, environment).content[-1]
    assert isinstance(last, adp.ApiAction)
    assert last.tool_call_id is None


def test_ids_tell_samples_and_contents_apart(run: Run, environment: SearchEnvironment) -> None:
    first = run(Script([ANSWER]), small_tasks()[0])
    second = run(Script([SEARCH, ANSWER]), small_tasks()[0])
    ids = {row_of(first, environment).id, row_of(first, environment, 1).id, row_of(second, environment).id}
    assert len(ids) == 3
    assert row_of(first, environment).id == row_of(run(Script([ANSWER]), small_tasks()[0]), environment).id


def test_the_same_names_give_the_same_rollout_and_others_another(run: Run) -> None:
    task = small_tasks()[0]
    assert run(ScriptedPolicy(task), task, "a") == run(ScriptedPolicy(task), task, "a")
    assert len({repr(run(ScriptedPolicy(task), task, name).history) for name in range(8)}) > 4


@pytest.mark.parametrize("agent", [ScriptedTeacher, ScriptedPolicy])
def test_going_on_from_any_step_gives_the_same_rollout(agent: Any, run: Run, environment: SearchEnvironment) -> None:
    """Nothing is kept between turns: replayed or restored from a snapshot, a prefix goes on as it did."""
    for task in small_tasks():
        whole = run(agent(task), task, "x")
        for cut in range(1, len(whole.history)):
            prefix = whole.history[:cut]
            again = run(agent(task), task, "x", history=prefix)
            assert again.history == whole.history
            assert again.verdict == whole.verdict
            episode = environment.reset(task)
            episode.restore(replay(environment, task, prefix).snapshot())
            assert run(agent(task), task, "x", history=prefix, episode=episode).history == whole.history


def test_a_history_from_a_row_can_be_continued(run: Run, environment: SearchEnvironment) -> None:
    task = small_tasks()[1]
    whole = run(ScriptedTeacher(task), task, "x")
    _, history = history_of(row_of(whole, environment))
    assert run(ScriptedPolicy(task), task, "other", history=history[:2]).history[:2] == whole.history[:2]


def test_a_history_that_is_over_or_does_not_fit_is_refused(run: Run) -> None:
    task = small_tasks()[0]
    done = run(Script([SEARCH, ANSWER]), task).history
    with pytest.raises(ValueError, match="over"):
        run(Script([ANSWER]), task, history=done)
    step = done[0]
    forged = step.model_copy(update={"results": (step.results[0].model_copy(update={"content": "else"}),)})
    with pytest.raises(ValueError, match="answers otherwise"):
        run(Script([SEARCH, ANSWER]), task, history=(forged,))


def test_injected_errors_carry_turn_and_trajectory(run: Run, environment: SearchEnvironment) -> None:
    errors = []
    for task in small_tasks():
        for sample in range(10):
            made = run(ScriptedPolicy(task), task, sample)
            row = row_of(made, environment, sample)
            for error in injected_rows(made, row):
                assert error.trajectory_id == row.id
                assert 0 <= error.turn < row.turns
                errors.append(error.mode)
                assert error.detail not in row.model_dump_json()
    assert {"lookalike", "skipped_check", "bad_argument", "first_date"} <= set(errors)


def test_generators_are_asked_for_by_turn(environment: SearchEnvironment, system: str) -> None:
    from synth.agents.loop import rollout

    asked: list[int] = []

    def generator(turn: int) -> np.random.Generator:
        asked.append(turn)
        return derive_generator(0, turn)

    task = small_tasks()[0]
    script = Script([SEARCH, PARALLEL, ANSWER])
    made = rollout(script, environment, task, system=system, limits=Limits(), generator_for_turn=generator)
    assert asked == [0, 1, 2]
    rollout(
        script,
        environment,
        task,
        system=system,
        limits=Limits(),
        generator_for_turn=generator,
        history=made.history[:1],
    )
    assert asked == [0, 1, 2, 1, 2]
