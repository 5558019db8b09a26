"""Disks that are full, read-only or broken, signals, dead workers, two builds at once: one clear line, nothing lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from engine_toys import Built, QuestionsConfig, begun, build, finished_on_disk, plan, run_twice
from stand_ins.zygote import Zygote

from synth.engine import Engine, LocalExecutor, Quiet
from synth.errors import BuildError, InputError, Interrupted, StoreError
from synth.store import FAILPOINTS, Store
from synth.store.files import write_sealed_json
from synth.store.ledger import read_ledger

pytestmark = pytest.mark.thorough

WRITES = sorted(name for name in FAILPOINTS if name.startswith(("journal.", "store.")))
# Passed only by a damaged journal, and by views with arrays, of which there are none.
WRITES = [name for name in WRITES if name not in ("journal.repaired", "store.view.array_written")]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("undisturbed"), plan(20))


def finishes(folder: Path, expected: Built) -> None:
    finished = finished_on_disk(folder / "store")
    assert build(folder / "store", plan(20), ledger=folder / "second") == expected
    assert begun(read_ledger(folder / "second")) & finished == set()
    assert not [path for path in (folder / "store").rglob("*") if ".part-" in path.name or path.suffix == ".journal"]


@pytest.mark.parametrize("name", WRITES)
def test_a_full_disk_is_one_line_and_loses_nothing(tmp_path: Path, undisturbed: Built, name: str) -> None:
    with pytest.raises(StoreError) as caught:
        build(tmp_path / "store", plan(20), failpoint=f"{name}:1:enospc")
    line = str(caught.value)
    assert "no space left on the device" in line
    assert "finished work is kept" in line
    assert "\n" not in line
    finishes(tmp_path, undisturbed)


@pytest.mark.parametrize(
    ("action", "words"),
    [("erofs", "the file system is read-only"), ("eacces", "permission denied"), ("eio", "input/output error")],
)
@pytest.mark.parametrize("name", ["journal.append.torn", "store.file.written", "store.shard.before_rename"])
def test_other_failures_of_a_disk(tmp_path: Path, undisturbed: Built, name: str, action: str, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        build(tmp_path / "store", plan(20), failpoint=f"{name}:1:{action}")
    finishes(tmp_path, undisturbed)


@pytest.mark.parametrize(("action", "words"), [("interrupt", "interrupted"), ("terminate", "terminated")])
@pytest.mark.parametrize("name", ["engine.row.processed", "store.shard.created", "store.view.before_rename"])
def test_a_signal_ends_it_cleanly(tmp_path: Path, undisturbed: Built, name: str, action: str, words: str) -> None:
    with pytest.raises(Interrupted) as caught:
        build(tmp_path / "store", plan(20), failpoint=f"{name}:1:{action}")
    assert caught.value.exit_code == 130
    assert words in str(caught.value)
    assert "run the same command to continue" in str(caught.value).lower()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finishes(tmp_path, undisturbed)


def test_a_killed_worker_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="a worker process died without a word"):
        build(tmp_path / "store", plan(40), name="processes", workers=2, failpoint="engine.row.processed:3:kill")
    ledger = tmp_path / "ledger"
    finished = finished_on_disk(tmp_path / "store")
    built = build(tmp_path / "store", plan(40), name="processes", workers=2, ledger=ledger)
    assert built == build(tmp_path / "other", plan(40))
    assert begun(read_ledger(ledger)) & finished == set()


def test_a_full_disk_in_a_worker_comes_back_as_its_line(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no space left on the device"):
        build(tmp_path / "store", plan(40), name="processes", workers=2, failpoint="journal.append.torn:3:enospc")
    assert build(tmp_path / "store", plan(40)) == build(tmp_path / "other", plan(40))


TINY = """
import sys
sys.path.insert(0, {toys!r})
from pathlib import Path
from engine_toys import AnswersConfig, build, plan
from synth.errors import SynthError
try:
    build(Path(sys.argv[1]), plan(2000, answers=AnswersConfig(per_question=4)))
except SynthError as error:
    print(error.exit_code, error)
"""


def test_a_file_system_that_is_really_full_or_read_only(tmp_path: Path) -> None:
    """On a file system of 300 KiB of its own, in a mount namespace of its own."""
    namespace = ["unshare", "--mount", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*namespace, "true"], capture_output=True).returncode:
        pytest.skip("this machine allows no mount namespaces")
    mount = tmp_path / "mount"
    mount.mkdir()
    script = tmp_path / "build.py"
    script.write_text(TINY.format(toys=str(Path(__file__).parents[1] / "engine")))
    command = (
        f"mount -t tmpfs -o size=300k none {mount} && {sys.executable} {script} {mount}/store;"
        f"mount -o remount,ro {mount} && {sys.executable} {script} {mount}/new"
    )
    done = subprocess.run([*namespace, "sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    full, read_only = done.stdout.splitlines()
    assert full.startswith("4 ")
    assert "no space left on the device" in full
    assert read_only.startswith("4 ")
    assert "the file system is read-only" in read_only
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("damage", ["flip", "cut", "remove", "manifest", "view"])
def test_damage_is_found_said_and_made_good(tmp_path: Path, undisturbed: Built, damage: str) -> None:
    build(tmp_path / "store", plan(20))
    if damage == "view":
        (file,) = (tmp_path / "store").glob("stages/questions/*/views/20/manifest.json")
        file.write_text("{}")
    else:
        file = sorted((tmp_path / "store").glob("stages/answers/*/shards/00000008-*/answers.arrow"))[0]
        data = bytearray(file.read_bytes())
        if damage == "flip":
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
        elif damage == "cut":
            file.write_bytes(data[:-7])
        elif damage == "remove":
            file.unlink()
        else:
            (file.parent / "manifest.json").write_text('{"body": {}, "sha256": ""}')
    notes: list[str] = []

    class Listening(Quiet):
        def note(self, line: str) -> None:
            notes.append(line)

    ledger = tmp_path / "ledger"
    with Engine(plan(20), Store(tmp_path / "store", ledger=ledger), LocalExecutor(), Listening()) as engine:
        assert Built.of(engine, engine.run()) == undisturbed
    if damage == "view":
        assert read_ledger(ledger) == []
    else:
        assert notes == ["answers: shard 00000008-00000016 in the store is damaged; it is made again"]
        assert {entry.shard for entry in read_ledger(ledger)} == {8}


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    build(tmp_path / "store", plan(5))
    write_sealed_json(tmp_path / "store" / "format.json", {"format": 99})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreError, match="it has format 99, and this version of synth reads format 1"):
        build(tmp_path / "store", plan(5))
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "store" / "format.json").write_text("?")
    with pytest.raises(StoreError, match="its format file is unreadable"):
        build(tmp_path / "store", plan(5))


def test_places_that_can_be_no_store(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(StoreError, match="is not empty and is not a store"):
        Store(tmp_path / "home")
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["letter.txt"]
    (tmp_path / "file").write_text("")
    for bad in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(StoreError):
            Store(bad)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="leads nowhere"):
        Store(tmp_path / "link")


def test_two_builds_at_once_share_the_work(zygote: Zygote, tmp_path: Path) -> None:
    """In two processes and two threads, on one store and one ledger: all get the same, nothing is done twice."""
    results: list[object] = []

    def here() -> None:
        results.append(build(tmp_path / "store", plan(60), ledger=tmp_path / "ledger"))

    threads = [threading.Thread(target=here) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert zygote.build(tmp_path, wanted=60) == 0
    for thread in threads:
        thread.join()
    assert results == [build(tmp_path / "other", plan(60))] * 2
    entries = read_ledger(tmp_path / "ledger")
    assert run_twice(entries) == []
    starts = [entry for entry in entries if entry.event == "begin"]
    assert len(starts) == len({(entry.stage, entry.shard, entry.row) for entry in starts})


def test_the_second_build_says_that_it_waits(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    notes: list[str] = []

    class Listening(Quiet):
        def note(self, line: str) -> None:
            notes.append(line)
            held.release()

    with Engine(plan(5), store, LocalExecutor(), Listening()) as engine:
        folder = store.stage("pages", engine.fingerprint("pages").value)
        folder.create({})
        from synth.store.locks import FileLock

        held = FileLock(folder.path / "write.lock")
        held.acquire()
        engine.run()
    assert notes == ["pages: another build is working on this stage in the same store; waiting for it"]


def test_what_another_build_finished_meanwhile_is_not_made_again(tmp_path: Path) -> None:
    """It may be reading it: a view that is written anew is not there for a moment."""
    from synth.store.locks import FileLock

    store = Store(tmp_path / "store")
    found: list[int] = []

    class Overtaken(Quiet):
        def note(self, line: str) -> None:
            held.release()
            build(tmp_path / "store", plan(5))
            found.append(manifest().st_ino)

    def manifest() -> os.stat_result:
        (view,) = folder.views.iterdir()
        return (view / "manifest.json").stat()

    with Engine(plan(5), store, LocalExecutor(), Overtaken()) as engine:
        engine.run_stage("pages")
        folder = store.stage("questions", engine.fingerprint("questions").value)
        folder.create({})
        held = FileLock(folder.path / "write.lock")
        held.acquire()
        engine.run()
        assert found == [manifest().st_ino]


def test_a_script_without_a_guard_may_use_worker_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1] / 'engine')!r})\n"
        "from pathlib import Path\n"
        "from engine_toys import build, plan\n"
        "print('once')\n"
        f"build(Path({str(tmp_path / 'store')!r}), plan(20), name='processes', workers=2)\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("once\n", "", 0)


MAIN = """
import sys
sys.path.insert(0, {toys!r})
from pathlib import Path
from engine_toys import Pages, PagesConfig, build
from synth.engine import Plan, StageNode
from synth.errors import SynthError
class Mine(Pages):
    name = "mine"
try:
    build(Path({store!r}), Plan("d", 1, "s", (StageNode("a", Mine, PagesConfig()),), 1), name="processes", workers=2)
except SynthError as error:
    print(error.exit_code, error)
"""


def test_a_stage_of_the_script_itself_is_refused_there(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(MAIN.format(toys=str(Path(__file__).parents[1] / "engine"), store=str(tmp_path / "store")))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True)
    assert done.stdout.startswith("2 stage 'a': Mine is defined in the script that runs")
    assert done.stderr == ""


def test_ctrl_c_of_a_terminal_reaches_all_processes_and_prints_nothing(tmp_path: Path) -> None:
    """The terminal signals the whole group: the workers must leave it to the build."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parents[1] / 'engine')!r})\n"
        "from pathlib import Path\n"
        "from engine_toys import build, plan, QuestionsConfig\n"
        "from synth.errors import SynthError\n"
        "try:\n"
        "    long = plan(300, questions=QuestionsConfig(modulus=10**6))\n"
        f"    build(Path({str(tmp_path / 'store')!r}), long, name='processes', workers=2)\n"
        "except SynthError as error:\n"
        "    print(error.exit_code, error)\n"
    )
    child = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not list(tmp_path.glob("store/stages/answers/*/journals/*.journal")) and child.poll() is None:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate()
    assert err == ""
    assert out.startswith("130 stopped in stage 'answers': interrupted; everything that was finished is kept.")


def test_bad_numbers_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        LocalExecutor(0)
    with pytest.raises(ValueError, match="at least 1"):
        plan(0)
    with pytest.raises(BuildError, match="accepted 0 of 1"):
        build(tmp_path / "store", plan(1, questions=QuestionsConfig(rejects=1)))
    from engine_toys import PagesConfig

    with pytest.raises(InputError, match="there is no such file"):
        build(tmp_path / "store", plan(1, pages=PagesConfig(path=str(tmp_path / "none"))))
