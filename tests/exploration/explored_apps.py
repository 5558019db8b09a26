"""Tasks of the shipped applications, and runs of calls and agents on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from shared_builds import computed_once
from small_runs import play

from synth.agents.loop import Rollout
from synth.agents.scripted.tool_agent.policy import ToolPolicy
from synth.agents.scripted.tool_agent.teacher import ToolTeacher
from synth.environments.app.environment import AppEnvironment, AppEpisode, open_app
from synth.environments.app.user import ASK_USER
from synth.environments.contract import ToolCall, ToolResult
from synth.exploration.app.explorer import app_explorer
from synth.exploration.pipeline import Exploration
from synth.schemas.plans import Plan, PlannedCall
from synth.schemas.rejections import Rejection
from synth.schemas.tasks import Task
from synth.tasks.contract import Checked
from synth.tasks.draft import finish
from synth.testing.corpus import PROVENANCE

APPLICATIONS = ("airline", "ledger", "tracker")


@cache
def environment(application: str = "airline") -> AppEnvironment:
    return open_app(application=application, user=True)


def exploration(application: str, **options: Any) -> Exploration[Any]:
    return Exploration(app_explorer(environment=environment(application), **options))


_AT_ONCE = 12
_FOUND: dict[tuple[object, ...], list[Checked | Rejection]] = {}


def outcomes(application: str, count: int, seed: int = 5, **options: Any) -> tuple[Checked | Rejection, ...]:
    """A candidate depends on seed and index alone: who asks for more gets those that are known and the rest."""
    found = _FOUND.setdefault((application, seed, *sorted(options.items())), [])
    if options:
        found += exploration(application, **options).propose(range(len(found), count), seed)
    while len(found) < count:
        found += _shared(application, seed, len(found))
    return tuple(found[:count])


def _shared(application: str, seed: int, first: int) -> Sequence[Checked | Rejection]:
    """Candidates that several files ask for."""
    indices = range(first, first + _AT_ONCE)
    return computed_once(
        f"explored-{application}-{seed}-{first}", lambda: exploration(application).propose(indices, seed)
    )


def tasks(application: str, count: int, seed: int = 5, **options: Any) -> list[Task]:
    found = enumerate(outcomes(application, count, seed, **options))
    return [finish(one.draft, one.checks, PROVENANCE, index) for index, one in found if isinstance(one, Checked)]


def plan_of(task: Task) -> Plan:
    return Plan.model_validate(task.details["plan"])


def tool_calls(planned: Sequence[PlannedCall]) -> list[ToolCall]:
    return [ToolCall(id=str(at), name=call.tool, arguments=call.arguments) for at, call in enumerate(planned)]


def played(task: Task, calls: Sequence[ToolCall]) -> tuple[AppEpisode, list[tuple[ToolCall, ToolResult]]]:
    """A fresh episode in which ``calls`` were made once the user had agreed to all that they cost, and what came of
    them."""
    episode = environment(task.details["app"]).reset(task)
    for fact in plan_of(task).user:
        if fact.amount:
            episode.step(ToolCall(id="ask", name=ASK_USER, arguments={"question": fact.asks[0]}))
    return episode, [(call, episode.step(call)) for call in calls]


def run(policy: ToolTeacher | ToolPolicy, task: Task, sample: int = 0) -> Rollout:
    place = environment(task.details["app"])
    return play(policy, place, task, sample, seed=1, system=place.instructions())
