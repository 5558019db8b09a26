"""What a request and a line of an observation both say: by which details a line is the one that is meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from synth.agents.grounding.written import relative_forms, written_forms
from synth.agents.plan_view import PlanView
from synth.environments.contract import ToolResult
from synth.schemas.plans import Given, UserFact
from synth.text.sentences import sentences
from synth.text.words import FUNCTION_WORDS

__all__ = [
    "answers",
    "as_it_stands",
    "as_quoted",
    "coded",
    "details_of",
    "marks_of",
    "only_called",
    "today_in",
    "untold_given",
]

_MARKS = 3
"""Details by which a line is said to be the one that is meant."""
_WRITER = re.compile(
    r"(?<=\b[Mm]y name is )[\w' -]+|(?<=\bI am )[A-Z][\w'-]+ [A-Z][\w'-]+|(?<=\bI'm )[A-Z][\w'-]+ [A-Z][\w'-]+"
    r"|(?<=\b[Tt]his is )[A-Z][\w'-]+ [A-Z][\w'-]+|[A-Z][\w'-]+ [A-Z][\w'-]+(?= (?:from (?:the )?\w+(?: \w+)? )?here\b)"
)
_TODAY = re.compile(r"\bIt is (\d{4}-\d\d-\d\d)")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_QUOTED = re.compile(r"[“\"]([^“”\"]+)[”\"]")
_DETAIL = re.compile(
    r"[\w.+-]+@[\w.]+\w|\d{4}-\d\d-\d\d|\$[\d,]+(?:\.\d\d)?|[A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)*|\d[\d,.:]*\d"
)


def details_of(question: str, line: str) -> list[str]:
    """What of ``line`` the question says too, as the question writes it: names, dates, amounts."""
    quoted = _QUOTED.findall(question)
    question = _about(question, line)
    found: dict[str, None] = {f"“{title}”": None for title in quoted if title in line}
    for match in _DETAIL.finditer(line):
        token = match.group().strip(".,:;")
        if any(token in title for title in quoted) or re.fullmatch(r"\d{1,2}", token):
            continue  # "22" of "22 free" is no "22 May"
        token = _as_asked(token, line[match.end() :], question)
        name = "cents" if token.startswith("$") else ""
        value: Any = token
        if name:
            value = round(float(token[1:].replace(",", "")) * 100)
        for form in written_forms(name, value):
            hit = re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", question)
            if hit and len(form) > 1:
                found.setdefault(f"${form}" if name and f"${form}" in question else form)
                break
    return [one for one in found if not any(one in other for other in found if other != one)][:3]


def _about(question: str, line: str) -> str:
    """The question without the writer's own name and, where it names several titles and the line has some of them,
    without what stands nearest to another ("our issue “A” blocks the bug “B” of Payments")."""
    question = _WRITER.sub(lambda own: "·" * len(own.group()), question)
    titles = [(match.start(), match.end(), match[1] in line) for match in _QUOTED.finditer(question)]
    if all(mine for *_, mine in titles) or not any(mine for *_, mine in titles):
        return question
    kept = []
    for match in re.finditer(r"\S+|\s+", question):
        near = min(titles, key=lambda title: max(title[0] - match.end(), match.start() - title[1], 0))
        kept.append(match.group() if near[2] or match.group().isspace() else "·" * len(match.group()))
    return "".join(kept)


def _as_asked(token: str, rest: str, question: str) -> str:
    """A name with the small words that follow it, where the question has them, too ("Public" of "Public transport")."""
    following = re.match(r"(?: [a-z]+)*", rest) if token[:1].isupper() else None
    for word in following.group().split() if following is not None else ():
        longer = f"{token} {word}"
        if word in FUNCTION_WORDS or not re.search(rf"(?<!\w){re.escape(longer)}(?!\w)", question):
            break
        token = longer
    return token


def as_quoted(values: Sequence[str], text: str) -> list[str]:
    """The values, in quotation marks wherever ``text`` quotes them, so that titles stand out."""
    return [f"“{value}”" if f"“{value}”" in text else value for value in values]


def coded(question: str, line: str, known: Sequence[ToolResult] = ()) -> list[str]:
    """Names of a question whose code a line has ("GVA" of Geneva). None that ``known`` observations write out where no
    such code stands: those are names of something else."""
    codes = {code: ".*".join(code) for code in re.findall(r"\b[A-Z]{3}\b", line)}
    written = [text for result in known for text in result.content.split("\n")]
    found: dict[str, None] = {}
    for name in re.findall(r"\b[A-Z][a-z]{3,}\b", question):
        own = [code for code, letters in codes.items() if re.match(letters, name.upper())]
        if own and not any(name in text and not any(code in text for code in own) for text in written):
            found.setdefault(name)
    return list(found)


def today_in(system: str) -> str:
    """The day that it is, as the instructions say it; empty where they do not."""
    found = _TODAY.search(system)
    return "" if found is None else found.group(1)


def _relative(question: str, line: str, today: str) -> list[str]:
    """Days of a line that the question calls by where they are from ``today`` ("tomorrow")."""
    forms = [form for day in _DAY.findall(line) for form in relative_forms(day, today)]
    return [form for form in dict.fromkeys(forms) if re.search(rf"\b{form}\b", question)]


def marks_of(
    question: str,
    line: str,
    shown: Sequence[ToolResult],
    known: Sequence[ToolResult] | None = None,
    *,
    today: str = "",
) -> list[str]:
    """Those details of a line by which it is the one that is meant: none where another line of what it stands in has
    all of them, too. ``known``: all that was observed; None = codes of names are not looked for.
    ``today``: the day that it is; empty = days are not called by it."""

    def has(text: str) -> list[str]:
        days = _relative(question, text, today) if today else []
        codes = coded(question, text, known) if known is not None else []
        return list(dict.fromkeys((*details_of(question, text), *days, *codes)))

    found = has(line)
    listed = next((result.content for result in shown if line in result.content), "")
    others = [other for other in listed.split("\n") if line not in other]
    return [] if any(set(found) <= set(has(other)) for other in others) else found[:_MARKS]


def only_called(question: str, line: str, shown: Sequence[ToolResult]) -> str | None:
    """A title of the request that a line has and nothing behind it, while others of what it stands in have more."""
    lists = [result.content.split("\n") for result in shown if line in result.content]
    for title in _QUOTED.findall(question):
        holding = [one for one in (lists[0] if lists else ()) if title in one]
        whole = [one for one in holding if not re.search(rf"{re.escape(title)}[ -]\w", one)]
        if len(holding) > 1 and len(whole) == 1 and line in whole[0]:
            return str(title)
    return None


def answers(fact: UserFact, line: str, question: str) -> list[str]:
    """What of a line only the user's answer says, and not the question."""
    known = details_of(question, line)
    return [one for one in details_of(fact.says, line) if not any(one in other for other in known)]


def untold_given(view: PlanView, line: str) -> Given | None:
    """Where a line is read for a planned call, and the user has not said yet by what it is the one that is meant."""
    calls = (*view.plan.calls, *view.plan.attempts)
    every = [given for call in calls for given in call.given.values() if given.told and line in given.words]
    return next((given for given in every if not view.is_told(given)), None)


_HOLDS = re.compile(r"^(?P<who>[^$]+?) (?:now )?holds -?\$\d")
_LEFT = re.compile(r"(?<=from |..to )(?P<who>[^()$]+?) \(now -?\$[\d,.]+\)")


def as_it_stands(told: Sequence[str]) -> list[str]:
    """What changes said, in order, without what they said of how much something holds where a later one says how much
    it holds by then."""
    known: set[str] = set()
    kept: list[str] = []
    for text in reversed(told):
        said = sentences(text, capital=True)
        rest = [_still(sentence, known) for sentence in said]
        held = [_HOLDS.match(sentence) for sentence in said]
        known |= {found["who"] for found in (*_LEFT.finditer(text), *held) if found is not None}
        if any(rest):
            kept.append(" ".join(filter(None, rest)))
    return kept[::-1]


def _still(sentence: str, known: Collection[str]) -> str:
    """A sentence without what those hold of whom that is ``known`` from later; empty where nothing is left."""
    held = _HOLDS.match(sentence)
    if held is not None:
        return "" if held["who"] in known else sentence
    return _LEFT.sub(lambda found: found["who"] if found["who"] in known else found.group(), sentence)
