"""LLaMA-Factory's and verl's own loaders keep every row of our exports; LLaMA-Factory's templates write them out."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from real_loaders import ROOT, CannotBeHad, read_with

import synth
from synth.api import BuildResult
from synth.dataset.configs import config_named
from synth.dataset.layout import write_config
from synth.schemas.adp import ApiAction
from synth.schemas.arrow import to_arrow
from synth.schemas.trajectories import TrajectoryRow

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], BuildResult]:
    settings = {"world-search": {"source.entities": 600}}

    @cache
    def built(dataset: str) -> BuildResult:
        folder = tmp_path_factory.mktemp(dataset)
        given = settings.get(dataset, {})
        return synth.build(dataset, tasks=12, settings=given, out=folder / "out", store=folder / "store")

    return built


def read(trainer: str, *arguments: str) -> dict[str, Any]:
    try:
        return read_with(trainer, *arguments)
    except CannotBeHad as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("name", "stage"), [("llamafactory-sft", "sft"), ("llamafactory-dpo", "dpo")])
def test_llamafactory_keeps_and_encodes_every_row_as_the_card_says(
    name: str, stage: str, builds: Callable[[str], BuildResult], tmp_path: Path
) -> None:
    pairs = ["selected=any"] if stage == "dpo" else []
    done = synth.export(builds("world-search").path, name, tmp_path / "out", select=pairs)
    wanted = done.report.splits["train"].records
    found = read("llamafactory", str(done.path), block(done.path, "yaml"))
    texts = wanted * (2 if stage == "dpo" else 1)
    assert found == {"rows": wanted, "kept": wanted, "texts": texts, "stage": stage, "length": 16_384}


def test_llamafactory_keeps_and_encodes_turns_with_text_beside_a_call(
    builds: Callable[[str], BuildResult], tmp_path: Path
) -> None:
    data = synth.load(builds("world-search").path)
    rows = []
    for row in data.rows("trajectories"):
        content = tuple(
            item.model_copy(update={"description": "I look it up."}) if isinstance(item, ApiAction) else item
            for item in row.content
        )
        rows.append(row.model_copy(update={"content": content}))
    copy = tmp_path / "set"
    shutil.copytree(data.path, copy)
    shutil.rmtree(copy / "trajectories")
    write_config(copy, config_named("trajectories"), to_arrow(rows, TrajectoryRow).to_batches())
    done = synth.export(copy, "llamafactory-sft", tmp_path / "out")
    assert "I look it up.\\n<tool_call>" in (done.path / "train.jsonl").read_text()
    wanted = done.report.splits["train"].records
    found = read("llamafactory", str(done.path), block(done.path, "yaml"))
    assert (found["rows"], found["kept"], found["texts"]) == (wanted, wanted, wanted)


def log(number: int, *, right: bool) -> dict[str, Any]:
    """A run as somebody else recorded it, with words beside its call."""
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": f'{{"river": {number}}}'}}
    return {
        "id": f"run{number}-{right}",
        "messages": [
            {"role": "system", "content": "Look things up."},
            {"role": "user", "content": f"How long is the river number {number} of Tervia?"},
            {"role": "assistant", "content": "I look it up.", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": f"The river is {1000 + number} kilometres long."},
            {"role": "assistant", "content": str(1000 + number) if right else "about seven"},
        ],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        "correct": right,
    }


def test_llamafactory_keeps_and_encodes_every_run_of_an_import(tmp_path: Path) -> None:
    runs = [log(number, right=right) for number in range(8) for right in (True, False)]
    asked = [{"question": log(n, right=True)["messages"][1]["content"], "answer": str(1000 + n)} for n in range(8)]
    for file, rows in (("runs.jsonl", runs), ("questions.jsonl", asked)):
        (tmp_path / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = synth.annotate(tmp_path / "runs.jsonl", tmp_path / "questions.jsonl", tmp_path / "set")
    done = synth.export(made.path, "llamafactory-sft", tmp_path / "out", select=["role=policy"])
    found = read("llamafactory", str(done.path), block(done.path, "yaml"))
    assert (found["rows"], found["kept"], found["texts"], found["stage"]) == (8, 8, 8, "sft")


def test_llamafactory_keeps_and_encodes_every_verified_pair_of_own_runs(tmp_path: Path) -> None:
    script = ROOT / "docs" / "guides" / "own_runs.py"
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, capture_output=True)
    done = synth.export(tmp_path / "out", "llamafactory-dpo", tmp_path / "dpo")
    wanted = done.report.splits["train"].records
    found = read("llamafactory", str(done.path), block(done.path, "yaml"))
    assert (found["rows"], found["kept"], found["texts"], found["stage"]) == (wanted, wanted, 2 * wanted, "dpo")
    assert wanted > 50


def block(folder: Path, language: str) -> str:
    """The one block of code of that language in the export's card."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", (folder / "README.md").read_text(), flags=re.S)
    return str(found).replace("FOLDER", str(folder)).replace("MODEL", str(folder))


@pytest.mark.parametrize(
    ("dataset", "name"),
    [("world-search", "verl"), ("world-search", "verl-env"), ("app-desk", "verl-env")],
)
def test_verl_keeps_every_row_as_the_card_says(
    dataset: str, name: str, builds: Callable[[str], BuildResult], tmp_path: Path
) -> None:
    done = synth.export(builds(dataset).path, name, tmp_path / "out")
    found = read("verl", str(done.path), str(ROOT), *overrides(done.path))
    rows = list(synth.load(builds(dataset).path).rows("rl", "train"))
    tasks = sorted(row.task_id for row in rows)
    assert found["rows"] == done.report.splits["train"].records == len(rows) > 0
    assert (found["tasks"], found["agents"], found["length"]) == (tasks, ["tool_agent"], 4096)
    assert found["turns"] == sum(run.turns for run in synth.load(builds(dataset).path).rows("trajectories", "train"))
    assert found["judged"] == sorted({row.reward_model.ground_truth.judged_by for row in rows})
    if name == "verl":
        assert (found["asked"], found["tools"]) == ([""] * len(rows), None)
        assert min(found["right"]) > max(found["wrong"]) == 0
    else:
        assert (found["asked"], found["calls"]) == (tasks, 8)
        assert found["tools"] == [dict(tool) for tool in rows[0].tools], "schemas as they are, not as verl narrows them"


def overrides(folder: Path) -> list[str]:
    """What the export's card gives to verl, written out by a shell; nothing is started."""
    shown = block(folder, "sh")
    command = shown[shown.index("python -m verl.trainer.main_ppo") :].replace(
        "python -m verl.trainer.main_ppo", "printf '%s\\n'"
    )
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True, env={"PATH": path, "PYTHONPATH": str(ROOT)}
    )
    return done.stdout.splitlines()
