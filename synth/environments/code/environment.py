"""The environment ``code``: a project in which something is broken, with tools to read it, change it and run its tests.

All that calls change is the text of files, held in memory; every run of tests or of a program is a fresh sandbox with a
copy of them. So a snapshot is the edited files, exact and small, and going back costs nothing. Success is decided by
the project's own tests in their original text: those that failed pass, and those that passed still do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from synth.environments.answers import check_state
from synth.environments.code.project import Project, Tester
from synth.environments.code.sandbox import FOLDER, find_sandbox
from synth.environments.code.tools import TOOLS
from synth.environments.contract import (
    Environment,
    EnvironmentKeys,
    EnvironmentSpec,
    Episode,
    Resources,
    Snapshot,
    ToolCall,
    ToolResult,
    ToolSchema,
    refusal,
)
from synth.environments.reports import TestRun
from synth.identity import versioned
from synth.schemas.arrow import from_arrow
from synth.schemas.code import CodeFile, Mutated
from synth.schemas.tasks import Task
from synth.schemas.trajectories import Verdict

__all__ = ["CODE", "CodeEnvironment", "CodeEpisode", "open_code"]

_HITS = 40
"""Lines that a search shows."""
_LISTED = 300
"""Files that a list shows."""
_WIDE = 300
"""Signs of a line that a search shows."""
_ROOM = 1 << 20
"""Signs that edited files may hold together."""
_PATH = re.compile(r"(?!/)(?!.*(?:^|/)\.{1,2}(?:/|$))[\w./ -]+")
_OUTERMOST = '  File "<string>", line 1, in <module>\n'
"""Of a traceback: what started the program."""
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


class CodeEnvironment(Environment):
    """A project and its tests. Shared by any number of episodes."""

    name: ClassVar[str] = "code"
    version: ClassVar[str] = "15"

    def __init__(
        self,
        project: Project,
        *,
        seconds: float | None = None,
        memory_mb: int = 512,
        page: int = 80,
        max_chars: int = 6_000,
    ) -> None:
        """
        Args:
            seconds: Processor time of the tests or a program; None = five times what the tests take on the project as
                it is, and 10 at least.
            memory_mb: Memory that they may use.
            page: Lines of a file that a look shows.
            max_chars: Signs of what tests or a program say that an agent is shown.

        Raises:
            InputError: this machine has no sandbox.
        """
        self.project = project
        self.page = page
        self.max_chars = max_chars
        self._sandbox, self._seconds, self._memory = find_sandbox(), seconds, memory_mb << 20

    @cached_property
    def tester(self) -> Tester:
        """Runs tests and programs; made when it is first asked, as it may have to measure the project's tests."""
        return Tester.over(self.project, self._sandbox, self._seconds, self._memory)

    def tools(self) -> tuple[ToolSchema, ...]:
        return tuple(TOOLS.values())

    def instructions(self) -> str:
        return (
            "You have a Python project with tests. `list_files`, `search_files` and `read_file` show it, `run_tests` "
            "says which tests fail, `edit_file` and `write_file` change files, `run_python` runs a program beside "
            "them. Programs run without a network, within limits of time and memory. Mend the code, not the tests: "
            "the work is judged by the tests as they were."
        )

    def texts(self) -> dict[str, str]:
        """Path -> text of the Python files that are no tests, sorted."""
        return {path: self.project.files[path] for path in self.project.sources}

    def files(self) -> Mapping[str, str]:
        """Path -> text of all files of the project."""
        return self.project.files

    def tested(self, changed: Mapping[str, str]) -> TestRun:
        """What all tests say with these files in the place of the project's."""
        return self.tester.tests({**self.project.files, **changed}, self.project.tests)

    def reset(self, task: Task) -> CodeEpisode:
        return CodeEpisode(self, task)


class CodeEpisode(Episode):
    """State: the files that calls have changed."""

    def __init__(self, environment: CodeEnvironment, task: Task) -> None:
        super().__init__(task)
        self.environment = environment
        broken = Mutated.of(task.details).mutation
        files = environment.project.files
        self._begun = {**files, broken.path: broken.applied(files[broken.path])}
        self._edited: dict[str, str] = {}

    @property
    def files(self) -> dict[str, str]:
        """The project as it stands now."""
        return {**self._begun, **self._edited}

    def step(self, call: ToolCall) -> ToolResult:
        refused = refusal(call, TOOLS, 400)
        if refused is not None:
            return refused
        arguments: Mapping[str, Any] = call.arguments
        if call.name == "list_files":
            return call.answered(self._list())
        if call.name == "run_python":
            return call.answered(self._program(str(arguments["program"])))
        path = str(arguments.get("path", ""))
        if path and call.name != "write_file" and path not in self.files:
            return call.answered(
                f"There is no file {path[:120]!r}. list_files shows those that there are.", "not_found"
            )
        if call.name == "read_file":
            return self._read(call, path)
        if call.name == "search_files":
            return call.answered(self._search(str(arguments["text"]), path))
        if call.name == "run_tests":
            return self._tests(call, path)
        if call.name == "edit_file":
            return self._edit(call, path, str(arguments["old"]), str(arguments["replacement"]))
        if not _PATH.fullmatch(path):
            return call.answered(f"{path[:120]!r} is no path in the project.", "refused")
        return self._put(call, path, str(arguments["file_text"]), f"{path} is written.")

    def _list(self) -> str:
        files = self.files
        lines = [f"{path} ({len(files[path].splitlines())} lines)" for path in sorted(files)]
        rest = [f"... and {len(lines) - _LISTED} more"] if len(lines) > _LISTED else []
        return "\n".join(lines[:_LISTED] + rest)

    def _read(self, call: ToolCall, path: str) -> ToolResult:
        lines = self.files[path].splitlines()
        start = int(call.arguments.get("start", 1))
        if start > max(1, len(lines)):
            return call.answered(f"{path} has {len(lines)} lines.", "not_found")
        return call.answered(self._lines(path, start, start + self.environment.page - 1))

    def _lines(self, path: str, start: int, end: int) -> str:
        lines = self.files[path].splitlines()
        end = min(end, len(lines))
        shown = [f"{number:>4}  {lines[number - 1]}".rstrip() for number in range(start, end + 1)]
        return "\n".join([f"{path}, lines {start} to {end} of {len(lines)}", *shown])

    def _search(self, text: str, path: str) -> str:
        files = self.files
        found = [
            f"{name}:{number}: {line.strip()[:_WIDE]}"
            for name in ([path] if path else sorted(files))
            for number, line in enumerate(files[name].splitlines(), start=1)
            if text in line
        ]
        if not found:
            return f"No line holds {text!r}."
        rest = [f"... and {len(found) - _HITS} more lines"] if len(found) > _HITS else []
        return "\n".join(found[:_HITS] + rest)

    def _edit(self, call: ToolCall, path: str, old: str, new: str) -> ToolResult:
        text = self.files[path]
        times = text.count(old)
        if times != 1:
            what = "does not stand" if not times else f"stands {times} times"
            return call.answered(f"Nothing is changed: the old text {what} in {path}.", "refused")
        at = text.index(old)
        first = text.count("\n", 0, at) + 1
        changed = text[:at] + new + text[at + len(old) :]
        done = self._put(call, path, changed, "")
        if done.error is not None:
            return done
        return call.answered(f"Changed. {self._lines(path, max(1, first - 2), first + new.count(chr(10)) + 2)}")

    def _put(self, call: ToolCall, path: str, text: str, said: str) -> ToolResult:
        edited = {**self._edited, path: text}
        if sum(map(len, edited.values())) > _ROOM:
            return call.answered("Nothing is changed: the changed files are too large together.", "refused")
        if text == self._begun.get(path):
            del edited[path]
        self._edited = edited
        return call.answered(said)

    def _tests(self, call: ToolCall, path: str) -> ToolResult:
        tests = self.environment.project.tests | {name for name in self._edited if "test" in name}
        if path and path not in tests:
            return call.answered(f"{path} holds no tests.", "not_found")
        return call.answered(self._short(self.environment.tester.tests(self.files, [path] if path else tests).text()))

    def _program(self, code: str) -> str:
        run = self.environment.tester.program(self.files, code)
        output = _ADDRESS.sub("0x...", run.output.replace(_OUTERMOST, "").rstrip()) or "It prints nothing."
        if run.end != "exit":
            output += f"\nThe program was stopped: {run.end}."
        elif run.code:
            output += f"\nThe program ended with status {run.code}."
        return self._short(output.replace(f'File "{FOLDER}/', 'File "'))

    def _short(self, text: str) -> str:
        most = self.environment.max_chars
        if len(text) <= most:
            return text
        half = most // 2
        return f"{text[:half]}\n[{len(text) - 2 * half} signs are left out]\n{text[-half:]}"

    def snapshot(self) -> Snapshot:
        return self.environment.pack(self.task, self._edited)

    def restore(self, snapshot: Snapshot) -> None:
        self._edited = dict(self.environment.unpack(self.task, snapshot))

    def check(self, answer: str | None) -> Verdict:
        """Whether all tests that pass on the project as it was pass now, in their original text."""
        before = self.environment.tested({}).passed
        now = self.environment.tested(self.environment.project.judged(self.files))
        failing = sorted(before - now.passed)
        wrong = None
        if failing:
            why = f" (the tests were stopped: {now.stopped})" if now.stopped else ""
            wrong = f"{len(failing)} of {len(before)} tests do not pass: {', '.join(failing[:3])}{why}"
        return check_state(self.task, answer, wrong, f"All {len(before)} tests pass.", asks=False)


class CodeWork(EnvironmentKeys):
    """The environment: the project of the source, one thing in it broken, in a sandbox."""

    kind: Literal["code"]
    seconds: float | None = Field(default=None, ge=1, le=600)
    """Processor time that the tests, or a program, may take; empty = five times what the tests take on the project as
    it is, and 10 at least."""
    memory_mb: int = Field(default=512, ge=64, le=16_384)
    """Memory that they may use, in MiB."""
    page: int = Field(default=80, ge=10, le=1_000)
    """Lines of a file that a look shows."""
    max_chars: int = Field(default=6_000, ge=500, le=100_000)
    """Signs of what tests or a program say that an agent is shown."""


@versioned(CodeEnvironment.version)
def open_code(*, inputs: Resources, **options: Any) -> CodeEnvironment:
    """The environment over the table ``code_files`` of a build; ``options`` go to :class:`CodeEnvironment`.

    Raises:
        InputError: this machine has no sandbox.
    """
    rows = from_arrow(inputs.table("code_files").arrow, CodeFile)
    return CodeEnvironment(Project.of(rows), **options)


CODE = EnvironmentSpec(
    kind="code",
    keys=CodeWork,
    open=open_code,
    needs=("code_files",),
    libraries=(),
    prompt="agents/tools",
    rl_prompt="rl/tools",
)
