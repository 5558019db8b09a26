"""The command line over a recipe whose policy is a model: plan, pilot, cap, go on, look."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from shared_builds import hashes
from stand_ins.model_server import FixedPlayer, ModelServer, Reply, ServerOptions

from synth.cli import main

pytestmark = pytest.mark.thorough

TASKS = 6
RECIPE = """
name: small
tasks: 6
source: {kind: world, entities: 400}
questions: {kind: world}
critical: null
difficulty: null
distractors: null
contexts: null
rl: false
roles:
  policy:
    backend: openai
    model: tiny
    endpoints: [URL]
    rollouts: 2
    price: {prompt: 1.0, completion: 4.0}
    sampling: {max_tokens: 200}
"""


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers everything at once, and wrongly."""
    player = FixedPlayer(lambda request, sample: Reply(content=f"It is {int(sample or '0', 16) % 1000}."))
    with ModelServer(player, ServerOptions(latency=0.01)) as server:
        yield server


@pytest.fixture
def run(tmp_path: Path, server: ModelServer, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command over the recipe: exit code, what it printed, what it said on the side."""
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE.replace("URL", server.url))

    def command(verb: str, *more: str) -> tuple[int, str, str]:
        code = 0
        try:
            main([verb, "--recipe", str(recipe), "--store", str(tmp_path / "store"), *more])
        except SystemExit as end:
            code = int(end.code or 0)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


def test_plan_pilot_cap_build_look(
    run: Run, server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run("plan")
    assert code == 0
    assert "Models are called by policy-rollouts (tiny): how many calls" in out
    assert not (tmp_path / "store" / "calls.sqlite").exists(), "a plan opens no account"
    assert json.loads(run("plan", "--json")[1])["model_calls"] is None

    code, out, _ = run("plan", "--pilot", "3", "--json")
    assert code == 0
    plan: dict[str, Any] = json.loads(out)
    (stage,) = plan["pilot"]["stages"]
    assert (stage["label"], stage["pilot_rows"], stage["rows"], stage["kept"]) == ("policy-rollouts", 3, TASKS, True)
    assert len(server.log.records()) == plan["account"]["calls"]["delivered"] == 3 * 2
    assert plan["model_calls"] == stage["calls"]["expected"] == TASKS * 2
    assert 0 < stage["cost"]["low"] <= stage["cost"]["expected"] <= stage["cost"]["high"]
    assert 0 < stage["seconds"][0] <= stage["seconds"][1]

    code, out, _ = run("plan", "--pilot", "3")
    assert len(server.log.records()) == 3 * 2, "the pilot stands in the store"
    assert "From a pilot of 3 of 6 tasks" in out
    assert "so far: 6 model calls over all runs in this store" in out

    build = ("--out", str(tmp_path / "out"))
    code, out, err = run("build", *build, "--max-cost", "0.001")
    assert (code, out) == (6, "")
    line = err.splitlines()[-1]
    assert line.startswith("synth: account small: the cap of 0.001 cost is reached")
    assert "; 3 of the 6 rows that policy-rollouts had to do are finished. Raise --max-cost" in line
    assert len(server.log.records()) == 3 * 2

    code, out, _ = run("build", *build, "--max-cost", "1")
    assert code == 0
    assert f"{TASKS * 2} model calls over all runs in this store" in out
    assert len(server.log.records()) == TASKS * 2, "no call was made twice"

    main(["stats", str(tmp_path / "out"), "--json"])
    (use,) = json.loads(capsys.readouterr().out)["models"]
    assert (use["role"], use["model"], use["calls"]) == ("policy", "tiny", TASKS * 2)
    used = [record.usage or (0, 0) for record in server.log.records()]
    assert (use["prompt_tokens"], use["completion_tokens"]) == tuple(map(sum, zip(*used, strict=True)))
    assert use["cost"] == pytest.approx((use["prompt_tokens"] + 4 * use["completion_tokens"]) / 1e6)
    assert f"| policy | tiny | {TASKS * 2} |" in (tmp_path / "out" / "README.md").read_text()
    published = (tmp_path / "out" / "report.json").read_text()
    assert server.url not in published

    # From the stored calls alone, whatever is in flight at once: the same bytes, and nothing is sent.
    before = hashes(tmp_path / "out")
    main(["store", "prune", "--all", "--store", str(tmp_path / "store")])
    capsys.readouterr()
    code, out, _ = run("build", *build, "--in-flight", "1", "--json")
    assert code == 0
    assert hashes(tmp_path / "out") == before
    assert len(server.log.records()) == TASKS * 2
    assert json.loads(out)["account"]["calls"]["delivered"] == TASKS * 2


def test_an_endpoint_that_answers_nobody_ends_the_run_and_rejects_nothing(
    run: Run, server: ModelServer, tmp_path: Path
) -> None:
    server.options = ServerOptions(api_key="another")
    code, _, err = run("build", "--out", str(tmp_path / "out"))
    assert code == 7
    assert f"; 0 of the {TASKS} rows that policy-rollouts had to do are finished" in err.splitlines()[-1]
    server.options = ServerOptions()
    code, out, _ = run("build", "--out", str(tmp_path / "out"))
    assert code == 0
    assert f"{TASKS * 2} model calls over all runs" in out


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--max-tokens", "2Q"), 2, "write 250000, 250k or 2M"),
        (("--max-tokens", "-5"), 2, "--max-tokens: -5 is not a cap"),
        (("--max-cost", "nan"), 2, "--max-cost: nan is not a cap"),
        (("--in-flight", "0"), 2, "--in-flight: 0 rows at once can't get anywhere"),
        (("--pilot", "0"), 2, "--pilot: a pilot of 0 tasks says nothing"),
        (("--max-cost", "1", "--set", "roles.policy.price={}"), 2, "--max-cost: no model of the recipe has a price"),
    ],
)
def test_bad_options_are_one_line(run: Run, options: tuple[str, ...], code: int, words: str) -> None:
    ended, out, err = run("plan", *options)
    assert (ended, out) == (code, "")
    assert words in err
    assert len(err.splitlines()) == 1
