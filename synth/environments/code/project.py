"""A project of Python files and what its tests say, asked in the sandbox and remembered."""

from __future__ import annotations

import json
import re
import sys
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from synth.environments.code.sandbox import FOLDER, Limits, Run, Sandbox
from synth.environments.reports import Failure, TestRun
from synth.errors import InputError
from synth.identity import digest
from synth.schemas.code import CodeFile

__all__ = ["Project", "Tester"]

_RUNNER = str(Path(__file__).with_name("runner.py"))
_PYTEST = re.compile(r"^\s*(?:import pytest|from pytest)\b", re.MULTILINE)
_REMEMBERED = 4_000
"""Runs whose results are kept: continuations of one task meet the same few states again and again."""
_PATIENT = 600.0
"""Seconds of processor time that the tests of the project as it is may take."""
_LEAST, _TIMES = 10.0, 5.0
_WAITS = 3.0
"""Seconds that a run may take for each of processor time: others use the machine, too."""
_WHY = {
    "seconds": "they took too long",
    "cpu": "they took too much processor time",
    "memory": "they took too much memory",
    "processes": "they started too many processes",
    "output": "they wrote too much",
    "signal": "Python crashed",
    "exit": "Python ended before the last test",
}


@dataclass(frozen=True)
class Project:
    """Files by path, and which of them are tests."""

    files: Mapping[str, str]
    tests: frozenset[str]
    """Paths that belong to the tests, helpers among them."""

    @classmethod
    def of(cls, rows: Iterable[CodeFile]) -> Project:
        rows = tuple(rows)
        return cls({row.id: row.text for row in rows}, frozenset(row.id for row in rows if row.is_test))

    @property
    def sources(self) -> tuple[str, ...]:
        """Paths of the Python files that are no tests, sorted."""
        return tuple(sorted(path for path in self.files if path.endswith(".py") and path not in self.tests))

    def judged(self, edited: Mapping[str, str]) -> dict[str, str]:
        """The files that a verdict is given on: the project's, with those of ``edited`` that are its sources or new
        modules of its packages. Edited tests and settings have no effect."""
        kept = {path: text for path, text in edited.items() if path in self.sources or self._is_new_module(path)}
        return {**self.files, **kept}

    def _is_new_module(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        is_module = name.endswith(".py") and name != "conftest.py" and path not in self.files
        return is_module and f"{folder}/__init__.py" in self.sources


class Tester:
    """Runs programs and tests over files; equal files have equal results, so each is run once."""

    def __init__(self, sandbox: Sandbox, limits: Limits) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._known: OrderedDict[str, Any] = OrderedDict()
        self._failed_before: frozenset[str] = frozenset()

    @classmethod
    def over(cls, project: Project, sandbox: Sandbox, seconds: float | None, memory: int) -> Tester:
        """A tester for versions of ``project``.

        Args:
            seconds: Processor time of a run; None = as measured: five times what the tests take on the project as it
                is, and 10 at least.
            memory: Bytes.
        """
        first = cls(sandbox, _limits(_PATIENT if seconds is None else seconds, memory))
        asked = first._asked(project.tests)
        run, took = first._tested(project.files, asked)
        most = min(_PATIENT, max(_LEAST, _TIMES * took)) if seconds is None else seconds
        made = cls(sandbox, _limits(most, memory))
        made._known[digest("code", ("tests", asked), dict(project.files))] = run
        made._failed_before = frozenset(one.id for one in run.failures if run.passed)
        return made

    def tests(self, files: Mapping[str, str], paths: Iterable[str]) -> TestRun:
        """What the tests of ``paths`` say of ``files``, but for those that fail on the project as it is.

        Raises:
            InputError: tests are written for pytest, which is not installed.
        """
        asked = self._asked(paths)
        run: TestRun = self._once(("tests", asked), files, lambda: self._tested(files, asked)[0])
        if not self._failed_before:
            return run
        # What fails on the project as it is says nothing of an edit.
        return replace(run, failures=tuple(one for one in run.failures if one.id not in self._failed_before))

    @staticmethod
    def _asked(paths: Iterable[str]) -> list[str]:
        return sorted(path for path in paths if _holds_tests(path))

    def program(self, files: Mapping[str, str], code: str) -> Run:
        """What ``code`` writes, run beside ``files``."""
        command = [sys.executable, "-I", "-S", "-B", "-u", "-c", _BESIDE, code]
        run: Run = self._once(("program", code), files, lambda: self._sandbox.run(files, command, self._limits))
        return run

    def _once(self, what: Any, files: Mapping[str, str], run: Any) -> Any:
        key = digest("code", what, dict(files))
        if key not in self._known:
            self._known[key] = run()
        self._known.move_to_end(key)
        while len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    def _tested(self, files: Mapping[str, str], paths: list[str]) -> tuple[TestRun, float]:
        """What the tests say, and seconds of processor time."""
        by_pytest = any(_PYTEST.search(files[path]) for path in paths) or any(
            path.endswith("conftest.py") for path in files
        )
        mark = digest("mark", dict(files))
        asked = json.dumps({"root": FOLDER, "tests": paths, "pytest": by_pytest, "mark": mark})
        flags = ["-s", "-B"] if by_pytest else ["-I", "-S", "-B"]
        done = self._sandbox.run(files, [sys.executable, *flags, _RUNNER, asked], self._limits)
        _, found, said = done.output.rpartition(f"\n{mark}")
        if not found or done.end != "exit":
            if by_pytest and "No module named 'pytest'" in done.output:
                what = "the tests are written for pytest, which is not installed beside synth"
                raise InputError(what, where="source", mend="pip install pytest")
            return TestRun(frozenset(), (), _WHY[done.end]), done.cpu
        read = json.loads(said)
        failures = [_failure(f"{one['path']} (can't be imported)", one) for one in read["broken"]]
        failures += [_failure(one["id"], one) for one in read["tests"] if not one["passed"]]
        failed = {one.id for one in failures}
        passed = frozenset(one["id"] for one in read["tests"] if one["passed"]) - failed
        return TestRun(passed, tuple(failures)), done.cpu


def _limits(seconds: float, memory: int) -> Limits:
    return Limits(seconds=_WAITS * seconds, cpu_seconds=max(1, round(seconds)), memory=memory)


_BESIDE = f"import sys; sys.path[:0] = ['{FOLDER}/src', '{FOLDER}']; exec(compile(sys.argv[1], 'program', 'exec'))"
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,}")


def _holds_tests(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.endswith(".py") and (name.startswith("test") or name.endswith("_test.py"))


def _failure(name: str, told: Mapping[str, Any]) -> Failure:
    message = _ADDRESS.sub("0x...", str(told["message"]))
    frames = tuple((path, line, function, text) for path, line, function, text in told["frames"])
    return Failure(name, told["error"], message, frames, told["compared"])
