"""Tasks are appended to a finished build: what was there stays as and where it was, whatever happens in between."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from shared_builds import LEAN, WORLD, hashes

import synth
from synth.dataset.audit import audit
from synth.dataset.growth import WRITTEN_ANEW
from synth.dataset.rules.validate import validate
from synth.errors import DatasetError, InputError

pytestmark = pytest.mark.thorough

BUILDS: dict[str, tuple[str, dict[str, Any]]] = {
    "world": ("world-search", {**WORLD, "rl": True, "roles.policy.rollouts": 2}),
    "desk": ("app-desk", {**LEAN, "roles": {"policy": {"rollouts": 5}}}),
}
GUIDES = Path(__file__).parents[2] / "docs" / "guides"


def rows(folder: Path) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """(table, split) -> rows in their order, of the tables whose rows stay."""
    data = synth.load(folder)
    return {
        (table, split): data.table(table, split).to_pylist()
        for table in data.configs
        if table not in WRITTEN_ANEW
        for split in data.splits(table)
    }


@pytest.mark.parametrize("name", BUILDS)
def test_what_was_there_stays_as_and_where_it_was(name: str, tmp_path: Path, world_store: Path) -> None:
    dataset, settings = BUILDS[name]
    out = synth.build(dataset, tasks=8, out=tmp_path / "out", store=world_store, settings=settings).path
    first, files = rows(out), hashes(out)
    for more, editions in ((3, [8]), (1, [8, 11])):
        before = rows(out)
        done = synth.append(out, more, store=world_store)
        assert (done.before, done.after) == (editions[-1], editions[-1] + more)
        after = rows(out)
        assert {part: after[part][: len(old)] for part, old in before.items()} == before
        report = synth.load(out).report
        assert [edition.tasks for edition in report.editions] == editions
        assert f"| {len(editions)} | {editions[-1]} |" in synth.load(out).card
        assert validate(out) == []
        assert audit(out).violations == ()
    assert first["tasks", "train"] == after["tasks", "train"][: len(first["tasks", "train"])]
    kept = {digest for path, digest in files.items() if path.endswith(".parquet")}
    anew = {digest for path, digest in files.items() if path.partition("/")[0] in WRITTEN_ANEW}
    assert kept - anew <= set(hashes(out).values())
    at_once = rows(synth.build(dataset, tasks=12, out=tmp_path / "once", store=world_store, settings=settings).path)
    assert {part: sorted(map(repr, held)) for part, held in after.items()} == {
        part: sorted(map(repr, held)) for part, held in at_once.items()
    }


@pytest.fixture
def small(tmp_path: Path, world_store: Path) -> Path:
    return synth.build(
        "world-search", tasks=6, out=tmp_path / "out", store=world_store, settings={**WORLD, **LEAN}
    ).path


def run(folder: Path, store: Path, failpoint: str = "") -> subprocess.CompletedProcess[str]:
    words = ["append", str(folder), "--tasks", "2", "--store", str(store)]
    command = [sys.executable, "-c", "from synth.cli.app import main; main()", *words]
    return subprocess.run(
        command, env=os.environ | {"SYNTH_FAILPOINT": failpoint}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("failpoint", "moved"),
    [
        ("dataset.file.written:2:kill", False),
        ("publish.moved:1:kill", True),
    ],
)
def test_a_killed_append_leaves_one_or_the_other(
    failpoint: str, moved: bool, small: Path, world_store: Path, tmp_path: Path
) -> None:
    old = hashes(small)
    shutil.copytree(small, tmp_path / "whole")
    shutil.copytree(world_store, tmp_path / "other")
    killed = run(small, world_store, failpoint)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (hashes(small) != old) is moved
    assert validate(small) == []
    again = run(small, world_store)
    assert again.returncode == 0, again.stderr
    assert ("an earlier run, killed at its end, had added 2" in again.stdout) is moved
    assert run(tmp_path / "whole", tmp_path / "other").returncode == 0
    assert hashes(small) == hashes(tmp_path / "whole")
    third = run(small, world_store)  # not what was killed, but two more
    assert third.returncode == 0, third.stderr
    assert synth.load(small).count("tasks") == 10


def test_a_moved_folder_and_another_place_for_the_larger_one(small: Path, world_store: Path, tmp_path: Path) -> None:
    moved = small.rename(tmp_path / "elsewhere")
    before = hashes(moved)
    done = synth.append(moved, 2, out=tmp_path / "larger", store=world_store)
    assert done.path == tmp_path / "larger"
    assert hashes(moved) == before
    assert synth.load(done.path).count("tasks") == 8


def test_a_store_that_did_not_make_it_makes_it_again(small: Path, tmp_path: Path) -> None:
    """Where no model is called: what its own recipe says suffices."""
    before = rows(small)
    synth.append(small, 2, store=tmp_path / "fresh")
    after = rows(small)
    assert {part: after[part][: len(old)] for part, old in before.items()} == before
    synth.append(small, 1, store=tmp_path / "fresh")
    assert synth.load(small).count("tasks") == 9


def test_what_can_not_be_appended_to(small: Path, world_store: Path, tmp_path: Path) -> None:
    before = hashes(small)
    with pytest.raises(InputError, match="0 tasks can't be appended"):
        synth.append(small, 0, store=world_store)
    with pytest.raises(InputError, match=r"the store knows the recipe.*another recipe makes another dataset"):
        synth.append(small, 1, store=world_store, request=synth.api.BuildRequest(settings={"seed": 3}))
    with pytest.raises(InputError, match="makes stage tasks otherwise than when the dataset was made"):
        synth.append(
            small, 1, store=tmp_path / "s", request=synth.api.BuildRequest(settings={"questions.hops": {"2": 1.0}})
        )
    synth.export(small, "openai", tmp_path / "runs")
    recorded = next((tmp_path / "runs").rglob("*.jsonl"))
    synth.import_file(recorded, "auto", tmp_path / "theirs", store=tmp_path / "store-of-runs")
    with pytest.raises(InputError, match="its questions or runs were given, not made"):
        synth.append(tmp_path / "theirs", 1, store=world_store)
    file = next((small / "tasks").glob("train-*"))
    shutil.copyfile(next((small / "rl" if (small / "rl").exists() else small / "trajectories").glob("train-*")), file)
    broken = hashes(small)
    with pytest.raises(DatasetError, match="its files are not those that its report states"):
        synth.append(small, 1, store=world_store)
    assert hashes(small) == broken != before


def test_pages_are_not_added_to_a_finished_dataset(tmp_path: Path) -> None:
    source, store = shutil.copytree(GUIDES, tmp_path / "pages"), tmp_path / "store"
    settings = {**LEAN, "questions.ranks": ["gap", "good", "fair"]}
    out = synth.build("docs-search", source=source, tasks=2, out=tmp_path / "out", store=store, settings=settings).path
    synth.append(out, 1, store=store)
    before = hashes(out)
    (source / "Arn.md").write_text("# Arn\n\nArn is a town in Harland. The mayor of Arn is Sig Moe.", encoding="utf-8")
    with pytest.raises(InputError, match=r"its source is not the one that it was made of.*`synth mix`"):
        synth.append(out, 1, store=store)
    assert hashes(out) == before
