"""Who chooses what to try on a page: elements that were little tried, fields before the button that sends them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from synth.environments.contract import Episode
from synth.environments.web.definition import SiteDefinition
from synth.environments.web.environment import WebEpisode
from synth.environments.web.tree import CHOICES, TEXT_BOXES, Element, Page
from synth.exploration.walks import Coverage, Explored, pick
from synth.exploration.web.actions import Action

__all__ = ["SiteProposer", "Taken"]

_SENDS = frozenset(("button", "menuitem", "tab"))
_MOST_OPTIONS = 12
_TYPED = (
    (re.compile(r"e-?mail", re.I), ("r.tate@example.net", "robin@harrowmail.example")),
    (re.compile(r"phone|mobile|\btel", re.I), ("0555 7301", "0555 7442")),
    (re.compile(r"\bdate\b|\bday\b|birthday", re.I), ("2026-03-14", "2026-04-02")),
    (re.compile(r"\btime\b|o.clock", re.I), ("10:30", "14:00")),
    (re.compile(r"post ?code|\bzip\b", re.I), ("20417", "73550")),
    (re.compile(r"street|address", re.I), ("12 Mill Lane", "4 Harbour Street")),
    (re.compile(r"\bcity\b|\btown\b", re.I), ("Northgate", "Harrow")),
    (re.compile(r"\bauthor\b|\bname\b|\bcontact\b|\bwho\b", re.I), ("Robin Tate", "Ida Whitcombe")),
    (re.compile(r"amount|price|number|how many|quantity|count|\bage\b", re.I), ("2", "5")),
)
"""What is typed into a text box of a site that does not say it, by the name of the box: nobody, or for examples."""
_ANYTHING = ("Call the plumber", "Water the plants", "Bring the ladder back")


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
        return next((values for name, values in _TYPED if name.search(element.name)), _ANYTHING)

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
