"""Scripted agents that walk a graph: they get there, say only what they saw, err in ways that are on record."""

from __future__ import annotations

from collections import Counter

import pytest
from graph_world import TaskWorld, graph_world

from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.computed import answer_is_computed
from synth.agents.loop import Rollout
from synth.agents.trajectory import history_of
from synth.annotate.labels.label import label
from synth.schemas.steps import Behaviour, LabelReason
from synth.schemas.tasks import Task


@pytest.fixture(scope="module")
def world() -> TaskWorld:
    return graph_world()


@pytest.fixture(scope="module")
def taught(world: TaskWorld) -> list[Rollout]:
    return [world.play(task, "teacher") for task in world.tasks]


@pytest.fixture(scope="module")
def tried(world: TaskWorld) -> list[Rollout]:
    return [world.play(task, "policy") for task in world.tasks]


def named(task: Task) -> bool:
    """Whether the question names something that is not a value: from a value alone no tool leads on."""
    return any(hop.source.document_id is not None for hop in task.walk.hops if not hop.needs)


def test_the_teacher_answers_every_question_that_names_an_entity(taught: list[Rollout]) -> None:
    assert len({done.task.shape for done in taught}) == 9
    wrong = [done.task.question for done in taught if named(done.task) and done.verdict.correct is not True]
    assert len(taught) > 100
    assert len(wrong) <= 6, wrong  # where many stand before the right one, it runs out of turns


def test_nothing_is_said_that_was_not_seen(taught: list[Rollout]) -> None:
    for done in taught:
        assert not ungrounded(done.prompt, done.history, computed=answer_is_computed(done.task)), done.task.id


def test_the_teacher_never_makes_a_call_that_is_refused(taught: list[Rollout]) -> None:
    assert not [result for done in taught for step in done.history for result in step.results if result.error]


def test_equal_names_give_equal_runs_and_others_give_others(world: TaskWorld, taught: list[Rollout]) -> None:
    again = [world.play(task, "teacher") for task in world.tasks[:12]]
    assert [done.history for done in again] == [done.history for done in taught[:12]]
    other = [world.play(task, "teacher", "other") for task in world.tasks[:12]]
    assert [done.history for done in other] != [done.history for done in again]


def test_thoughts_quote_facts_as_they_were_shown(taught: list[Rollout]) -> None:
    quotes = 0
    for done in taught:
        for number, step in enumerate(done.history):
            shown = "\n".join(r.content for before in done.history[:number] for r in before.results)
            for part in (step.turn.thought or "").split('"')[1::2]:
                if ": " in part and part not in done.task.question:
                    subject, _, rest = part.partition(", ")
                    assert f"[{subject}](" in shown, part
                    assert f"), {rest.partition(': ')[0]}: " in shown, part
                    quotes += 1
    assert quotes > 200


def test_wrong_turns_of_the_teacher_are_noticed_corrected_and_labelled(world: TaskWorld) -> None:
    found: Counter[str] = Counter()
    recovered = said = 0
    for task in world.tasks[:60]:
        done = world.play(task, "teacher", habit=0.5)
        if done.verdict.correct is not True:
            continue
        labels = label(world.row(done, "teacher"), task)
        reasons = [one.label_reason for one in labels]
        wrong = [n for n, reason in enumerate(reasons) if reason is LabelReason.WRONG_TURN]
        corrected = [n for n, one in enumerate(labels) if Behaviour.RECOVERY in one.behaviours]
        found.update(labels[n].label_detail.split(" was listed")[0][:0] + "wrong" for n in wrong)
        if wrong and corrected and min(wrong) < max(corrected):
            recovered += 1
            # What is corrected is not what is trained on.
            assert not any(labels[n].train for n in wrong)
            assert any(labels[n].train for n in corrected)
            # Whoever goes back from a wrong relation says from what it saw that it was wrong; from a page that was
            # opened for its name, it just goes on.
            for n in (n for n in corrected if (n - 1) in wrong and "; reads " in labels[n - 1].label_detail):
                thought = done.history[n].turn.thought or ""
                assert any(sign in thought for sign in ('"', "wrong", " not ", "else", "another")), thought
                said += 1
    assert found["wrong"] >= 12
    assert recovered >= 10
    assert said >= 10


def test_a_teacher_without_detours_takes_no_wrong_turn(world: TaskWorld) -> None:
    for task in world.tasks[:60]:
        done = world.play(task, "teacher", detour=0.0, rivals=0)
        if done.verdict.correct is True:
            reasons = {one.label_reason for one in label(world.row(done, "teacher"), task)}
            assert not reasons & {LabelReason.WRONG_TURN, LabelReason.INVALID_CALL, LabelReason.PREMATURE}, task.id


def test_a_habit_is_the_same_mistake_again_and_its_runs_succeed(world: TaskWorld) -> None:
    """Nothing is drawn for it: of two samples of a task both err or neither does, but for other ways to one end."""
    alike = erred = 0
    for task in world.tasks[:40]:
        wrong: list[int] = []
        for sample in range(2):
            done = world.play(task, "teacher", sample, habit=0.3, detour=0.0, rivals=0, verify=0.0)
            if done.verdict.correct is True:
                labels = label(world.row(done, "teacher"), task)
                turns = [n for n, one in enumerate(labels) if one.label_reason is LabelReason.WRONG_TURN]
                assert not any(labels[n].train for n in turns), "the labels say what success does not"
                wrong.append(len(turns))
        alike += len(set(wrong)) == 1
        erred += sum(wrong) > 0
    assert 4 <= erred <= 30
    assert alike >= 34


def test_the_policy_fails_often_enough_in_many_ways_and_each_is_on_record(tried: list[Rollout]) -> None:
    share = sum(done.verdict.correct is True for done in tried) / len(tried)
    assert 0.3 < share < 0.8
    modes = Counter(error.mode for done in tried for error in done.injected)
    assert {"wrong_relation", "lookalike", "bad_argument", "short_list", "any_of_several"} <= modes.keys()
    # A run without any logged error may fail by misreading words alone; most failures have a cause on record.
    failed = [done for done in tried if done.verdict.correct is not True and named(done.task)]
    assert sum(bool(done.injected) for done in failed) > 0.6 * len(failed)


def test_more_skill_means_more_success(world: TaskWorld) -> None:
    def wins(skill: float) -> int:
        runs = [world.play(task, "policy", skill=skill) for task in world.tasks[:60]]
        return sum(done.verdict.correct is True for done in runs)

    assert wins(0.1) + 8 < wins(0.5) < wins(0.95) - 5


def test_rows_give_back_the_history(world: TaskWorld, tried: list[Rollout]) -> None:
    for done in tried[:30]:
        prompt, history = history_of(world.row(done, "policy"))
        assert (prompt, history) == (done.prompt, done.history)


def test_refused_calls_are_mended(tried: list[Rollout]) -> None:
    mended = 0
    for done in tried:
        for before, after in zip(done.history, done.history[1:], strict=False):
            if before.results and all(result.error for result in before.results) and after.results:
                mended += not any(result.error for result in after.results)
    assert mended >= 5
