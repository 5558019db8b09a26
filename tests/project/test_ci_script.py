"""`.ci/run` runs every step, tells every skip and closing line, and fails when a step fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = """
check:
\t@echo checked; exit {check}
test:
\t@echo "SKIPPED tests/a/test_a.py::test_one - needs a terminal"
\t@echo "3 passed, 1 skipped in 4.20s"; read line && exit 9 || exit {test}
test-thorough:
\t@echo "7 passed in 9.00s"; exit {thorough}
docs:
\t@echo built; exit {docs}
test-extras:
\t@echo "extras: missing embed: there is no tests/extras/embed yet, so nothing was run"
\t@echo "2 passed, 1 skipped in 61.00s (0:01:01)"; exit {extras}
"""


def run_ci(folder: Path, **exits: int) -> tuple[int, str]:
    (folder / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", folder / ".ci" / "run")
    (folder / "Makefile").write_text(
        MAKEFILE.format(**{"check": 0, "test": 0, "thorough": 0, "docs": 0, "extras": 0, **exits})
    )
    done = subprocess.run(
        ["bash", ".ci/run"], cwd=folder, input="a line\n", capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout


def test_a_green_run_says_what_ran_and_what_did_not(tmp_path: Path) -> None:
    status, text = run_ci(tmp_path)
    assert status == 0, text
    tail = text[text.index("==> skipped tests, by name") :]
    assert "SKIPPED tests/a/test_a.py::test_one - needs a terminal" in tail
    assert "extras: missing embed" in tail
    assert "3 passed, 1 skipped in 4.20s\n" in tail
    assert "7 passed in 9.00s\n" in tail
    assert "2 passed, 1 skipped in 61.00s (0:01:01)\n" in tail
    assert "all steps passed" in tail


def test_extras_that_find_no_time_are_named_and_do_not_fail(tmp_path: Path) -> None:
    """Seconds for all suites: 1. The first that starts anything is cut off, and those behind it are not begun."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests" / "extras" / "embed").mkdir(parents=True)
    (tmp_path / "tests" / "extras" / "vllm").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "extras.py", tmp_path / ".ci")
    python = tmp_path / ".venv-embed" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nsleep 60\n")
    python.chmod(0o755)
    # It looks for uv beside its own interpreter, which is this one's.
    done = subprocess.run(
        [sys.executable, ".ci/extras.py", "embed", "vllm", "web"],
        cwd=tmp_path,
        env={**os.environ, "EXTRAS_SECONDS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "extras: NO TIME embed: cut off after " in done.stdout
    assert "extras: NO TIME vllm: " in done.stdout
    assert "extras: missing web" in done.stdout


@pytest.mark.parametrize("step", ["check", "test", "thorough", "docs", "extras"])
def test_a_step_that_fails_fails_the_run_and_the_others_run_all_the_same(tmp_path: Path, step: str) -> None:
    status, text = run_ci(tmp_path, **{step: 3})
    assert status == 1
    name = f"test-{step}" if step in ("thorough", "extras") else step
    assert f"==> failed: {name} (exit 2)" in text
    assert text.count(": exit ") == 5
    assert "all steps passed" not in text
