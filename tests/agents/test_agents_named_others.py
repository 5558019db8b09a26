"""Where the page of the source names others for what is asked, and the right one not among them, they are tried: a
teacher that says of such a page that it has nothing has used what was not read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from graph_world import page_world

from synth.agents.contract import History
from synth.agents.grounding.said import says
from synth.environments.observed import observe
from synth.environments.passages import Passage
from synth.schemas.tasks import Task
from synth.sources.world.statements import says as states

Played = tuple[Task, History]


@pytest.fixture(scope="module")
def played() -> list[Played]:
    world = page_world()
    return [(task, world.play(task, "teacher", detour=0.0).history) for task in world.tasks[:150]]


def stated(task: Task, history: History) -> Iterator[tuple[int, list[Passage]]]:
    """Turns after a page was opened from which a hop of the walk starts, with the sentences on it that state such a hop
    of anybody, and none of them of the hop's own end."""
    for turn, step in enumerate(history[:-1]):
        calls = step.turn.calls
        if [call.name for call in calls] != ["open"]:
            continue
        passages = observe(step.results[0].content).passages
        for hop in task.walk.hops if len({hop.cue for hop in task.walk.hops}) == len(task.walk.hops) else ():
            found = [
                p for p in passages if p.links and p.text != p.heading and states(p.text, hop.relation, hop.forward)
            ]
            right = any(link.document == hop.target.document_id for p in found for link in p.links)
            if found and not right and hop.source.document_id == calls[0].arguments["document"]:
                yield turn + 1, found


def test_who_is_named_is_spoken_of(played: list[Played]) -> None:
    tried = [
        any(link.anchor in (step.turn.thought or "") for step in history[turn:] for p in found for link in p.links)
        for task, history in played
        for turn, found in stated(task, history)
    ]
    assert len(tried) > 5
    assert sum(tried) >= 0.8 * len(tried), f"{sum(tried)} of {len(tried)}"


def test_no_page_that_names_others_is_called_silent(played: list[Played]) -> None:
    pages = [(history, turn) for task, history in played for turn, _ in stated(task, history)]
    assert pages
    assert [turn for history, turn in pages if says(("silent",), history[turn].turn.thought or "")] == []
