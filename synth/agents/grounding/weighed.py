"""How what was read compares with a rule: which forms of an application's words can be said after a history."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from synth.agents.contract import History, Prompt, Step, Turn
from synth.agents.grounding.check import ungrounded
from synth.agents.grounding.written import relative_forms, written_forms
from synth.text.dates import MONTHS

__all__ = ["brief", "comparisons", "is_compared"]

_EVEN = re.compile(r"(\$[\d,]+)\.00")
_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b(?! \d{{4}})")
_TODAY = re.compile(r"\bIt is (\d{4}-\d\d-\d\d)")


def brief(rule: str) -> str:
    """A rule as it is told beside others: without its full stop, and without what it says of itself behind a semicolon
    ("...; nothing stops it, but it is recorded")."""
    return rule.partition(";")[0].rstrip(".")


def comparisons(forms: Iterable[str], prompt: Prompt, history: History) -> list[str]:
    """Those of ``forms`` that name nothing that was not seen. Even sums and days are written as they were read."""
    texts = [prompt.question, *(result.content for step in history for result in step.results)]

    def read(match: re.Match[str]) -> str:
        return match.group() if any(match.group() in text for text in texts) else match[1]

    today = _TODAY.search(prompt.system)

    def called(match: re.Match[str]) -> str:
        return next((form for form in _days(match, today[1] if today else "") if _stands(form, texts)), match.group())

    written = [_DAY.sub(called, _EVEN.sub(read, form)) for form in forms]
    return [
        form
        for form in written
        if not ungrounded(prompt, (*history, Step(turn=Turn(thought=_begun(form)))), start=len(history))
    ]


def is_compared(forms: Sequence[str], said: str) -> bool:
    """Whether one of ``forms`` stands in ``said``, its days in any way in which days are written."""
    plain = _EVEN.sub(r"\1", said)
    every = (_EVEN.sub(r"\1", form) for form in forms)
    return any(_in_any_form(form, plain) or _in_any_form(form[:1].upper() + form[1:], plain) for form in every)


def _in_any_form(form: str, said: str) -> bool:
    if form in said:
        return True
    parts = _DAY.split(form)
    ways = ("|".join(map(re.escape, _ways(*parts[at : at + 2]))) for at in range(1, len(parts), 3))
    pattern = re.escape(parts[0])
    for way, rest in zip(ways, parts[3::3], strict=True):
        pattern += f"(?:{way}|today|tomorrow|yesterday){re.escape(rest)}"
    return len(parts) > 1 and re.search(pattern, said) is not None


def _days(match: re.Match[str], today: str) -> list[str]:
    """How a day may be written that stands without its year, as itself first."""
    if not today:
        return list(_ways(match[1], match[2]))
    day = f"{today[:4]}-{MONTHS.index(match[2]) + 1:02d}-{int(match[1]):02d}"
    return [*_ways(match[1], match[2]), *relative_forms(day, today)]


def _ways(day: str, month: str) -> tuple[str, ...]:
    forms = written_forms("", f"2031-{MONTHS.index(month) + 1:02d}-{int(day):02d}")
    plain = (form.replace(", 2031", "").replace(" 2031", "") for form in forms)
    return tuple(dict.fromkeys((f"{day} {month}", *(form for form in plain if month in form))))


def _stands(form: str, texts: Iterable[str]) -> bool:
    return any(re.search(rf"(?<![\w-]){re.escape(form)}(?![\w-])", text) for text in texts)


def _begun(form: str) -> str:
    return f"{form[:1].upper()}{form[1:]}."
