"""The benchmark as a user runs it, at a size that teaches nothing: whole, killed in the middle, and asked again."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the extra train is not installed")

import yaml
from efficacy_lab.checkpoints import Trained, load_trained, save_trained
from efficacy_lab.model import fresh
from efficacy_lab.plan import Arm, load_plan
from efficacy_lab.rows import read_rows, texts_of
from efficacy_lab.serving import environment
from efficacy_lab.sizes import DecoderConfig
from efficacy_lab.words import Vocabulary
from efficacy_lab.work import Trainer

import synth

pytestmark = [pytest.mark.extras, pytest.mark.filterwarnings("default")]

ARMS = "sft,more_sft,rft,trajectory_dpo,same_kind,random_same"


def small() -> dict[str, Any]:
    """The plan that ships, with everything a hundredth of its size."""
    plan = load_plan().model_dump(mode="json")
    plan["decoder"] = {"layers": 1, "dim": 16, "heads": 1, "context": 512}
    plan["reading"]["steps"], plan["acting"]["steps"] = 2, 4
    plan["arms"]["more_sft"]["train"]["steps"] = 2
    plan["recipe"]["source"]["entities"] = 600
    plan["data"]["teach"] |= {"tasks": 16, "settings": {}}
    plan["data"]["collect"]["tasks"] = 4
    plan["data"]["places"]["held_out"] |= {"tasks": 4, "rollouts": 2}
    return plan


def start(folder: Path, *more: str, arms: str = ARMS, out: str = "out") -> subprocess.Popen[str]:
    arguments = ["--plan", str(folder / "plan.yaml"), "--out", str(folder / out), "--arms", arms]
    command = [sys.executable, "-m", "efficacy_lab", *arguments, *(more or ("--seeds", "1"))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())


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
    sft = results["measured"]["held_out"]["sft"]["0"]
    assert sft["facts"]["shared_names"] < 0.01
    assert (sft["tasks"], sft["runs"]) == (4, 8)
    seed = tmp_path / "out" / "development" / "seed-0"
    (recipe,) = seed.glob("base-*/at-held_out.yaml")
    assert yaml.safe_load(recipe.read_text())["roles"]["policy"]["rollouts"] == 2
    assert (tmp_path / "out" / "development" / "table.md").read_text() == table

    with start(tmp_path) as third:
        again, said = third.communicate()
    assert (again, steps(said)) == (table, [])


def test_processes_and_machines_share_a_run_and_find_the_same(tmp_path: Path) -> None:
    """Two seeds and two bases: in one process, in two, and in two parts as if on two machines."""
    plan = small()
    plan["seeds"]["untouched"] = [101, 102]
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))

    def whole(out: str, *more: str) -> str:
        with start(tmp_path, "--final", *more, arms="sft,eighth", out=out) as process:
            table, said = process.communicate()
        assert process.returncode == 0, said
        # Two processes write to one stream: what each says is whole, its lines may not be.
        done = re.findall(r"seed (\d+): (?:base|measured)-", said)
        ours = [101, 102] if "--with" not in more else [101]
        assert sorted(done) == [str(seed) for seed in ours for _ in range(4)], "nothing twice"
        return table

    table = whole("one")
    assert "| sft | 2 |" in table
    assert "| eighth | 2 |" in table
    assert whole("two", "--jobs", "2") == table

    with start(tmp_path, "--final", "--only", "102", arms="sft,eighth", out="part") as process:
        shown, said = process.communicate()
    assert (process.returncode, shown) == (0, ""), said
    part = tmp_path / "part" / "final"
    assert not (part / "table.md").exists(), "untouched seeds are looked at once, all together"
    assert whole("rest", "--with", str(part / "results.json"), "--jobs", "2") == table
    rest, one = (json.loads((tmp_path / out / "final" / "results.json").read_text()) for out in ("rest", "one"))
    assert rest == one


def test_a_context_that_no_run_fits_into_is_one_line(tmp_path: Path) -> None:
    plan = small()
    plan["decoder"]["context"] = 16
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
    with start(tmp_path, arms="sft") as process:
        _, said = process.communicate()
    assert process.returncode == 2
    assert re.match(r"synth: decoder.context: 0 of \d+ runs of the teacher fit into 16 tokens", said.splitlines()[-1])
    assert "Traceback" not in said


def test_what_was_collected_is_learned_with_and_without_its_parts(tmp_path: Path) -> None:
    """A dataset of the scripted policy stands for what a base collects: searched and kept."""
    plan = load_plan(None)
    arms = {**load_plan(Path("faults")).arms, **plan.arms}
    named = ("rft", "anchor_only", "corrected", "random_corrected", "own_unlabelled", "own_copies", "own_unchecked")
    chosen = {name: arms[name].model_dump(mode="json") for name in named}
    for arm in chosen.values():
        arm["train"] |= {"steps": 2, "least": 1}
    settings = {**plan.recipe, **plan.data.collect.settings, "source.seed": 7, "roles.policy.options.skill": 0.3}
    settings["critical"] = {**settings["critical"], "share": 1.0}
    settings = {key: value for key, value in settings.items() if key not in ("source", "environment")}
    built = synth.build(
        "graph-walk",
        tasks=24,
        settings={**settings, "source.entities": 600},
        out=tmp_path / "collected" / "data",
        store=tmp_path / "store",
    )
    synth.export(built.path, "trl-rft", tmp_path / "collected" / "rft", select=["split=train"], thoughts=False)
    own = read_rows(tmp_path / "collected" / "rft")
    vocabulary = Vocabulary.learn([texts_of(row.messages) for row in own], plan.words)
    decoder = DecoderConfig(layers=1, dim=16, heads=1, context=1024)
    weights = fresh(decoder, vocabulary.size, 1)
    save_trained(tmp_path / "base", Trained(decoder, vocabulary, weights))
    trainer = Trainer(plan.model_copy(update={"decoder": decoder}), tmp_path / "store")
    found = {}
    for name, arm in chosen.items():
        arm = Arm.model_validate(arm)
        found[name] = trainer.update(1, name, arm, tmp_path / "base", tmp_path / "collected", tmp_path / name)
    pairs = found["corrected"]["pairs"]
    assert pairs > 3
    assert found["random_corrected"]["pairs"] == pairs
    assert found["corrected"]["rows"] == found["rft"]["rows"] + pairs
    runs = [row for row in synth.load(built.path).rows("trajectories") if row.role == "policy"]
    first = [row for row in runs if row.duplicate_of is None]
    assert found["own_copies"]["rows"] == sum(row.success for row in runs)
    assert found["own_unchecked"]["rows"] == len(first) < len(runs)
    assert found["own_unlabelled"]["rows"] == sum(row.success for row in first) < found["own_copies"]["rows"]
    names = {load_trained(tmp_path / name).name for name in found}
    assert len(names) == len(named), "anchor_only is rft in another order"
