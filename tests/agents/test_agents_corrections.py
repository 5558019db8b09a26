"""What is settled of sets can be put right: by a note of the agent's own, or by an expert that takes over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
from graph_world import TaskWorld, graph_world, set_world

from synth.agents.contract import History, Step, Turn
from synth.agents.loop import Rollout
from synth.agents.scripted.phrases import PHRASES, read_notes
from synth.agents.scripted.reading import read_task
from synth.agents.scripted.state import State, Value, key_of, state_of
from synth.annotate.critical.contract import Point
from synth.annotate.critical.scripted_expert import scripted_expert
from synth.annotate.evidence.assessment import missing_for_answer
from synth.annotate.evidence.view import EvidenceView
from synth.environments.rendering import plain
from synth.identity import derive_generator

EXPERT = scripted_expert(language="world")


@cache
def failed(which: str) -> tuple[Rollout, ...]:
    """Runs of a weak policy that ended with a wrong answer or none."""
    world = world_of(which)
    tasks = world.tasks if which == "pages" else world.tasks[:90]
    runs = (world.play(task, "policy", n, skill=0.55) for task in tasks for n in range(2))
    return tuple(run for run in runs if not run.verdict.correct and not run.history[-1].turn.calls)


def world_of(which: str) -> TaskWorld:
    return set_world() if which == "pages" else graph_world()


def last_point(run: Rollout, which: str) -> Point:
    return Point(run.task, world_of(which).environment, run.prompt, run.history[:-1], run.history[-1].turn)


def corrections(which: str) -> Iterator[tuple[Point, Turn]]:
    """What the expert proposes instead of the last turn."""
    for run in failed(which):
        point = last_point(run, which)
        for turn in EXPERT.propose(point, 3, derive_generator(3, run.task.id, len(run.history))):
            yield point, turn


def notes_of(point: Point, turn: Turn) -> list[tuple[str, str]]:
    seen = [point.prompt.question, *(plain(r.content) for step in point.history for r in step.results)]
    return read_notes(turn.thought or "", seen)


@pytest.mark.parametrize("which", ["pages", "graph"])
def test_who_read_all_of_it_and_concluded_wrongly_is_mostly_put_right_at_once(which: str) -> None:
    read = right = 0
    for run in failed(which):
        point = last_point(run, which)
        if not missing_for_answer(EvidenceView(run.task, point.history)):
            read += 1
            turns = EXPERT.propose(point, 3, derive_generator(3, run.task.id))
            episode = world_of(which).environment.reset(run.task)
            right += any(turn.answer is not None and episode.check(turn.answer).correct for turn in turns)
    assert read >= 4
    assert right >= 0.6 * read, (right, read)


def test_what_is_of_another_kind_is_struck_and_what_was_overlooked_is_noted() -> None:
    made = [(point, turn, notes_of(point, turn)) for point, turn in corrections("pages")]
    struck = [(point, turn, name) for point, turn, notes in made for intent, name in notes if intent == "strike"]
    assert struck
    for point, turn, name in struck:
        before = (turn.thought or "").split(next(text for text in said("strike", name) if text in (turn.thought or "")))
        assert name in before[0] or '"' in before[0], "why is said before"
        assert name in {value.name for value in members_of(state_at(point.history, point))}
        assert name not in {value.name for value in members_of(state_at((*point.history, Step(turn=turn)), point))}
    told = [name for _, _, notes in made for intent, name in notes if intent == "told"]
    assert told


def said(intent: str, name: str) -> list[str]:
    return [phrase.format(found=name) for phrase in PHRASES[intent]]


def state_at(history: History, point: Point) -> State:
    return state_of(read_task(point.task), history)


def members_of(state: State) -> list[Value]:
    return [value for values in state.members.values() for value in values]


def test_a_candidate_ruled_out_too_early_is_readmitted() -> None:
    """The expert says so, and later turns of the run may use it again."""
    made = [(point, name) for point, turn in corrections("graph") for i, name in notes_of(point, turn) if i == "return"]
    assert made
    for point, name in made:
        state = state_at(point.history, point)
        gone = set(state.dismissed)
        state.note("return", name, state.seen.turns)
        assert state.dismissed < gone, name


def test_a_later_note_of_a_member_counts_and_one_that_was_not_found_is_open_once_it_was_read() -> None:
    checked = reopened = 0
    for task in set_world().tasks:
        run = set_world().play(task, "teacher")
        state = state_of(read_task(task), run.history)
        for (number, key), value in list(state.told.items()):
            if value is None:
                continue
            checked += 1
            member = next(one for _, one in state.of_each(state.reading.clues[number].source) if key_of(one) == key)
            state.note("about", member.name, 99)
            state.note("told", "1,234", 99)
            told = state.told[number, key]
            assert told is not None
            assert told.name == "1,234"
            state.told[number, key] = None
            state.look_again({key.split("#", 1)[0]})
            reopened += (number, key) not in state.told
    assert checked > 20
    assert reopened == checked
