"""What fits into a terminal of 100 columns: the progress of a build, and what a pilot says."""

from __future__ import annotations

import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console
from shared_builds import world_store
from stand_ins.model_server import FixedPlayer, ModelServer, Reply, ServerOptions

from synth.cli import main
from synth.cli.account import pilot_text
from synth.engine import CallsNow, Live, Plain
from synth.pipelines.pilot import Estimate, Pilot, StageEstimate, Success
from synth.schemas.reports import RunUse

pytestmark = pytest.mark.thorough

WIDTH = 100
TASKS = 6
RECIPE = """
name: small
tasks: 6
source: {kind: world, entities: 600}
questions: {kind: world}
critical: null
difficulty: null
distractors: null
contexts: null
rl: false
roles:
  teacher: &model
    backend: openai
    model: tiny
    endpoints: [URL]
    rollouts: 1
    price: {prompt: 1.0, completion: 4.0}
    sampling: {max_tokens: 200}
  policy: {<<: *model, rollouts: 2}
"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A model that answers everything, and wrongly."""
    player = FixedPlayer(lambda request, sample: Reply(content=f"It is {int(sample or '0', 16) % 1000}."))
    with ModelServer(player) as server:
        yield server


@pytest.fixture
def command(tmp_path: Path, server: ModelServer) -> list[str]:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(RECIPE.replace("URL", server.url))
    return ["--recipe", str(recipe), "--store", str(world_store(tmp_path)), "--in-flight", "1", "--max-cost", "2.5"]


def drawn(data: bytes) -> list[str]:
    text = re.sub(r"\x1b\[[0-9;]*m", "", data.decode())
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "\n", text)
    return [line for line in re.split(r"[\r\n]+", text) if line.strip()]


def on_a_terminal(arguments: list[str]) -> tuple[int, list[str]]:
    """The command on a terminal of 100 columns: its exit code, and every line that was drawn."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, WIDTH, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", "from synth.cli import main; main()", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={key: value for key, value in os.environ.items() if key != "COLUMNS"} | {"TERM": "xterm"},
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            data += (part := os.read(ours, 65_536))
        except OSError:  # the other side is closed
            break
        if not part:
            break
    os.close(ours)
    return process.wait(), drawn(data)


def test_a_build_shows_count_stage_time_left_and_what_is_spent_of_the_cap(
    command: list[str], server: ModelServer
) -> None:
    server.options = ServerOptions(latency=0.4)  # long enough to be drawn
    code, lines = on_a_terminal(["build", *command, "--out", str(Path(command[1]).parent / "out")])
    assert code == 3
    assert max(map(len, lines[:-4])) <= WIDTH
    shown = [line for line in lines if line.startswith("teacher-rollouts (stage ")]
    pattern = rf"teacher-rollouts \(stage \d of \d+\) +[1-5] of {TASKS}, [\d.]+ s left, spent 0\.\d+ of 2\.50\s*"
    assert any(re.fullmatch(pattern, line) for line in shown), shown


def test_a_log_says_the_same() -> None:
    stream = io.StringIO()
    plain = Plain(stream, seconds=0)
    plain.plan(["tasks", "rollouts"])
    plain.begin("rollouts", 90, 10)
    plain.advance("rollouts", 5)
    plain.calls("rollouts", CallsNow(7, 12.0, RunUse(calls=3), "spent 0.52 of 2.50"))
    line = stream.getvalue().splitlines()[-1]
    assert re.fullmatch(
        r"rollouts \(stage 2 of 2\): 15 of 100; [\d.]+ s left; spent 0\.52 of 2\.50; 7 in flight, .*", line
    )


def test_no_number_of_the_progress_is_cut_off() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=WIDTH)
    live = Live(console)
    live.plan([f"stage-{number}" for number in range(19)] + ["policy-rollouts-with-a-long-name" * 3])
    use = RunUse(calls=12_345_678, from_store=1_234_567, failed=9_999, prompt_tokens=10**9, cost=12_345.67)
    live.begin("policy-rollouts-with-a-long-name" * 3, 9_000_000, 1_000_000)
    live.advance("policy-rollouts-with-a-long-name" * 3, 1_234_567)
    live.calls("policy-rollouts-with-a-long-name" * 3, CallsNow(4096, 1234.0, use, "spent 12,345.67 of 20,000.00"))
    live.close()
    lines = drawn(console.file.getvalue().encode())  # type: ignore[attr-defined]
    assert any(re.search(r"2,234,567 of 10,000,000, [\d.]+ s left, spent 12,345\.67 of 20,000\.00", x) for x in lines)
    assert max(map(len, lines)) <= WIDTH


def test_the_pilot_says_success_by_role_and_the_time_of_all(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["plan", *command, "--pilot", "3"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= WIDTH
    assert "teacher success: 0 % (0 of 3 runs), 90 % interval [0 %, 47 %]" in out
    assert "policy success: 0 % (0 of 6 runs), 90 % interval [0 %, 47 %]" in out
    assert "warning: no run of the teacher succeeded: the SFT table would be empty" in out
    assert re.search(r"in all about 18 calls, [\d.]+k? tokens, cost [\d.]+, time [\d.]+ s", out)
    main(["plan", *command, "--pilot", "3", "--json"])
    pilot = json.loads(capsys.readouterr().out)["pilot"]
    assert [(one["role"], one["runs"], one["successes"]) for one in pilot["success"]] == [
        ("teacher", 3, 0),
        ("policy", 6, 0),
    ]
    assert pilot["seconds"] is None, "all calls of the second pilot were in the store"


def test_large_numbers_of_a_pilot_fit() -> None:
    big = Estimate(999.9e6, 899.9e6, 999.9e6)
    cost = Estimate(99_999.99, 88_888.88, 99_999.99)
    labels = ("teacher-rollouts", "policy-rollouts", "critical-steps", "teacher-ratings", "closed-book", "judged-pairs")
    stages = [
        StageEstimate(label, ("a: b",), 20, 10**7, False, big, big, big, cost, (400_000.0, 900_000.0), False)
        for label in labels
    ]
    said = pilot_text(Pilot(20, 10**7, tuple(stages), ("extracted",), (Success("teacher", 20, 10, 0.3, 0.7),)))
    assert max(map(len, said.splitlines())) <= WIDTH
    assert "time 27.8 d" in said
    assert "teacher success: 50 % (10 of 20 runs), 90 % interval [30 %, 70 %]" in said


def test_a_teacher_that_never_succeeds_stops_the_build_before_the_policy_is_paid_for(
    command: list[str], server: ModelServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build = ["build", *command, "--out", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as ended:
        main(build)
    said = capsys.readouterr()
    line = said.err.splitlines()[-1]
    assert ended.value.code == 3
    assert line.startswith(f"synth: roles.teacher: no run of the teacher succeeded ({TASKS} runs; rejected: {TASKS} ")
    assert "stopped before policy-rollouts is paid for" in line
    assert "--set allow_empty_sft=true" in line
    assert len(server.log.records()) == TASKS, "the policy was not asked"
    assert not (tmp_path / "out").exists()

    # Told to go on: the teacher's runs are not paid twice, and the end says it again.
    main([*build, "--set", "allow_empty_sft=true"])
    said = capsys.readouterr()
    assert len(server.log.records()) == TASKS + 2 * TASKS
    assert "the SFT table will be empty" in said.err
    assert "warning: the SFT table is empty: no run of the teacher succeeded (0 were kept)" in said.out
