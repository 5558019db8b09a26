"""What a site must have before it is explored: something to look up or to use, and the same each time; and where its
pages state what can be looked up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest
from urllib.parse import urljoin, urlsplit

from synth.environments.contract import ToolCall, ToolResult
from synth.environments.web.calls import is_inside
from synth.environments.web.environment import WebEnvironment, WebEpisode
from synth.environments.web.storage import compare
from synth.environments.web.tree import Page
from synth.errors import InputError
from synth.exploration.config import ExplorationConfig
from synth.exploration.web.walking import Action, beginning_of, is_sayable, resolve

__all__ = ["Place", "places_of", "survey"]

_MOST_PAGES = 40
_MOST_PLACES = 24
_MOST_ALIKE = 3
"""Links of one page that are followed to addresses of one kind (equal in their first part and in how many parts they
have): a list of a thousand entries must not stand for the site."""
_OPEN = ToolCall(id="survey", name="open", arguments={"url": "/"})


def survey(environment: WebEnvironment, config: ExplorationConfig) -> None:
    """Follow links, breadth first, up to the first page that has something.

    Raises:
        InputError: none of the first 40 pages has, or the first page can't be opened, or is another one each time.
    """
    start = min(environment.definition.starts, default=None)
    episode = environment.reset(beginning_of(start))
    asked = {rule.term for rule in environment.definition.facts}
    try:
        said = episode.step(_OPEN)
        if episode.seen is None:
            raise InputError(f"the first page does not open: {said.content[:200]}", where="source.site")
        first = episode.seen.tree
        _compare(environment, episode, said)
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


def _compare(environment: WebEnvironment, episode: WebEpisode, said: ToolResult) -> None:
    """Open the first page once more, in a fresh episode: nothing can be proved on a site that is never the same.

    Raises:
        InputError: it shows or keeps something else.
    """
    other = environment.reset(episode.task)
    try:
        again = other.step(_OPEN)
        lines = zip_longest(said.content.splitlines(), again.content.splitlines(), fillvalue="nothing")
        shown = next((f"{one!r} was {before!r} before" for before, one in lines if one != before), None)
        before, now = episode.state(), other.state()
        kept = next((str(change.at) for change in compare(before, now, environment.definition.keys)), None)
    finally:
        other.close()
    if shown is not None:
        mend = "source.fixed_clock: true holds the clock of an application; chance in its pages can't be repeated"
        raise InputError(f"the first page is another one each time: {shown[:300]}", where="source.site", mend=mend)
    if kept is not None:
        what = f"what the site keeps at {kept} is something else each time that it is opened"
        raise InputError(what, where="source.site", mend="name it in volatile, in site.yaml, if it does not count")


@dataclass(frozen=True)
class Place:
    """A page, and how links lead to it."""

    steps: tuple[Action, ...]
    """Behind the first page."""
    page: Page
    kept: str
    """Hash of what the site keeps there."""


def places_of(environment: WebEnvironment, start: str | None) -> tuple[Place, ...]:
    """The first page and those that links lead to from it, breadth first, at most 24. Pages of which the sight changes
    what the site keeps are left out."""
    episode = environment.reset(beginning_of(start))
    found: list[Place] = []
    waiting: list[tuple[tuple[Action, ...], str]] = [((), "/")]
    known: set[str] = set()
    try:
        while waiting and len(found) < _MOST_PLACES:
            steps, url = waiting.pop(0)
            episode.step(ToolCall(id="survey", name="open", arguments={"url": url}))
            if found and episode.state_hash() != found[0].kept:
                episode.close()
                episode = environment.reset(beginning_of(start))
                continue
            if episode.seen is None:
                continue
            known.add(episode.seen.address)
            found.append(Place(steps, episode.seen.tree, episode.state_hash()))
            alike: Counter[tuple[str, int]] = Counter()
            for one in episode.seen.tree.elements:
                target = urljoin(episode.seen.address, one.url).partition("#")[0] if one.url else ""
                if one.role != "link" or not one.name or not is_inside(target, environment.address) or target in known:
                    continue
                parts = urlsplit(target).path.strip("/").split("/")
                if alike[parts[0], len(parts)] < _MOST_ALIKE:
                    alike[parts[0], len(parts)] += 1
                    known.add(target)
                    waiting.append(((*steps, Action.on(one, "click")), target))
    finally:
        episode.close()
    return tuple(found)


def _links(page: Page) -> list[Action]:
    return [Action.on(one, "click") for one in page.elements if one.role == "link" and one.name]


def _has(page: Page, first: Page, asked: set[str], config: ExplorationConfig) -> bool:
    """Whether a page states something behind the first one, or has something other than links."""
    states = any(fact[1] in asked if asked else fact not in first.facts and is_sayable(fact) for fact in page.facts)
    uses = any(one.role != "link" and "disabled" not in one.marks for one in page.elements)
    return (states and config.kinds.get("answered", 0) > 0) or (uses and config.kinds.get("done", 0) > 0)
