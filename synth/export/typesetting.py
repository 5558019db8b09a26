"""Pages set in type, as pictures on which the place of every letter is known."""

from __future__ import annotations

import io
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil
from pathlib import Path
from typing import Any

from synth.distribution import install
from synth.errors import InputError
from synth.export.contract import Inexpressible, Why
from synth.schemas.documents import Document

__all__ = [
    "HEADING_SIZE",
    "HEIGHT",
    "LEADING",
    "MARGIN",
    "TEXT_SIZE",
    "WIDTH",
    "Line",
    "Picture",
    "Region",
    "check_letters",
    "font",
    "pictures",
    "pillow",
    "regions",
    "set_in_type",
]

WIDTH, HEIGHT, MARGIN = 800, 1100, 50
"""Of a picture, in pixels; the margin is left free on all sides."""
TEXT_SIZE, HEADING_SIZE = 17, 23
LEADING = 1.5
_WIDEST = WIDTH - 2 * MARGIN
"""Of a line, in pixels, and more letters than any line has."""


@dataclass(frozen=True)
class Line:
    """A line of a picture: ``text[start:end]`` of the page; a title that is not in the text has an empty span."""

    picture: int
    top: int
    start: int
    end: int
    words: str
    size: int

    @property
    def bottom(self) -> int:
        return self.top + ceil(self.size * LEADING)


@dataclass(frozen=True)
class Picture:
    """One picture of a page."""

    document_id: str
    number: int
    """Which of the page's pictures it is, from 0."""
    lines: tuple[Line, ...]

    def png(self) -> bytes:
        """The picture itself, black on white: WIDTH by at most HEIGHT, cut below the last line."""
        image = pillow().Image.new("L", (WIDTH, self.lines[-1].bottom + MARGIN), 255)
        pen = pillow().ImageDraw.Draw(image)
        for line in self.lines:
            pen.text((MARGIN, line.top), line.words, fill=0, font=font(line.size))
        file = io.BytesIO()
        image.save(file, "PNG")
        return file.getvalue()


@dataclass(frozen=True)
class Region:
    """Where a part of a quote stands: within one line of a picture."""

    number: int
    """Of the page's pictures."""
    box: tuple[int, int, int, int]
    """Left, top, right and bottom in pixels from the upper left corner."""
    words: str


def set_in_type(document: Document) -> tuple[Line, ...]:
    """The lines of a page, from its first picture to its last.

    Raises:
        Inexpressible: it has letters that the font lacks.
        InputError: the extra ``pictures`` is not installed.
    """
    text, made = document.text, list[Line]()
    headings = {len(text[: section.start].rstrip("\n\r")) for section in document.sections if section.heading}
    if not text.lstrip("# \n").startswith(document.title):
        _add(made, document.title, 0, 0, HEADING_SIZE)
    for match in re.finditer(r"[^\n\r]+", text):
        at, words, size = match.start(), match.group(), TEXT_SIZE
        if match.end() in headings:
            words, size = words.lstrip("# "), HEADING_SIZE
            at = match.end() - len(words)
        for start, end in _wrapped(words, size):
            _add(made, words[start:end], at + start, at + end, size)
    return tuple(made)


def pictures(document: Document, lines: Sequence[Line]) -> list[Picture]:
    """The pictures of a page, in order."""
    last = lines[-1].picture if lines else -1
    of = [tuple(line for line in lines if line.picture == number) for number in range(last + 1)]
    return [Picture(document.id, number, held) for number, held in enumerate(of)]


def regions(lines: Sequence[Line], start: int, end: int) -> Iterator[Region]:
    """Where ``text[start:end]`` stands, line by line."""
    for line in lines:
        left, right = max(start, line.start), min(end, line.end)
        words = line.words[left - line.start : right - line.start]
        if left < right and words.strip():
            face = font(line.size)
            before = MARGIN + face.getlength(line.words[: left - line.start])
            after = MARGIN + face.getlength(line.words[: right - line.start].rstrip())
            yield Region(line.picture, (int(before), line.top, ceil(after), line.bottom), words.strip())


def check_letters(words: str) -> None:
    """Raises Inexpressible: it has letters that the font lacks."""
    unknown = sorted(letter for letter in set(words) if not letter.isspace() and not _is_known(letter))
    if unknown:
        raise Inexpressible(Why.NO_GLYPHS, " ".join(unknown[:5]))


def _add(made: list[Line], words: str, start: int, end: int, size: int) -> None:
    check_letters(words)
    picture, top = (made[-1].picture, made[-1].bottom) if made else (0, MARGIN)
    if made and made[-1].size != size:
        top += size // 2
    if top + ceil(size * LEADING) > HEIGHT - MARGIN:
        picture, top = picture + 1, MARGIN
    made.append(Line(picture, top, start, end, words, size))


def _wrapped(text: str, size: int) -> Iterator[tuple[int, int]]:
    """Spans of the lines that ``text`` is broken into, between words and, where one is too long, within it."""
    start = end = 0
    for word in re.finditer(r"\s*\S+\s*", text):
        if end > start and not _fits(text, start, word.end(), size):
            yield start, end
            start = word.start()
        end = word.end()
        while not _fits(text, start, end, size):
            # A line is wider the more letters it has; a page may be one word of a million.
            longest = range(start + 1, min(end, start + _WIDEST) + 1)
            most = start + max(1, bisect_left(longest, True, key=lambda at: not _fits(text, start, at, size)))
            yield start, most
            start = most
    if end > start:
        yield start, end


def _fits(text: str, start: int, end: int, size: int) -> bool:
    words = text[start:end].rstrip()
    return len(words) <= _WIDEST and font(size).getlength(words) <= _WIDEST


@cache
def pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ModuleNotFoundError:
        raise InputError("pictures need Pillow", where="format vision", mend=install("pictures")) from None
    return PIL


@cache
def font(size: int) -> Any:
    """DejaVu Sans, which comes with matplotlib."""
    drawing = pillow()
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError("pictures need matplotlib", where="format vision", mend=install("pictures")) from None
    return drawing.ImageFont.truetype(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)


@cache
def _is_known(letter: str) -> bool:
    """Whether the font draws it, and not the box that stands for letters it lacks."""
    face = font(TEXT_SIZE)
    return bool(bytes(face.getmask(letter)) != bytes(face.getmask("\uffff")))
