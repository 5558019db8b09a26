"""Steps on a site that name elements by what they are: they can be made again on a page that reads otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from synth.environments.contract import ToolCall, ToolResult
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.storage import WebBeginning
from synth.environments.web.tree import CHOICES, TEXT_BOXES, Element, Page
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.pipeline import blank_task
from synth.schemas.details import details_with
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = ["Action", "Run", "beginning_of", "instruction", "resolve", "run", "survey"]

_MOST_PAGES = 40
_OPEN = ToolCall(id="survey", name="open", arguments={"url": "/"})


def beginning_of(start: str | None) -> Task:
    """A task that says nothing but where it begins."""
    return blank_task(f"reverse-web-{start}", "web", details_with(WebBeginning(web_start=start)))


@dataclass(frozen=True)
class Action:
    """One step."""

    tool: str
    arguments: tuple[tuple[str, Any], ...] = ()
    """All but ``ref``."""
    role: str = ""
    """Of the element; empty where the step is about none."""
    name: str = ""
    nth: int = 0

    @classmethod
    def on(cls, element: Element, tool: str, **arguments: Any) -> Action:
        return cls(tool, tuple(sorted(arguments.items())), element.role, element.name, element.nth)


def resolve(page: Page | None, action: Action) -> JsonObject | None:
    """The arguments of the step on ``page``; None where its element is not there."""
    arguments: dict[str, Any] = dict(action.arguments)
    if not action.role:
        return arguments
    wanted = (action.role, action.name, action.nth)
    for element in page.elements if page is not None else ():
        if (element.role, element.name, element.nth) == wanted:
            return {"ref": element.ref, **arguments}
    return None


@dataclass(frozen=True)
class Run:
    """What came of steps in a fresh episode."""

    calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    pages: tuple[Page, ...]
    """The page after each call."""
    states: tuple[str, ...]
    """Hash of what the site keeps, after each call."""
    end: WebEpisode
    """The episode, still open where :func:`run` was told to keep it."""
    clean: bool
    """Every element was there, and nothing was refused."""


def run(environment: WebEnvironment, task: Task, actions: Sequence[Action], *, keep: bool = False) -> Run:
    """Carry out ``actions`` in a fresh episode of ``task``, up to the first that can't be."""
    episode = environment.reset(task)
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    pages: list[Page] = []
    states: list[str] = []
    clean = True
    try:
        for number, action in enumerate(actions):
            arguments = resolve(episode.seen.tree if episode.seen is not None else None, action)
            if arguments is None:
                clean = False
                break
            calls.append(ToolCall(id=f"plan_{number}", name=action.tool, arguments=arguments))
            results.append(episode.step(calls[-1]))
            if results[-1].error is not None or episode.seen is None:
                clean = False
                break
            pages.append(episode.seen.tree)
            states.append(episode.state_hash())
    finally:
        if not keep:
            episode.close()
    return Run(tuple(calls), tuple(results), tuple(pages), tuple(states), episode, clean)


def instruction(action: Action, element: Element | None) -> str:
    """The step in words, for one who sees the page: low-level (OS-Genesis)."""
    given = dict(action.arguments)
    if element is None:
        where = {"open": "Open {url}.", "press": "Press the key {key}.", "back": "Go back."}
        return where.get(action.tool, "Look at the page.").format(**given)
    name = f"“{element.name}”" if element.name else f"the {element.role}"
    if action.tool == "type":
        ending = " and press Enter" if given.get("submit") else ""
        return f"Type “{given['text']}” into {name}{ending}." if given["text"] else f"Clear {name}{ending}."
    if action.tool == "select":
        return f"Choose “{given['option']}” for {name}."
    if element.role == "link":
        return f"Follow the link {name}."
    if element.role in ("checkbox", "switch"):
        return f"{'Untick' if 'checked' in element.marks else 'Tick'} {name}."
    if element.role == "radio":
        return f"Choose {name}."
    if element.role in TEXT_BOXES | CHOICES:
        return f"Click into {name}."
    return f"Press {name}."


def survey(environment: WebEnvironment, config: ExplorationConfig) -> None:
    """Follow links, breadth first, up to the first page that has something.

    Raises:
        InputError: none of the first 40 pages has, or the first page can't be opened.
    """
    start = min(environment.definition.starts, default=None)
    episode = environment.reset(beginning_of(start))
    asked = {rule.term for rule in environment.definition.facts}
    try:
        said = episode.step(_OPEN)
        if episode.seen is None:
            raise InputError(f"the first page does not open: {said.content[:200]}", where="source.site")
        first = episode.seen.tree
        waiting = [(episode.seen.address, one) for one in _links(first)]
        known = {episode.seen.address}
        here: Page = first
        while not _has(here, first, asked, config):
            if not waiting or len(known) >= _MOST_PAGES:
                what = f"nothing to look up or to use was found on any page that links lead to ({len(known)} seen)"
                mend = (
                    "tables with heads, lists of terms and lines such as `Price: 4` can be asked about; buttons and "
                    "fields can be used where the page keeps what they do (localStorage, cookies)"
                )
                raise InputError(what, where="source.site", mend=mend)
            address, link = waiting.pop(0)
            episode.step(ToolCall(id="survey", name="open", arguments={"url": address}))
            arguments = resolve(episode.seen.tree, link) if episode.seen is not None else None
            if arguments is None:
                continue
            episode.step(ToolCall(id="survey", name="click", arguments=arguments))
            if episode.seen is None or episode.seen.address in known:
                continue
            here = episode.seen.tree
            known.add(episode.seen.address)
            waiting += [(episode.seen.address, one) for one in _links(here)]
    finally:
        episode.close()


def _links(page: Page) -> list[Action]:
    return [Action.on(one, "click") for one in page.elements if one.role == "link" and one.name]


def _has(page: Page, first: Page, asked: set[str], config: ExplorationConfig) -> bool:
    """Whether a page states something behind the first one, or has something other than links."""
    states = any(term in asked if asked else fact not in first.facts for fact in page.facts for term in (fact[1],))
    uses = any(one.role != "link" and "disabled" not in one.marks for one in page.elements)
    return (states and config.kinds.get("answered", 0) > 0) or (uses and config.kinds.get("done", 0) > 0)
