"""Tasks on web sites, done anew in a browser: the plan, and the plan without any one of its steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from synth.agents.plan_view import plan_of
from synth.environments.contract import Environment, ToolCall
from synth.environments.web.environment import WebEnvironment, WebEpisode, open_web
from synth.environments.web.storage import WebBeginning, WebGoal
from synth.environments.web.tree import Element, Page
from synth.errors import InputError
from synth.schemas.plans import Wanted
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["NotTheSite", "open_site", "recorded_elsewhere", "site_problems"]

_NOT_COMPARED = {"html": False, "screenshots": False}
"""Turns off what is recorded of pages beside their text: it takes time, and nothing here compares it."""


class NotTheSite(Exception):
    """What is here is not what the task was made on."""


def open_site(options: Mapping[str, Any]) -> WebEnvironment:
    """The environment.

    Raises:
        InputError: there is no browser or no such site here.
        TypeError: a key that it has not.
    """
    return open_web(**{**options, **_NOT_COMPARED})


def _fresh(environment: WebEnvironment, task: Task) -> WebEpisode:
    """
    Raises:
        NotTheSite: the site is another one.
    """
    made_on = WebBeginning.of(task.details).site
    if made_on is not None and made_on != environment.identity:
        raise NotTheSite("the site, or a setting of it, is another one here than the task was made on")
    return environment.reset_fresh(task)


def recorded_elsewhere(environment: Environment, task: Task, recorded: JsonObject) -> str | None:
    """Why a run can't be expected to come out again here; None where it can.

    Args:
        recorded: The settings of the run.
    """
    if not isinstance(environment, WebEnvironment):
        return None
    here = environment.settings(task)
    for name in ("site", "browser"):
        if name in recorded and recorded[name] != here.get(name):
            return f"it was recorded with another {name}: {recorded[name]}, here it is {here.get(name)}"
    return None


def site_problems(environment: WebEnvironment, task: Task) -> Iterator[tuple[str, str]]:
    """(rule, what is wrong) of a task's plan. The whole of it is carried out in an application that has just started.

    Raises:
        NotTheSite: it can't be judged here.
    """
    plan = plan_of(task)
    assert plan is not None
    given = Wanted.of(task.details).goal
    if given is None:
        yield "plan", "the task has no goal"
        return
    goal = WebGoal.model_validate(given)
    calls = [ToolCall(id=f"call_{n}", name=one.tool, arguments=one.arguments) for n, one in enumerate(plan.calls)]
    used: list[Element | None] = []
    pages: list[Page | None] = []
    episode = _fresh(environment, task)
    try:
        for call in calls:
            before = episode.seen.tree if episode.seen is not None else None
            used.append(before.element(str(call.arguments.get("ref"))) if before is not None else None)
            result = episode.step(call)
            pages.append(episode.seen.tree if episode.seen is not None else None)
            if result.error == "failure":
                raise NotTheSite(f"it does not work here: {result.content[:200]}")
            if result.error is not None:
                yield "plan", f"{call.name} is refused: {result.content}"
                return
        verdict = episode.check(task.answer)
    except InputError as error:  # the browser starts with the first call
        raise NotTheSite(str(error)) from None
    finally:
        episode.close()
    if verdict.correct is not True:
        yield "plan", f"leads to another state than the goal: {verdict.evidence}"
        return
    last = pages[-1] if pages else None
    stated = _stated(last, task.answer) if goal.answer == "required" else set()
    if goal.answer == "required" and not stated and (last is None or task.answer not in last.text):
        yield "plan", "the page that it leads to does not state the answer"
        return
    for number, call in enumerate(calls):
        kept = [n for n in range(len(calls)) if n != number]
        if _reaches(environment, task, [(calls[n], used[n]) for n in kept], goal, stated):
            yield "minimal", f"call {number} ({call.name}) can be left out"


def _stated(page: Page | None, answer: str) -> set[tuple[str, str, str]]:
    """What the page states with the answer as its value."""
    return {fact for fact in page.facts if fact[2] == answer} if page is not None else set()


def _reaches(
    environment: WebEnvironment,
    task: Task,
    steps: Sequence[tuple[ToolCall, Element | None]],
    goal: WebGoal,
    stated: set[tuple[str, str, str]],
) -> bool:
    """Whether the steps, each on the element of that role and name, come to the same. Elements have other numbers on
    another page."""
    episode = environment.reset(task)
    try:
        for call, element in steps:
            arguments = dict(call.arguments)
            if element is not None:
                tree = episode.seen.tree if episode.seen is not None else None
                found = _same(tree, element)
                if found is None:
                    return False
                arguments["ref"] = found.ref
            if episode.step(call.model_copy(update={"arguments": arguments})).error is not None:
                return False
        page = episode.seen.tree if episode.seen is not None else None
        told = goal.answer != "required" or (bool(stated) and stated <= _stated(page, task.answer))
        return told and episode.state_hash() == goal.state
    finally:
        episode.close()


def _same(page: Page | None, element: Element) -> Element | None:
    wanted = (element.role, element.name, element.nth)
    every = page.elements if page is not None else ()
    return next((one for one in every if (one.role, one.name, one.nth) == wanted), None)
