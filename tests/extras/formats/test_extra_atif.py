"""The models that the authors of ATIF publish take every line of an export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("atif", reason="the package atif is not installed")

import atif

import synth

pytestmark = pytest.mark.extras


@pytest.mark.parametrize("dataset", ["world-search", "graph-walk"])
@pytest.mark.parametrize("thoughts", [True, False])
def test_every_line_is_valid(dataset: str, thoughts: bool, tmp_path: Path, shared_store: Path) -> None:
    settings = {"source.entities": 600}
    built = synth.build(dataset, tasks=4, settings=settings, out=tmp_path / "out", store=shared_store)
    done = synth.export(built.path, "atif-1.8", tmp_path / "atif", thoughts=thoughts)
    count = 0
    for path in sorted(done.path.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            read = atif.Trajectory.model_validate_json(line)
            assert read.schema_version == "ATIF-v1.8"
            count += 1
    assert count == done.report.exported == synth.load(built.path).count("trajectories")


@pytest.fixture(scope="module")
def shared_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def test_every_line_of_an_import_is_valid(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    turns = [
        {"role": "system", "content": "Look things up."},
        {"role": "user", "content": "How long is the river Ans?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "The Ans is 70 km long."},
        {"role": "assistant", "content": "70 km"},
    ]
    asked = [{"question": turns[1]["content"], "answer": "70 km"}]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(one) + "\n" for one in asked))
    made = synth.annotate([{"messages": turns}], tmp_path / "questions.jsonl", tmp_path / "out")
    done = synth.export(made.path, "atif-1.8", tmp_path / "atif", select=["role=policy"])
    lines = [line for path in done.path.glob("*.jsonl") for line in path.read_text("utf-8").splitlines()]
    (read,) = map(atif.Trajectory.model_validate_json, lines)
    assert [step.source for step in read.steps] == ["system", "user", "agent", "agent"]
