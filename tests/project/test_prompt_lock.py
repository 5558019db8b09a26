"""`make lock` adds new prompts; it never lets a released one change or go."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def record(folder: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "prompt_lock.py"), str(folder)], capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def prompts(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "prompts", tmp_path / "prompts")
    return tmp_path / "prompts"


def test_what_is_recorded_is_what_ships(prompts: Path) -> None:
    before = (prompts / "lock.json").read_bytes()
    assert record(prompts) == (0, f"{len(json.loads(before))} prompts are locked, 0 of them new\n")
    assert (prompts / "lock.json").read_bytes() == before


def test_a_new_version_is_added_and_the_old_one_stays(prompts: Path) -> None:
    first = next(prompts.glob("*/*/v1.md"))
    first.with_name("v99.md").write_text(first.read_text() + "More.\n")
    before = json.loads((prompts / "lock.json").read_text())
    status, text = record(prompts)
    assert status == 0, text
    after = json.loads((prompts / "lock.json").read_text())
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_released_prompt_can_not_change_or_go(prompts: Path, change: str) -> None:
    first = next(prompts.glob("*/*/v1.md"))
    first.write_text(first.read_text() + "More.\n") if change == "edit" else first.unlink()
    before = (prompts / "lock.json").read_bytes()
    status, text = record(prompts)
    assert status == 1
    assert "was released and" in text
    assert (prompts / "lock.json").read_bytes() == before
