"""SQL of an application that never ends, or takes all memory: one clear line, in data, invariants, checks and tools."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from synth.environments.app.environment import AppEnvironment, open_app
from synth.environments.contract import ToolCall
from synth.errors import InputError
from synth.testing.corpus import small_tasks

pytestmark = pytest.mark.thorough

LIBRARY = yaml.safe_load((Path(__file__).parent / "library.yaml").read_text("utf-8"))
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
LONG = "replace(printf('%9000s', 'x'), ' ', 'xxxxxxxxxx')"
WIDE = f"{LONG} || {LONG}"
SLOW = f"instr({WIDE}, {LONG} || 'y')"


def library(**parts: Any) -> str:
    """The text of the library's file, with other parts."""
    return yaml.safe_dump({**LIBRARY, **parts}, sort_keys=False)


def begin(text: str) -> None:
    environment = open_app(application=text)
    assert isinstance(environment, AppEnvironment)
    environment.world(0)


def data(sql: str) -> str:
    return library(data=[*LIBRARY["data"], sql])


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (f"INSERT INTO notes {ENDLESS} SELECT 'a', max(i) FROM n", "too many steps"),
        (f"INSERT INTO notes {ENDLESS} SELECT 'a', max({SLOW}) FROM n", "too many steps"),
        (f"INSERT INTO notes {ENDLESS} SELECT i, {WIDE} FROM n ORDER BY i DESC", "too much memory"),
        ("INSERT INTO notes SELECT 'a', replace(printf('%9000s', 'x'), ' ', printf('%900s', 'x'))", "too big"),
        ("INSERT INTO notes SELECT 'a', printf('%.*c', 2000000000, 'x')", "values that it can't take"),
        ("INSERT INTO notes SELECT 'a', format('%2000000000d', 1)", "values that it can't take"),
        ("INSERT INTO notes SELECT 'a', zeroblob(2000000000)", "zeroblob"),
        ("VACUUM INTO '/tmp/synth-stolen.db'", "data."),
        ("ATTACH DATABASE '/etc/passwd' AS other", "data."),
    ],
)
def test_data_that_never_end_are_one_clear_line(sql: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as wrong:
        begin(data(sql))
    assert f"data.{len(LIBRARY['data'])}" in str(wrong.value)


def test_a_file_that_grows_when_it_is_read_is_one_clear_line() -> None:
    lists = "".join(f"  w{n}: &w{n} [{', '.join([f'*w{n - 1}'] * 9)}]\n" for n in range(1, 12))
    with pytest.raises(InputError, match="aliases counted as what they stand for"):
        begin(f"{library()}\nlaughs:\n  w0: &w0 [a]\n{lists}")
    with pytest.raises(InputError, match=r"words\.heavy: the weights come to over"):
        begin(library(words={**LIBRARY["words"], "heavy": {"a": 10**12}}))


def test_an_endless_invariant_is_one_clear_line() -> None:
    with pytest.raises(InputError, match=r"invariants\.endless: it takes too many steps"):
        begin(library(invariants=[{"name": "endless", "none": f"{ENDLESS} SELECT i FROM n WHERE i < 0"}]))


def test_an_endless_tool_gives_up() -> None:
    steps = [{"find": "n", "from": f"{ENDLESS} SELECT max(i) AS top FROM n", "else": "No."}]
    assert "tools" in LIBRARY
    name = next(name for name, tool in LIBRARY["tools"].items() if not tool.get("writes"))
    tool = {**LIBRARY["tools"][name], "arguments": {}, "lists": [], "steps": steps, "says": "It is {n_top}."}
    environment = open_app(application=library(tools={**LIBRARY["tools"], name: tool}), budget=20_000_000)
    task = small_tasks()[0].model_copy(update={"environment": "app", "details": {}})
    result = environment.reset(task).step(ToolCall(id="a", name=name, arguments={}))
    assert (result.error, "takes too long" in result.content) == ("failure", True)


def test_memory_stays_bounded() -> None:
    """Measured in a process of its own: it grows by what a call may take and little more."""
    sql = f"INSERT INTO notes {ENDLESS} SELECT i, {WIDE} FROM n"
    script = (
        "import resource, sys\nfrom synth.environments.app.environment import open_app\n"
        "from synth.errors import InputError\n"
        "environment = open_app(application=sys.stdin.read())\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    environment.world(0)\nexcept InputError as error:\n    assert 'memory' in str(error), error\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], input=data(sql), capture_output=True, text=True, check=True)
    assert int(run.stdout) < 1024 * 1024, "kB"
