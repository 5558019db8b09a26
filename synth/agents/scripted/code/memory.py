"""What a history of work on code has shown: test runs, lines of files, definitions, edits."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from synth.agents.contract import History
from synth.environments.contract import ToolCall, ToolResult
from synth.environments.reports import (
    Failure,
    Hit,
    Lines,
    TestRun,
    read_hits,
    read_lines,
    read_report,
    stands_often,
    telling,
)
from synth.sources.code.definitions import mentioned

__all__ = ["Done", "Function", "Memory", "defined_name"]


@dataclass(frozen=True)
class Done:
    """An edit that was made."""

    path: str
    old: str
    new: str
    before: TestRun | None = None
    """What the tests told before it was made."""


@dataclass(frozen=True)
class Function:
    """A function of which lines were shown."""

    path: str
    name: str
    line: int
    """Where it begins."""
    lines: tuple[str, ...]
    """As they stand in the file."""
    whole: bool
    """Whether it was shown to its end."""

    @property
    def text(self) -> str:
        return textwrap.dedent("\n".join(self.lines)) + "\n"

    def mentions(self) -> tuple[str, ...]:
        """Names of what it calls, hands on or reads off objects, in order; all names, where it was not shown whole."""
        try:
            return mentioned(ast.parse(self.text))
        except SyntaxError:
            return tuple(dict.fromkeys(_NAME.findall(self.text)))

    def called(self) -> tuple[str, ...]:
        """Names of what it calls, in order."""
        try:
            tree = ast.parse(self.text)
        except SyntaxError:
            return ()
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        return tuple(dict.fromkeys(str(getattr(func, "attr", getattr(func, "id", ""))) for func in calls))


class Memory:
    def __init__(self, history: History) -> None:
        self.files: dict[str, dict[int, str]] = {}
        """Path -> number -> line, of what was shown and has not been changed since."""
        self.totals: dict[str, int] = {}
        """Path -> how many lines the file has."""
        self.hits: dict[str, tuple[Hit, ...]] = {}
        """Text that was searched for -> what was found."""
        self.last: TestRun | None = None
        """What the last test run reported about the code as it is now."""
        self.unread = False
        """Whether the last run told nothing that can be read: the tests were stopped."""
        self.edits: list[Done] = []
        """Those that stand, in order."""
        self.tried: set[tuple[str, str, str]] = set()
        """(path, old, new) of every edit that was made or refused."""
        self.several: set[tuple[str, str]] = set()
        """(path, old) of edits that were refused because the old text occurs more than once."""
        self.untested = False
        """Whether something was changed since the last run of the tests."""
        for step in history:
            for call, result in zip(step.turn.calls, step.results, strict=False):
                self._take(call, result)

    def _take(self, call: ToolCall, result: ToolResult) -> None:
        arguments = call.arguments
        if call.name == "edit_file":
            self._edit(Done(arguments["path"], arguments["old"], arguments["replacement"], self.last), result)
        elif result.error is not None:
            return
        elif call.name == "run_tests":
            report = read_report(result.content)
            self.unread, self.untested = report is None, False
            self.last = report
        elif call.name == "read_file":
            self._see(read_lines(result.content))
        elif call.name == "search_files":
            self.hits[arguments["text"]] = read_hits(result.content)

    def _see(self, shown: Lines | None) -> None:
        if shown is not None:
            self.files.setdefault(shown.path, {}).update(shown.lines)
            self.totals[shown.path] = shown.total

    def _edit(self, made: Done, result: ToolResult) -> None:
        self.tried.add((made.path, made.old, made.new))
        if result.error is not None:
            if stands_often(result.content):
                self.several.add((made.path, made.old))
            return
        last = self.edits[-1] if self.edits else None
        if last is not None and (last.path, last.new, last.old) == (made.path, made.old, made.new):
            self.last, self.untested = self.edits.pop().before, False
        else:
            self.edits.append(made)
            self.untested = True
        lines, old, new = self.files.get(made.path, {}), made.old.split("\n"), made.new.split("\n")
        at = next((n for n in lines if [lines.get(n + k) for k in range(len(old))] == old), None)
        if at is not None:
            moved = {n + len(new) - len(old): text for n, text in lines.items() if n >= at + len(old)}
            kept = {n: text for n, text in lines.items() if n < at}
            self.files[made.path] = kept | {at + k: text for k, text in enumerate(new)} | moved
        self._see(read_lines(result.content))

    def failure(self) -> Failure | None:
        """The failure to look at: of those that compare what a call gives, the one that says it shortest."""
        return telling(() if self.last is None else self.last.failures)

    def searched(self, name: str) -> bool:
        """Whether the definition of ``name`` was searched for."""
        return f"def {name}(" in self.hits or f"class {name}" in self.hits

    def defined(self, name: str) -> list[Hit]:
        """Where searches have shown definitions of ``name``."""
        found = [*self.hits.get(f"def {name}(", ()), *self.hits.get(f"class {name}", ())]
        return [hit for hit in found if (said := _DEFINED.match(hit.text)) and said.group(1) == name]

    def function(self, hit: Hit) -> Function | None:
        """The function that begins at ``hit``, as far as it was shown; of a class, how its objects are made."""
        lines = self.files.get(hit.path, {})
        if hit.line not in lines:
            return None
        if hit.text.startswith("class "):
            made = self._made(hit, lines)
            return Function(hit.path, defined_name(hit), hit.line, (), True) if made is None else self.function(made)
        indent = len(lines[hit.line]) - len(lines[hit.line].lstrip())
        found, number, begun = [lines[hit.line]], hit.line + 1, hit.text.rstrip().endswith(":")
        while number in lines:
            text = lines[number]
            if begun and text.strip() and len(text) - len(text.lstrip()) <= indent:
                break
            begun = begun or text.rstrip().endswith(":")
            found.append(text)
            number += 1
        whole = number in lines or number > self.totals.get(hit.path, 0)
        while found and not found[-1].strip():
            found.pop()
        return Function(hit.path, defined_name(hit), hit.line, tuple(found), whole)

    @staticmethod
    def _made(hit: Hit, lines: dict[int, str]) -> Hit | None:
        """Where the lines that were shown behind the head of a class begin its ``__init__``."""
        indent, number = len(lines[hit.line]) - len(lines[hit.line].lstrip()), hit.line + 1
        while number in lines:
            text = lines[number]
            if text.strip().startswith("def __init__("):
                return Hit(hit.path, number, text.strip())
            if text.strip() and len(text) - len(text.lstrip()) <= indent and not text.lstrip().startswith((")", "#")):
                return None
            number += 1
        return None

    def around(self, failure: Failure, tests: Callable[[str], bool]) -> tuple[str, ...] | None:
        """Lines of the failing test that were shown, up to the one that fails; None where they were not."""
        frame = next((frame for frame in failure.frames if tests(frame[0])), None)
        lines = {} if frame is None else self.files.get(frame[0], {})
        if frame is None or frame[1] not in lines:
            return None
        found, number = [], frame[1]
        while number in lines:
            found.append(lines[number])
            if lines[number].lstrip().startswith((f"def {frame[2]}(", f"async def {frame[2]}(")):
                break
            number -= 1
        return tuple(found)


_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"(?:async )?(?:def|class) (\w+)")


def defined_name(hit: Hit) -> str:
    """The name that a line defines."""
    found = _DEFINED.match(hit.text)
    return found.group(1) if found else ""
