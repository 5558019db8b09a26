"""The environment ``code``: the contract, the sandbox's borders, tests that decide, observations that are read back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from synth.environments.code.environment import CodeEnvironment, CodeEpisode
from synth.environments.code.project import Project
from synth.environments.code.sandbox import Limits, Run, Sandbox, Tool, find_sandbox
from synth.environments.contract import Environment, ToolCall, ToolResult
from synth.environments.reports import read_hits, read_lines, read_report
from synth.errors import InputError
from synth.exploration.pipeline import blank_task
from synth.schemas.code import CodeFile, Mutated, Mutation
from synth.schemas.details import details_with
from synth.schemas.tasks import Task
from synth.sources.code.mutations import REMOVALS, edits_of
from synth.testing.environments import EnvironmentContract

pytestmark = pytest.mark.thorough

CLAMP = """def clamp(value, low=0, high=10):
    if low > high:
        raise ValueError("low is above high")
    if value < low:
        return low
    return min(value, high)
"""
TESTS = """import unittest
from pocket.clamp import clamp


def test_low():
    assert clamp(-1) == 0


def test_high():
    most = 11
    assert clamp(12, high=most) == 11


def test_two_sides():
    assert str(clamp(12)).strip() == "10".lower()


class Bounds(unittest.TestCase):
    def test_bounds(self):
        with self.assertRaises(ValueError):
            clamp(1, 5, 2)

    def test_inside(self):
        self.assertEqual(5, clamp(5))
"""
FILES = {"pocket/__init__.py": "", "pocket/clamp.py": CLAMP, "tests/test_clamp.py": TESTS}


def task(old: str, new: str) -> Task:
    edit = Mutation(
        path="pocket/clamp.py", start=CLAMP.index(old), old=old, new=new, operator="function", scope="clamp"
    )
    return blank_task(f"{old}-{new}", "code", details_with(Mutated(mutation=edit, failing=(), passing=0)))


MAX = task("min(value", "max(value")
WRONG = task("low > high", "low < high")


@pytest.fixture(scope="module")
def environment() -> CodeEnvironment:
    rows = [CodeFile(id=path, text=text, is_test=path.startswith("tests")) for path, text in FILES.items()]
    return CodeEnvironment(Project.of(rows))


def step(episode: CodeEpisode, name: str, **arguments: Any) -> ToolResult:
    return episode.step(ToolCall(id="c", name=name, arguments=arguments))


class TestCode(EnvironmentContract):
    max_examples = 4
    made: CodeEnvironment | None = None

    def environment(self) -> Environment:
        # Equal environments: what it remembers of runs changes no observation.
        if TestCode.made is None:
            rows = [CodeFile(id=path, text=text, is_test=path.startswith("tests")) for path, text in FILES.items()]
            TestCode.made = CodeEnvironment(Project.of(rows))
        return TestCode.made

    def tasks(self) -> Sequence[Task]:
        return [MAX]

    def examples(self) -> dict[str, Sequence[Any]]:
        return {
            "path": [*FILES, "pocket/new.py"],
            "old": ["max(value", "return low"],
            "replacement": ["min(value"],
            "text": ["def ", "clamp"],
            "file_text": ["x = 1\n"],
            "program": ["print(1)"],
        }

    def check_answers(self) -> bool:
        return False


def test_a_repair_is_judged_by_the_tests_as_they_were(environment: CodeEnvironment) -> None:
    episode = environment.reset(MAX)
    told = read_report(step(episode, "run_tests").content)
    assert told is not None
    assert [one.id for one in told.failures] == [
        "tests/test_clamp.py::test_high",
        "tests/test_clamp.py::test_two_sides",
        "tests/test_clamp.py::Bounds::test_inside",
    ]
    assert told.failures[0].compared == {
        "call": "clamp(12, high=11)",
        "came": "returns 12",
        "should": "return 11",
    }
    assert told.failures[1].compared is not None
    assert told.failures[1].compared["call"] == "str(clamp(12)).strip()"
    begun = episode.snapshot()
    assert (
        step(episode, "write_file", path="tests/test_clamp.py", file_text="def test_all():\n    pass\n").error is None
    )
    assert step(episode, "run_tests").content == "1 passed"
    assert episode.check("Done.").correct is False
    episode.restore(begun)
    assert step(episode, "edit_file", path="pocket/clamp.py", old="max(value", replacement="min(value").error is None
    assert step(episode, "run_tests").content == "5 passed"
    verdict = episode.check("Done.")
    assert (verdict.correct, verdict.evidence) == (True, "All 5 tests pass.")


def test_what_a_call_raises_is_told(environment: CodeEnvironment) -> None:
    told = read_report(step(environment.reset(WRONG), "run_tests").content)
    assert told is not None
    said = {one.id.rpartition("::")[2]: one.compared for one in told.failures}
    assert said["test_bounds"] == {"call": "clamp(1, 5, 2)", "came": "raises nothing", "should": "raise ValueError"}
    assert said["test_low"] == {
        "call": "clamp(-1)",
        "came": "raises ValueError: low is above high",
        "should": "return 0",
    }
    assert told.failures[0].frames[-1] == ("pocket/clamp.py", 3, "clamp", 'raise ValueError("low is above high")')


def test_settings_and_shadows_of_libraries_have_no_effect_on_a_verdict(environment: CodeEnvironment) -> None:
    episode = environment.reset(MAX)
    for path in ("unittest.py", "conftest.py", "tests/test_more.py"):
        assert step(episode, "write_file", path=path, file_text="raise SystemExit(0)\n").error is None
    assert episode.check(None).correct is False
    step(episode, "write_file", path="pocket/bounds.py", file_text="def least(a, b):\n    return a if a < b else b\n")
    changed = "from pocket.bounds import least\n" + CLAMP.replace("min(", "least(")
    step(episode, "write_file", path="pocket/clamp.py", file_text=changed)
    assert episode.check(None).correct is True


def test_observations_are_read_back(environment: CodeEnvironment) -> None:
    episode = environment.reset(MAX)
    lines = read_lines(step(episode, "read_file", path="pocket/clamp.py", start=4).content)
    assert lines is not None
    assert (lines.path, lines.total, lines.lines[4]) == ("pocket/clamp.py", 6, "    if value < low:")
    hits = read_hits(step(episode, "search_files", text="def clamp(").content)
    assert [(hit.path, hit.line) for hit in hits] == [("pocket/clamp.py", 1)]
    again = read_lines(step(episode, "edit_file", path="pocket/clamp.py", old="< low", replacement="<= low").content)
    assert again is not None
    assert again.lines[4] == "    if value <= low:"
    run = environment.tester.tests(episode.files, environment.project.tests)
    read = read_report(run.text())
    assert read is not None
    assert (read.failures, len(read.passed)) == (run.failures, len(run.passed))


def test_every_edit_but_a_removal_is_undone_by_another(environment: CodeEnvironment) -> None:
    edits = edits_of(CLAMP)
    assert {edit.operator for edit in edits} >= {
        "direction",
        "boundary",
        "arguments",
        "function",
        "guard",
        "off_by_one",
    }
    for edit in edits:
        broken = edit.applied(CLAMP)
        back = [one for one in edits_of(broken) if one.applied(broken) == CLAMP]
        assert bool(back) == (edit.operator not in REMOVALS), edit


PATHS: dict[Tool, str | None] = {"bwrap": shutil.which("bwrap"), "unshare": shutil.which("unshare")}
if os.geteuid() == 0:
    PATHS["root"] = PATHS["unshare"]
SANDBOXES = {tool: path for tool, path in PATHS.items() if path}
TIGHT = Limits(seconds=3.0, memory=128 << 20)


@pytest.fixture(params=SANDBOXES)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    made = Sandbox(request.param, SANDBOXES[request.param])
    try:
        made.run({}, [sys.executable, "-I", "-S", "-c", ""])
    except InputError as error:
        pytest.skip(str(error))
    return made


def run(sandbox: Sandbox, code: str, limits: Limits | None = None) -> Run:
    return sandbox.run({"here.txt": "hello"}, [sys.executable, "-I", "-S", "-c", code], limits)


def test_processor_time_of_a_program_is_told(sandbox: Sandbox) -> None:
    done = run(sandbox, "import time\nwhile time.process_time() < 0.3:\n    pass")
    assert done.end == "exit"
    assert done.cpu >= 0.3


SLOW = """import time
from worker import work


def test_work():
    until = time.process_time() + work()
    while time.process_time() < until:
        pass
"""


def test_tests_may_take_longer_than_they_do_on_the_project_as_it_is() -> None:
    files = {"worker.py": "def work():\n    return 2.5\n", "test_worker.py": SLOW}
    project = Project(files, frozenset({"test_worker.py"}))
    longer = {**files, "worker.py": "def work():\n    return 4.5\n"}
    measured = CodeEnvironment(project)
    assert measured.tested({}).passed == {"test_worker.py::test_work"}
    assert measured.tested(longer).stopped is None
    said = CodeEnvironment(project, seconds=1)
    # On a machine that is busy beyond measure the time runs out first.
    assert said.tested({}).stopped in ("they took too much processor time", "they took too long")


def test_a_file_of_tests_that_cannot_be_imported_leaves_the_others() -> None:
    missing = "import pytest\nimport nowhere_to_be_found\n\ndef test_a():\n    pass\n"
    files = {"one.py": "ONE = 1\n", "test_one.py": TESTS_OF_ONE, "test_two.py": missing}
    tested = CodeEnvironment(Project(files, frozenset({"test_one.py", "test_two.py"}))).tested
    run = tested({})
    assert (run.passed, run.failures) == ({"test_one.py::test_one"}, ())
    assert [one.id for one in tested({"one.py": "ONE = 2\n"}).failures] == ["test_one.py::test_one"]
    alone = CodeEnvironment(Project(files, frozenset({"test_two.py"}))).tested({})
    told = [(one.id, one.error, one.message) for one in alone.failures]
    assert told == [("test_two.py (can't be imported)", "ModuleNotFoundError", "No module named 'nowhere_to_be_found'")]


TESTS_OF_ONE = "import pytest\nimport one\n\ndef test_one():\n    assert one.ONE == 1\n"


REACH = """
import os, socket
print(open("here.txt").read(), sorted(os.environ), os.path.exists("/etc/passwd"), os.path.exists("/home"))
for place in ("/usr/x", "/x", "/proc/sys/kernel/core_pattern"):
    try:
        open(place, "w")
        print("wrote", place)
    except OSError:
        pass
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    print("connected")
except OSError as error:
    print(type(error).__name__, error.errno)
print(open("/proc/self/status").read().split("CapEff:")[1].split()[0])
print(len([name for name in os.listdir("/proc") if name.isdigit()]) < 5)
"""


def test_a_program_sees_and_changes_nothing_of_the_machine(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "of the host")
    done = run(sandbox, REACH)
    names = ["HOME", "LANG", "PATH", "PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED", "TZ"]
    assert done.output.splitlines() == [f"hello {names} False False", "OSError 101", "0000000000000000", "True"]
    assert run(sandbox, "open('here.txt', 'w').write('changed')").code == 0
    assert run(sandbox, "print(open('here.txt').read())").output == "hello\n"


@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("held = []\nwhile True:\n    held.append(bytearray(1 << 20))", "memory"),
        ("while True:\n    pass", "seconds"),
        ("import time\ntime.sleep(60)", "seconds"),
        ("while True:\n    print('x' * 1000)", "output"),
        ("import ctypes\nctypes.string_at(0)", "signal"),
    ],
)
def test_bounds_end_a_program(sandbox: Sandbox, code: str, end: str) -> None:
    limits = Limits(seconds=0.4) if end == "seconds" else TIGHT
    done = run(sandbox, code, limits)
    # Python may run into the bound of its own address space before all pages together are too many.
    assert done.end == end or (end == "memory" and "MemoryError" in done.output)


FORKS = """
import os, time
for number in range(2, 200):
    if os.fork() == 0:
        time.sleep(60)
    print(number, flush=True)
"""
FORKS_WITHOUT_END = "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"


def test_the_system_itself_bounds_the_processes() -> None:
    """Polling alone can't keep up with a fork bomb, least of all on a busy machine."""
    counted = [int(word) for word in run(find_sandbox(), FORKS, TIGHT).output.split() if word.isdigit()]
    assert 2 in counted
    assert max(counted) <= TIGHT.processes
    assert run(find_sandbox(), FORKS_WITHOUT_END, Limits(seconds=3.0)).end == "processes"


def test_files_have_a_bound(sandbox: Sandbox) -> None:
    done = run(sandbox, "open('/tmp/large', 'wb').write(bytes(20 << 20))")
    assert done.code == 1
    assert "File too large" in done.output


def test_a_machine_without_a_sandbox_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    find_sandbox.cache_clear()
    try:
        with pytest.raises(InputError, match=r"neither bwrap nor unshare is installed.*Install bubblewrap"):
            find_sandbox()
    finally:
        find_sandbox.cache_clear()


def test_a_python_that_lies_in_tmp_runs() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)  # for the user without rights under whom root's programs run
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
        told = "from synth.environments.code.sandbox import find_sandbox as f; print(f().tool)"
        done = subprocess.run(
            [f"{folder}/bin/python", "-c", told],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
        )
    assert done.stdout.strip() == find_sandbox().tool, done.stderr[-500:]
