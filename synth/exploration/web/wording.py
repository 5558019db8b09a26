"""What a user would write who wants what a walk has done: what, not how.

In the site's own words where it has some, else in those that stand on its pages.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from synth.environments.web.definition import SiteDefinition
from synth.environments.web.nodes import CHOICES, TEXT_BOXES
from synth.environments.web.storage import Change
from synth.environments.web.tree import Element, Page
from synth.exploration.pipeline import Dropped
from synth.exploration.walks import choose
from synth.exploration.web.walking import Action, Move
from synth.lexicon.reading import phrases
from synth.schemas.rejections import Reason
from synth.text.inflection import capital
from synth.text.lists import listed

__all__ = ["Question", "question_of", "request_of"]

_WORDS = phrases("web_requests")

_NO_NOUN = re.compile(
    r"\d|\?|\b(?:at|by|on|in|for|to|from|with|of|is|are|has|when|where|who|how|what)\b", re.IGNORECASE
)
_NAMING = re.compile(r"[^\W\d_]{2}")
_LONGEST_NAME = 60
_ACTING = re.compile(
    r"(?:view|show|open|edit|change|modify|delete|remove|copy|reply|download|add|move|up|down|new|more|details?)\b.{0,20}",
    re.IGNORECASE,
)
"""Links in an item that do something with it, and are not its name."""
_DAYS = phrases("word_lists")["of_time"]
_ONE = phrases("word_lists")["singular_in_s"]

_BARE = 0.5
"""Share of the questions that are asked as they are, as most people do."""
_THING = re.compile(r"“[^”]*”")
_SAID_AGAIN = r"{}(?! by |[,;])"
"""Where a thing that was named before may be called "it": not where more is said of it."""
_QUOTED = re.compile(r"“[^”]*”|[\w.+-]+@[\w.]+\w|\d[\d :.-]*\d|\d")


@dataclass(frozen=True)
class Question:
    text: str
    surface: str
    """Without what it says of its own: what two requests in the same words share."""
    told: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Its stretches, each with the words in it that say a value."""


def _weeks(before: Any, after: Any) -> int:
    """Whole weeks between two dates."""
    return (datetime.date.fromisoformat(str(after)) - datetime.date.fromisoformat(str(before))).days // 7


_JINJA = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
_JINJA.globals = {"weeks": _weeks}


def _render(template: str, **values: Any) -> str:
    """
    Raises:
        Dropped: the template does not fit the values.
    """
    try:
        text = _JINJA.from_string(template).render(**values)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise Dropped(Reason.UNNATURAL, f"the words do not fit: {error}") from None
    return " ".join(text.split())


def request_of(
    definition: SiteDefinition,
    changes: Sequence[Change],
    actions: Sequence[Action],
    pages: Sequence[Page],
    generator: np.random.Generator,
    moves: Sequence[Move] = (),
) -> Question:
    """A request for ``changes``, in the site's own words; where it has none, in those of the elements used.

    Args:
        pages: The page behind each of the actions.
        moves: What each of the actions did to where the browser is; without them all of them stay.

    Raises:
        Dropped: there are no words for one of them, or there are too many.
    """
    clauses: list[str] = []
    values = tuple(value for change in changes for value in _texts((change.before, change.after, change.entry)))
    if definition.requests:
        for change in changes:
            if change.field is not None and f"{change.at}.{change.field}" in definition.follows:
                continue
            rules = [
                rule
                for rule in definition.requests
                if (rule.at, rule.change, rule.field) == (change.at, change.kind, change.field)
            ]
            if not rules:
                raise Dropped(Reason.UNNATURAL, f"the site has no words for {change.kind} at {change.at}")
            words = choose(generator, rules[0].words)
            clauses.append(_render(words, before=change.before, after=change.after, entry=change.entry))
    else:
        clauses = plain_clauses(actions, pages, generator, moves)
        values += tuple(str(value) for action in actions for value in (*dict(action.arguments).values(), action.name))
    if not 1 <= len(clauses) <= 4:
        raise Dropped(Reason.UNNATURAL, f"{len(clauses)} changes are no one request")
    # A clause that goes on after a semicolon is a sentence's end.
    clauses = _named_once(sorted(clauses, key=lambda clause: ";" in clause))
    made = _message(clauses, generator)
    return replace(made, told=tuple((clause, (*values, *_QUOTED.findall(clause))) for clause in clauses))


def _named_once(clauses: Sequence[str]) -> list[str]:
    """What the first of two clauses is about is "it" in the second."""
    found = _THING.search(clauses[0])
    if len(clauses) != 2 or found is None:
        return list(clauses)
    return [clauses[0], re.sub(_SAID_AGAIN.format(re.escape(found.group())), "it", clauses[1], count=1)]


def _message(clauses: Sequence[str], generator: np.random.Generator) -> Question:
    forms = _WORDS["one"] if len(clauses) == 1 else _WORDS["more"]
    form = choose(generator, forms)
    if len(clauses) > 2:
        clauses = [", ".join(clauses[:-1]), clauses[-1]]
    if any(";" in clause for clause in clauses[:-1]):
        form = "Please {0}. And please {1}."
    elif ";" in clauses[-1] and form.endswith("?"):
        form = forms[0]
    text = form.replace("{0^}", capital(clauses[0])).replace("{0}", clauses[0])
    text = text.replace("{1}", clauses[-1])
    return Question(text, _QUOTED.sub("_", text))


def question_of(
    definition: SiteDefinition, page: Page, fact: tuple[str, str, str], generator: np.random.Generator
) -> tuple[Question, str]:
    """A question for what a page states, and the kind of its answer.

    Raises:
        Dropped: there are no words for it, or the page has no heading.
    """
    heading = page.heading
    rules = [rule for rule in definition.facts if rule.term == fact[1]]
    if not heading:
        raise Dropped(Reason.UNNATURAL, f"the page that states {fact[1]} has no heading to name it by")
    if definition.facts and not rules:
        raise Dropped(Reason.UNNATURAL, f"the site has no words for {fact[1]}")
    if rules:
        rule = rules[0]
        words = text = _render(choose(generator, rule.words), page=heading)
        kind: str = rule.kind
        form = "{0}" if generator.random() < _BARE else choose(generator, _WORDS["looks"])
        text = form.replace("{0*}", text[0].lower() + text[1:]).replace("{0}", text)
    else:
        words = text = plain_question(page, fact, generator)
        kind = "text"
    told = (words, (heading, fact[1], *_QUOTED.findall(words)))
    return Question(text, _QUOTED.sub("_", text), (told,)), kind


def _texts(value: Any) -> Iterator[str]:
    """Every text and number in a value."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def plain_clauses(
    actions: Sequence[Action], pages: Sequence[Page], generator: np.random.Generator, moves: Sequence[Move] = ()
) -> list[str]:
    """What was filled in, chosen and pressed, with the page on which it was, and the entry that the page is of where
    others have pages by that name: a clause for each in turn.

    Raises:
        Dropped: nothing tells an element from others of its name, or what is put there is dealt with again.
    """
    found: list[tuple[tuple[str, str], list[str]]] = []
    typed: list[str] = []
    entry, filled = "", False
    for at, action in enumerate(actions):
        page = pages[at - 1] if at else None
        element = _element(page, action) if page is not None else None
        if page is not None and action.role == "link" and _elements(page) == _elements(pages[at]):
            raise Dropped(Reason.UNNATURAL, f"the link “{action.name}” does something on its page")
        move = moves[at] if moves else "stays"
        if page is None or element is None or element.searches:
            continue
        if action.role == "link" or (action.role == "button" and move == "led" and not filled):
            # Navigation: the agent is to find its own way, so only the entry that it leads to is named.
            entry = _entry(element, page, pages[at])
            continue
        if action.role not in TEXT_BOXES and any(text in element.near or text in element.name for text in typed):
            raise Dropped(Reason.UNNATURAL, "it works on what it has put there itself")
        typed += [str(given) for name, given in action.arguments if name == "text" and given]
        where = page.heading, entry
        if not found or found[-1][0] != where:
            found.append((where, []))
        found[-1][1].append(_said(action, element, page, generator))
        filled = move == "stays"
        if move != "stays":
            entry = ""
    here = pages[0].heading if pages else ""
    clauses: list[str] = []
    for (heading, of), (first, *others) in found:
        place = f" on the page “{heading}”" if heading and heading != here else ""
        clauses.append(listed([first + (f" for “{of}”" if of else ""), *others]) + place)
        here = heading or here
    return clauses


def _entry(element: Element, page: Page, behind: Page) -> str:
    """What is called what a link or a button leads to, where the page behind it does not say so itself.

    Raises:
        Dropped: nothing tells it from others of its name.
    """
    same = [one for one in page.elements if (one.role, one.name) == (element.role, element.name)]
    if len(same) == 1:
        listed_with_more = any(part != element.name for part in element.item)
        return element.name if listed_with_more and behind.heading == page.heading else ""
    about = _about(element, same)
    if not about and {one.url for one in same} != {element.url}:
        raise Dropped(Reason.UNNATURAL, f"nothing tells one “{element.name}” from another")
    return "" if about and about in behind.heading else about


def _elements(page: Page) -> list[tuple[str, str]]:
    """What the page is called and offers, without what fields hold."""
    return [("heading", page.heading), *((one.role, one.name) for one in page.elements)]


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
    said = choose(generator, forms).format(value, _label(element, page))
    same = [one for one in page.elements if (one.role, one.name) == (element.role, element.name)]
    about = _about(element, same)
    if about:
        said += f" for “{about}”"
    elif len(same) > 1:
        raise Dropped(Reason.UNNATURAL, f"nothing tells one “{element.name}” from another")
    return said


def _about(element: Element, same: Sequence[Element]) -> str:
    """What the item of a list or row of a table that it stands in is called; empty where it stands in none, or is all
    that the item says.

    Args:
        same: The elements of its role and name.
    """
    others = [part for one in same if one.ref != element.ref for part in one.item]
    for part in element.item:
        words = _NAMING.search(part) is not None and _ACTING.fullmatch(part) is None
        if words and len(part) <= _LONGEST_NAME and part not in others and part not in element.name:
            return part.strip(" .,:;")
    return ""


def _label(element: Element, page: Page) -> str:
    """The name of an element; of a field whose label goes on after a colon ("Description: You may use ..."), without
    what is said there, where that tells it from the others."""
    short, colon, hint = element.name.partition(":")
    if element.role not in TEXT_BOXES | CHOICES or not colon or not short:
        return element.name.rstrip(" :*") or element.name
    others = (one.name.partition(":")[0] for one in page.elements if one.ref != element.ref)
    return element.name if hint.strip() and short in others else short.rstrip(" *") or short


def plain_question(page: Page, fact: tuple[str, str, str], generator: np.random.Generator) -> str:
    """A question for one fact of a page, by the names that the page gives it.

    Raises:
        Dropped: the fact has no name that tells it from others.
    """
    about, term, _ = fact
    heading = page.heading
    if not about or sum(one[:2] == fact[:2] for one in page.facts) > 1:
        raise Dropped(Reason.UNNATURAL, f"nothing tells one “{term}” from another")
    under = any((one.role, one.name) == ("heading", about) for one in page.blocks)
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
    text = choose(generator, forms).format(
        is_="are" if many else "is", term=term, thing=f"“{about}”", place=place, Place=lead, page=heading
    )
    return capital(text)
