"""Pushes against a Hub that goes wrong: the repository ends unchanged or complete, with exactly one commit of ours."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hub_pusher import ENVIRONMENT, job, run_jobs, texts_below

from synth.dataset.reader import load
from synth.mocks.hub import Fault, FaultKind, HubServer
from synth.schemas.row import SCHEMA_VERSION

pytestmark = pytest.mark.thorough

TOKEN = "hf_" + "q7Wz" * 9
REPO = "ann/world-search"
EVERY = ("info", "create", "yaml", "preupload", "batch", "put", "verify", "commit")


def on(kind: FaultKind, *routes: str, **more: Any) -> tuple[Fault, ...]:
    return tuple(Fault(route, kind, **more) for route in routes)


COMPLETE = {
    "none": (),
    "rate limited": on(FaultKind.RATE_LIMITED, *EVERY),
    "unavailable": on(FaultKind.UNAVAILABLE, *EVERY),
    "reset": on(FaultKind.RESET, *EVERY),
    "hang": on(FaultKind.HANG, "info", "preupload", "commit"),
    "lost reply": on(FaultKind.LOST_REPLY, "create", "put", "commit"),
    "twin": on(FaultKind.TWIN, "commit"),
}
"""After these the repository is complete."""
UNCHANGED = {
    "stranger": on(FaultKind.STRANGER, "commit"),
    "down": on(FaultKind.UNAVAILABLE, "commit", times=100),
    "far away": on(FaultKind.RATE_LIMITED, "commit", retry_after=3600),
}
"""After these it is as it was."""


@pytest.fixture(scope="module")
def ran(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, HubServer]]]:
    """Results and servers by scenario; every scenario has a server of its own."""
    home = tmp_path_factory.mktemp("hub")
    with ExitStack() as stack:
        servers: dict[str, HubServer] = {}
        jobs = []
        for name, faults in {**COMPLETE, **UNCHANGED}.items():
            server = stack.enter_context(HubServer(home / name.replace(" ", "-"), token=TOKEN, faults=faults))
            if name in UNCHANGED:
                server.repositories.create(REPO, private=True)
            servers[name] = server
            short = {"attempts": 3} if name == "down" else {}
            jobs.append(job(name, small, server.url, TOKEN, patience=short))
        results, written = run_jobs(jobs, home, processes=3)
        results["written"] = written
        results["home"] = home
        yield results, servers


@pytest.mark.parametrize("name", COMPLETE)
def test_a_push_under_faults_is_complete_with_one_commit(
    name: str, ran: tuple[dict[str, Any], dict[str, HubServer]], small: Path, tmp_path: Path
) -> None:
    results, servers = ran
    result, server = results[name], servers[name]
    assert "error" not in result, result
    history = server.repositories.history(REPO)
    assert [commit.message for commit in history] == [
        f"world-search: 5 tasks, seed 7, schema {SCHEMA_VERSION}",
        "initial commit",
    ]
    assert result["done"]["commit"] == history[0].id
    assert server.repositories.repos[REPO].private
    assert result["done"]["private"]
    kinds = {fault.kind for fault in COMPLETE[name]}
    assert {record.fault for record in server.records} - {None} == kinds
    hit = {record.route for record in server.records if record.fault}
    assert hit == {fault.route for fault in COMPLETE[name]}
    same_files(server.repositories.checkout(REPO, tmp_path / "there"), small)


def same_files(there: Path, here: Path) -> None:
    def all_of(folder: Path) -> dict[str, bytes]:
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    found = all_of(there)
    assert found.pop(".gitattributes")
    assert found == all_of(here)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("stranger", "someone else committed to it in the meantime"),
        ("down", "status 503: come back later"),
        ("far away", "status 429: come back later"),
    ],
)
def test_what_can_not_be_helped_leaves_the_repository_as_it_was(
    name: str, words: str, ran: tuple[dict[str, Any], dict[str, HubServer]]
) -> None:
    results, servers = ran
    kind, code, line = results[name]["error"]
    assert (kind, code) == ("PushFailed", 8)
    assert words in line
    assert "\n" not in line
    theirs = ["a note"] if name == "stranger" else []
    history = servers[name].repositories.history(REPO)
    assert [commit.message for commit in history] == [*theirs, "initial commit"]
    assert not [path for path in history[0].files if path.endswith((".parquet", "report.json"))]


def test_the_token_stands_in_no_output_address_or_file(ran: tuple[dict[str, Any], dict[str, HubServer]]) -> None:
    results, servers = ran
    assert TOKEN not in results["written"]
    assert "s1gn3d" not in results["written"]  # nor does the signature of an upload
    assert not [record for server in servers.values() for record in server.records if TOKEN in record.target]
    assert not [data for data in texts_below([results["home"]]) if TOKEN.encode() in data]


def test_every_config_loads_from_what_was_pushed(
    ran: tuple[dict[str, Any], dict[str, HubServer]], small: Path, tmp_path: Path
) -> None:
    from datasets import load_dataset

    there = ran[1]["none"].repositories.checkout(REPO, tmp_path / "there")
    dataset = load(small)
    for config in dataset.configs:
        loaded = load_dataset(str(there), config, cache_dir=str(tmp_path / "cache"))
        assert {split: len(rows) for split, rows in loaded.items()} == {
            split: dataset.count(config, split) for split in dataset.splits(config)
        }


def test_versions_branches_and_visibility(small: Path, plain: Path, tmp_path: Path) -> None:
    with HubServer(tmp_path / "hub", token=TOKEN) as server:
        server.repositories.create("ann/open", private=False)
        note = server.repositories.regular(b"Ours.\n")
        server.repositories.create(REPO, private=True)
        server.repositories.commit(REPO, "main", None, "by hand", {"LICENSE": note, "steps/notes.txt": note}, ())

        def one(name: str, folder: Path, **options: Any) -> dict[str, Any]:
            return job(name, folder, server.url, options.pop("token", TOKEN), **options)

        results, written = run_jobs(
            [
                one("dry", small, dry_run=True),
                one("first", small),
                one("again", small),
                one("newer", plain),
                one("branch", small, revision="v2"),
                one("dry again", small, revision="v2", dry_run=True),
                one("shown", small, public=True),
                one("hidden", small, repo="ann/open"),
                one("open", small, repo="ann/open", public=True),
                one("stranger", small, token="hf_" + "x" * 36),
            ],
            tmp_path,
        )
        assert [commit.message.split(",")[0] for commit in server.repositories.history(REPO)] == [
            "world-search: 20 tasks",
            "world-search: 5 tasks",
            "by hand",
            "initial commit",
        ]
        dry, done = results["dry"]["done"], results["first"]["done"]
        assert dry["sent"] == done["sent"] == sorted(done["sent"])
        assert (dry["commit"], dry["dry_run"]) == (None, True)
        assert results["again"]["done"]["unchanged"]
        assert results["again"]["done"]["commit"] == done["commit"]
        gone = results["newer"]["done"]["deleted"]
        assert {name.split("/")[0] for name in gone} == {"continuations", "columns", "plots", "preferences", "steps"}
        there = server.repositories.checkout(REPO, tmp_path / "there")
        assert (there / "LICENSE").read_bytes() == (there / "steps/notes.txt").read_bytes() == b"Ours.\n"
        for name in ("LICENSE", "steps/notes.txt"):
            (there / name).unlink()
        same_files(there, plain)
        assert results["branch"]["done"]["url"].endswith(f"/datasets/{REPO}/tree/v2")
        assert results["dry again"]["done"]["unchanged"]
        assert results["dry again"]["done"]["commit"] == server.repositories.history(REPO, "v2")[0].id
        for name, words in (("shown", "exists and is private"), ("hidden", "exists and is public")):
            assert results[name]["error"][:2] == ["InputError", 2]
            assert words in results[name]["error"][2]
        assert not results["open"]["done"]["private"]
        assert results["stranger"]["error"][:2] == ["InputError", 2]
        assert "x" * 36 not in written


def test_a_killed_push_goes_on_and_sends_nothing_twice(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from synth.cli import main; main(sys.argv[1:])"]
    command += ["push", str(small), "--repo", REPO]
    root = Path(__file__).resolve().parents[2]
    large = {hashlib.sha256(path.read_bytes()).hexdigest() for path in small.rglob("*.parquet")}

    def taken() -> set[str]:
        return large & {path.name for path in (tmp_path / "hub/blobs").iterdir()}

    with HubServer(tmp_path / "hub", token=TOKEN, faults=[Fault("put", FaultKind.HANG, first=3, times=1)]) as server:
        environment = {**ENVIRONMENT, "HF_TOKEN": TOKEN, "HF_HOME": str(tmp_path / "hf"), "HF_ENDPOINT": server.url}
        process = subprocess.Popen(
            command, env=environment, cwd=root, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        assert server.hanging.wait(300)
        # Files go out several at a time: the three before the one that hangs may still be on their way.
        patience = time.monotonic() + 300
        while len(taken()) < 3 and time.monotonic() < patience:
            time.sleep(0.05)
        process.kill()
        process.wait()
        assert len(server.repositories.history(REPO)) == 1
        kept = taken()
        before = len(server.records)
        done = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{server.url}/datasets/{REPO} (private): ")
        assert len(server.repositories.history(REPO)) == 2
        sent = {
            record.target.split("?")[0].split("/")[-1] for record in server.records[before:] if record.route == "put"
        }
        assert len(sent) + 3 <= len(large)  # three were taken before the one that hung
        assert not sent & kept
        same_files(server.repositories.checkout(REPO, tmp_path / "there"), small)


def test_the_command_line_says_what_is_missing_in_one_line(small: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; from synth.cli import main; main(sys.argv[1:])"]
    environment = {**ENVIRONMENT, "HF_HOME": str(tmp_path / "hf")}
    done = subprocess.run(
        [*command, "push", str(small), "--repo", REPO],
        env=environment,
        cwd=Path(__file__).resolve().parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert (
        done.stderr == f"synth: {REPO}: there is no token for the Hub. Log in with `hf auth login`, or set HF_TOKEN\n"
    )
