"""A build that calls models is killed, anywhere: no stored call is made again, and the bytes are those of the calls."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from engine_toys import run_twice
from model_toys import FakeHub, chat_build, replies, sent
from stand_ins.zygote import Zygote

from synth.store.ledger import read_ledger

KILLED = -signal.SIGKILL


def finishes(folder: Path) -> None:
    """The same once more ends well, and is what a fresh store makes of the same calls."""
    built = chat_build(folder / "store", FakeHub(folder / "calls"), ledger=folder / "ledger")
    assert run_twice(read_ledger(folder / "ledger")) == [], "a finished row or part was made again"
    calls = sent(folder / "calls")
    assert built == chat_build(folder / "fresh", FakeHub(folder / "calls"), in_flight=1)
    assert sent(folder / "calls") == calls, "all that the build needs is stored"
    assert not [path for path in (folder / "store").rglob("*") if ".part-" in path.name or path.suffix == ".journal"]


@pytest.mark.parametrize(
    "failpoint",
    [
        "journal.created:1",
        "journal.created:5",
        "journal.append.torn:2",
        "journal.append.torn:31",
        "journal.append.after:9",
        "journal.append.after:44",
        "engine.row.processed:1",
        "engine.row.processed:17",
        "journal.dropped:1",
        "journal.dropped:3",
    ],
)
def test_killed_at_a_failpoint_among_rows_in_flight(zygote: Zygote, tmp_path: Path, failpoint: str) -> None:
    assert zygote.chats(tmp_path, f"{failpoint}:kill") == KILLED
    stored, before = set(replies(tmp_path / "calls")), len(sent(tmp_path / "calls"))
    finishes(tmp_path)
    assert not stored & set(sent(tmp_path / "calls")[before:])
