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
from synth.reverse.web.acting import Action

__all__ = ["NotWorded", "Question", "question_of", "request_of"]

_ONE = ("Please {0}.", "Could you {0}?", "I'd like you to {0}.", "Can you {0}?", "{0^}, please.")
_MORE = (
    "Please {0}, and {1}.",
    "Could you {0}? And please {1}.",
    "I'd like you to {0} and to {1}.",
    "Two things: {0}, and {1}.",
    "{0^}, please. Then {1}.",
)
_LOOKS = ("{0}", "{0}", "I would like to know: {0*}", "A question: {0*}")
_QUOTED = re.compile(r"“[^”]*”|[\w.+-]+@[\w.]+\w|\d[\d :.-]*\d|\d")


class NotWorded(Exception):
    """Nobody would know how to ask for it."""


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
    definition: SiteDefinition, changes: Sequence[Change], actions: Sequence[Action], generator: np.random.Generator
) -> Question:
    """A request for ``changes``, in the site's own words; where it has none, in those of the elements used.

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
        clauses = _plain_clauses(actions)
        values += tuple(str(value) for action in actions for value in (*dict(action.arguments).values(), action.name))
    if not 1 <= len(clauses) <= 4:
        raise NotWorded(f"{len(clauses)} changes are no one request")
    made = _message(clauses, generator)
    return replace(made, told=tuple((clause, (*values, *_QUOTED.findall(clause))) for clause in clauses))


def _message(clauses: Sequence[str], generator: np.random.Generator) -> Question:
    forms = _ONE if len(clauses) == 1 else _MORE
    form = forms[int(generator.integers(len(forms)))]
    if len(clauses) > 2:
        clauses = [", ".join(clauses[:-1]), clauses[-1]]
    # A clause that goes on after a semicolon is a sentence's end.
    if any(";" in clause for clause in clauses[:-1]) or (";" in clauses[-1] and form.endswith("?")):
        form = forms[0]
    text = form.replace("{0^}", clauses[0][0].upper() + clauses[0][1:]).replace("{0}", clauses[0])
    text = text.replace("{1}", clauses[-1])
    return Question(text, _QUOTED.sub("_", text))


def _plain_clauses(actions: Sequence[Action]) -> list[str]:
    """Of a site of which nothing is known: what was filled in and what was pressed, by the names on the page."""
    clauses: list[str] = []
    fields: list[str] = []
    for action in actions:
        given = dict(action.arguments)
        if action.tool == "type":
            fields.append(f"“{given['text']}” as “{action.name}”" if given["text"] else f"nothing as “{action.name}”")
        elif action.tool == "select":
            fields.append(f"“{given['option']}” for “{action.name}”")
        elif action.role in ("checkbox", "switch", "radio"):
            fields.append(
                f"“{action.name}” ticked or not, other than it is"
                if action.role != "radio"
                else f"“{action.name}” chosen"
            )
        elif action.role == "link" or action.tool == "open":
            continue
        else:
            with_ = f" with {' and '.join(fields)}" if fields else ""
            clauses.append(f"use “{action.name}”{with_}")
            fields = []
    if fields:
        clauses.append(f"enter {' and '.join(fields)}")
    return clauses


def question_of(
    definition: SiteDefinition, heading: str, term: str, generator: np.random.Generator
) -> tuple[Question, str]:
    """A question for what a page states, and the kind of its answer.

    Raises:
        NotWorded: there are no words for it.
    """
    rules = [rule for rule in definition.facts if rule.term == term]
    if definition.facts and not rules:
        raise NotWorded(f"the site has no words for {term}")
    if rules:
        rule = rules[0]
        text = _render(rule.words[int(generator.integers(len(rule.words)))], page=heading)
        kind: str = rule.kind
    else:
        text, kind = f"What does the site give as “{term}” of “{heading}”?", "text"
    rule_words = text
    form = _LOOKS[int(generator.integers(len(_LOOKS)))]
    text = form.replace("{0*}", text[0].lower() + text[1:]).replace("{0}", text)
    told = (rule_words, (heading, term, *_QUOTED.findall(rule_words)))
    return Question(text, _QUOTED.sub("_", text), (told,)), kind


def _texts(value: Any) -> Iterator[str]:
    """Every text and number in a value."""
    if isinstance(value, dict | list | tuple):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        yield str(value)
