"""What observations about code say, as values: test runs, lines, hits; written and read back here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["CHANGING", "Failure", "Hit", "Lines", "TestRun", "read_hits", "read_lines", "read_report", "telling"]

CHANGING = frozenset({"edit_file", "write_file"})
"""Tools that change code."""
_TOLD = 4
"""Failed tests that are told in full."""

_COUNTS = re.compile(r"(?:(\d+) failed, )?(\d+) passed")
_FRAME = re.compile(r"  (\S+):(\d+) in (\S+): (.*)")
_COMPARED = re.compile(r"  (.+?) ((?:returns|raises) .*); the test expects it to (.+)")
_ERROR = re.compile(r"  (\w+)(?:: (.*))?")
_SHOWN = re.compile(r"(?:Changed\. )?(\S+), lines (\d+) to (\d+) of (\d+)")
_LINE = re.compile(r" *(\d+)(?:  (.*))?")
_OFTEN = re.compile(r"Nothing is changed: the old text stands \d+ times in ")
_HIT = re.compile(r"(\S+?):(\d+): (.*)")


@dataclass(frozen=True)
class Failure:
    """A test that failed, or a file of tests that could not be read."""

    id: str
    error: str
    """Type of the exception."""
    message: str
    frames: tuple[tuple[str, int, str, str], ...]
    """(path, line, function, text of the line), the outermost first."""
    compared: Mapping[str, str] | None
    """``call``, what ``came`` and what it ``should`` do; None where the test says it in no single call."""

    def lines(self) -> list[str]:
        """What an agent is shown of it."""
        found = [f"FAILED {self.id}"]
        found += [f"  {path}:{line} in {name}: {text}" for path, line, name, text in self.frames]
        found.append(f"  {self.error}: {self.message}" if self.message else f"  {self.error}")
        if self.compared is not None:
            found.append("  {call} {came}; the test expects it to {should}".format(**self.compared))
        return found


@dataclass(frozen=True)
class TestRun:
    """What a run of tests came to."""

    __test__ = False  # pytest: this is none

    passed: frozenset[str]
    failures: tuple[Failure, ...]
    stopped: str | None = None
    """Why it did not come to its end; None = it did."""

    def text(self) -> str:
        """What an agent is shown."""
        if self.stopped is not None:
            return f"The tests were stopped: {self.stopped}."
        if not self.failures:
            return f"{len(self.passed)} passed" if self.passed else "There are no tests."
        shown = [line for failure in self.failures[:_TOLD] for line in ("", *failure.lines())]
        more = len(self.failures) - _TOLD
        rest = ["", f"... and {more} more: {', '.join(one.id for one in self.failures[_TOLD:][:20])}"]
        return "\n".join(
            [f"{len(self.failures)} failed, {len(self.passed)} passed", *shown, *(rest if more > 0 else ())]
        )


def telling(failures: Sequence[Failure]) -> Failure | None:
    """The failure to look at, of those that are told in full: of those that compare what a call gives, the one that
    says it shortest."""
    told = failures[:_TOLD]
    compared = [one for one in told if one.compared is not None]
    return min(compared, key=lambda one: len(str(one.compared)), default=told[0] if told else None)


@dataclass(frozen=True)
class Lines:
    """Lines of a file that were shown."""

    path: str
    lines: dict[int, str]
    total: int


@dataclass(frozen=True)
class Hit:
    """A line that a search found."""

    path: str
    line: int
    text: str


def read_report(text: str) -> TestRun | None:
    """What a run of tests told; None where it told no counts. Of tests that passed only the number is known: they are
    called by their places."""
    head, *rest = text.split("\n")
    counts = _COUNTS.fullmatch(head)
    if counts is None:
        return None
    blocks: list[list[str]] = []
    for line in rest:
        if line.startswith("FAILED "):
            blocks.append([line])
        elif blocks and line.startswith("  "):
            blocks[-1].append(line)
    passed = frozenset(f"passed {number}" for number in range(int(counts.group(2))))
    return TestRun(passed, tuple(map(_failure, blocks)))


def _failure(block: list[str]) -> Failure:
    frames, compared, error, message = [], None, "", ""
    for line in block[1:]:
        if (frame := _FRAME.fullmatch(line)) is not None and not error:
            frames.append((frame.group(1), int(frame.group(2)), frame.group(3), frame.group(4)))
        elif not error and (told := _ERROR.fullmatch(line)) is not None:
            error, message = told.group(1), told.group(2) or ""
        elif (said := _COMPARED.fullmatch(line)) is not None:
            compared = dict(zip(("call", "came", "should"), said.groups(), strict=True))
    return Failure(block[0].removeprefix("FAILED "), error, message, tuple(frames), compared)


def read_lines(text: str) -> Lines | None:
    """Lines of a file; None where the observation shows none."""
    head, *rest = text.split("\n")
    shown = _SHOWN.fullmatch(head)
    if shown is None:
        return None
    found = (_LINE.fullmatch(line) for line in rest)
    lines = {int(one.group(1)): one.group(2) or "" for one in found if one is not None}
    return Lines(shown.group(1), lines, int(shown.group(4)))


def stands_often(text: str) -> bool:
    """Whether an edit was refused because the old text occurs more than once in the file."""
    return _OFTEN.match(text) is not None


def read_hits(text: str) -> tuple[Hit, ...]:
    """What a search found."""
    found = (_HIT.fullmatch(line) for line in text.split("\n"))
    return tuple(Hit(one.group(1), int(one.group(2)), one.group(3)) for one in found if one is not None)
