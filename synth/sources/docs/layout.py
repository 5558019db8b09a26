"""Plain text with a layout that can be read back: a paragraph is one line, nesting is indentation.

Offsets of links, headings and terms are known because the text is written once, left to right, and never edited.
The layout is what a reader sees and what ``synth.sources.docs.outline`` reads: headings and paragraphs stand apart by
blank lines, list items start with ``- `` or ``1. ``, a definition stands four columns to the right of its term, code is
four columns in and keeps its lines, and a row of a table is one line of cells parted by `` | ``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["INDENT", "Mark", "TextWriter"]

INDENT = "    "
_SPACE = re.compile(r"[ \t\r\n\f\v\u00a0\u2000-\u200a\u202f\u3000\x85\u2028\u2029]+")
_INVISIBLE = re.compile(r"[\u00ad\u200b\u2060\ufeff\x00-\x08\x0e-\x1f\x7f\ud800-\udfff]")
"""Soft hyphens, zero-width spaces, controls, lone surrogates: nobody sees them, and they break words and searches."""
_CODE = re.compile(r"\n|[^\S\n]+|\S+")


@dataclass
class Mark:
    """A span of the text. ``start`` is None until something visible was written in it."""

    start: int | None = None
    end: int = 0


@dataclass
class _Indent:
    text: str
    first: str | None = None
    """What stands in place of ``text`` on its first line (a bullet)."""


class TextWriter:
    """Writes the text. ``position`` counts the code points written so far."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.position = 0
        self._breaks = 0
        self._space = ""
        self._flat = 0
        self._code = False
        self._code_started = False
        self._held = -1
        self._indents: list[_Indent] = []
        self._open: list[Mark] = []

    def words(self, text: str) -> None:
        """Inline text: every run of white space becomes one space."""
        text = _SPACE.sub(" ", _INVISIBLE.sub("", text))
        if not text:
            return
        if text[0] == " ":
            self._space = " "
        if visible := text.strip(" "):
            self._visible(visible)
            self._space = " " if text[-1] == " " else ""

    def code(self, text: str) -> None:
        """Preformatted text, between ``begin_code`` and ``end_code``: lines and spaces are kept."""
        if not self._code:
            self.words(text)
            return
        text = _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        for piece in _CODE.findall(text):
            if piece == "\n":
                self._space = ""
                if self._code_started:
                    self._breaks += 1
            elif piece.isspace():
                self._space += piece.replace("\u00a0", " ")
            else:
                self._visible(piece)
                self._code_started = True
                self._space = ""

    def begin_code(self) -> None:
        self.break_lines(2)
        if not self._flat:
            self._code, self._code_started = True, False
            self._indents.append(_Indent(INDENT))

    def end_code(self) -> None:
        if self._code:
            self._code = False
            self._indents.pop()
            self._breaks = 0
        self.break_lines(2)

    def break_lines(self, count: int) -> None:
        """What comes next stands ``count`` lines further down at least (1 = next line, 2 = after a blank line)."""
        if self._flat:
            self._space = " "
            return
        self._space = ""
        if self.position and self.position != self._held:
            self._breaks = max(self._breaks, count)

    def tighten(self) -> None:
        """What comes next stands on the next line, whatever was asked for before."""
        self._breaks = min(self._breaks, 1)

    def push(self, text: str = INDENT, first: str | None = None) -> None:
        """What comes next stands ``text`` further right; ``first`` (a bullet) stands there on its first line."""
        if self._flat and first:
            self.words(f" {first} ")
        self._indents.append(_Indent(text, first))
        self._held = self.position

    def pop(self) -> None:
        self._indents.pop()

    def begin_flat(self) -> None:
        """What comes next stays on one line (a row of a table), until ``end_flat``."""
        self._flat += 1

    def end_flat(self) -> None:
        self._flat -= 1

    def open(self) -> Mark:
        """Begin a span; it starts at the next visible character."""
        mark = Mark()
        self._open.append(mark)
        return mark

    def close(self, mark: Mark) -> None:
        """End a span just past the last visible character."""
        mark.end = self.position
        if mark.start is None and mark in self._open:
            self._open = [item for item in self._open if item is not mark]

    def text(self) -> str:
        return "".join(self._parts)

    def _visible(self, text: str) -> None:
        if self._breaks or not self.position:
            lead = "\n" * self._breaks + self._prefix() + (self._space if self._code else "")
        else:
            lead = self._space
        self._breaks = 0
        self._parts += (lead, text)
        self.position += len(lead)
        for mark in self._open:
            mark.start = self.position
        self._open.clear()
        self.position += len(text)

    def _prefix(self) -> str:
        parts = []
        for indent in self._indents:
            parts.append(indent.text if indent.first is None else indent.first)
            indent.first = None
        return "".join(parts)
