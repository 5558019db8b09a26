"""What SQL in a definition may call beside SQLite's own: times without a clock, words, and seeded draws for data.

All are pure: equal arguments give equal results. ``roll``, ``word`` and ``code`` exist only while data is made.

Keys that an application hands out are unique, in no order, and can't be guessed from one another: the ``n``-th key of a
table is a keyed permutation of ``n`` written in the table's pattern (a Feistel network with cycle walking), so there is
nothing to look up and nothing to collide with.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

__all__ = ["MAKERS", "PURE", "add_functions", "add_makers", "after", "capacity", "code"]

_TIME = "%Y-%m-%d %H:%M"

PURE = frozenset({"add_days", "add_minutes", "contains", "minutes_between", "weekday"})
"""Functions that every statement of a definition may call."""
MAKERS = frozenset({"code", "roll", "word"})
"""Functions of ``data`` and ``boundaries``."""


def after(time: str, minutes: int) -> str:
    """The time so many minutes after ``YYYY-MM-DD HH:MM``; a date counts from its midnight."""
    return (_read(time) + timedelta(minutes=minutes)).strftime(_TIME)


def _read(text: str) -> datetime:
    return datetime.strptime(text, _TIME if " " in text else "%Y-%m-%d")


def _add_minutes(time: str | None, minutes: int | None) -> str | None:
    return None if time is None or minutes is None else after(time, minutes)


def _add_days(day: str | None, days: int | None) -> str | None:
    """The date so many days after a date or time."""
    if day is None or days is None:
        return None
    return (date.fromisoformat(day[:10]) + timedelta(days=days)).isoformat()


def _minutes_between(first: str | None, last: str | None) -> int | None:
    """Whole minutes from ``first`` to ``last``, negative when it is earlier."""
    if first is None or last is None:
        return None
    return int((_read(last) - _read(first)).total_seconds()) // 60


def _weekday(day: str | None) -> int | None:
    """1 = Monday to 7 = Sunday."""
    return None if day is None else date.fromisoformat(day[:10]).isoweekday()


def _contains(text: str | None, words: str | None) -> int:
    """1 when every word of ``words`` stands somewhere in ``text``, case and compatibility forms aside."""
    if text is None or words is None:
        return 0
    folded = _fold(text)
    return int(all(word in folded for word in _fold(words).split()))


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


_PADDING = re.compile(r"\*|\d{5}")
"""Of a format: a width that is an argument, or has five digits."""


def add_functions(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Add those that every statement may call. Gives a connection that they use, to be closed after ``connection``."""
    # SQLite's own would work for seconds on a width of 10^9 before it finds the text too long.
    own = sqlite3.connect(":memory:", check_same_thread=False)

    def formatted(form: str | None, *values: Any) -> Any:
        if form is not None and _PADDING.search(form):
            raise ValueError("a width of over 9,999 characters")
        marks = ", ".join("?" for _ in (form, *values))
        return own.execute(f"SELECT printf({marks})", (form, *values)).fetchone()[0]

    for name in ("format", "printf"):
        connection.create_function(name, -1, formatted, deterministic=True)
    for name, arity, function in (
        ("add_minutes", 2, _add_minutes),
        ("add_days", 2, _add_days),
        ("minutes_between", 2, _minutes_between),
        ("weekday", 1, _weekday),
        ("contains", 2, _contains),
    ):
        connection.create_function(name, arity, function, deterministic=True)
    return own


def add_makers(
    connection: sqlite3.Connection,
    *,
    secret: str,
    words: Mapping[str, Sequence[str | int] | Mapping[str | int, int]],
    codes: Mapping[str, str],
    problems: list[str],
) -> dict[str, int]:
    """Add the seeded draws. Gives the highest number of a key made so far, by table; it grows as data are made.

    Args:
        secret: Names the stream; equal secrets give equal data.
        words: Lists by name.
        codes: Pattern of keys by table.
        problems: What was wrong with a call is added here: SQLite keeps it to itself.
    """
    lists: dict[str, tuple[str | int, ...]] = {}
    for name, items in words.items():
        if isinstance(items, Mapping):
            lists[name] = tuple(word for word, weight in items.items() for _ in range(weight))
        else:
            lists[name] = tuple(items)

    def wrong(what: str) -> ValueError:
        problems.append(what)
        return ValueError(what)

    def roll(salt: str, i: int | str, n: int) -> int:
        if n < 1:
            raise wrong("roll(salt, i, n): n is at least 1")
        mixed = hashlib.blake2b(f"{secret}/{salt}/{i}".encode(), digest_size=8).digest()
        return int.from_bytes(mixed, "big") % n

    def word(name: str, i: int | str) -> str | int:
        listed, _, _ = name.partition(":")
        if listed not in lists:
            raise wrong(f"there is no list of words {listed!r} (there are: {', '.join(lists) or 'none'})")
        return lists[listed][roll(name, i, len(lists[listed]))]

    highest = dict.fromkeys(codes, -1)

    def key(table: str, i: int) -> str:
        if table not in codes:
            raise wrong(f"there is no table {table!r} with a `code` (there are: {', '.join(codes) or 'none'})")
        highest[table] = max(highest[table], i)
        return code(codes[table], f"{secret}/{table}", i)

    connection.create_function("roll", 3, roll, deterministic=True)
    connection.create_function("word", 2, word, deterministic=True)
    connection.create_function("code", 2, key, deterministic=True)
    return highest


_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without I and O, which are read as digits."""
_ROUNDS = 6


@lru_cache(maxsize=256)
def capacity(pattern: str) -> int:
    """How many keys a pattern has: ``#`` is a digit, ``@`` a letter."""
    return int(10 ** pattern.count("#") * len(_LETTERS) ** pattern.count("@"))


@lru_cache(maxsize=65_536)
def code(pattern: str, secret: str, number: int) -> str:
    """Key ``number`` (from 0) of ``pattern``. Different numbers give different keys.

    Raises:
        ValueError: the pattern has no so many keys.
    """
    size = capacity(pattern)
    if not 0 <= number < size:
        raise ValueError(f"the pattern {pattern!r} has {size} keys, number {number} is none of them")
    half = max(1, (max(size - 1, 1).bit_length() + 1) // 2)
    place = number
    while True:
        left, right = place >> half, place & ((1 << half) - 1)
        for turn in range(_ROUNDS):
            mixed = hashlib.blake2b(f"{secret}/{turn}/{right}".encode(), digest_size=8).digest()
            left, right = right, left ^ (int.from_bytes(mixed, "big") & ((1 << half) - 1))
        place = left << half | right
        if place < size:
            return _written(pattern, place)


def _written(pattern: str, place: int) -> str:
    signs = []
    for sign in reversed(pattern):
        if sign == "#":
            place, digit = divmod(place, 10)
            sign = str(digit)
        elif sign == "@":
            place, digit = divmod(place, len(_LETTERS))
            sign = _LETTERS[digit]
        signs.append(sign)
    return "".join(reversed(signs))
