"""The embedded expert: other actions, all of them visible, each grounded."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from pydantic import ValidationError
from small_runs import play

from synth.agents.contract import Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.said import found_in
from synth.agents.loop import Limits, prompt_for
from synth.agents.scripted.config import PolicyConfig
from synth.agents.scripted.phrases import read_notes
from synth.agents.scripted.players import ScriptedPolicy
from synth.annotate.critical.actions import action_key
from synth.annotate.critical.contract import Point
from synth.annotate.critical.scoring import EvidenceScorer
from synth.annotate.critical.scripted_expert import ExpertConfig, scripted_expert
from synth.environments.rendering import plain
from synth.environments.search import SearchEnvironment
from synth.identity import derive_generator
from synth.schemas.tasks import Task
from synth.testing.corpus import ListTable, WordIndex, small_documents, small_tasks

DOCUMENTS = small_documents()
ENVIRONMENT = SearchEnvironment(WordIndex(DOCUMENTS), ListTable(DOCUMENTS))
TASKS = small_tasks()
EXPERT = scripted_expert()
SYSTEM = "You answer questions from a collection of pages."


def points_of(task: Task, number: int) -> Iterator[Point]:
    """Every step of a weak policy's run, where that failed."""
    policy = ScriptedPolicy(task, PolicyConfig(skill=0.1, bad_argument=0.1))
    done = play(policy, ENVIRONMENT, task, number, seed=5, system=SYSTEM, limits=Limits(max_turns=10))
    if not done.verdict.correct:
        for at, step in enumerate(done.history):
            yield Point(task, ENVIRONMENT, done.prompt, done.history[:at], step.turn)


@cache
def points() -> list[Point]:
    return [point for task in TASKS for number in range(6) for point in points_of(task, number)]


def propose(point: Point, n: int = 3, *names: str | int) -> tuple[Turn, ...]:
    return EXPERT.propose(point, n, derive_generator(9, point.task.id, point.step, *names))


def test_there_is_something_to_propose_from() -> None:
    assert len(points()) > 40
    assert sum(bool(propose(point)) for point in points()) >= 0.9 * len(points())


def test_proposals_are_other_actions_and_grounded() -> None:
    for point in points():
        turns = propose(point, 4)
        assert len(turns) <= 4
        keys = [action_key(turn, point.prompt.tools) for turn in turns]
        assert action_key(point.recorded, point.prompt.tools) not in keys
        assert len(set(keys)) == len(keys)
        for turn in turns:
            assert turn.thought
            assert (turn.answer is None) == bool(turn.calls), "an expert does not give up"
            assert not ungrounded(point.prompt, (*point.history, Step(turn=turn)), start=point.step)


def test_proposals_can_be_carried_out() -> None:
    for point in points()[::3]:
        episode = ENVIRONMENT.reset(point.task)
        for step in point.history:
            for call in step.turn.calls:
                episode.step(call)
        before = episode.snapshot()
        for turn in propose(point):
            episode.restore(before)
            assert [episode.step(call).error for call in turn.calls] == [None] * len(turn.calls)


def test_equal_generators_give_equal_proposals() -> None:
    for point in points()[::7]:
        assert propose(point, 3, "a") == propose(point, 3, "a")
        assert propose(point, 1) == propose(point, 3)[:1], "fewer are the first of more"


def test_where_a_policy_goes_wrong_something_better_is_mostly_proposed() -> None:
    scorer = EvidenceScorer()
    wrong = better = 0
    for point in points():
        recorded, *others = scorer.score(point, [point.recorded, *propose(point)])
        if recorded.value is not None and recorded.value < 0.5:
            wrong += 1
            better += any(score.value is not None and score.value > 0.6 for score in others)
    assert wrong > 15
    assert better >= 0.8 * wrong


def test_it_tells_nothing_that_was_not_seen() -> None:
    """Before anything was observed, no page and no answer can be named, though the expert knows both."""
    for task in TASKS:
        prompt = prompt_for(ENVIRONMENT, task, SYSTEM)
        point = Point(task, ENVIRONMENT, prompt, (), Turn())
        for turn in propose(point, 8):
            assert turn.answer is None
            assert all(call.name == "search" for call in turn.calls)


def test_what_was_settled_wrongly_is_taken_back() -> None:
    """The policy took the wrong link; the expert quotes what speaks against it, and goes for the right one."""
    taken_back = [
        turn
        for point in points()
        for turn in propose(point, 4)
        for intent, _ in read_notes(turn.thought or "", [plain(r.content) for s in point.history for r in s.results])
        if intent == "dismiss"
    ]
    assert taken_back
    assert all(turn.calls or turn.answer for turn in taken_back)
    assert any(any(found_in("dismiss_why_says", turn.thought or "")) for turn in taken_back)


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValidationError):
        scripted_expert(try_often=True)
    with pytest.raises(ValidationError):
        ExpertConfig(tries=0)


def test_an_expert_of_some_skill_proposes_the_same_whatever_the_walk_is() -> None:
    """It reads the question; the gold walk is not looked at."""
    expert = scripted_expert(skill=0.7)
    proposed = other = 0
    for point in points()[::3]:
        elsewhere = next(task for task in TASKS if task.id != point.task.id)
        blind = point.task.model_copy(update={"answer": elsewhere.answer, "aliases": ()})
        unknown = Point(blind, ENVIRONMENT, point.prompt, point.history, point.recorded)
        generator = ("expert", point.step)
        turns = expert.propose(point, 4, derive_generator(9, *generator))
        assert turns == expert.propose(unknown, 4, derive_generator(9, *generator))
        assert action_key(point.recorded, point.prompt.tools) not in {
            action_key(turn, point.prompt.tools) for turn in turns
        }
        for turn in turns:
            assert not ungrounded(point.prompt, (*point.history, Step(turn=turn)), start=point.step)
        knowing = {
            action_key(turn, point.prompt.tools) for turn in EXPERT.propose(point, 4, derive_generator(9, *generator))
        }
        proposed += len(turns)
        other += sum(action_key(turn, point.prompt.tools) not in knowing for turn in turns)
    assert proposed > 10
    assert 0 < other < proposed, "it errs, and not always"
