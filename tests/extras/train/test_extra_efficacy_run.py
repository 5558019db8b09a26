"""The benchmark as a user runs it, at a size that teaches nothing: whole, killed in the middle, and asked again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

import yaml
from efficacy_lab.plan import SHIPPED, load_plan

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]

TESTS = Path(__file__).parents[2]


def small(name: str = "r1") -> dict[str, Any]:
    """A plan that ships, with everything a hundredth of its size."""
    plan = load_plan(SHIPPED.with_name(f"{name}.yaml")).model_dump(mode="json")
    plan["decoder"] = {"layers": 1, "dim": 16, "heads": 1, "context": 512}
    for part in ("reading", "acting", "update", "pairs"):
        plan[part]["steps"] = 3
    for place, tasks in (("teach", 16), ("collect", 8), ("test", 4)):
        plan["places"][place] |= {"entities": 600, "tasks": tasks}
    kept = ("base", "rft", "verified", "demonstrations", "rft_5k", "verified_5k", "demonstrations_45k")
    plan["arms"] = {name: arm for name, arm in plan["arms"].items() if name in kept}
    for arm in plan["arms"].values():
        arm["calls"] = arm["calls"] and arm["calls"] // 500
    plan["endpoints"] = [end for end in plan["endpoints"] if {end["arm"], end["against"]} <= plan["arms"].keys()]
    return plan


def start(folder: Path, *more: str) -> subprocess.Popen[str]:
    arguments = ["--plan", str(folder / "plan.yaml"), "--out", str(folder / "out"), *more]
    paths = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(
        [sys.executable, "-m", "efficacy_lab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def steps(errors: str, seed: int) -> list[str]:
    return re.findall(rf"seed {seed}: (\S+)", errors)


def test_a_killed_benchmark_goes_on_and_a_seed_that_is_done_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(small()))
    with start(tmp_path, "--seeds", "301") as first:
        assert first.stderr is not None
        seen = ""
        for line in first.stderr:
            seen += line
            if "arm-" in line:
                break
        first.send_signal(signal.SIGKILL)
    assert first.returncode == -signal.SIGKILL
    begun = steps(seen, 301)
    assert begun == ["base", "collected", begun[-1]]

    with start(tmp_path, "--seeds", "301") as second:
        table, said = second.communicate()
    assert second.returncode == 0, said
    assert steps(said, 301)[0] == begun[-1], "what was finished is not done again"
    assert len(steps(said, 301)) == 4
    assert table.startswith("1 of 8 untouched seeds run (301); 4 tasks a seed")
    assert "| E1: `verified` - `rft`, affected | +.000 | 1 of 8 untouched seeds |" in table
    found = json.loads((tmp_path / "out" / "seed-301.json").read_text())
    assert found["arms"]["rft"]["won"] == {"0.0": "0000", "1.0": "0000"}
    assert len(found["affected"]) == 4

    with start(tmp_path, "--seeds", "301,302") as third:
        both, said = third.communicate()
    assert both.startswith("2 of 8 untouched seeds run (301, 302)")
    assert steps(said, 301) == []
    assert len(steps(said, 302)) == 6

    other = small()
    other["acting"]["steps"] = 2
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(other))
    with start(tmp_path, "--seeds", "301") as fourth:
        _, said = fourth.communicate()
    assert fourth.returncode == 2
    assert "seed 301 was begun with another plan" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("name", "seed", "says"), [("r2", 401, "| F1: `verified` -"), ("r3", 501, "| G1: `verified_5k` -")]
)
def test_other_plans_run_to_their_tables(tmp_path: Path, name: str, seed: int, says: str) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(small(name)))
    with start(tmp_path, "--seeds", str(seed)) as process:
        table, said = process.communicate()
    assert process.returncode == 0, said
    assert says in table
    found = json.loads((tmp_path / "out" / f"seed-{seed}.json").read_text())
    assert ("1" in found["affected"]) is (name == "r2"), "one of four tasks needs the turn of a page"
    for arm, planned in small(name)["arms"].items():
        spent, most = found["arms"][arm], planned["calls"]
        assert most is None or spent["policy"] + spent["expert"] <= most


@pytest.mark.parametrize(("seeds", "says"), [("7", "no seeds of the plan"), ("some", "no seeds of the plan")])
def test_seeds_that_the_plan_does_not_name_are_one_line(tmp_path: Path, seeds: str, says: str) -> None:
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(small()))
    with start(tmp_path, "--seeds", seeds) as process:
        _, said = process.communicate()
    assert process.returncode == 2
    assert says in said.splitlines()[-1]


def test_a_context_that_no_run_fits_into_is_one_line(tmp_path: Path) -> None:
    plan = small()
    plan["decoder"]["context"] = 16
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    with start(tmp_path) as process:
        _, said = process.communicate()
    assert process.returncode == 2
    assert re.match(r"synth: decoder.context: 0 of \d+ taught runs fit into 16 tokens", said.splitlines()[-1])
    assert "Traceback" not in said
