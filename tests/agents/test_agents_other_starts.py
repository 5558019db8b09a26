"""Who took one of a list on trust, to go on from, looks at what the others lead to; and who rules something out has
read its page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graph_world import graph_world, page_world

from synth.agents.contract import Step, Turn
from synth.agents.grounding.consistency import Flaw, inconsistencies
from synth.agents.grounding.said import says
from synth.agents.loop import Rollout
from synth.agents.scripted.phrases import read_notes
from synth.environments.rendering import find_links

pytestmark = pytest.mark.thorough


def links(done: Rollout) -> Iterator[tuple[str, str]]:
    for result in (result for step in done.history for result in step.results):
        yield from ((one.anchor, one.target.split("#", 1)[0]) for one in find_links(result.content))


@pytest.fixture(scope="module")
def walks() -> list[Rollout]:
    world = graph_world()
    played = [world.play(task, "teacher", detour=0.4, rivals=20) for task in world.tasks[:90]]
    return [done for done in played if any(says(("rest_used_up",), step.turn.thought or "") for step in done.history)]


def test_what_other_starts_lead_to_is_read(walks: list[Rollout]) -> None:
    assert walks
    for done in walks:
        assert done.verdict.correct
        assert not [one for one in inconsistencies(done.prompt, done.history) if one.flaw is Flaw.FIRST]


def test_who_leaves_other_starts_unread_is_seen(walks: list[Rollout]) -> None:
    seen = []
    for done in walks:
        shown = [done.prompt.question, *(result.content for step in done.history for result in step.results)]
        notes = [read_notes(step.turn.thought or "", shown) for step in done.history]
        at = next(turn for turn, some in enumerate(notes) if any(intent == "confirm" for intent, _ in some))
        answer = done.history[-1].turn.answer
        right = next(name for intent, name in notes[at] if intent == "confirm")
        thought = (done.history[at].turn.thought or "").partition(f"{right}.")[0] + f"{right}. My answer is {answer}."
        early = (*done.history[:at], Step(turn=Turn(thought=thought, answer=answer)))
        seen.append(Flaw.FIRST in {one.flaw for one in inconsistencies(done.prompt, early)})
    assert any(seen)


def test_nothing_is_ruled_out_for_not_being_named_where_its_page_is_unread() -> None:
    world = page_world()
    played = [world.play(task, "teacher", detour=0.0, rivals=20) for task in world.tasks[:70]]
    assert sum(done.verdict.correct for done in played) > 60
    said = 0
    for done in played:
        opened = {
            call.arguments["document"] for step in done.history for call in step.turn.calls if call.name == "open"
        }
        titles = {name for name, document in links(done) if document in opened}
        for step in done.history:
            found = says(("names_others",), step.turn.thought or "")
            said += found is not None
            assert found is None or any(name in found.group() for name in titles)
    assert said
