"""Where sentences end, and where they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["begins", "borders", "line_borders", "sentences", "spans"]

_WIDE = r"[。！？]+[\"'”’)\]」』）]*"
"""The stops of Chinese and Japanese: no white space follows them."""
_STOP = re.compile(rf"[.!?]+[\"'”’)\]]*(?=\s|\Z)|{_WIDE}")
_CLAUSE = re.compile(rf"[.!?:;]+[\"'”’)\]]*(?=\s|\Z)|{_WIDE}")
_SHORT = re.compile(r"(?:z\. ?B|d\. ?h|u\. ?a|o\. ?ä|s\. ?o|p\. ?ex)\b")
"""Abbreviations of several words: a stop inside one ends nothing."""
_DAY = re.compile(r"(?:^|\s)[0-3]?\d\.$")
_MONTH = re.compile(r"Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'‘])(?:e\.g|i\.e|etc|cf|vs|viz|resp|approx|incl|al|fig|figs|sec|sect|ch|chap|eq|ref|vol|pp|ed"
    r"|eds|bzw|bspw|ca|ggf|inkl|nr|vgl|abb|env|mme|mlle|mr|mrs|ms|dr|prof|st|mt|ft|jr|sr|inc|ltd|co|corp|dept|ver|min|max|op|(?-i:[A-Z]))\.$",
    re.IGNORECASE,
)
_LONGEST_ABBREVIATION = 12
"""Letters, with what stands around them: none begins further from its full stop."""
_NUMBERED = re.compile(r"(?:^|\W)nos?\.$", re.IGNORECASE)
_ITEM = re.compile(r"\s*\d+\.$")
"""The number of an item or a chapter: "9. Classes"."""
_WORD_END = re.compile(r"(?:[A-Za-z]{3,}|[)\]])\.$")
"""Before a lower-case letter, only a stop behind a word ends a sentence: "A name. id holds it." (an identifier)."""
_FIRST = re.compile(r"[\"'“‘„«(\[…]*\s*([^\W_])")
_BEGINS = re.compile(r"(?:[.!?:;…]\s+|[\"“(]\s*|[-–—]\s+|\n\s*)$")
_OPEN, _CLOSE = "([{", ")]}"
_BRACKET = re.compile(r"[(\[{]")


def borders(
    text: str, start: int = 0, end: int | None = None, *, capital: bool = False, clauses: bool = False
) -> Iterator[tuple[int, int]]:
    """(end of a sentence, beginning of the next) within ``text[start:end]`` (one paragraph), in order.

    A full stop ends a sentence when white space follows, it stands in no parenthesis, and it belongs to no
    abbreviation, initial or number of an item.

    Args:
        capital: The next sentence must begin with a capital or a digit: for prose without names in lower case.
        clauses: A colon or a semicolon ends one, too.
    """
    end = len(text) if end is None else min(end, len(text))
    begin = counted = _skip_space(text, start, end)
    depth = 0
    nested = _BRACKET.search(text, begin, end) is not None
    for match in (_CLAUSE if clauses else _STOP).finditer(text, begin, end):
        if nested:
            piece = text[counted : match.start()]
            depth = max(0, depth + sum(map(piece.count, _OPEN)) - sum(map(piece.count, _CLOSE)))
            counted = match.start()
        following = _skip_space(text, match.end(), end)
        if following == end or match.start() < begin or (depth and depth > sum(map(match.group().count, _CLOSE))):
            continue
        if text[match.start()] in "。！？":
            yield match.end(), following
            begin, depth, counted = following, 0, match.end()
            continue
        before = text[begin : match.start() + 1]
        if _inside(text, match.start(), before, following):
            continue
        # "etc." may end a sentence, but a wrong cut spoils two sentences and a missed one only makes a long one.
        if _ABBREVIATION.search(before, max(0, len(before) - _LONGEST_ABBREVIATION)) or _ITEM.match(before):
            continue
        if text[following].isdigit() and _NUMBERED.search(before):
            continue
        if not _is_capital(text, following) and (
            capital or (text[following].islower() and before[-1] not in ":;" and not _WORD_END.search(before))
        ):
            continue
        yield match.end(), following
        begin, depth, counted = following, 0, match.end()


def _is_capital(text: str, at: int) -> bool:
    """Whether what begins at ``at`` begins as a sentence does: with a digit or a letter that is not in lower case."""
    first = _FIRST.match(text, at)
    return first is not None and not first[1].islower()


def _inside(text: str, stop: int, before: str, following: int) -> bool:
    """Whether a full stop stands inside an abbreviation or a date ("z. B.", "3. Oktober")."""
    if stop and _SHORT.match(text, stop - 1):
        return True
    return before[-2:-1].isdigit() and _DAY.search(before) is not None and _MONTH.match(text, following) is not None


def spans(
    text: str, start: int = 0, end: int | None = None, *, capital: bool = False, clauses: bool = False
) -> list[tuple[int, int]]:
    """Spans of the sentences in ``text[start:end]`` (one paragraph); nothing between them but white space. Text that
    ends without a stop is a sentence too. Arguments are those of :func:`borders`."""
    end = len(text) if end is None else end
    found: list[tuple[int, int]] = []
    begin = _skip_space(text, start, end)
    for stop, following in borders(text, start, end, capital=capital, clauses=clauses):
        found.append((begin, stop))
        begin = following
    last = begin + len(text[begin:end].rstrip())
    return [*found, (begin, last)] if last > begin else found


def line_borders(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The :func:`borders` of several lines; every line ends a sentence."""
    at, end = start, len(text) if end is None else min(end, len(text))
    while (stop := text.find("\n", at, end)) >= 0:
        yield from borders(text, at, stop)
        at = stop + 1
        yield stop, at
    yield from borders(text, at, end)


def sentences(text: str, *, capital: bool = False, clauses: bool = False) -> list[str]:
    """The sentences of ``text``, line by line."""
    return [
        line[start:end] for line in text.split("\n") for start, end in spans(line, capital=capital, clauses=clauses)
    ]


def begins(text: str, at: int) -> bool:
    """Whether a sentence, a quotation, an item or a line begins at ``at``, so that a capital there says nothing."""
    return at == 0 or _BEGINS.search(text[max(0, at - 8) : at]) is not None


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start
