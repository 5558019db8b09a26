"""What a step on a web site shows: the page as an outline, under its title and address. ``read`` inverts ``render``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from synth.environments.passages import Passage
from synth.environments.shown import Hit, Shown, Text

__all__ = ["Block", "Outline", "read", "render"]

_BLOCK = re.compile(r'(?P<role>[\w-]+)(?: (?P<level>\d+))? "(?P<name>.*)"')
_EMPTY = "(The page is empty.)"
_PART = re.compile(r"Part (\d+) of (\d+)(?:; read shows the others)?\.")


@dataclass(frozen=True)
class Block:
    """A part of the page that has a name and can't be used: a heading, a status, a region."""

    role: str
    name: str
    level: str = ""
    """Of a heading."""

    def line(self) -> str:
        """As the outline writes it."""
        return f'{self.role}{f" {self.level}" if self.level else ""} "{self.name}"'

    @classmethod
    def read(cls, line: str) -> Block | None:
        """The block that ``line`` writes; None where it writes none."""
        found = _BLOCK.fullmatch(line)
        return None if found is None else cls(found["role"], found["name"], found["level"] or "")


@dataclass(frozen=True)
class Outline(Shown):
    """One part of a page."""

    notes: tuple[str, ...]
    """What was held back, and what the page said in a dialog: a line each."""
    title: str
    address: str
    part: int
    parts: int
    body: str
    """The lines of the outline."""

    @cached_property
    def _text(self) -> Text:
        return Text(render(self))

    @property
    def results(self) -> tuple[Hit, ...]:
        return self._text.results

    @property
    def passages(self) -> tuple[Passage, ...]:
        return self._text.passages

    @property
    def status(self) -> str:
        """What the page says has just been done; empty where it says nothing of the kind."""
        found = (Block.read(line.strip()) for line in self.body.split("\n"))
        return next((block.name for block in reversed(list(found)) if block and block.role == "status"), "")

    def element(self, ref: str) -> tuple[str, str] | None:
        """(role, name) of the element that has the number ``ref``; None where the page shows none, or nothing is known
        but its number."""
        found = re.search(rf'\[{re.escape(ref)}\] (\w+) "([^"]+)"', self.body)
        return (found[1], found[2]) if found is not None else None


def render(shown: Outline) -> str:
    """The text of an observation."""
    lines = [*shown.notes, f"Page: {shown.title}", f"Address: {shown.address}"]
    if shown.parts > 1:
        more = "; read shows the others" if shown.part == 1 else ""
        lines.append(f"Part {shown.part} of {shown.parts}{more}.")
    return "\n".join([*lines, "", shown.body or _EMPTY])


def read(text: str) -> Shown:
    """What the text of an observation shows."""
    head, _, body = text.partition("\n\n")
    lines = head.split("\n")
    part = _PART.fullmatch(lines[-1])
    *notes, title, address = ("", "", *(lines[:-1] if part else lines))
    if not title.startswith("Page: ") or not address.startswith("Address: ") or not body:
        return Text(text)
    return Outline(
        tuple(notes[2:]),
        title.removeprefix("Page: "),
        address.removeprefix("Address: "),
        int(part[1]) if part else 1,
        int(part[2]) if part else 1,
        "" if body == _EMPTY else body,
    )
