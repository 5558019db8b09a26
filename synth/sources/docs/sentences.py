"""Sentences of technical prose, with their places."""

from __future__ import annotations

import re

__all__ = ["sentences"]

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+|$)")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[“\"'])(?:e\.g|i\.e|etc|cf|vs|viz|resp|approx|incl|al|no|nos|fig|figs|sec|sect|ch|chap|eq|ref|vol|pp|ed|eds"
    r"|mr|mrs|ms|dr|prof|st|jr|sr|inc|ltd|co|corp|dept|ver|min|max|op|(?-i:[A-Z]))\.$",
    re.IGNORECASE,
)
_WORD_END = re.compile(r"(?:[A-Za-z]{3,}|[)\]])\.$")
"""Before a lower-case letter, only a stop behind a word ends a sentence: "A name. id holds it." (an identifier)."""
_OPEN, _CLOSE = "([{", ")]}"


def sentences(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """Spans of the sentences in ``text[start:end]`` (one paragraph), in order; nothing between them but white space.

    A full stop ends a sentence when white space follows, it stands in no parenthesis, and it does not belong to an
    abbreviation, an initial or a number. Text that ends without a stop is a sentence too.
    """
    end = len(text) if end is None else end
    found: list[tuple[int, int]] = []
    begin = _skip_space(text, start, end)
    depth_at = begin
    depth = 0
    for match in _END.finditer(text, begin, end):
        for c in text[depth_at : match.start()]:
            depth += (c in _OPEN) - (c in _CLOSE)
        depth = max(depth, 0)
        depth_at = match.start()
        stop = match.end()
        following = _skip_space(text, stop, end)
        closes = sum(c in _CLOSE for c in match.group())
        if depth - closes > 0 and following < end:
            continue
        before = text[begin : match.start() + 1]
        if following < end and (
            _ABBREVIATION.search(before) or (text[following].islower() and not _WORD_END.search(before))
        ):
            # "etc." and "No." may end a sentence, but a wrong cut spoils two sentences and a missed one only makes a
            # long one, which is then not used.
            continue
        if match.start() < begin:
            continue
        found.append((begin, stop))
        begin, depth, depth_at = following, 0, stop
    if begin < end:
        stop = end
        while stop > begin and text[stop - 1].isspace():
            stop -= 1
        if stop > begin:
            found.append((begin, stop))
    return found


def _skip_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start
