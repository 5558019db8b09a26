"""The models that the authors of ATIF publish take every line of an export."""

from __future__ import annotations

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
