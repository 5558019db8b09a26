"""Compressing and delegating: the row holds all of it, what the agent saw can be told, and branching stays exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from synth.agents.actions import COMPRESS, DELEGATE, view_of
from synth.agents.contract import Decision, History, Prompt, Turn, TurnRejected
from synth.agents.grounding.check import ungrounded
from synth.agents.helpers import helper_runs
from synth.agents.loop import Limits, Rollout, rollout
from synth.agents.management import Acting, Management, managed
from synth.agents.summaries import seen_history
from synth.agents.trajectory import facts_of, history_of, to_row
from synth.annotate.critical.branching import Branching, BranchPoint, Refused
from synth.annotate.critical.config import CriticalConfig
from synth.annotate.critical.contract import Point
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.labels.label import label
from synth.environments.contract import Environment, ToolCall, ToolSchema
from synth.environments.search import SearchEnvironment
from synth.errors import InputError
from synth.identity import derive_generator, key_of
from synth.schemas.adp import problems
from synth.schemas.arrow import trajectory_of
from synth.schemas.delegations import delegations_of
from synth.schemas.model_turns import ModelTurn
from synth.schemas.rejections import Reason
from synth.schemas.tasks import Task
from synth.schemas.trajectories import StopReason, TrajectoryRow
from synth.testing.corpus import PROVENANCE, ListTable, WordIndex, small_documents, small_tasks
from synth.testing.environments import EnvironmentContract

TASK = small_tasks()[0]


def place() -> SearchEnvironment:
    documents = small_documents()
    return SearchEnvironment(WordIndex(documents), ListTable(documents))


class TestManagedSearch(EnvironmentContract):
    """Whatever holds for an environment holds for it with further actions."""

    def environment(self) -> Environment:
        return managed(place(), Management())

    def tasks(self) -> Sequence[Task]:
        return small_tasks()

    def examples(self) -> dict[str, Sequence[Any]]:
        return {"query": ["Arvel Torrin"], "document": ["orl"], "notes": ["I read orl."], "question": ["What is Orl?"]}


def call(name: str, **arguments: Any) -> Turn:
    return Turn(thought="I go on.", calls=(ToolCall(id="x", name=name, arguments=arguments),))


class Listed:
    """Takes the turns of a list by how far the whole run is; a helper opens a page and answers with what it drew.

    The number of turns so far is counted by the policy itself, as a view may be shorter than the history."""

    privileged = False

    def __init__(self, *turns: Turn, helper_fails: bool = False) -> None:
        self.turns = turns
        self.views: list[History] = []
        self.drawn: list[str] = []
        self._helper_fails = helper_fails

    def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
        source = ModelTurn(call=key_of(generator), finish="stop", prompt_tokens=10, completion_tokens=7)
        if prompt.question == TASK.question:
            number = len(self.views)
            self.views.append(history)
            return Decision(self.turns[number], source=source)
        if self._helper_fails:
            raise TurnRejected(Reason.REFUSAL, "it would not")
        assert [tool.name for tool in prompt.tools] == ["search", "open", "find"]
        if not history:
            return Decision(call("open", document="orl"), source=source)
        self.drawn.append(key_of(generator))
        return Decision(Turn(answer=f"240 km, says {key_of(generator)[:6]}"), source=source)


LONG_WAY = (
    call("search", query="Orl"),
    call("open", document="mosk"),
    call("compress", notes="[Orl](orl) is a river; Mosk is a village."),
    call("delegate", question="How long is the Orl?"),
    call("open", document="orl"),
    Turn(answer="Velden"),
)


def run(policy: Listed, config: Management | None = None, **limits: Any) -> tuple[Rollout, TrajectoryRow]:
    at = Acting(place(), policy, config or Management())
    done = rollout(
        at.policy,
        at.environment,
        TASK,
        system="s",
        limits=Limits(**limits),
        generator_for_turn=lambda turn: derive_generator(0, "test", turn),
    )
    row = to_row(done, at.environment, role="policy", number=0, privileged=False, provenance=PROVENANCE, model="toy")
    return done, TrajectoryRow.model_validate_json(row.model_dump_json())


def test_the_row_holds_all_and_what_the_agent_saw_can_be_told() -> None:
    policy = Listed(*LONG_WAY)
    done, row = run(policy)
    prompt, history = history_of(row)
    assert (prompt, history) == (done.prompt, done.history)
    assert [len(view) for view in policy.views] == [0, 1, 2, 1, 2, 3]
    assert [seen_history(row, step) for step in range(6)] == policy.views
    assert policy.views[3][0].turn.calls[0].arguments["notes"].startswith("[Orl](orl)")
    assert history[1].results[0].content not in str(policy.views[3:])
    assert len(history) == row.turns == 6
    assert row.available_custom_tools == ("search", "open", "find", "compress", "delegate")
    assert view_of(history[:2]) == history[:2]


def test_a_helper_is_a_run_of_its_own_that_counts_to_the_parent() -> None:
    policy = Listed(*LONG_WAY)
    _, row = run(policy)
    (one,) = delegations_of(facts_of(row)).values()
    assert (one.call_id, one.question, one.turns) == ("call_3_0", "How long is the Orl?", 2)
    assert one.pages == ("[Orl](orl)",)
    assert one.completion_tokens == 14
    assert [source.call for source in one.model_turns][1] == policy.drawn[0]
    told = history_of(row)[1][3].results[0]
    assert told.content == f"The helper answers: {one.answer}\nIt read [Orl](orl)."
    ((prompt, helped),) = helper_runs(row)
    assert prompt.question == one.question
    assert "The Orl is a river" in helped[0].results[0].content
    assert helped[-1].turn.answer == one.answer
    # 4 turns of the parent and 2 of the helper have used 42 tokens: the fifth turn is not asked for.
    stopped, _ = run(Listed(*LONG_WAY), tokens=42)
    assert stopped.rejected is not None
    assert stopped.rejected.reason is Reason.TOKEN_LIMIT
    assert len(stopped.history) == 4


def branching(row: TrajectoryRow, policy: Listed) -> tuple[Branching, Acting]:
    at = Acting(place(), policy, Management())
    opened = Branching.open(row, TASK, at.environment, CriticalConfig())
    assert not isinstance(opened, Refused)
    return opened, at


def test_branching_is_exact_and_asks_no_helper_again() -> None:
    _, row = run(Listed(*LONG_WAY))
    policy = Listed(*LONG_WAY[4:], *LONG_WAY[4:])
    opened, at = branching(row, policy)
    assert (opened.refused, opened.steps) == (None, 6)
    assert policy.drawn == [], "what was recorded is repeated"
    turn = history_of(row)[1][3].turn
    made = [
        opened.run(at.policy, BranchPoint(3, "original"), turn, sample, lambda *names: derive_generator(1, *names))
        for sample in (0, 1)
    ]
    assert [len(view) for view in policy.views] == [2, 3, 2, 3], "a continuation sees what was compressed before it"
    assert len(set(policy.drawn)) == 2, "a helper is asked anew in every continuation: its luck is the policy's"
    assert made[0].content[1] != made[1].content[1]
    assert made[0].stop_reason is StopReason.ANSWERED
    again, at = branching(row, Listed(*LONG_WAY[4:]))
    same = again.run(at.policy, BranchPoint(3, "original"), turn, 1, lambda *names: derive_generator(1, *names))
    assert same == made[1], "whatever ran before it"


def test_snapshots_hold_the_view_and_what_helpers_brought() -> None:
    _, row = run(Listed(*LONG_WAY))
    opened, _ = branching(row, Listed())
    states = [state.state for state in opened._states]
    assert len(set(states[:-1])) == len(states) - 1, "the answer alone changes nothing"
    assert ["Mosk is a village" in state for state in states] == [False] * 3 + [True] * 4
    assert ["240 km" in state for state in states] == [False] * 4 + [True] * 3
    plain = place().reset(TASK).snapshot()
    with pytest.raises(ValueError, match="actions of their own"):
        opened.environment.reset(TASK).restore(plain)


def test_whoever_only_replays_has_no_helper() -> None:
    _, row = run(Listed(*LONG_WAY))
    opened, _ = branching(row, Listed())
    point: Point = opened.point(3)
    recorded, other = EvidenceScorer().score(point, [point.recorded, call("delegate", question="What is Mosk?")])
    assert recorded.value is not None
    assert other.value is None, "it can't tell, and does not guess"
    episode = managed(place(), Management()).resume(TASK, facts_of(row))
    broken = episode.step(ToolCall(id="call_9_0", name="delegate", arguments={"question": "What is Mosk?"}))
    assert broken.error == "failure"


def test_labels_take_the_actions_for_no_error() -> None:
    _, row = run(Listed(*LONG_WAY))
    labels = label(row, TASK)
    assert [one.label for one in labels[2:4]] == [0, 0]


def test_what_goes_wrong_is_told() -> None:
    turns = (
        call("compress", notes=" "),
        call("compress"),
        call("delegate", question="How long is the Orl?"),
        call("delegate", question="How long is the Orl, really?"),
        call("summon", spirit="Orl"),
        Turn(answer="Velden"),
    )
    policy = Listed(*turns)
    done, row = run(policy, Management(helpers=1), max_invalid=9)
    errors = [step.results[0].error for step in done.history[:-1]]
    assert errors == ["bad_arguments", "bad_arguments", None, "refused", "unknown_tool"]
    assert "compress, delegate" in done.history[4].results[0].content
    assert [len(view) for view in policy.views] == list(range(6)), "a refused compress changes no view"
    assert seen_history(row) == done.history
    failing, row = run(Listed(turns[2], turns[-1], helper_fails=True))
    assert failing.history[0].results[0].error == "failure"
    (one,) = delegations_of(facts_of(row)).values()
    assert (one.rejected, one.detail) == (Reason.REFUSAL, "it would not")


def test_what_a_helper_tells_its_tools_breaks_no_rule_of_the_protocol() -> None:
    turns = (call("delegate", question="How long is the Orl?"), Turn(answer="Velden"))

    class Odd(Listed):
        def act(self, prompt: Prompt, history: History, generator: np.random.Generator) -> Decision:
            decision = super().act(prompt, history, generator)
            if prompt.question != TASK.question and not history:
                return Decision(call("open", document="orl", rate="high", count="many"))
            return decision

    _, row = run(Odd(*turns))
    assert problems(trajectory_of(row).model_dump(mode="json", exclude_none=True)) == ()
    ((_, helped),) = helper_runs(row)
    assert helped[0].turn.calls[0].arguments["rate"] == "high"


def test_records_of_another_form_are_passed_over() -> None:
    for odd in ("x", [{"call_id": 3}], [{"content": "{"}], [None]):
        assert delegations_of({"delegated": odd}) == {}


def test_a_helper_has_few_turns() -> None:
    _, row = run(Listed(LONG_WAY[3], LONG_WAY[5]), Management(helper_turns=1))
    (one,) = delegations_of(facts_of(row)).values()
    assert (one.stop_reason, one.answer, one.turns) == (StopReason.MAX_TURNS, None, 1)
    assert history_of(row)[1][0].results[0].content == "The helper found no answer.\nIt read no page."


def test_what_a_helper_made_up_is_found() -> None:
    _, row = run(Listed(*LONG_WAY))
    ((prompt, helped),) = helper_runs(row)
    assert any(bad.place == "answer" for bad in ungrounded(prompt, helped, own_words=True)), "it names what it drew"


def test_an_environment_with_such_a_tool_is_refused_in_one_line() -> None:
    class Same(SearchEnvironment):
        def tools(self) -> tuple[ToolSchema, ...]:
            return (*super().tools(), COMPRESS)

    documents = small_documents()
    inner = Same(WordIndex(documents), ListTable(documents))
    with pytest.raises(InputError, match="a tool 'compress' of its own"):
        managed(inner, Management())
    assert managed(inner, Management(compress=False)).tools()[-1] == DELEGATE
    assert managed(inner, None) is inner
