"""Pages as pictures, with a question and the boxes where its evidence stands: rows for models that read by sight.

VRAG-RL (arXiv 2505.22019) and DocScope have an agent find its evidence in pictures of pages and say where it stands.
Here the pages of the dataset are set in type, so that the box of every quote is known and not guessed. What is in no
picture of the row answers nothing: the text of the pages is not among the columns.
"""

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

import pyarrow as pa

from synth.dataset.usage import usage
from synth.distribution import install
from synth.errors import InputError
from synth.export.contract import About, Format, Inexpressible, Record, TaskPages, Why
from synth.identity import derive_generator
from synth.schemas.documents import Document
from synth.schemas.tasks import Hop

__all__ = ["VISION", "Picture", "Region", "pictures", "regions", "set_in_type"]

WIDTH, HEIGHT, MARGIN = 800, 1100, 50
"""Of a picture, in pixels; the margin is left free on all sides."""
MOST = 8
"""Pictures of one row."""
_TEXT_SIZE, _HEADING_SIZE = 17, 23
_LEADING = 1.5
_WIDEST = WIDTH - 2 * MARGIN
"""Of a line, in pixels, and more letters than any line has."""


@dataclass(frozen=True)
class _Line:
    """A line of a picture: ``text[start:end]`` of the page; a title that is not in the text has an empty span."""

    picture: int
    top: int
    start: int
    end: int
    words: str
    size: int

    @property
    def bottom(self) -> int:
        return self.top + ceil(self.size * _LEADING)


@dataclass(frozen=True)
class Picture:
    """One picture of a page."""

    document_id: str
    number: int
    """Which of the page's pictures it is, from 0."""
    lines: tuple[_Line, ...]

    def png(self) -> bytes:
        """The picture itself, black on white: WIDTH by at most HEIGHT, cut below the last line."""
        image = _pillow().Image.new("L", (WIDTH, self.lines[-1].bottom + MARGIN), 255)
        pen = _pillow().ImageDraw.Draw(image)
        for line in self.lines:
            pen.text((MARGIN, line.top), line.words, fill=0, font=_font(line.size))
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


def set_in_type(document: Document) -> tuple[_Line, ...]:
    """The lines of a page, from its first picture to its last.

    Raises:
        Inexpressible: it has letters that the font lacks.
        InputError: the extra ``pictures`` is not installed.
    """
    text, made = document.text, list[_Line]()
    headings = {len(text[: section.start].rstrip("\n\r")) for section in document.sections if section.heading}
    if not text.lstrip("# \n").startswith(document.title):
        _add(made, document.title, 0, 0, _HEADING_SIZE)
    for match in re.finditer(r"[^\n\r]+", text):
        at, words, size = match.start(), match.group(), _TEXT_SIZE
        if match.end() in headings:
            words, size = words.lstrip("# "), _HEADING_SIZE
            at = match.end() - len(words)
        for start, end in _wrapped(words, size):
            _add(made, words[start:end], at + start, at + end, size)
    return tuple(made)


def pictures(document: Document, lines: Sequence[_Line]) -> list[Picture]:
    """The pictures of a page, in order."""
    last = lines[-1].picture if lines else -1
    of = [tuple(line for line in lines if line.picture == number) for number in range(last + 1)]
    return [Picture(document.id, number, held) for number, held in enumerate(of)]


def regions(lines: Sequence[_Line], start: int, end: int) -> Iterator[Region]:
    """Where ``text[start:end]`` stands, line by line."""
    for line in lines:
        left, right = max(start, line.start), min(end, line.end)
        words = line.words[left - line.start : right - line.start]
        if left < right and words.strip():
            font = _font(line.size)
            before = MARGIN + font.getlength(line.words[: left - line.start])
            after = MARGIN + font.getlength(line.words[: right - line.start].rstrip())
            yield Region(line.picture, (int(before), line.top, ceil(after), line.bottom), words.strip())


def _add(made: list[_Line], words: str, start: int, end: int, size: int) -> None:
    unknown = sorted(letter for letter in set(words) if not letter.isspace() and not _is_known(letter))
    if unknown:
        raise Inexpressible(Why.NO_GLYPHS, " ".join(unknown[:5]))
    picture, top = (made[-1].picture, made[-1].bottom) if made else (0, MARGIN)
    if made and made[-1].size != size:
        top += size // 2
    if top + ceil(size * _LEADING) > HEIGHT - MARGIN:
        picture, top = picture + 1, MARGIN
    made.append(_Line(picture, top, start, end, words, size))


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
    return len(words) <= _WIDEST and _font(size).getlength(words) <= _WIDEST


@cache
def _pillow() -> Any:
    try:
        import PIL.Image
        import PIL.ImageDraw
        import PIL.ImageFont
    except ModuleNotFoundError:
        raise InputError("pictures need Pillow", where="format vision", mend=install("pictures")) from None
    return PIL


@cache
def _font(size: int) -> Any:
    """DejaVu Sans, which comes with matplotlib."""
    pillow = _pillow()
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise InputError("pictures need matplotlib", where="format vision", mend=install("pictures")) from None
    return pillow.ImageFont.truetype(str(Path(mpl.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), size)


@cache
def _is_known(letter: str) -> bool:
    """Whether the font draws it, and not the box that stands for letters it lacks."""
    font = _font(_TEXT_SIZE)
    return bool(bytes(font.getmask(letter)) != bytes(font.getmask("\uffff")))


def _vision(item: TaskPages, about: About, cut: int) -> list[Record]:
    task, hops = item.row, item.row.walk.hops
    if not item.gold or not hops:
        raise Inexpressible(Why.NO_EVIDENCE)
    typed = {page.id: set_in_type(page) for page in item.gold}
    drawn = {(page.id, one.number): one for page in item.gold for one in pictures(page, typed[page.id])}
    stands = [_stands(hop, typed) for hop in hops]
    wanted = list(dict.fromkeys((name, region.number) for name, found in stands for region in found))
    if len(wanted) > MOST:
        raise Inexpressible(Why.TOO_LONG, f"its evidence stands in {len(wanted)} pictures")
    for _, page in item.astray[: MOST - len(wanted)]:
        drawn |= {(page.id, one.number): one for one in pictures(page, set_in_type(page))[:1]}
        wanted.append((page.id, 0))
    order = derive_generator(0, "vision", task.id).permutation(len(wanted))
    shown = [wanted[int(at)] for at in order]
    found, said = list[Record](), dict[str, None]()
    for number, (name, several) in enumerate(stands):
        for one in several:
            image, box = shown.index((name, one.number)), list(one.box)
            found.append({"image": image, "box": box, "quote": one.words, "hop": number})
            said[f"Picture {image + 1}, {box}: {one.words}"] = None
    images = [{"bytes": drawn[one].png(), "path": None} for one in shown]
    return [
        {
            "prompt": [{"role": "user", "content": f"{task.question}\n\n{_ASKED}"}],
            "completion": [{"role": "assistant", "content": "\n".join([*said, "", f"Answer: {task.answer}"])}],
            "images": images,
            "question": task.question,
            "answer": task.answer,
            "evidence": found,
            "document_ids": [name for name, _ in shown],
            "pages": [number for _, number in shown],
            "task_id": task.id,
            "source": about.dataset,
            "licence": next((page.licence for page in item.gold if page.licence), None),
        }
    ]


def _stands(hop: Hop, typed: dict[str, tuple[_Line, ...]]) -> tuple[str, list[Region]]:
    quote = hop.evidence
    found = list(regions(typed[quote.document_id], quote.start, quote.end))
    if not found:
        raise Inexpressible(Why.NO_EVIDENCE, f"{quote.document_id}: the quote stands in no line")
    return quote.document_id, found


_ASKED = (
    "The pictures show pages. Name the lines that you go by, each with its picture and its box [left, top, right, "
    'bottom] in pixels, then give the answer behind "Answer:".'
)
_TEXT = pa.string()
_MESSAGES = pa.list_(pa.struct([("role", _TEXT), ("content", _TEXT)]))
VISION = Format(
    name="vision",
    summary="Pages as pictures, a question, and the boxes where its evidence stands: for models that read by sight.",
    source="tasks",
    needs=("documents",),
    layout="parquet",
    convert=_vision,
    columns={
        "prompt": _MESSAGES,
        "completion": _MESSAGES,
        "images": pa.list_(pa.struct([("bytes", pa.binary()), ("path", _TEXT)])),
        "question": _TEXT,
        "answer": _TEXT,
        "evidence": pa.list_(
            pa.struct([("image", pa.int64()), ("box", pa.list_(pa.int64())), ("quote", _TEXT), ("hop", pa.int64())])
        ),
        "document_ids": pa.list_(_TEXT),
        "pages": pa.list_(pa.int64()),
        **dict.fromkeys(("task_id", "source", "licence"), _TEXT),
    },
    usage=usage("vision"),
)
