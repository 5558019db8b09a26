"""The pages of the manual, read as what they ask a reader to do: blocks in order, and what their comments say of them.

A comment stands just above a block, or in its place:

    <!-- not run: WHY -->              the block is not run
    <!-- not run "WORDS": WHY -->      neither are its lines that hold these words
    <!-- file: NAME -->                the block is written to that file
    <!-- begins: NAME -->              the block is how that file begins
    <!-- shows: FOLDER -->             the block names what is in that folder
    <!-- run: sh ... -->               lines of a shell that a reader does not see
    <!-- run: material NAME ... -->    what a reader is said to have (manual_material.py)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["PAGES", "ROOT", "Block", "blocks_of"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
_MARK = re.compile(r'(not run|run|file|begins|shows)(?: "([^"]+)")?: ?(.+)', re.S)
_FENCE = re.compile(r"```(\w*)")


@dataclass(frozen=True)
class Block:
    """What a page shows, or a comment gives, to be run, written or compared."""

    page: Path
    line: int
    kind: str
    """sh, the language of a fence, or material."""
    text: str
    marks: tuple[tuple[str, str, str], ...] = field(default=())
    """(what, words, text) of each comment above it."""
    hidden: bool = False
    """Whether a comment gives it."""

    @property
    def place(self) -> str:
        return f"{self.page.name}, line {self.line}"

    def marked(self, what: str) -> str:
        """What a comment of that kind says, without words of a line; empty without one."""
        return next((text for name, words, text in self.marks if name == what and not words), "")

    def left_out(self) -> dict[str, str]:
        """Words of lines that are not run -> why not."""
        return {words: text for what, words, text in self.marks if what == "not run" and words}


def blocks_of(page: Path) -> Iterator[Block]:
    """The blocks of ``page`` in order.

    Raises:
        ValueError: a comment says nothing that is known, or stands above no block.
    """
    lines = page.read_text(encoding="utf-8").splitlines()
    marks: list[tuple[str, str, str]] = []
    at = 0
    while at < len(lines):
        begun, line = at, lines[at]
        at += 1
        if line.startswith("<!--"):
            while not lines[at - 1].endswith("-->"):
                at += 1
            said = "\n".join(lines[begun:at]).removeprefix("<!--").removesuffix("-->").strip()
            mark = _MARK.fullmatch(said)
            if mark is None:
                raise ValueError(f"{page.name}, line {begun + 1}: nothing is known of {said!r}")
            what, words, text = mark[1], mark[2] or "", mark[3].strip()
            if what == "run":
                kind, text = text.split(maxsplit=1)
                yield Block(page, begun + 1, kind, text, hidden=True)
            else:
                marks.append((what, words, text))
        elif fence := _FENCE.fullmatch(line):
            while lines[at] != "```":
                at += 1
            yield Block(page, begun + 1, fence[1], "\n".join(lines[begun + 1 : at]) + "\n", tuple(marks))
            marks, at = [], at + 1
        elif line.startswith("    ") and not lines[begun - 1].strip():
            while at < len(lines) and (lines[at].startswith("    ") or not lines[at].strip()):
                at += 1
            text = "\n".join(one[4:] for one in lines[begun:at]).rstrip() + "\n"
            yield Block(page, begun + 1, "sh", text, tuple(marks))
            marks = []
        elif line.strip() and marks:
            raise ValueError(f"{page.name}, line {begun + 1}: no block stands below {marks[-1]}")
