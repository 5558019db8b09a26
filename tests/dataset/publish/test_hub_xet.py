"""Pushes by Xet, the library's default where hf_xet is installed, against a Hub that plays it, refuses it or breaks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hub_pusher import XET, job, run_jobs, texts_below

from synth.mocks.hub import Fault, FaultKind, HubServer

pytestmark = pytest.mark.thorough

TOKEN = "hf_" + "q7Wz" * 9
REPO = "ann/world-search"
FAULTS = {
    "works": (),
    "no token of Xet's": (Fault("xet token", FaultKind.UNAVAILABLE, times=100),),
    "reset": (Fault("xet xorb", FaultKind.RESET, times=100),),
    "storage fails": (Fault("xet xorb", FaultKind.UNAVAILABLE, times=100),),
    "files fail": (Fault("xet shard", FaultKind.UNAVAILABLE, times=100),),
    "both fail": (
        Fault("xet token", FaultKind.UNAVAILABLE, times=100),
        Fault("commit", FaultKind.UNAVAILABLE, times=100),
    ),
}


@pytest.fixture(scope="module")
def ran(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[dict[str, Any], dict[str, HubServer]]]:
    home = tmp_path_factory.mktemp("xet")
    with ExitStack() as stack:
        servers, jobs = {}, []
        for name, faults in FAULTS.items():
            server = stack.enter_context(HubServer(home / name.replace(" ", "-"), token=TOKEN, faults=faults))
            servers[name] = server
            short = {"attempts": 2} if name == "both fail" else {}
            jobs.append(job(name, small, server.url, TOKEN, patience=short))
        results, written = run_jobs(jobs, home, processes=2, environment=XET)
        yield {**results, "written": written, "home": home}, servers


def _same(server: HubServer, folder: Path, into: Path) -> None:
    there = server.repositories.checkout(REPO, into)
    (there / ".gitattributes").unlink()
    for path in (path for path in folder.rglob("*") if path.is_file()):
        copy = there / path.relative_to(folder)
        assert copy.read_bytes() == path.read_bytes()
        copy.unlink()
    assert not [path for path in there.rglob("*") if path.is_file()]


def test_a_push_goes_by_xet(ran: tuple[dict[str, Any], dict[str, HubServer]], small: Path, tmp_path: Path) -> None:
    results, servers = ran
    assert "error" not in results["works"], results["works"]
    server = servers["works"]
    assert server.count("xet token")
    assert server.count("xet xorb")
    assert server.count("xet shard")
    assert not server.count("put")
    assert len(server.repositories.history(REPO)) == 2
    _same(server, small, tmp_path / "there")


@pytest.mark.parametrize("name", ["no token of Xet's", "reset", "storage fails", "files fail"])
def test_where_xet_fails_the_push_goes_by_lfs(
    name: str, ran: tuple[dict[str, Any], dict[str, HubServer]], small: Path, tmp_path: Path
) -> None:
    results, servers = ran
    assert "error" not in results[name], results[name]
    assert [line for line in results[name]["said"] if line.startswith("the upload by Xet failed")]
    server = servers[name]
    assert server.count("put")
    assert len(server.repositories.history(REPO)) == 2
    _same(server, small, tmp_path / "there")


def test_where_both_fail_it_is_one_line(ran: tuple[dict[str, Any], dict[str, HubServer]]) -> None:
    results, servers = ran
    kind, code, line = results["both fail"]["error"]
    assert (kind, code) == ("PushFailed", 8)
    assert "status 503" in line
    assert "\n" not in line
    assert len(servers["both fail"].repositories.history(REPO)) == 1
    tried = [line for line in results["both fail"]["said"] if "by Xet failed" in line]
    assert len(tried) == 1  # the second attempt does not wait for it again


def test_no_token_stands_in_what_xet_writes(ran: tuple[dict[str, Any], dict[str, HubServer]]) -> None:
    results, _ = ran
    for secret in (TOKEN, "s1gn3d"):
        assert secret not in results["written"]
        assert not [data for data in texts_below([results["home"]]) if secret.encode() in data]
