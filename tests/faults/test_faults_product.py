"""The real product, killed: ``synth build world-search`` anywhere, again and again, ends in the undisturbed bytes."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from engine_toys import begun, finished_on_disk, run_twice
from shared_builds import hashes
from stand_ins.zygote import Zygote

from synth.identity import derive_generator
from synth.store import FAILPOINTS
from synth.store.ledger import read_ledger

pytestmark = pytest.mark.thorough

KILLED = -signal.SIGKILL
SIZE = ("--set", "source.entities=400", "--tasks", "4")

# In the order in which a build comes by: with each kill there is work left that passes the next place.
PLACES = (
    "store.file.written",
    "store.file.before_rename",
    "store.file.after_rename",
    "engine.shard.computed",
    "store.shard.created",
    "store.shard.table_written",
    "store.shard.before_rename",
    "store.shard.after_rename",
    "engine.stage.computed",
    "store.shard.array_written",
    "store.view.created",
    "store.view.table_written",
    "store.view.before_rename",
    "store.view.after_rename",
    "journal.created",
    "engine.row.processed",
    "journal.append.torn",
    "journal.append.after",
    "journal.dropped",
    "dataset.file.written",
    "publish.copied",
    "publish.synced",
    "publish.moved",
)
NOT_REACHED = {
    "journal.repaired": "a kill tears only the end of a journal, which is cut off; damage is tried in test_faults_kill",
    **{name: "a provider is needed: test_models_batches_killed" for name in FAILPOINTS if name.startswith("batch.")},
    "store.view.array_written": "no candidate stage of the product writes arrays",
}


def arguments(folder: Path) -> list[str]:
    return ["build", "world-search", *SIZE, "--store", str(folder / "store"), "--out", str(folder / "out")]


@dataclass
class Command:
    """One command that is run again and again in ``folder``; every run is checked against what stood there before."""

    zygote: Zygote
    folder: Path
    more: tuple[str, ...] = ()
    runs: Iterator[int] = field(default_factory=count)

    def run(self, failpoint: str | None = None, kill_after: float | None = None) -> int:
        store = self.folder / "store"
        ledger = self.folder / f"ledger-{next(self.runs)}"
        finished = finished_on_disk(store) if (store / "format.json").exists() else set()
        code = self.zygote.run(
            kill_after,
            do="command",
            arguments=[*arguments(self.folder), *self.more],
            variables={"SYNTH_LEDGER": str(ledger), "SYNTH_FAILPOINT": failpoint or ""},
            said=str(self.folder / "said"),
        )
        assert code in (0, KILLED), (self.folder / "said").read_text()
        entries = read_ledger(ledger)
        assert begun(entries) & finished == set(), "finished work was run again"
        assert run_twice(entries) == []
        return code

    def finish(self, undisturbed: Undisturbed) -> None:
        """One more run, to the end."""
        assert self.run() == 0
        assert hashes(self.folder / "out") == undisturbed.hashes
        assert [path.name for path in self.folder.iterdir() if path.name.startswith(".")] == []
        left = [
            path for path in (self.folder / "store").rglob("*") if ".part-" in path.name or path.suffix == ".journal"
        ]
        assert left == []
        assert list((self.folder / "store" / "scratch").iterdir()) == []


@dataclass(frozen=True)
class Undisturbed:
    """A build that nobody killed."""

    folder: Path
    seconds: float

    @property
    def hashes(self) -> dict[str, str]:
        return hashes(self.folder / "out")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Undisturbed:
    folder = tmp_path_factory.mktemp("undisturbed")
    zygote.run(do="command", arguments=["--version"], variables={}, said=str(folder / "said"))  # it imports first
    began = time.monotonic()
    assert Command(zygote, folder).run() == 0
    return Undisturbed(folder, time.monotonic() - began)


def test_killed_at_every_kind_of_write_one_after_the_other(
    zygote: Zygote, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    assert set(PLACES) | set(NOT_REACHED) == set(FAILPOINTS)
    command = Command(zygote, tmp_path)
    assert {name: command.run(f"{name}:1:kill") for name in PLACES} == dict.fromkeys(PLACES, KILLED)
    command.finish(undisturbed)
    assert command.run() == 0
    assert read_ledger(tmp_path / f"ledger-{len(PLACES) + 1}") == [], "a finished build has nothing to do"


def test_killed_at_random_times(zygote: Zygote, tmp_path: Path, undisturbed: Undisturbed) -> None:
    """Each store is killed until its build is through; then another one begins, alternately with threads."""
    kills_wanted = 6
    generator = derive_generator(20, "random kills of the product")
    kills = runs = 0
    for store in count():
        folder = tmp_path / str(store)
        folder.mkdir()
        command = Command(zygote, folder, ("--workers", str(1 + store % 2)))
        while kills < kills_wanted:
            runs += 1
            if command.run(kill_after=float(generator.uniform(0, undisturbed.seconds / 2))) == 0:
                break
            kills += 1
        command.finish(undisturbed)
        if kills == kills_wanted:
            break
    assert runs < 100


def test_a_full_disk_while_the_dataset_is_written_is_one_line(
    zygote: Zygote, tmp_path: Path, undisturbed: Undisturbed
) -> None:
    shutil.copytree(undisturbed.folder / "store", tmp_path / "store")
    code = zygote.run(
        do="command",
        arguments=arguments(tmp_path),
        variables={"SYNTH_FAILPOINT": "dataset.file.written:2:enospc", "SYNTH_LEDGER": str(tmp_path / "ledger")},
        said=str(tmp_path / "said"),
    )
    assert code == 4
    line = (tmp_path / "said").read_text().strip().splitlines()[-1]
    assert "no space left on the device" in line
    assert "Traceback" not in (tmp_path / "said").read_text()
    assert not os.path.lexists(tmp_path / "out")
    Command(zygote, tmp_path).finish(undisturbed)
