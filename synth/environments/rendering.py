"""Pages as an agent reads them: headings, links that can be followed, page borders. Pure text functions.

Links are written as markdown, ``[anchor](target)``, the target a document or a place in one (``document#place``); a
target with spaces or parentheses stands in angle brackets, ``[anchor](<target>)``.
``find_links`` reads exactly what ``link`` writes, so whoever sees an observation sees its options.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from synth.schemas.documents import Document, Link
from synth.text.sentences import borders

__all__ = ["SeenLink", "around", "find_links", "link", "one_line", "page_borders", "place", "plain", "render"]

_LINK = re.compile(r"\[((?:[^\[\]\\\n]|\\.)+)\]\((?:<([^<>\n]+)>|([^\s()<>]+))\)")
_ESCAPED = re.compile(r"\\([\\\[\]])")


@dataclass(frozen=True)
class SeenLink:
    """A link in an observation; ``start`` and ``end`` are offsets of the whole markdown."""

    anchor: str
    target: str
    start: int
    end: int


def link(anchor: str, target: str) -> str:
    """``[anchor](target)`` on one line, so that ``find_links`` gives both back."""
    text = re.sub(r"([\\\[\]])", r"\\\1", " ".join(anchor.split())) or "link"
    return f"[{text}](<{target}>)" if re.search(r"[\s()]", target) else f"[{text}]({target})"


def place(item: Link) -> str:
    """What a link leads to: a document, or a place in one (``document#place``)."""
    return f"{item.target}#{item.fragment}" if item.fragment else item.target


def find_links(text: str) -> Iterator[SeenLink]:
    """The links in ``text``, in order."""
    for match in _LINK.finditer(text):
        anchor = _ESCAPED.sub(r"\1", match.group(1))
        yield SeenLink(anchor, match.group(2) or match.group(3), match.start(), match.end())


def plain(text: str) -> str:
    """``text`` with every link replaced by its anchor."""
    return _LINK.sub(lambda match: _ESCAPED.sub(r"\1", match.group(1)), text)


def _headings(document: Document) -> list[tuple[int, int, str]]:
    """(start, end, markdown) of every heading: the span that it replaces, empty where the text has no heading line."""
    found: list[tuple[int, int, str]] = []
    for section in document.sections:
        if not section.heading:
            continue
        mark = f"{'#' * max(1, section.level)} {' '.join(section.heading.split())}"
        end = section.start
        while end > 0 and document.text[end - 1] in "\n\r":
            end -= 1
        start = document.text.rfind("\n", 0, end) + 1
        line = document.text[start:end]
        if line.strip().strip("#").strip() == section.heading.strip():
            found.append((start, end, mark))
        elif not (section.level == 1 and section.heading.strip() == document.title.strip()):
            found.append((section.start, section.start, f"{mark}\n"))
    return found


def page_borders(document: Document, size: int) -> list[tuple[int, int]]:
    """Cut the text into pages of at most about ``size`` code points; pages join to the whole text without a gap.

    Cuts fall between paragraphs, else lines, else sentences, else words; never inside a link, never behind a heading.
    """
    text = document.text
    links = sorted(document.links, key=lambda item: item.start)
    heads = {end: start for start, end, _ in _headings(document) if end > start}
    borders: list[tuple[int, int]] = []
    start = 0
    while len(text) - start > size:
        cut = _cut(text, start, start + size)
        cut = _outside(links, start, cut)
        stripped = len(text[start:cut].rstrip()) + start
        if heads.get(stripped, start) > start:
            cut = heads[stripped]
        borders.append((start, cut))
        start = cut
    borders.append((start, len(text)))
    return borders


def _cut(text: str, start: int, stop: int) -> int:
    floor = start + (stop - start) // 2
    for mark in ("\n\n", "\n"):
        at = text.rfind(mark, floor, stop)
        if at > floor:
            return at + len(mark)
    ends = [begin for _, begin in borders(text, floor, stop)]
    if ends:
        return ends[-1]
    at = text.rfind(" ", floor, stop)
    return at + 1 if at > floor else stop


def _outside(links: Sequence[Link], start: int, cut: int) -> int:
    for item in links:
        if item.start < cut < item.end:
            return item.start if item.start > start else item.end
    return cut


def render(document: Document, start: int, end: int) -> str:
    """``text[start:end]`` with headings as ``## Heading`` and links as markdown.

    A heading or link that crosses a border of the span is left as plain text; of overlapping links the first counts.
    """
    edits = [
        (s, e, new) for s, e, new in _headings(document) if start <= s and e <= end and (s < end or s == e == start)
    ]
    edits += [
        (item.start, item.end, link(document.text[item.start : item.end], place(item)))
        for item in document.links
        if start <= item.start < item.end <= end and document.text[item.start : item.end].strip()
    ]
    parts: list[str] = []
    at = start
    for first, last, new in sorted(edits, key=lambda edit: (edit[0], edit[1])):
        if first < at:
            continue
        parts += (document.text[at:first], new)
        at = last
    parts.append(document.text[at:end])
    return "".join(parts)


def one_line(passage: str) -> str:
    """A passage on one line; a heading in it leaves a gap."""
    lines = ["…" if line.startswith("#") else line for line in passage.split("\n")]
    return re.sub(r"(?:… )+…", "…", " ".join(" ".join(lines).split())).strip("… ")


def around(document: Document, start: int, end: int, context: int) -> tuple[int, int]:
    """The line around a match, at most ``context`` code points to each side, cut at words and never in a link."""
    text = document.text
    low = max(text.rfind("\n", max(0, start - context), start) + 1, 0)
    if low == 0 and start - context > 0:
        low = text.find(" ", start - context, start) + 1 or start
    high = text.find("\n", end, end + context)
    if high < 0:
        high = len(text) if end + context >= len(text) else max(text.rfind(" ", end, end + context), end)
    for item in document.links:
        if item.start < low < item.end:
            low = item.start
        if item.start < high < item.end:
            high = item.end
    return low, high
