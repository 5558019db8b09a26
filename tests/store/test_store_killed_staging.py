"""What killed exports and mixes leave beside the output folder: the next run removes it, and reads none of
it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from synth.store import staged

KILLED = """
import os, signal, sys
from pathlib import Path
from synth.store import staged
with staged(Path(sys.argv[1]), marker="a.json") as folder:
    (folder / "a.json").write_text("{}")
    (folder / "trajectories").mkdir()
    (folder / "trajectories" / "train-00000-of-00001.parquet").write_bytes(b"half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def kill_one(out: Path) -> Path:
    """The folder that a killed run leaves."""
    before = set(out.parent.iterdir())
    assert subprocess.run([sys.executable, "-c", KILLED, str(out)], check=False).returncode == -signal.SIGKILL
    (left,) = set(out.parent.iterdir()) - before
    return left


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    out = tmp_path / "out"
    left = [kill_one(out), kill_one(tmp_path / "other")]
    mine = tmp_path / ".part-out-notes"
    mine.mkdir()
    with staged(out, marker="a.json") as folder:
        (folder / "a.json").write_text("[]")
    assert [folder.exists() for folder in left] == [False, True]  # the other's is the other's to remove
    assert mine.is_dir()
    assert (out / "a.json").read_text() == "[]"


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with staged(out, marker="a.json") as mine:
        (mine / "a.json").write_text("{}")
        with staged(out, marker="a.json") as others:
            assert mine.is_dir()
            assert others != mine
            (others / "a.json").write_text("[]")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
    assert (out / "a.json").read_text() == "{}"


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    def fail() -> None:
        with staged(tmp_path / "deep" / "out", marker="a.json") as folder:
            (folder / "a.json").write_text("{}")
            raise LookupError

    with pytest.raises(LookupError):
        fail()
    assert not list((tmp_path / "deep").iterdir())
