"""Tools as a user writes them beside the search of a recipe."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any, Literal


def days_between(first: date, last: date, unit: Literal["days", "weeks"] = "days") -> str:
    """Count the days or weeks between two dates.

    Args:
        first: The earlier date,
            as YYYY-MM-DD.
        last: The later date.
    """
    if last < first:
        raise ValueError("The later date comes first.")
    days = (last - first).days
    return f"{days // 7 if unit == 'weeks' else days} {unit}"


def length(document: str, *, environment: Any) -> str:
    """Say how long a document is."""
    page = environment.document(document)
    if page is None:
        raise LookupError(f"There is no {document!r}.")
    return f"{len(page.text)} characters"


def broken(number: int) -> str:
    """Divide by a number."""
    return str(1 // number)


def mute() -> str:
    """Say nothing."""
    return None  # type: ignore[return-value]


def bare(number: int) -> str:
    return str(number)


def untyped(number) -> str:  # type: ignore[no-untyped-def]
    """Take anything."""
    return str(number)


def many(*numbers: int) -> str:
    """Take many."""
    return str(sum(numbers))


def odd(task: asyncio.Task[int]) -> str:
    """Take no JSON."""
    return str(task)


async def later() -> str:
    """Answer later."""
    return ""
