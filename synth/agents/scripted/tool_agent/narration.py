"""What agents that carry out plans say: thoughts that rest on what was observed, and the last message to the user."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.plan_view import stands_in
from synth.agents.scripted.phrases import Thoughts
from synth.environments.contract import ToolResult, ToolSchema
from synth.environments.observed import observe
from synth.environments.outline import Outline
from synth.lexicon.reading import phrases
from synth.text.words import FUNCTION_WORDS, words

__all__ = [
    "LONGEST",
    "GroundedNarration",
    "Narration",
    "answer_line",
    "cut",
    "ended",
    "is_clause",
    "joined",
    "line_with",
    "lines_about",
    "lines_on",
    "listed_kind",
    "listed_under",
    "lists_one",
    "looked_up",
    "looks_at",
    "named_in",
    "of_number",
    "outline_of",
    "rule_for",
    "said_by",
    "say_page_step",
    "shown_values",
    "things_of",
]

LONGEST = 170
"""Characters of a line that is quoted whole."""
_ORDINALS = frozenset(("first", "second", "third", "fourth", "fifth", "sixth"))
_MOST = 6
"""Values of a call that a thought names."""
_BEGINNING = 5
"""Letters that a verb and its nouns share."""
_VERBS = frozenset(("are", "fit", "fits", "has", "have", "is", "was", "were"))
"""Verbs by which a tool says what follows."""
_ITEM = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SMALL = frozenset(phrases("word_lists")["small"])
_NAMED_LINE = re.compile(r"([^\W\d][^:,]{0,30}): ")
_LISTING = frozenset(("find", "list", "search"))
_SHOWING = frozenset(("get", "read", "show"))
_NAMED = re.compile(r"“[^”]+”|[\w.+-]+@[\w.]+\w|\d[\d :.-]*\d")


class Narration(Thoughts):
    """Thoughts as they come: of a policy, which may name what it likes."""

    def text(self) -> str:
        """The whole thought."""
        return " ".join(part[0].upper() + part[1:] for part in self._parts if part)


class GroundedNarration(Thoughts):
    """Thoughts whose parts are dropped where they would name what was not seen: privilege may choose, never tell."""

    def __init__(self, prompt: Prompt, history: History, generator: np.random.Generator, *, terse: bool = True) -> None:
        super().__init__(prompt.question, generator, terse=terse, earlier=[step.turn.thought or "" for step in history])
        self._prompt = prompt
        self._history = history

    def text(self) -> str:
        """The thought, without the parts that name what was not seen."""
        parts = [part[0].upper() + part[1:] for part in self._parts if part]
        while parts:
            turn = Turn(thought=" ".join(parts))
            bad = ungrounded(self._prompt, (*self._history, Step(turn=turn)), start=len(self._history))
            kept = [part for part in parts if not any(found.text in part for found in bad)]
            if len(kept) == len(parts):
                return " ".join(parts) if not bad else ""
            parts = kept
        return ""


def line_with(values: Iterable[tuple[str, Any]], results: Sequence[ToolResult]) -> str | None:
    """The line of the latest observation that shows most of ``values`` (path, value), without its number."""
    wanted = list(values)
    best: tuple[int, str] | None = None
    for result in reversed(results):
        if result.error is not None:
            continue
        for line in result.content.split("\n"):
            if line.rstrip().endswith(":"):
                continue  # it only says what follows
            count = sum(stands_in(path, value, line) is not None for path, value in wanted)
            if count and (best is None or count > best[0]):
                best = (count, line)
        if best is not None:
            break
    if best is None:
        return None
    line = _ITEM.sub("", best[1].strip())
    return line.rstrip(".") if len(line) <= LONGEST and '"' not in line else None


def lines_about(
    rule: str,
    result: ToolResult,
    about: Collection[str] = (),
    *,
    arguments: Mapping[str, Any] | None = None,
    asked: str = "",
) -> tuple[int, list[str]]:
    """The lines of an observation that a rule is about, with how much they have in common with it: those that share
    most words, in their name above all ("Checked bags: 2"), and of these the ones that the request speaks of most; else
    the only ones that share a word. A list or a sentence that shares none is there as a whole, if it is short.

    Args:
        about: Of a list, the line that holds one of these is it.
        arguments: Of the call that the rule is kept before: lines on other numbers than its own are not meant.
        asked: The request.
    """
    if result.error is not None:
        return 0, []
    wanted, request = set(words(rule)) - FUNCTION_WORDS - _SMALL, set(words(asked))
    texts = [line.strip() for line in result.content.split("\n") if line.strip()]
    whole = len(texts) == 1 or (bool(texts) and texts[0].endswith(":"))
    own = [line for line in texts[1:] if any(value in line for value in about)] if whole else texts
    lines = of_number([line for line in own if '"' not in line and not line.endswith(":")], arguments or {})
    scored = [
        (len(wanted & set(words(line))) + len(wanted & set(words(_name(line)))), len(request & set(words(line))))
        for line in lines
    ]
    best = max(scored, default=(0, 0))
    found = [line for line, score in zip(lines, scored, strict=True) if score == best]
    if best[0] < 2 and not whole:
        found = [line for line in lines[1:] if wanted & set(words(line))]
        found = found if len({word for line in found for word in wanted & set(words(line))}) == 1 else []
    elif best[0] < 2 and len(found) != 1:
        found = [" ".join(texts)]
        best = (len(wanted & set(words(found[0]))), 0)
    told = [line.removeprefix("- ").rstrip(".") for line in found]
    return best[0], [line for line in told if '"' not in line and len(line) < LONGEST][:2]


def _name(line: str) -> str:
    """What a line calls what it shows ("Checked bags" of "Checked bags: 2")."""
    found = _NAMED_LINE.match(line)
    return found.group(1) if found is not None else ""


_CASES = 4
"""Lines that are quoted on one rule."""


def lines_on(rule: str, result: ToolResult) -> list[str]:
    """The lines of an observation that speak of the cases of a rule: those called after one ("Insured: no"), and those
    that speak of one that no line before them did."""
    if result.error is not None:
        return []
    cases = {word for word in words(rule) if len(word) > 3} - _SMALL
    told: list[str] = []
    spoken: set[str] = set()
    for text in result.content.split("\n"):
        line = text.strip().removeprefix("- ").rstrip(".")
        here = cases & set(words(line))
        if '"' not in line and len(line) < LONGEST and (here - spoken or cases & set(words(_name(line)))):
            told.append(line)
            spoken |= here
    return told[:_CASES]


def listed_kind(tool: str) -> str:
    """What a tool lists, by its name (``list_orders``: orders); empty where the name does not say."""
    verb, _, kind = tool.partition("_")
    return kind.replace("_", " ") if verb in _LISTING and kind.endswith("s") else ""


def looked_up(tool: str) -> str:
    """What a tool that looks things up shows, by its name (``find_order``: order); empty where that does not say."""
    verb, _, kind = tool.partition("_")
    return kind.replace("_", " ") if verb in _LISTING | _SHOWING else ""


def things_of(tool: str) -> frozenset[str]:
    """The kinds of things in a tool's name, in the singular (``add_tasks``: task)."""
    return frozenset(word.removesuffix("s") for word in tool.split("_")[1:])


def listed_under(line: str, results: Sequence[ToolResult]) -> str | None:
    """What the latest observation that holds ``line`` says of the list in which that stands beside others ("Ann Bo has
    2 orders"); None where it is no such list, empty where that can't be told as it is."""
    for result in reversed(results):
        lines = [text for text in result.content.split("\n") if text.strip()]
        at = next((n for n, text in enumerate(lines) if line in text), None)
        if at is not None:
            header = lines[0].strip().removesuffix(":")
            is_list = len(lines) > 2 and at > 0 and lines[0].rstrip().endswith(":")
            return None if not is_list else header if '"' not in header and len(header) <= LONGEST else ""
    return None


def lists_one(result: ToolResult) -> bool:
    """Whether an observation is a list that holds one thing."""
    lines = [text for text in result.content.split("\n") if text.strip()]
    return len(lines) == 2 and lines[0].rstrip().endswith(":")


def looks_at(tool: str, arguments: Mapping[str, Any], value: str) -> tuple[str, str]:
    """The intention of who looks up ``value``, an id, and what kind of thing the call shows, by the names of tool and
    argument (``get_order`` of an ``order_id``: order; ``list_orders`` of a ``customer_id``: orders)."""
    verb, _, kind = tool.partition("_")
    given = next((name for name, one in arguments.items() if name.endswith("_id") and one == value), "")
    if given and (kinds := listed_kind(tool)):
        return "p_look_kinds", kinds
    one_of = verb in _SHOWING and given == f"{kind}_id"
    return ("p_look_kind", kind.replace("_", " ")) if one_of else ("p_look", "")


def of_number(lines: Sequence[str], arguments: Mapping[str, Any]) -> list[str]:
    """Without lines on other numbers than the one that is meant: where that is leg 2, "Leg 1: ..." decides nothing."""
    left = list(lines)
    for name, number in arguments.items():
        own = [line for line in left if line.casefold().startswith(f"{name} {number}:".casefold())]
        alike = [line for line in left if own and line.casefold().startswith(f"{name} ".casefold())]
        left = [line for line in left if line in own or line not in alike]
    return left


def say_page_step(thoughts: Thoughts, question: str, outline: Outline, tool: str, arguments: Mapping[str, Any]) -> None:
    """What a step on a web page is for: the element, by its name."""
    found = outline.element(str(arguments.get("ref", "")))
    if found is None:
        return
    role, name = found
    if tool == "type":
        thoughts.add("p_type" if arguments.get("text") else "p_clear", name=name, text=arguments.get("text"))
    elif tool == "select":
        thoughts.add("p_select", name=name, option=arguments.get("option"))
    elif role == "link":
        named = name.casefold() in question.casefold()
        thoughts.add("p_link_named" if named else "p_link", name=name)
    elif role in ("checkbox", "radio", "switch"):
        thoughts.add("p_tick", name=name)
    else:
        thoughts.add("p_press", name=name)


def answer_line(question: str, answer: str, results: Sequence[ToolResult]) -> str | None:
    """The line of the latest observation that holds the answer, of several the one that speaks most of the question:
    by what it is called ("Assignee: ..." to who asks for whom it is assigned to), then by all of its words."""
    asked = {word.removesuffix("s") for word in words(question)}
    begun = _beginnings(question)
    for result in reversed(results):
        lines = [line.strip().removeprefix("- ").rstrip(".") for line in result.content.split("\n")]
        # What was spent stands below zero in a list, and is told without the sign.
        forms = (answer, f"-{answer}") if answer.startswith("$") else (answer,)
        holding = [one for one in lines if not one.endswith(":") and any(stands_in("", f, one) for f in forms)]
        if not holding and answer.isdecimal() and stands_in("", answer, lines[0]) is not None:
            holding = [lines[0].rstrip(":")]  # how many there are stands above a list
        told = [one for one in (_cut(line, answer) for line in holding) if len(one) <= LONGEST and '"' not in one]
        if holding:
            return max(
                told,
                key=lambda line: (
                    len(begun & _beginnings(_name(line))),
                    len(asked & {word.removesuffix("s") for word in words(line)}),
                ),
                default=None,
            )
    return None


def _beginnings(text: str) -> set[str]:
    """Words by their first letters, by which a verb and its noun are alike ("assigned", "assignee")."""
    return {word[:_BEGINNING].removesuffix("s") for word in words(text) if len(word) > 2 and word not in _SMALL}


def cut(line: str) -> str:
    """A line that is too long to be quoted, up to the last comma that leaves it short enough."""
    return line if len(line) <= LONGEST else line[: max(line.rfind(", ", 0, LONGEST), 0)]


def _cut(line: str, answer: str) -> str:
    """A long line up to the comma behind what it is quoted for."""
    at = max((form.end() for form in re.finditer(re.escape(answer), line[:LONGEST])), default=0)
    end = line.find(", ", at, LONGEST)
    return line if len(line) <= LONGEST or not at or end < 0 else line[:end]


def is_clause(header: str) -> bool:
    """Whether the first line of a list is a sentence ("Ann Bo has 2 orders"), and no bare number of things."""
    return not _VERBS.isdisjoint(words(header))


def named_in(question: str) -> str | None:
    """What a request is about, as it writes it: what it quotes, else an address or a number of it. None where it has
    neither."""
    found = _NAMED.search(question)
    return found.group() if found is not None else None


def rule_for(system: str, tool: ToolSchema, governing: Sequence[str]) -> str | None:
    """Of the rules that are kept before ``tool`` (``governing``), the one that speaks most in its words; None where the
    policy in ``system`` says none of them, or only one that is too long to quote."""
    named, told = _stems(tool.name.replace("_", " ")), _stems(tool.description)
    lines = {line[2:].strip() for line in system.partition("## Policy")[2].split("\n") if line.startswith("- ")}
    best: tuple[int, str] | None = None
    for rule in governing:
        stems = _stems(rule)
        # What the tool is called says more than how it is described.
        shared = 3 * len(named & stems) + len((told - named) & stems)
        if rule in lines and '"' not in rule and len(rule) <= 2 * LONGEST and (best is None or shared > best[0]):
            best = (shared, rule)
    return None if best is None else best[1]


def _stems(text: str) -> set[str]:
    """Verbs and their nouns alike ("confirmed", "confirmation"); these cuts choose the rule that a thought quotes."""
    found = (word.casefold() for word in _WORD.findall(text))
    cut = (re.sub(r"(?:ations?|ings?|ed|es|s)$", "", word) for word in found if word not in _SMALL)
    return {re.sub(r"(?<=[a-z]{2})([a-z])\1$", r"\1", word) for word in cut}


def shown_values(arguments: dict[str, Any], texts: Sequence[str]) -> list[str]:
    """Values of a call in the form in which a text showed them; long and unseen ones are left out."""
    found: dict[str, None] = {}
    for name, value in _leaves(arguments):
        if isinstance(value, bool):
            # Named as it is ("insured", "not insured"), as nothing shows it in words of its own.
            found.setdefault(f"{'' if value else 'not '}{name.replace('_', ' ')}")
            continue
        if len(str(value).split()) > 3:
            continue
        forms = (stands_in(name, value, text) for text in reversed(texts))
        # "Thank you for telling me first" says no number of bags.
        several = isinstance(value, int) and name.endswith("s")
        form = next((form for form in forms if form is not None and not (several and form in _ORDINALS)), None)
        if form is not None:
            money, count = name.endswith("cents"), isinstance(value, int) and "_" not in name
            noun = name.removesuffix("s") if value == 1 else name
            one_of = not name.endswith("s")  # "leg 1" is no number of legs
            counted = f"{name} {value}" if one_of else f"{form} {noun}"
            below = "-" if money and any(f"-${form}" in text for text in texts) and str(value).startswith("-") else ""
            found.setdefault(f"{below}${form}" if money else counted if count else form)
    return list(found)[:_MOST]


def joined(values: Sequence[str], text: str) -> str:
    """The longest run of ``values`` that stands in ``text`` as one: a given name and a family name."""
    for count in range(len(values), 1, -1):
        for order in permutations(values[:4], min(count, 4)):
            if " ".join(order) in text:
                return " ".join(order)
    return values[0]


def _leaves(value: Any, name: str = "") -> Iterable[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(item, str(key))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item, name)
    elif value is not None:
        yield name, value


def ended(text: str) -> str:
    """With a full stop, where it has no end."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def said_by(result: ToolResult, longest: int = 320) -> str:
    """What an observation says, as one line: whole sentences, as far as they fit."""
    if isinstance(shown := observe(result.content), Outline):
        return shown.status
    text = " ".join(line.strip() for line in result.content.split("\n") if line.strip())
    if len(text) <= longest:
        return text
    cut = text[:longest]
    end = max(cut.rfind(". "), cut.rfind("; "))
    return cut[: end + 1] if end > 40 else ""


def outline_of(result: ToolResult) -> Outline | None:
    """The web page that an observation shows."""
    shown = observe(result.content)
    return shown if isinstance(shown, Outline) else None
