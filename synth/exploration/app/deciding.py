"""What in an observation decides a request: the lines that a rule depends on, the amount that a call costs, and the
line by which a change shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from synth.environments.app.environment import AppEpisode
from synth.environments.app.requests import Confirm, holes_in
from synth.environments.contract import ToolCall
from synth.exploration.app.phrases import plain
from synth.schemas.plans import Given, PlannedCall
from synth.text.words import FUNCTION_WORDS, words

__all__ = [
    "Amount",
    "applying",
    "bears_on",
    "cents_in",
    "deciding",
    "is_outdated",
    "look_again",
    "named_by",
    "priced",
    "seen_by",
    "sights",
    "sum_in",
]

_QUOTE = 110
"""Characters of a line that a rule goes by; a longer one ends before."""
_PRICE = 240
"""Characters of a line that says what something costs."""
_SHOWN = 160
"""Characters of a line that shows a change."""
_WHOLE = 5
"""Lines of a list that is quoted as a whole, since what is looked for is not on it."""


@dataclass(frozen=True)
class Amount:
    """What a planned call charges or refunds."""

    what: str
    """``charge`` or ``refund``."""
    amount: str
    asks: tuple[str, ...]
    number: int
    """Of the call, among the plan's calls or its attempts."""
    attempt: bool

    @classmethod
    def of(
        cls, confirm: Confirm, row: Mapping[str, Any], line: str, number: int, today: str, *, attempt: bool
    ) -> Amount:
        """That which a line announces, with the questions that put it to the person."""
        values = {**row, "amount": sum_in(confirm, line), "line": f"{line}."}
        asks = tuple(plain(words, values, today) for words in confirm.words)
        return cls(confirm.what, values["amount"], asks, number, attempt)


def applying(pieces: Sequence[str], row: Mapping[str, Any]) -> list[str]:
    """Those of a look-up's templates that are about a row: what names a column that is empty there is not."""
    return [piece for piece in pieces if all(row[name] is not None for name in holes_in(piece))]


def deciding(shown: str, pieces: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of an observation that hold one of ``pieces``; and what shows that none does: all of it, if it is
    short, else its first line."""
    lines = [(line, quote) for line in shown.splitlines() if (quote := _quotable(line, _QUOTE)) is not None]
    held = [quote for line, quote in lines if any(piece in line for piece in pieces)]
    return held, [quote for _, quote in lines[: len(lines) if len(lines) <= _WHOLE else 1]]


def named_by(pieces: Sequence[str], row: Mapping[str, Any], today: str) -> str | None:
    """What of a row the lines that decide would have to name; None where they are the same for all rows."""
    slots = [slot for piece in pieces for slot in re.findall(r"\{[^}]+\}", piece)]
    return plain(slots[0], row, today) if slots else None


def priced(confirm: Confirm, shown: str) -> str | None:
    """The line of an observation that says what a call costs."""
    lines = (_quotable(line, _PRICE) for line in shown.splitlines())
    return next((line for line in lines if line is not None and confirm.amount in line), None)


def sights(episode: AppEpisode, calls: Sequence[PlannedCall], arguments: Mapping[str, Any]) -> dict[int, str]:
    """What those of the look-ups ``calls`` show now that are about what a call is given, and about nothing else."""
    given, shown = set(map(str, arguments.values())), dict[int, str]()
    for number, look in enumerate(calls):
        about = {value for value in look.arguments.values() if isinstance(value, str)}
        if about and about <= given and not look.changes:
            shown[number] = look_again(episode, look)
    return shown


def is_outdated(before: str, now: str, pieces: Sequence[str]) -> bool:
    """Whether what decides, the lines with ``pieces`` or else all of it, is no longer what it was."""
    return deciding(before, pieces)[0] != deciding(now, pieces)[0] if pieces else before != now


def look_again(episode: AppEpisode, look: PlannedCall) -> str:
    """What a look-up would show now; the episode stays as it is."""
    now = episode.snapshot()
    content = episode.step(ToolCall(id="again", name=look.tool, arguments=look.arguments)).content
    episode.restore(now)
    return content


def seen_by(before: Mapping[int, str], after: Mapping[int, str], said: str) -> Given | None:
    """The look-up that shows a change, of those that were made before and after it, and the line by which it does."""
    lines = {number: _news(text, after[number], said) for number, text in before.items()}
    seen = (Given(source="observation", words=line, call=number) for number, line in lines.items() if line)
    return next(seen, None)


def _news(before: str, after: str, said: str) -> str | None:
    """The line of an observation by which it shows a change: one that was not there before, and of which what is new is
    what the call has ``said``. None where there is no such line."""
    known = [line.strip() for line in before.splitlines()]
    spoken = set(words(said))
    found: list[tuple[int, int, str]] = []
    for at, line in enumerate(after.splitlines()):
        text = line.strip()
        if text in known or _quotable(text, _SHOWN) != text.removeprefix("- ").rstrip(".:"):
            continue
        was = get_close_matches(text, known, n=1)
        new = spoken & (set(words(text)) - set(words(was[0] if was else "")))
        if new:
            found.append((len(new), -at, text))
    return max(found)[2] if found else None


def sum_in(confirm: Confirm, line: str) -> str:
    """The sum behind the words that announce it; empty where nothing is charged or refunded."""
    found = re.match(r"\$[\d,]+\.\d\d", line.partition(confirm.amount)[2])
    return "" if found is None or found.group() == "$0.00" else found.group()


def cents_in(line: str) -> int | None:
    """The first sum of money of a line, in cents."""
    found = re.search(r"\$([\d,]+)\.(\d\d)", line)
    return None if found is None else 100 * int(found[1].replace(",", "")) + int(found[2])


def bears_on(rule: str, confirm: Confirm, line: str) -> bool:
    """Whether a line that says what something costs has what a rule speaks of: who pays by card need not think of
    vouchers."""
    return bool(sum_in(confirm, line) and (set(words(rule)) - FUNCTION_WORDS) & set(words(line)))


def _quotable(line: str, most: int) -> str | None:
    """A line as it is quoted; None where it is empty or holds a quotation itself."""
    text = line.strip().removeprefix("- ").rstrip(".:")
    if len(text) > most:
        text = text[: max(text.rfind(", ", 0, most), 0)]
    return text if text and '"' not in text else None
