"""Requests on a site of which nothing is known but its pages: in the words that stand on them."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from synth.environments.web.tree import CHOICES, TEXT_BOXES, Element, Page
from synth.exploration.web.acting import Action
from synth.lexicon.reading import phrases
from synth.text.lists import listed

__all__ = ["NotWorded", "heading_of", "plain_clauses", "plain_question"]

_WORDS = phrases("web_requests")

_NO_NOUN = re.compile(
    r"\d|\?|\b(?:at|by|on|in|for|to|from|with|of|is|are|has|when|where|who|how|what)\b", re.IGNORECASE
)
_DAYS = (
    "monday tuesday wednesday thursday friday saturday sunday daily weekdays weekends open opens closed closes".split()
)
"""Terms that state something of a time, and are no property of what they stand with."""
_ONE = ("address", "status", "class", "access", "business", "news", "process", "progress", "basis", "bus", "campus")
"""Nouns in -s of which there is one."""


class NotWorded(Exception):
    """Nobody would know how to ask for it."""


def heading_of(page: Page) -> str:
    """The heading of a page; empty where it has none."""
    found = next((line.strip() for line in page.lines if line.strip().startswith('heading 1 "')), "")
    return found.removeprefix('heading 1 "').removesuffix('"')


def plain_clauses(actions: Sequence[Action], pages: Sequence[Page], generator: np.random.Generator) -> list[str]:
    """What was filled in, chosen and pressed, with the page on which it was: a clause for each page in turn.

    Raises:
        NotWorded: nothing tells an element from others of its name, or what is put there is dealt with again.
    """
    found: list[tuple[str, list[str]]] = []
    typed: list[str] = []
    for at, action in enumerate(actions):
        page = pages[at - 1] if at else None
        element = _element(page, action) if page is not None else None
        if page is None or element is None or action.role in ("link", "searchbox"):
            continue  # the way there, which is for whoever is asked to find
        if action.role not in TEXT_BOXES and any(text in element.near or text in element.name for text in typed):
            raise NotWorded("it works on what it has put there itself")
        typed += [str(given) for name, given in action.arguments if name == "text" and given]
        where = heading_of(page)
        if not found or found[-1][0] != where:
            found.append((where, []))
        found[-1][1].append(_said(action, element, page, generator))
    first = heading_of(pages[0]) if pages else ""
    return [listed(said) + (f" on the page “{where}”" if where and where != first else "") for where, said in found]


def _element(page: Page, action: Action) -> Element | None:
    wanted = (action.role, action.name, action.nth)
    return next((one for one in page.elements if (one.role, one.name, one.nth) == wanted), None)


def _said(action: Action, element: Element, page: Page, generator: np.random.Generator) -> str:
    given = dict(action.arguments)
    value = str(given.get("text", given.get("option", "")))
    forms: tuple[str, ...]
    if action.role in TEXT_BOXES:
        forms = _WORDS["enters"] if value else _WORDS["clears"]
    elif action.role in CHOICES:
        forms = _WORDS["chooses"]
    elif action.role in ("checkbox", "switch"):
        forms = _WORDS["unticks"] if "checked" in element.marks else _WORDS["ticks"]
    else:
        forms = _WORDS["picks"] if action.role in ("radio", "tab", "option") else _WORDS["presses"]
    said = forms[int(generator.integers(len(forms)))].format(value, element.name)
    same = [one for one in page.elements if (one.role, one.name) == (element.role, element.name)]
    if len(same) > 1:
        beside = _beside(element)
        if not beside or [_beside(one) for one in same].count(beside) > 1:
            raise NotWorded(f"nothing tells one “{element.name}” from another")
        said += f" for “{beside}”"
    return said


def _beside(element: Element) -> str:
    """What stands beside an element, without its own name."""
    return " ".join(element.near.replace(element.name, " ").split()).strip(" .,:;-–|")


def plain_question(page: Page, fact: tuple[str, str, str], generator: np.random.Generator) -> str:
    """A question for one fact of a page, by the names that the page gives it.

    Raises:
        NotWorded: the fact has no name that tells it from others.
    """
    about, term, _ = fact
    heading = heading_of(page)
    if not about or sum(one[:2] == fact[:2] for one in page.facts) > 1:
        raise NotWorded(f"nothing tells one “{term}” from another")
    under = any(line.strip().startswith("heading ") and line.strip().endswith(f'"{about}"') for line in page.lines)
    place, lead = "", ""
    if about != heading:
        place, lead = f" on the page “{heading}”", f"On the page “{heading}”, "
    words = term.split()
    last = words[-1].casefold()
    noun = len(words) <= 3 and _NO_NOUN.search(term) is None and last not in _DAYS and (about == heading or not under)
    forms = _WORDS["others"] if not noun else _WORDS["pages"] if about == heading else _WORDS["nouns"]
    many = noun and last.endswith("s") and not last.endswith(("ss", "us", "is")) and last not in _ONE
    if noun:
        term = " ".join(word if word[1:] != word[1:].lower() or len(word) == 1 else word.lower() for word in words)
    text = forms[int(generator.integers(len(forms)))].format(
        is_="are" if many else "is", term=term, thing=f"“{about}”", place=place, Place=lead, page=heading
    )
    return text[0].upper() + text[1:]
