"""Tasks derived from walks in a real browser: each is carried out again, with pictures, and judged."""

from __future__ import annotations

import base64
from functools import cache
from typing import Any

import pytest
from browser_here import needs_browser

from synth.agents.contract import Decision, History, Prompt, Turn
from synth.agents.loop import Limits, rollout
from synth.agents.trajectory import to_row
from synth.environments.contract import ToolCall
from synth.environments.web.environment import WebEnvironment, open_web
from synth.exploration.pipeline import Exploration
from synth.exploration.web.explorer import web_explorer
from synth.identity import derive_generator
from synth.schemas.adp import WebObservation
from synth.schemas.plans import Plan
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import Draft, finish
from synth.testing.corpus import PROVENANCE

pytestmark = [pytest.mark.extras, needs_browser]
WANTED = 20
OPTIONS: dict[str, Any] = {"kinds": {"done": 0.7, "answered": 0.3}, "writes": {1: 0.8, 2: 0.2}, "attempts": 3}
LANES = 5
"""So many tests share the tasks, so that none of them is long."""


@cache
def environment(screenshots: bool) -> WebEnvironment:
    return open_web(screenshots=screenshots, html=screenshots)


@cache
def tasks(lane: int) -> tuple[Task, ...]:
    """The first tasks of a lane of candidates."""
    proposer = Exploration(web_explorer(environment=environment(False), **OPTIONS))
    found: list[Task] = []
    for index in range(lane, lane + 100 * LANES, LANES):
        (outcome,) = proposer.propose([index], 7)
        if isinstance(outcome, Checked):
            assert isinstance(outcome.draft, Draft)
            found.append(finish(outcome.draft, outcome.checks, PROVENANCE, index))
        if len(found) == WANTED // LANES:
            return tuple(found)
    raise AssertionError("too few candidates are accepted")


class Planned:
    """Makes the calls of a plan, one a turn, and answers."""

    privileged = True

    def __init__(self, task: Task, without: int | None = None) -> None:
        calls = Plan.model_validate(task.details["plan"]).calls
        self.calls = [call for number, call in enumerate(calls) if number != without]
        self.answer = task.answer

    def act(self, prompt: Prompt, history: History, generator: Any) -> Decision:
        if len(history) == len(self.calls):
            return Decision(Turn(answer=self.answer))
        call = self.calls[len(history)]
        return Decision(Turn(calls=(ToolCall(id="x", name=call.tool, arguments=call.arguments),)))


@pytest.mark.parametrize("lane", range(LANES))
def test_tasks_are_solved_by_their_plans_with_pictures(lane: int) -> None:
    for task in tasks(lane):
        done = rollout(
            Planned(task),
            environment(True),
            task,
            system="Act.",
            limits=Limits(),
            generator_for_turn=lambda turn: derive_generator(1, str(turn)),
        )
        row = to_row(done, environment(True), role="teacher", number=0, privileged=True, provenance=PROVENANCE)
        assert row.success, (task.question, row.verdict)
        seen = [item for item in row.content if isinstance(item, WebObservation)]
        assert len(seen) == len(Plan.model_validate(task.details["plan"]).calls)
        for item in seen:
            assert item.image_observation is not None
            picture = base64.b64decode(item.image_observation.content.partition(",")[2])
            assert (picture[:4], picture[16:24]) == (b"\x89PNG", (1000).to_bytes(4, "big") + (700).to_bytes(4, "big"))


def test_plans_are_grounded_and_an_idle_agent_fails() -> None:
    task = tasks(0)[0]
    plan = Plan.model_validate(task.details["plan"])
    for number, call in enumerate(plan.calls):
        for given in call.given.values():
            assert given.source in ("observation", "question", "schema")
            assert given.source != "question" or given.words in task.question
            assert given.call is None or given.call < number
    for kind in {one.details["kind"]: one for one in tasks(0) + tasks(1)}.values():
        episode = environment(False).reset(kind)
        assert episode.check("Done.").correct is False
        episode.close()


def test_a_candidate_depends_on_its_index_alone() -> None:
    task = tasks(1)[0]
    proposer = Exploration(web_explorer(environment=environment(False), **OPTIONS))
    (again,) = proposer.propose([task.candidate_index], 7)
    assert isinstance(again, Checked)
    assert finish(again.draft, again.checks, PROVENANCE, task.candidate_index) == task
