"""Who chooses what to try on a page: elements that were little tried, fields before the button that sends them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.web.definition import SiteDefinition
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.storage import WebBeginning
from synth.environments.web.tree import CHOICES, TEXT_BOXES, Element, Page
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Coverage, Explored, pick
from synth.lexicon.reading import phrases
from synth.schemas.details import details_with
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = [
    "Action",
    "Run",
    "SiteProposer",
    "Taken",
    "beginning_of",
    "instruction",
    "resolve",
    "run",
    "survey",
]

_SENDS = frozenset(("button", "menuitem", "tab"))
_MOST_OPTIONS = 12
_TYPED = tuple((re.compile(name, re.I), values) for name, values in phrases("typed_values").items())


@dataclass(frozen=True)
class Taken:
    """An effective step of a walk."""

    action: Action
    before: str
    """Address of the page on which it was made; empty where none was open."""
    after: str
    page: Page
    """What it led to."""
    kept: str
    """Hash of what the site keeps then."""


class SiteProposer:
    """A proposer (``synth.exploration.walks.Proposer``) for one walk."""

    def __init__(self, definition: SiteDefinition, *, wanted: int | None) -> None:
        """
        Args:
            wanted: Changes of what the site keeps after which the walk is over; None = only links are followed, for
                nothing is to be changed.
        """
        self.definition = definition
        self.wanted = wanted
        self.taken: list[Taken] = []
        """The effective steps."""
        self._next: Action | None = None
        self._tried: Counter[tuple[str, str]] = Counter()
        self._shown: Counter[tuple[str, str, int]] = Counter()
        self._filled: set[str] = set()
        """Elements of this page that were filled."""
        self._changes = 0
        self._kept: str | None = None
        self._before = ""
        self._now: Taken | None = None

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        assert isinstance(episode, WebEpisode)
        self._kept = episode.state_hash()
        self._before = episode.seen.address if episode.seen is not None else ""
        if episode.seen is None:
            if tool != "open":
                return None
            self._next = Action("open", (("url", "/"),))
            return {"url": "/"}
        if self._is_over(episode):
            return None
        options = [one for one in self._options(episode) if one[0].tool == tool]
        if not options:
            return None
        action, ref, _ = options[pick([weight for _, _, weight in options], generator)]
        self._tried[action.role, action.name] += 1
        self._next = action
        return {"ref": ref, **dict(action.arguments)}

    def _is_over(self, episode: WebEpisode) -> bool:
        if self.wanted is not None:
            return self._changes >= self.wanted
        asked = {rule.term for rule in self.definition.facts}
        assert episode.seen is not None
        first = self.taken[0].page.facts if self.taken else ()
        return any(
            term in asked if asked else (about, term, said) not in first
            for about, term, said in episode.seen.tree.facts
        )

    def _options(self, episode: WebEpisode) -> Iterator[tuple[Action, str, float]]:
        assert episode.seen is not None
        for element in episode.seen.tree.elements:
            if not element.name or "disabled" in element.marks or element.name in self.definition.avoid:
                continue
            shown = self._shown[element.role, element.name, element.nth]
            weight = 1 / (1 + shown) / (1 + 3 * self._tried[element.role, element.name])
            for action, share in self._actions(element, episode.seen.tree):
                yield action, element.ref, weight * share

    def _values(self, element: Element, page: Page) -> tuple[str, ...]:
        if self.definition.values:
            return self.definition.values.get(element.name, ())
        if element.role == "searchbox":
            named = [one.name for one in page.elements if one.role == "link" and len(one.name) > 3]
            return tuple(dict.fromkeys(named))[-_MOST_OPTIONS:]
        if element.role == "spinbutton":
            return ("2", "3")
        return next(values for name, values in _TYPED if name.search(element.name))

    def _actions(self, element: Element, page: Page) -> Iterator[tuple[Action, float]]:
        if element.role in TEXT_BOXES:
            values = [one for one in self._values(element, page) if one != element.value]
            if self.wanted is not None or element.role == "searchbox":
                for value in values:
                    action = Action.on(element, "type", text=value)
                    if element.role == "searchbox":
                        action = Action.on(element, "type", text=value, submit=True)
                    yield action, (2.0 if element.role == "searchbox" else 6.0) / len(values)
        elif element.role in CHOICES:
            others = [one for one in element.options if one != element.value][:_MOST_OPTIONS]
            for option in others if self.wanted is not None else ():
                yield Action.on(element, "select", option=option), 4.0 / len(others)
        elif element.role == "link":
            yield Action.on(element, "click"), 0.6
        elif self.wanted is not None:
            # A form is sent after something was put into it.
            sends = element.role in _SENDS
            yield Action.on(element, "click"), (12.0 if self._filled else 5.0) if sends else 4.0

    def writes(self, tool: str) -> bool | None:
        """Any step may change what the site keeps."""
        return None

    def saw(self, step: Explored) -> None:
        assert self._next is not None
        assert self._now is not None
        self.taken.append(replace(self._now, action=self._next))
        if self._next.role in TEXT_BOXES | CHOICES:
            self._filled.add(self._next.name)
        else:
            self._filled.clear()

    def note(self, episode: WebEpisode) -> str:
        """The state for the explorer; counts what is shown, and changes."""
        kept = episode.state_hash()
        if self._kept is not None and kept != self._kept:
            self._changes += 1
        self._kept = kept
        if episode.seen is None:
            return kept
        for element in episode.seen.tree.elements:
            self._shown[element.role, element.name, element.nth] += 1
        self._now = Taken(Action(""), self._before, episode.seen.address, episode.seen.tree, kept)
        return f"{kept} {episode.seen.address} {episode.seen.tree.text}"


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
