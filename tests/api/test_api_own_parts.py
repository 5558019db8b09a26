"""The guide of one's own parts, carried out: its files as they stand on the page."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import synth
from synth.cli import main
from synth.dataset.rules.validate import validate

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "own-parts.md").read_text("utf-8")
FILES = dict(re.findall(r"^<!-- file: (\S+) -->\n\n```\w+\n(.*?)^```$", PAGE, re.M | re.S))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "own" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "own" / name).write_text(text)
    return tmp_path / "own"


def test_prompts_a_reward_and_a_judge(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, out = str(folder / "short.yaml"), tmp_path / "out"
    main(["plan", "--recipe", recipe, "--store", str(tmp_path / "store")])
    said = capsys.readouterr().out
    assert "your prompt agents/search/v2: teacher-rollouts, policy-rollouts" in said
    assert "your code mine:short (reward): mine.py" in said
    assert "your code mine:judge (roles.judge): mine.py" in said
    main(["build", "--recipe", recipe, "--store", str(tmp_path / "store"), "--out", str(out)])
    assert validate(out) == []
    dataset = synth.load(out)
    wanted = hashlib.sha256(FILES["prompts/agents/search/v2.md"].encode()).hexdigest()
    assert {row.provenance.prompt for row in dataset.rows("trajectories")} == {f"agents/search/v2@{wanted}"}
    right = {run.id: run.success for run in dataset.rows("trajectories")}
    ratings = {row.trajectory_id: (row.value, row.reason) for row in dataset.rows("judgments")}
    assert ratings == {
        name: (5, "right") if success else (2, "wrong, or not finished") for name, success in right.items()
    }
    assert {row.provenance.backend for row in dataset.rows("judgments")} == {"mine:judge"}
    assert {row.verifier.function.partition("@")[0] for row in dataset.rows("rl")} == {"mine:short"}

    card = (out / "README.md").read_text("utf-8")
    assert "Prompts of the recipe's own, whose texts stand in `report.json`: agents/search/v2." in card
    assert "Code of the recipe's own, which is no part of the dataset: mine:short, mine:judge." in card

    monkeypatch.chdir(folder)
    synth.export(out, "trl-grpo", tmp_path / "grpo")
    assert (tmp_path / "grpo" / "mine.py").read_text() == FILES["mine.py"]
    task = next(iter(dataset.rows("tasks")))
    # A trainer's own process, where the recipe's folder is not.
    program = """
import json, sys, pyarrow.parquet as pq
from reward import trl_reward
for path in sys.argv[1:]:
    for row in pq.read_table(path).to_pylist():
        model = json.loads(row["reward_model"])
        answer = model["ground_truth"]["answer"]
        assert trl_reward(completions=[answer, "no"], reward_model=[model] * 2) == [1.0, 0.0]
        print(answer)
"""
    tables = [str(path) for path in sorted((tmp_path / "grpo").glob("*.parquet"))]
    done = subprocess.run(
        [sys.executable, "-c", program, *tables],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "grpo"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert task.answer in done.stdout

    (folder / "mine.py").write_text(FILES["mine.py"].replace("60", "50"))
    synth.export(out, "trl-grpo", tmp_path / "later")
    assert not (tmp_path / "later" / "mine.py").exists(), "another text of it is another reward"
    assert "which was not there when this was exported" in (tmp_path / "later" / "reward.py").read_text()


def test_tools_that_an_application_adds_are_used_and_replayed(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    off = [f"--set={name}=null" for name in ("critical", "preferences", "difficulty")]
    given = ["app-desk", "--set", "source.application=bills.yaml", "--tasks=8", *off, f"--store={tmp_path / 'store'}"]
    main(["plan", *given])
    assert "your application extends ledger: tables bills; tools list_bills, put_off_bill" in capsys.readouterr().out
    main(["build", *given, f"--out={tmp_path / 'out'}"])
    main(["validate", str(tmp_path / "out"), "--deep"])  # it exits where a row does not hold
    dataset = synth.load(tmp_path / "out")
    used = Counter[str]()
    for run in dataset.rows("trajectories"):
        assert {"put_off_bill", "list_bills", "transfer"} <= {tool["function"]["name"] for tool in run.tool_schemas}
        names = {item.function for item in run.content if getattr(item, "function", None)}
        if run.success and run.role == "teacher":
            used.update(names)
    assert used["put_off_bill"] >= 2
    assert used["list_bills"] >= 2
