"""The quickstart's way from pages to a repository, as it stands there, with a mock endpoint and a mock Hub."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

import synth

pytestmark = pytest.mark.thorough

DOCS = Path(__file__).resolve().parents[2] / "docs"
SECTION = (DOCS / "quickstart.md").read_text(encoding="utf-8").split("## The whole way, before you have a model\n")[1]
LINES = [line.split("#")[0].strip() for line in re.findall(r"^    (\S.*)$", SECTION, re.M)]
ENTRY = [sys.executable, "-c", "from synth.cli import main; main()"]


def test_pages_become_a_repository(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    for name in ("documents", "search", "questions", "models", "critical-steps"):
        shutil.copy(DOCS / "guides" / f"{name}.md", tmp_path / "pages")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "SYNTH_"))}
    environment = {**kept, "XDG_CACHE_HOME": str(tmp_path / "cache"), "HF_HOME": str(tmp_path / "hf")}
    addresses: dict[str, str] = {}
    said: dict[str, str] = {}
    with ExitStack() as servers:
        for line in LINES:
            for known, found in addresses.items():
                line = line.replace(known, found)
            words = shlex.split(line.replace("~/docs", "pages").replace("--tasks 20", "--tasks 6"))
            variables = dict(word.split("=", 1) for word in words[: words.index("synth")])
            arguments = words[words.index("synth") + 1 :]
            if arguments[0].startswith("mock-"):
                process = servers.enter_context(
                    subprocess.Popen(
                        [*ENTRY, *arguments, "--port", "0"],
                        cwd=tmp_path,
                        env=environment,
                        stdout=subprocess.PIPE,
                        text=True,
                    )
                )
                servers.callback(process.wait, 60)
                servers.callback(process.terminate)  # first
                assert process.stdout is not None
                port = {"mock-endpoint": "8000", "mock-hub": "8001"}[arguments[0]]
                there = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
                assert there is not None
                addresses[f"http://127.0.0.1:{port}"] = there[0]
                continue
            done = subprocess.run(
                [*ENTRY, *arguments],
                cwd=tmp_path,
                env=environment | variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
            )
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
            said[arguments[0]] = done.stdout
    assert said["preview"].count("question  ") == 5
    assert "turn 1" in said["preview"]
    assert "in all about" in said["plan"]
    assert "turn 1" in said["show"]
    assert any((tmp_path / "sft").rglob("*.parquet")) or any((tmp_path / "sft").rglob("*.jsonl"))
    pushed = synth.load(tmp_path / "hub" / "files" / "me" / "mine")  # written when the server ends
    assert len(list(pushed.rows("tasks"))) == 6
