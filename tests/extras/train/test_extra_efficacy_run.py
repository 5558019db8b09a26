"""The benchmark as a user runs it, at a size that teaches nothing: whole, killed in the middle, and asked again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

import yaml

from synth.efficacy.plan import load_plan

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]

ARMS = "sft,more_sft,rft,trajectory_dpo,same_kind,random_same"


def small() -> dict[str, Any]:
    """The plan that ships, with everything a hundredth of its size."""
    plan = load_plan().model_dump(mode="json")
    plan["decoder"] = {"layers": 1, "dim": 16, "heads": 1, "context": 256}
    plan["reading"]["steps"], plan["acting"]["steps"] = 2, 4
    plan["arms"]["more_sft"]["train"]["steps"] = 2
    plan["recipe"]["source"]["entities"] = 600
    plan["data"]["teach"]["tasks"], plan["data"]["collect"]["tasks"] = 10, 4
    plan["data"]["places"]["held_out"]["tasks"] = 4
    return plan


def start(folder: Path) -> subprocess.Popen[str]:
    code = "from synth.cli.app import main; main()"
    arguments = ["efficacy", "--plan", str(folder / "plan.yaml"), "--out", str(folder / "out"), "--seeds", "1"]
    command = [sys.executable, "-c", code, *arguments, "--arms", ARMS]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def steps(errors: str) -> list[str]:
    return [line.split("seed 0: ")[1] for line in errors.splitlines() if "seed 0: " in line]


def test_a_killed_benchmark_goes_on_and_says_what_was_too_little(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(small()))
    with start(tmp_path) as first:
        assert first.stderr is not None
        seen = ""
        for line in first.stderr:
            seen += line
            if "collected" in line:
                break
        first.send_signal(signal.SIGKILL)
    assert first.returncode == -signal.SIGKILL
    begun = steps(seen)
    assert [step.split("-")[0] for step in begun] == ["base", "measured", "arm", "measured", "collected"]

    with start(tmp_path) as second:
        table, said = second.communicate()
    assert second.returncode == 0, said
    assert steps(said)[0] == begun[-1], "what was finished is not done again"
    assert set(steps(said)) & set(begun) == {begun[-1]}
    assert "| sft | 1 | 0.000 | - |" in table
    assert "| more_sft | 1 | 0.000 |" in table
    assert "| rft | 0 | too few: 0 rows (seed 0) |" in table
    assert "| same_kind - random_same | 0 | not measured (" in table
    results = json.loads((tmp_path / "out" / "development" / "results.json").read_text())
    assert results["missing"]["same_kind"] == {"0": "0 pairs"}
    assert results["measured"]["held_out"]["sft"]["0"]["facts"]["shared_names"] < 0.01
    assert (tmp_path / "out" / "development" / "table.md").read_text() == table

    with start(tmp_path) as third:
        again, said = third.communicate()
    assert (again, steps(said)) == (table, [])
