"""LLaMA-Factory's own loaders keep every row of our exports, and its templates write them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from real_loaders import CannotBeHad, read_with

import synth
from synth.api import BuildResult

pytestmark = pytest.mark.extras


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> BuildResult:
    folder = tmp_path_factory.mktemp("build")
    settings = {"source.entities": 600}
    return synth.build("world-search", tasks=12, settings=settings, out=folder / "out", store=folder / "store")


def read(trainer: str, *arguments: str) -> dict[str, Any]:
    try:
        return read_with(trainer, *arguments)
    except CannotBeHad as error:
        pytest.skip(str(error))


@pytest.mark.parametrize(("name", "stage"), [("llamafactory-sft", "sft"), ("llamafactory-dpo", "rm")])
def test_llamafactory_keeps_and_encodes_every_row(name: str, stage: str, built: BuildResult, tmp_path: Path) -> None:
    done = synth.export(built.path, name, tmp_path / "out")
    wanted = done.report.splits["train"].records
    found = read("llamafactory", str(done.path), "world_search_train", stage)
    assert found == {"rows": wanted, "kept": wanted, "texts": wanted * (2 if stage == "rm" else 1)}
