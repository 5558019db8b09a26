"""What a person would write who wants what a walk has done: what, not how."""

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
from synth.environments.web.storage import Change
from synth.environments.web.tree import Page
from synth.exploration.web.acting import Action
from synth.exploration.web.plain_wording import NotWorded, heading_of, plain_clauses, plain_question
from synth.lexicon.reading import phrases

__all__ = ["NotWorded", "Question", "question_of", "request_of"]

_WORDS = phrases("web_requests")

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
        NotWorded: the template does not fit the values.
    """
    try:
        text = _JINJA.from_string(template).render(**values)
    except (TemplateError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise NotWorded(f"the words do not fit: {error}") from None
    return " ".join(text.split())


def request_of(
    definition: SiteDefinition,
    changes: Sequence[Change],
    actions: Sequence[Action],
    pages: Sequence[Page],
    generator: np.random.Generator,
) -> Question:
    """A request for ``changes``, in the site's own words; where it has none, in those of the elements used.

    Args:
        pages: The page behind each of the actions.

    Raises:
        NotWorded: there are no words for one of them, or there are too many.
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
                raise NotWorded(f"the site has no words for {change.kind} at {change.at}")
            words = rules[0].words[int(generator.integers(len(rules[0].words)))]
            clauses.append(_render(words, before=change.before, after=change.after, entry=change.entry))
    else:
        clauses = plain_clauses(actions, pages, generator)
        values += tuple(str(value) for action in actions for value in (*dict(action.arguments).values(), action.name))
    if not 1 <= len(clauses) <= 4:
        raise NotWorded(f"{len(clauses)} changes are no one request")
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
    form = forms[int(generator.integers(len(forms)))]
    if len(clauses) > 2:
        clauses = [", ".join(clauses[:-1]), clauses[-1]]
    if any(";" in clause for clause in clauses[:-1]):
        form = "Please {0}. And please {1}."
    elif ";" in clauses[-1] and form.endswith("?"):
        form = forms[0]
    text = form.replace("{0^}", clauses[0][0].upper() + clauses[0][1:]).replace("{0}", clauses[0])
    text = text.replace("{1}", clauses[-1])
    return Question(text, _QUOTED.sub("_", text))


def question_of(
    definition: SiteDefinition, page: Page, fact: tuple[str, str, str], generator: np.random.Generator
) -> tuple[Question, str]:
    """A question for what a page states, and the kind of its answer.

    Raises:
        NotWorded: there are no words for it, or the page has no heading.
    """
    heading = heading_of(page)
    rules = [rule for rule in definition.facts if rule.term == fact[1]]
    if not heading or (definition.facts and not rules):
        raise NotWorded(f"the site has no words for {fact[1]}")
    if rules:
        rule = rules[0]
        words = text = _render(rule.words[int(generator.integers(len(rule.words)))], page=heading)
        kind: str = rule.kind
        form = "{0}" if generator.random() < _BARE else _WORDS["looks"][int(generator.integers(len(_WORDS["looks"])))]
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
