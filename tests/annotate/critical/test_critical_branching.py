"""Branches start from the very state that was recorded, and draw from names of their own."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from stand_ins.planted import (
    PlantedEnvironment,
    PlantedPolicy,
    failed_run,
    generators,
    planted_task,
)

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import history_of, step_items, to_row
from synth.annotate.critical.actions import action_key, action_kind
from synth.annotate.critical.branching import Branching, BranchPoint, Refusal, Refused, continuation_row
from synth.annotate.critical.config import CriticalConfig
from synth.environments.contract import ToolCall
from synth.environments.pages import SEARCH_TOOLS
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.schemas.adp import ADP_VERSION, ApiAction, TextObservation, Trajectory
from synth.schemas.steps import ContinuationRow
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents, small_tasks
from synth.testing.environments import EnvironmentContract

CONFIG = CriticalConfig()
ENVIRONMENT = PlantedEnvironment()
TASK = planted_task(3)
POLICY = PlantedPolicy(TASK, 0.5, 0.5)


def opened(row: TrajectoryRow, config: CriticalConfig = CONFIG) -> Branching:
    branching = Branching.open(row, TASK, ENVIRONMENT, config)
    assert isinstance(branching, Branching)
    return branching


def go(way: int) -> Turn:
    return Turn(calls=(ToolCall(id="x", name="go", arguments={"way": way}),))


class TestThePlantedEnvironment(EnvironmentContract):
    def environment(self) -> PlantedEnvironment:
        return PlantedEnvironment()

    def tasks(self) -> list[Task]:
        return [planted_task(number) for number in range(3)]


class TestReplay:
    def test_every_step_can_be_branched_from(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        assert branching.refused is None
        assert branching.steps == row.turns
        assert branching.history == history_of(row)[1]
        point = branching.point(2)
        assert (point.step, point.history, point.recorded) == (2, branching.history[:2], branching.history[2].turn)

    def test_another_observation_refuses_its_step_and_what_follows(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        seen = [at for at, item in enumerate(row.content) if isinstance(item, TextObservation)]
        content = list(row.content)
        content[seen[3]] = content[seen[3]].model_copy(update={"content": "Step 3: you flew on."})
        branching = opened(row.model_copy(update={"content": tuple(content)}))
        assert branching.refused is not None
        assert (branching.refused.reason, branching.refused.step) == (Refusal.OTHER_OBSERVATION, 2)
        assert "'went on" in branching.refused.detail
        assert branching.steps == 2
        branching.run(POLICY, BranchPoint(1, "alternative", 0), go(1), 0, generators())
        for step in (2, 3):
            with pytest.raises(ValueError, match="no continuation"):
                branching.run(POLICY, BranchPoint(step, "alternative", 0), go(1), 0, generators())

    def test_an_error_where_none_was_recorded_is_another_observation(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        call_id = history_of(row)[1][1].results[0].call_id
        branching = opened(row.model_copy(update={"details": {"tool_errors": {call_id: "refused"}}}))
        assert branching.refused is not None
        assert branching.refused.step == 1
        assert "no error where refused was recorded" in branching.refused.detail

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"task_id": "planted-000004"}, Refusal.OTHER_TASK),
            ({"environment": "search"}, Refusal.OTHER_ENVIRONMENT),
            ({"environment_version": "0"}, Refusal.OTHER_ENVIRONMENT),
            ({"tool_schemas": ()}, Refusal.OTHER_PROMPT),
            ({"content": ()}, Refusal.MALFORMED),
            ({"tool_schemas": ({"type": "function"},)}, Refusal.MALFORMED),
            ({"details": {"tool_errors": {"call_0_0": "exploded"}}}, Refusal.MALFORMED),
            ({"details": {"tool_errors": "none"}}, Refusal.MALFORMED),
        ],
    )
    def test_other_runs_are_refused_with_a_reason(self, change: dict[str, object], reason: Refusal) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        refused = Branching.open(row.model_copy(update=change), TASK, ENVIRONMENT, CONFIG)
        assert isinstance(refused, Refused)
        assert (refused.reason, refused.step) == (reason, 0)
        assert refused.detail

    def test_another_question_is_another_prompt(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        content = (row.content[0].model_copy(update={"content": "Where to?"}), *row.content[1:])
        refused = Branching.open(row.model_copy(update={"content": content}), TASK, ENVIRONMENT, CONFIG)
        assert isinstance(refused, Refused)
        assert (refused.reason, "question" in refused.detail) == (Refusal.OTHER_PROMPT, True)

    @pytest.mark.parametrize("cut", ["observation", "nothing done"])
    def test_records_of_another_form_are_refused(self, cut: str) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        content = {
            "observation": (*row.content[:2], *row.content[3:]),
            "nothing done": row.content[:1],
        }[cut]
        refused = Branching.open(row.model_copy(update={"content": content}), TASK, ENVIRONMENT, CONFIG)
        assert isinstance(refused, Refused)
        assert refused.reason is Refusal.MALFORMED


class TestContinuations:
    def test_a_continuation_puts_the_turn_there_and_lets_the_policy_go_on(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        done = branching.run(POLICY, BranchPoint(2, "alternative", 1), go(7), 0, generators())
        first = done.content[0]
        assert isinstance(first, ApiAction)
        assert (first.kwargs, first.tool_call_id) == ({"way": 7}, "call_2_0")
        assert done.content[1].content == "Step 3: you went on by way 7."  # type: ignore[union-attr]
        assert done.turns == row.turns - 2
        assert done.action_kind == "go"
        assert done.stop_reason is StopReason.ANSWERED

    def test_the_order_of_continuations_changes_nothing(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        places = [(BranchPoint(step, "original"), opened(row).history[step].turn) for step in range(row.turns)]
        places += [(BranchPoint(step, "alternative", 0), go(9)) for step in range(row.turns)]

        def run(branching: Branching, order: list[int]) -> dict[int, object]:
            return {at: branching.run(POLICY, *places[at], 1, generators()) for at in order}

        straight = run(opened(row), list(range(len(places))))
        back = run(opened(row), list(reversed(range(len(places)))))
        alone = {at: run(opened(row), [at])[at] for at in range(len(places))}
        assert straight == back == alone

    def test_the_original_side_begins_as_recorded(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        for step, recorded in enumerate(branching.history):
            done = branching.run(POLICY, BranchPoint(step, "original"), recorded.turn, 0, generators())
            items = tuple(step_items(recorded))
            assert done.content[: len(items)] == items

    def test_samples_are_fresh(self) -> None:
        """No two draws share names: not two samples, not two sides, not a continuation and the rollout."""
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        names: list[tuple[object, ...]] = []

        def listening(*of: str | int) -> np.random.Generator:
            names.append(of)
            return generators()(*of)

        for sample in range(3):
            branching.run(POLICY, BranchPoint(1, "original"), branching.history[1].turn, sample, listening)
            branching.run(POLICY, BranchPoint(1, "alternative", 0), go(1), sample, listening)
            branching.run(POLICY, BranchPoint(1, "alternative", 1), go(2), sample, listening)
            branching.run(POLICY, BranchPoint(-1, "original"), None, sample, listening)
        assert len(set(names)) == len(names)
        assert all(name[:2] == ("branch", row.id) for name in names)
        kinds = {
            branching.run(POLICY, BranchPoint(1, "alternative", 0), go(1), j, generators()).success for j in range(20)
        }
        assert kinds == {True, False}

    def test_the_question_alone_is_a_place_too(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        done = opened(row).run(POLICY, BranchPoint(-1, "original"), None, 0, generators())
        assert (done.step, done.turns) == (-1, TASK.details["steps"] + 1)

    def test_a_turn_that_answers_ends_at_once(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        right = branching.run(POLICY, BranchPoint(1, "alternative", 0), Turn(answer="treasure"), 0, generators())
        assert (right.success, right.turns, right.action_kind) == (True, 1, "answer")
        none = branching.run(POLICY, BranchPoint(1, "alternative", 1), Turn(said="no idea"), 0, generators())
        assert (none.success, none.stop_reason, none.action_kind) == (False, StopReason.GAVE_UP, "give_up")

    def test_limits_count_from_the_branch_and_over_the_whole_history(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        for config, turns in ((CriticalConfig(max_more=1), 2), (CriticalConfig(max_turns=3), 2)):
            done = opened(row, config).run(POLICY, BranchPoint(1, "alternative", 0), go(1), 0, generators())
            assert (done.turns, done.stop_reason, done.success) == (turns, StopReason.MAX_TURNS, False)

    def test_too_many_invalid_calls_stop_it_as_they_stop_a_rollout(self) -> None:
        class Wrong:
            privileged = False

            def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
                return Decision(Turn(calls=(ToolCall(id="x", name="fly", arguments={}),)))

        row = failed_run(ENVIRONMENT, TASK, POLICY)
        done = opened(row).run(Wrong(), BranchPoint(1, "alternative", 0), go(1), 0, generators())
        assert (done.stop_reason, done.turns) == (StopReason.INVALID_CALLS, 4)

    def test_rows_are_valid_adp_beside_their_prefix(self) -> None:
        row = failed_run(ENVIRONMENT, TASK, POLICY)
        branching = opened(row)
        for step in range(row.turns):
            for config in (CONFIG, CriticalConfig(max_more=1)):
                done = opened(row, config).run(POLICY, BranchPoint(step, "alternative", 0), go(5), 2, generators())
                made = continuation_row(done, row, row.provenance)
                assert ContinuationRow.model_validate(made.model_dump()) == made
                prefix = [row.content[0], *(item for s in branching.history[:step] for item in step_items(s))]
                Trajectory(schema_version=ADP_VERSION, id="x", content=(*prefix, *made.content))
        assert continuation_row(done, row, row.provenance).id == made.id


class Script:
    """Plays given turns."""

    privileged = False

    def __init__(self, *turns: Turn) -> None:
        self.turns = turns

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        return Decision(self.turns[len(history)])


def call(name: str, **arguments: object) -> ToolCall:
    return ToolCall(id="same", name=name, arguments=arguments)


def test_the_search_environment_can_be_branched_from() -> None:
    """What ``find`` shows depends on the page that is open: the state before each step must be exact."""
    documents = small_documents()
    environment = SearchEnvironment(WordIndex(documents), ListTable(documents), page_size=150)
    task = small_tasks()[0]
    script = Script(
        Turn(calls=(call("find", pattern="river"),)),
        Turn(thought="Both.", calls=(call("open", document="orl"), call("find", pattern="river"))),
        Turn(calls=(call("open", document="no such page"),)),
        Turn(said="Again.", calls=(call("find", pattern="Orl"),)),
        Turn(answer="Nowhere"),
    )
    done = rollout(
        script,
        environment,
        task,
        system="s",
        limits=Limits(),
        generator_for_turn=lambda turn: derive_generator(1, turn),
    )
    row = to_row(done, environment, role="policy", number=0, privileged=False, provenance=PROVENANCE)
    branching = Branching.open(row, task, environment, CONFIG)
    assert isinstance(branching, Branching)
    assert branching.refused is None
    for step in reversed(range(5)):
        again = branching.run(script, BranchPoint(step, "original"), script.turns[step], 0, generators())
        assert again.content == tuple(item for s in branching.history[step:] for item in step_items(s))
        assert again.verdict == row.verdict
    # An alternative at step 1 leaves no page open, so what step 3 finds is refused.
    other = branching.run(
        script, BranchPoint(1, "alternative", 0), Turn(calls=(call("search", query="Orl"),)), 0, generators()
    )
    seen = [item for item in other.content if isinstance(item, TextObservation)]
    assert "No document is open" in seen[2].content


def test_actions_are_equal_when_they_do_the_same() -> None:
    open_ = next(tool for tool in SEARCH_TOOLS if tool.name == "open")
    key = partial(action_key, tools=(open_,))
    first, in_full, other = (
        Turn(calls=(call("open", document="d", **more),)) for more in ({}, {"page": 1}, {"page": 2})
    )
    assert key(first) == key(in_full) != key(other)
    assert action_key(first, ()) != action_key(in_full, ())
    assert key(go(1)) == key(go(1).model_copy(update={"thought": "hm", "said": "I go."}))
    assert key(go(1)) != key(go(2))
    assert key(Turn(answer="a  b")) == key(Turn(answer="a b")) != key(Turn(answer="b a"))
    assert key(Turn()) == key(Turn(said="no"))
    two = Turn(calls=(*go(1).calls, *go(2).calls))
    assert key(two) != key(Turn(calls=two.calls[::-1]))
    assert (action_kind(two), action_kind(Turn()), action_kind(Turn(answer=""))) == ("go+go", "give_up", "answer")
