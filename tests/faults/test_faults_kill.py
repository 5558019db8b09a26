"""A build that is killed, anywhere, continues with the same command: same bytes, nothing finished done again."""

from __future__ import annotations

import contextlib
import signal
import time
from functools import cache
from pathlib import Path

import pytest
from engine_toys import Built, PagesConfig, begun, build, finished_on_disk, plan, run_twice
from stand_ins.zygote import Zygote

from synth.identity import derive_generator
from synth.store import FAILPOINTS, activate, check_destination, publish
from synth.store.ledger import read_ledger
from synth.store.remote import local_dataset, upload

pytestmark = pytest.mark.thorough

KILLED = -signal.SIGKILL

# `dataset.` and `publish.` come after the engine: tests of the whole product kill there (test_faults_product.py); those
# of batches are tried with a provider (test_models_batches_killed.py).
AFTER = ("batch.", "dataset.", "publish.")
BUILDING = sorted(name for name in FAILPOINTS if not name.startswith(AFTER) and name != "journal.repaired")
# A view of toy questions has no arrays; the failpoint is there for the day that one has.
BUILDING.remove("store.view.array_written")


@cache
def undisturbed(wanted: int = 20, pages: int = 60) -> Built:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return build(Path(folder), plan(wanted, pages=PagesConfig(pages=pages)))


def finishes(folder: Path, wanted: int = 20, pages: int = 60, executor: str = "local", workers: int = 1) -> None:
    """Run the same command and compare; count what ran."""
    finished = finished_on_disk(folder / "store")
    built = build(
        folder / "store",
        plan(wanted, pages=PagesConfig(pages=pages)),
        name=executor,
        workers=workers,
        ledger=folder / "second",
    )
    assert built == undisturbed(wanted, pages)
    assert begun(read_ledger(folder / "second")) & finished == set()
    assert run_twice(read_ledger(folder / "ledger") + read_ledger(folder / "second")) == []
    leftovers = [path for path in (folder / "store").rglob("*") if ".part-" in path.name or path.suffix == ".journal"]
    assert leftovers == []


@pytest.mark.parametrize("name", BUILDING)
def test_killed_at_a_failpoint(zygote: Zygote, tmp_path: Path, name: str) -> None:
    """The first time each; the whole product is killed at later ones (test_faults_product.py)."""
    assert zygote.build(tmp_path, failpoint=f"{name}:1:kill") == KILLED
    finishes(tmp_path)


def test_killed_again_and_again(zygote: Zygote, tmp_path: Path) -> None:
    """Every run gets a few rows further."""
    codes = [KILLED]
    while codes[-1] == KILLED and len(codes) < 40:
        codes.append(zygote.build(tmp_path, failpoint="engine.row.processed:3:kill"))
    assert codes[-1] == 0
    assert 5 < len(codes) < 40
    finishes(tmp_path)


def test_killed_while_a_damaged_journal_is_repaired(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.build(tmp_path, failpoint="journal.append.after:6:kill") == KILLED
    (journal,) = (tmp_path / "store").rglob("*.journal")
    data = bytearray(journal.read_bytes())
    data[len(data) // 2] ^= 0xFF
    journal.write_bytes(data)
    assert zygote.build(tmp_path, failpoint="journal.repaired:1:kill", ledger="damaged") == KILLED
    assert len([key for _, shard, key in finished_on_disk(tmp_path / "store") if shard == -1]) == 5
    (tmp_path / "ledger").unlink()  # one row was finished and then damaged: it does run again
    finishes(tmp_path)


def test_killed_while_it_grows(zygote: Zygote, tmp_path: Path) -> None:
    assert zygote.build(tmp_path, wanted=20) == 0
    for name in ("store.shard.before_rename:1:kill", "store.view.created:1:kill", "journal.append.after:2:kill"):
        assert zygote.build(tmp_path, wanted=30, failpoint=name) == KILLED
    finishes(tmp_path, 30)


def test_killed_with_its_worker_processes(zygote: Zygote, tmp_path: Path) -> None:
    """None of them outlives the build for long; what they still finish does no harm."""
    generator = derive_generator(3, "random kills of processes")
    for number, seconds in enumerate(generator.uniform(0.3, 3.0, 2)):
        folder = tmp_path / str(number)
        folder.mkdir()
        code = zygote.build(folder, wanted=40, executor="processes", workers=2, kill_after=float(seconds))
        assert code in (0, KILLED)
        while zygote.descendants():
            time.sleep(0.05)
        built = build(folder / "store", plan(40), ledger=folder / "ledger")
        assert built == undisturbed(40)
        assert run_twice(read_ledger(folder / "ledger")) == []


@pytest.mark.parametrize("place", ["file", "missing"])
@pytest.mark.parametrize("name", sorted(name for name in FAILPOINTS if name.startswith("publish.")))
def test_killed_while_the_dataset_is_uploaded(zygote: Zygote, tmp_path: Path, name: str, place: str) -> None:
    """What counts there is the old result or the new one, whole; the same command sends the rest and cleans up."""
    url = f"file://{tmp_path / 'there'}"
    rows = {"old": {"report.json": "old", "data/rows": "old"}, "new": {"report.json": "new", "data/rows": "new"}}

    def folder(text: str) -> Path:
        for file, content in rows[text].items():
            path = tmp_path / text / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return tmp_path / text

    def read() -> dict[str, str]:
        there = local_dataset(url)
        return {str(path.relative_to(there)): path.read_text() for path in there.rglob("*") if path.is_file()}

    if place == "file":
        upload(folder("old"), url, marker="report.json")
    code = zygote.run(do="publish", staging=str(folder("new")), out=url, failpoint=f"{name}:1:kill")
    assert code == KILLED
    counts = "new" if name == "publish.moved" else "old"
    if place == "file" or counts == "new":
        assert read() == rows[counts]
    check_destination(url)
    upload(folder("new"), url, marker="report.json")
    assert read() == rows["new"]
    assert len(list((tmp_path / "there" / "versions").iterdir())) == 1


@pytest.mark.parametrize("name", sorted(name for name in FAILPOINTS if name.startswith("publish.")))
@pytest.mark.parametrize("old", [True, False])
def test_killed_while_the_dataset_moves(zygote: Zygote, tmp_path: Path, name: str, old: bool) -> None:
    out = tmp_path / "out"

    def dataset(folder: Path, text: str) -> Path:
        (folder / "data").mkdir(parents=True)
        (folder / "report.json").write_text(text)
        (folder / "data" / "rows").write_text(text)
        return folder

    if old:
        dataset(out, "old")
    staging = dataset(tmp_path / "staging", "new")
    code = zygote.run(do="publish", staging=str(staging), out=str(out), failpoint=f"{name}:1:kill")
    assert code == KILLED
    if out.exists():
        whole = {path.read_text() for path in (out / "report.json", out / "data" / "rows")}
        assert whole == ({"old"} if name != "publish.moved" else {"new"})
    else:
        assert not old
    check_destination(out)
    with contextlib.suppress(FileExistsError):
        dataset(tmp_path / "staging", "new")
    publish(tmp_path / "staging", out)
    assert (out / "data" / "rows").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_every_failpoint_is_tried() -> None:
    tried = set(BUILDING) | {"journal.repaired", "store.view.array_written"}
    assert tried | {name for name in FAILPOINTS if name.startswith(AFTER)} == set(FAILPOINTS)
    for text in ("nowhere:1:kill", "journal.created:1:dance", "journal.created:kill", "journal.created:x:kill"):
        with pytest.raises(ValueError, match="is not NAME:COUNT:ACTION"):
            activate(text)
