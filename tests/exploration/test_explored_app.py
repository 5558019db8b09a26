"""Tasks of the shipped applications: each is proved again here, by other means than those that made it."""

from __future__ import annotations

import re
from itertools import permutations

import pytest
from explored_apps import APPLICATIONS, environment, exploration, outcomes, plan_of, played, tasks, tool_calls

from synth.agents.checklists import checklist_results
from synth.agents.credit import credit_of, weights_of
from synth.environments.app.state import Goal
from synth.environments.contract import ToolCall
from synth.episodes.sessions import Sessions
from synth.exploration.app.requests import AppRequests
from synth.exploration.app.solution import same_request
from synth.exploration.app.users import PERSONAS, is_told_first
from synth.exploration.app.walking import violations
from synth.schemas.tasks import Task

SEED = 11
COUNT = 24


@pytest.mark.parametrize("application", APPLICATIONS)
def test_solutions_come_to_the_goal_and_satisfy_the_verdict_and_the_checklist(application: str) -> None:
    found = tasks(application, COUNT, SEED)
    assert len(found) > 0.8 * COUNT
    for task in found:
        plan = plan_of(task)
        asked = [
            ToolCall(id="u", name="ask_user", arguments={"question": f"Please tell me: {fact.keywords[0]}?"})
            for fact in plan.user
        ]
        tried = tool_calls(plan.attempts)
        episode, done = played(task, [*tried, *tool_calls(plan.calls), *asked])
        errors = [result.error for _, result in done]
        assert errors == ["refused"] * len(tried) + [None] * (len(done) - len(tried)), task.question
        verdict = episode.check(task.answer)
        assert verdict.correct, (task.question, verdict.evidence)
        assert all(checklist_results(plan.checklist, done, episode.difference(), task.answer)), task.question
        taken = [given.call for call in plan.calls for given in call.given.values() if given.source == "observation"]
        made = [plan.calls[number] for number in taken if number is not None and plan.calls[number].changes]
        assert made == [], ("nobody speaks of what the same message asks for", task.question)
        episode.close()


def test_a_mind_is_changed_in_some_requests_and_no_call_of_the_plan_knows_it_before_it_is_told() -> None:
    found = [(task, plan_of(task)) for application in APPLICATIONS for task in tasks(application, COUNT, SEED)]
    assert sum(bool(plan.user) for _, plan in found) >= len(found) / 4
    assert {task.details["persona"] for task, _ in found} == set(PERSONAS)
    changed = [(task, plan) for task, plan in found if any(fact.changes for fact in plan.user)]
    assert len(changed) >= 3
    for task, plan in changed:
        last = [call for call in plan.calls if call.changes][-1]
        others = {str(value) for call in plan.calls if call is not last for value in call.arguments.values()}
        new = {path: value for path, value in last.arguments.items() if str(value) not in others}
        assert is_told_first(plan.calls, new), task.question
        untold = [call.model_copy(update={"given": {}}) for call in plan.calls]
        assert is_told_first(untold, new) == (not new)


def test_a_changed_mind_changes_one_value_and_says_by_name_what_it_is_about() -> None:
    changed = 0
    for application in APPLICATIONS:
        for task in tasks(application, 2 * COUNT, SEED):
            plan = plan_of(task)
            says = next((fact.says for fact in plan.user if fact.changes), None)
            if says is None:
                continue
            changed += 1
            assert (
                re.search(r"\b(that|the same) (booking|reservation|trip|payment|transaction|entry|goal)", says) is None
            ), says
            last = [call for call in plan.calls if call.changes][-1]
            assert sum(given.source == "user" for given in last.given.values()) <= 1, (task.question, says)
    assert changed > 5


@pytest.mark.parametrize("application", APPLICATIONS)
def test_no_step_can_be_left_out(application: str) -> None:
    for task in tasks(application, COUNT, SEED):
        plan = plan_of(task)
        for left, call in enumerate(plan.calls):
            if call.changes:
                episode, _ = played(task, [one for at, one in enumerate(tool_calls(plan.calls)) if at != left])
                assert not episode.check(task.answer).correct, (task.question, call.tool)
                episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_changes_in_another_order_are_stopped_or_come_to_the_same_end(application: str) -> None:
    found = [(task, [call for call in plan_of(task).calls if call.changes]) for task in tasks(application, COUNT, SEED)]
    assert any(len(changes) > 1 for _, changes in found)
    for task, changes in found:
        for order in permutations(tool_calls(changes)):
            episode, done = played(task, order)
            clean = all(result.error is None for _, result in done) and not violations(episode)
            assert not clean or episode.check(task.answer).correct, (task.question, order)
            episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_is_changed_can_be_named_so_that_nothing_else_is_meant(application: str) -> None:
    """Counted anew, in the state in which each call is made."""
    app, counted = AppRequests(environment(application)), 0
    for task in tasks(application, COUNT, SEED):
        plan, asks, known = plan_of(task), iter(task.details["asks"]), set()
        episode, _ = played(task, ())
        speakers = {one["speaker"] for one in app.speakers(episode)}
        given = [value for call in plan.calls for value in call.arguments.values() if isinstance(value, str)]
        speaker = next((value for value in given if value in speakers), None)
        for call in plan.calls:
            name = str(next(asks)) if call.changes else None
            for argument, table in app.keys(name).items() if name is not None else ():
                value = call.arguments.get(argument)
                forms = app.forms(None, argument, app.definition.tools[call.tool].arguments[argument])
                if value in (None, speaker) or (table, value) in known or not forms:
                    continue
                told = [app.referred(episode, form, value, {**call.arguments, "speaker": speaker}) for form in forms]
                assert any(words and count == 1 for words, count in told) or argument in app.requests.asks[name].refers
                known.add((table, value))
            episode.step(tool_calls((call,))[0])
        counted += len(known)
        episode.close()
    assert counted > COUNT / 2


@pytest.mark.parametrize("application", APPLICATIONS)
def test_what_is_declined_is_stopped_or_spoils_the_state(application: str) -> None:
    declined = [task for task in tasks(application, COUNT, SEED) if "forbidden" in task.details]
    assert declined
    for task in declined:
        forbidden = task.details["forbidden"]
        episode, done = played(task, [ToolCall(id="f", name=forbidden["tool"], arguments=forbidden["arguments"])])
        if done[0][1].error is None:
            assert episode.check(task.answer).rule == "policy"
        else:
            assert episode.refused_by == forbidden["rule"]
        episode.close()


@pytest.mark.parametrize("application", APPLICATIONS)
def test_requests_name_no_key_and_differ(application: str) -> None:
    definition = environment(application).definition
    found = tasks(application, COUNT, SEED)
    for task in found:
        for call in plan_of(task).calls:
            arguments = definition.tools[call.tool].arguments
            for name, value in call.arguments.items():
                table = definition.table_of(name, arguments[name]) if name in arguments else None
                if table is not None and definition.tables[table].columns[definition.tables[table].key[0]].generated:
                    assert str(value) not in task.question, task.question
    assert len({same_request(task) for task in found}) > 0.9 * len(found)
    assert len({task.surface for task in found}) > 0.9 * len(found)


def test_a_candidate_depends_on_its_index_alone() -> None:
    known = outcomes("airline", COUNT, SEED)
    assert exploration("airline").propose([7, 3], SEED) == [known[7], known[3]]


def test_states_belong_to_one_split() -> None:
    hooks = exploration("airline").hooks
    owners: dict[int, set[str]] = {}
    for index in range(600):
        candidate = hooks.candidate(index, SEED)
        owners.setdefault(candidate.app_seed, set()).add(candidate.split)
    assert all(len(splits) == 1 for splits in owners.values())
    assert {split for splits in owners.values() for split in splits} == {"train", "validation", "test"}


def test_goal_of_a_task_that_changes_nothing_is_the_beginning() -> None:
    quiet = [task for task in tasks("airline", COUNT, SEED) if task.details["kind"] in ("answered", "refused")]
    assert quiet
    for task in quiet:
        assert Goal.model_validate(task.details["goal"]).changes == ()


class OneTask:
    """All that a server has to look up."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __len__(self) -> int:
        return 1

    def by_id(self, name: str) -> Task | None:
        return self._task if name == self._task.id else None

    def by_number(self, number: int) -> Task:
        return self._task


def test_a_served_episode_gives_credit_item_by_item() -> None:
    task = next(one for one in tasks("airline", COUNT, SEED) if sum(call.changes for call in plan_of(one).calls) > 1)
    sessions = Sessions(environment("airline"), OneTask(task))
    plan = plan_of(task)
    weights = weights_of([item.kind for item in plan.checklist])
    assert sum(weights) == pytest.approx(1.0)
    credits = []
    calls = [(call.name, call.arguments) for call in tool_calls([*plan.attempts, *plan.calls])]
    calls += [("ask_user", {"question": f"Please tell me: {fact.keywords[0]}?"}) for fact in plan.user]
    for made in (calls, calls[:-1] if not plan.user else [], []):
        session = sessions.begin(task)
        if made:
            sessions.step(session.key, made)
        scored, _ = sessions.score(session.key, task.answer)
        assert len(scored.checklist) == len(plan.checklist)
        credits.append(credit_of(weights, scored.checklist))
    whole, part, nothing = credits
    assert None not in credits
    assert whole == pytest.approx(1.0)
    assert (nothing or 0.0) <= (part or 0.0) < whole
