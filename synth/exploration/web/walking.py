"""Who chooses what to try on a page: elements that were little tried, fields before the button that sends them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from synth.environments.contract import Episode, ToolCall, ToolResult
from synth.environments.web.definition import SiteDefinition
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.nodes import CHOICES, TEXT_BOXES
from synth.environments.web.storage import WebBeginning
from synth.environments.web.tree import Element, Page
from synth.exploration.pipeline import blank_task
from synth.exploration.walks import Coverage, Explored, pick
from synth.lexicon.reading import phrases
from synth.schemas.details import details_with
from synth.schemas.row import JsonObject
from synth.schemas.tasks import Task

__all__ = [
    "Action",
    "Move",
    "Run",
    "SiteProposer",
    "Taken",
    "beginning_of",
    "instruction",
    "is_sayable",
    "resolve",
    "run",
]

_SENDS = frozenset(("button", "menuitem", "tab"))
_MOST_OPTIONS = 12
_LEAVING = 0.1
"""Weight of what leads away from a page with a field that was filled in."""
_LEAVING_FORM = 0.3
"""The same of a page with a form, of which nothing was filled in."""
_UNDOES = re.compile(
    r"\b(?:preview|cancel|reset|close|dismiss|log ?out|sign ?out|choose files?|browse)\b", re.IGNORECASE
)
"""In names of buttons that send nothing."""
_UNDOING = 0.2
_ELSEWHERE = 0.2
"""Weight of a button that stands before what was filled in: it belongs to another form."""
_REFUSED = 0.2
"""Weight of a field that was filled in when something was sent and nothing changed: what it takes isn't known."""
_SECRET = re.compile(r"\b(?:password|passphrase|passcode|pin)\b", re.IGNORECASE)
"""In the names of fields that no task fills in: the request would have to state a secret."""
_MAKES = re.compile(
    r"\b(?:new|add|create|edit|change|modify|reply|write|post|register|book|order|settings|preferences|account)\b", re.I
)
"""In names of links behind which something can be changed."""
_MOST_WORDS = 2
"""Of such a name: a longer one is that of an entry ("Order new ladders")."""
_SEARCH_BUTTON = re.compile(r"\W*(?:search|find|go)\W*", re.IGNORECASE)
_SOUGHT = re.compile(r"^[^/\\]{4,60}$")
"""Names of links that somebody may search for: no addresses."""
_LONGEST_TERM, _LONGEST_VALUE = 40, 80
_NO_WORDS = re.compile(r"\.\.\.|…|[{}\[\]<>=|\\]|://|'{2,}|\w\(")
"""What stands in excerpts, markup, code and addresses."""

_TYPED = tuple((re.compile(name, re.I), values) for name, values in phrases("typed_values").items())


Move = Literal["led", "leaves", "stays"]
"""``led``: to another address, and nothing that is kept has changed; ``leaves``: to another address, after a change;
``stays``: at the address."""


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
        self._chosen: tuple[Action, str] | None = None
        """What is to be done next, and to which element."""
        self._tried: Counter[tuple[str, str]] = Counter()
        self._shown: Counter[tuple[str, str, int]] = Counter()
        self._filled: dict[str, str] = {}
        """Names of the elements of this page that were filled -> what was put there."""
        self._refused: dict[str, str] = {}
        """Names of fields that were filled when a button was pressed, and nothing changed -> what was put there."""
        self._changes = 0
        self._kept: str | None = None
        self._before = ""
        self._now: Taken | None = None

    def tool(self, episode: Episode, generator: np.random.Generator) -> str | None:
        """That of the element that is chosen: on a page with one text box most clicks are worth more than it."""
        assert isinstance(episode, WebEpisode)
        if episode.seen is None:
            return "open"
        if self._chosen is None and not self._is_over(episode.seen.tree):
            self._chosen = self._choose(episode.seen.tree, generator)
        return None if self._chosen is None else self._chosen[0].tool

    def _choose(self, page: Page, generator: np.random.Generator) -> tuple[Action, str] | None:
        options = list(self.options(page))
        if not options and self.taken and self.taken[-1].action != _BACK:  # a page that leads nowhere
            return _BACK, ""
        return options[pick([weight for _, _, weight in options], generator)][:2] if options else None

    def arguments(
        self, tool: str, episode: Episode, coverage: Coverage, generator: np.random.Generator
    ) -> dict[str, Any] | None:
        assert isinstance(episode, WebEpisode)
        self._kept = episode.state_hash()
        self._before = episode.seen.address if episode.seen is not None else ""
        if episode.seen is None:
            self._next = Action("open", (("url", "/"),))
            return {"url": "/"} if tool == "open" else None
        if self._chosen is None or self._chosen[0].tool != tool:
            return None  # nothing is left to be done
        action, ref = self._chosen
        self._chosen = None
        self._tried[action.role, action.name] += 1
        self._next = action
        return {"ref": ref, **dict(action.arguments)} if ref else dict(action.arguments)

    def _is_over(self, page: Page) -> bool:
        if self.wanted is not None:
            return self._changes >= self.wanted
        asked = {rule.term for rule in self.definition.facts}
        first = self.taken[0].page.facts if self.taken else ()
        if not page.heading:
            return False  # a question has nothing to name it by
        return any(fact[1] in asked if asked else fact not in first and is_sayable(fact) for fact in page.facts)

    def options(self, page: Page) -> Iterator[tuple[Action, str, float]]:
        """Steps that may be taken, each with its element and its weight."""
        secret = any(one.role in TEXT_BOXES and _SECRET.search(one.name) for one in page.elements)
        has_form = self.wanted is not None and not secret and any(map(_is_form_field, page.elements))
        # A form that comes back with what it refused would refuse it again: it is left, and may be filled in afresh.
        stale = any(one.value and one.value == self._refused.get(one.name) for one in page.elements)
        last = max((at for at, one in enumerate(page.elements) if one.name in self._filled), default=-1)
        for number, element in enumerate(page.elements):
            if not element.name or "disabled" in element.marks or element.name in self.definition.avoid:
                continue
            if secret and element.role != "link":
                continue  # what is sent with a password can't be asked for
            shown = 0 if self._makes(element) else self._shown[element.role, element.name, element.nth]
            if element.searches and any(("submit", True) in one.action.arguments for one in self.taken):
                continue  # one search leads somewhere; the next would only begin again
            weight = 1 / (1 + shown) / (1 + 3 * self._tried[element.role, element.name])
            # Whoever has filled in a field sends it, and does not leave the page.
            leaves = element.role == "link" or element.searches or _is_search(element)
            staying = _LEAVING if self._filled else _LEAVING_FORM if has_form and not stale else 1.0
            if element.name in self._refused or (stale and not leaves):
                weight *= _REFUSED
            if element.role in _SENDS and number < last:
                weight *= _ELSEWHERE
            for action, share in self._actions(element, page, has_form=has_form):
                yield action, element.ref, weight * share * (staying if leaves else 1.0)

    def _values(self, element: Element, page: Page) -> tuple[str, ...]:
        if self.definition.values:
            return self.definition.values.get(element.name, ())
        if element.searches:
            named = [one.name for one in page.elements if one.role == "link" and _SOUGHT.search(one.name)]
            return tuple(dict.fromkeys(named))[-_MOST_OPTIONS:]
        if element.role == "spinbutton":
            return ("2", "3")
        return next(values for name, values in _TYPED if name.search(element.name))

    def _actions(self, element: Element, page: Page, *, has_form: bool) -> Iterator[tuple[Action, float]]:
        if element.role in TEXT_BOXES | CHOICES and element.name in self._filled:
            return  # it was filled for what is pressed next
        if element.role in TEXT_BOXES:
            values = [one for one in self._values(element, page) if one != element.value]
            if self.wanted is not None or element.searches:
                for value in values:
                    sent = {"submit": True} if element.searches else {}
                    yield Action.on(element, "type", text=value, **sent), (2.0 if sent else 6.0) / len(values)
        elif element.role in CHOICES:
            others = [one for one in element.options if one != element.value][:_MOST_OPTIONS]
            for option in others if self.wanted is not None else ():
                yield Action.on(element, "select", option=option), 4.0 / len(others)
        elif element.role == "link" or _is_search(element):
            yield Action.on(element, "click"), 4.0 if self._makes(element) else 0.6
        elif self.wanted is not None:
            # A form is sent after something was put into it.
            sends = element.role in _SENDS
            share = (20.0 * len(self._filled) if self._filled else 1.5 if has_form else 5.0) if sends else 4.0
            yield Action.on(element, "click"), share * (_UNDOING if sends and _UNDOES.search(element.name) else 1.0)

    def _makes(self, element: Element) -> bool:
        """Whether it is a link behind which something can be changed, where that is what the walk is for."""
        short = element.role == "link" and len(element.name.split()) <= _MOST_WORDS
        return self.wanted is not None and short and _MAKES.search(element.name) is not None

    def writes(self, tool: str) -> bool | None:
        """Any step may change what the site keeps."""
        return None

    def saw(self, step: Explored) -> None:
        assert self._next is not None
        assert self._now is not None
        self.taken.append(replace(self._now, action=self._next))
        if self._next.role in TEXT_BOXES | CHOICES:
            given = dict(self._next.arguments)
            self._filled[self._next.name] = str(given.get("text", given.get("option", "")))
            return
        before = self.taken[-2].kept if len(self.taken) > 1 else None
        if self._next.role in _SENDS and before == self._now.kept:
            self._refused.update(self._filled)
        self._filled.clear()

    def note(self, episode: WebEpisode) -> str:
        """The state for the explorer; counts what is shown, and changes."""
        kept = episode.state_hash()
        if self.taken and kept != self._kept:  # what comes of opening the site alone is no change that was made
            self._changes += 1
        self._kept = kept
        if episode.seen is None:
            return kept
        for element in episode.seen.tree.elements:
            self._shown[element.role, element.name, element.nth] += 1
        self._now = Taken(Action(""), self._before, episode.seen.address, episode.seen.tree, kept)
        return f"{kept} {episode.seen.address} {episode.seen.tree.text}"


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


_BACK = Action("back")


def _is_form_field(element: Element) -> bool:
    named = bool(element.name) and "disabled" not in element.marks
    return named and element.role in TEXT_BOXES and not element.searches


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
    addresses: tuple[str, ...]
    """After each call."""
    end: WebEpisode
    """The episode, still open where :func:`run` was told to keep it."""
    clean: bool
    """Every element was there, and nothing was refused."""

    @property
    def moves(self) -> tuple[Move, ...]:
        """What each call did to where the browser is; the first leads to the site."""
        found: list[Move] = ["led"]
        behind = list(zip(self.addresses, self.states, strict=True))
        for here, there in pairwise(behind):
            found.append("stays" if there[0] == here[0] else "led" if there[1] == here[1] else "leaves")
        return tuple(found)


def run(environment: WebEnvironment, task: Task, actions: Sequence[Action], *, keep: bool = False) -> Run:
    """Carry out ``actions`` in a fresh episode of ``task``, up to the first that can't be."""
    episode = environment.reset(task)
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    pages: list[Page] = []
    states: list[str] = []
    addresses: list[str] = []
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
            addresses.append(episode.seen.address)
    finally:
        if not keep:
            episode.close()
    told = (tuple(calls), tuple(results), tuple(pages), tuple(states), tuple(addresses))
    return Run(*told, end=episode, clean=clean)


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


def is_sayable(fact: tuple[str, str, str]) -> bool:
    """Whether people ask for it and can be told it in a few words: not an excerpt of a page, markup or code."""
    about, term, said = fact
    short = 0 < len(term) <= _LONGEST_TERM and len(about) <= _LONGEST_VALUE and 0 < len(said) <= _LONGEST_VALUE
    return short and not any(_NO_WORDS.search(text) for text in fact)


def _is_search(element: Element) -> bool:
    """Whether it is a button that searches: it leads somewhere, as a link does."""
    return element.role == "button" and _SEARCH_BUTTON.fullmatch(element.name) is not None
