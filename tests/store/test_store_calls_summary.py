"""What ``synth store`` says of a store of calls, and that it never removes it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from synth.cli.account import account_json, overruns_text
from synth.errors import StoreError
from synth.store import Store
from synth.store.calls import CallStore, Outcome, TokenCount
from synth.store.calls_format import CALLS_FILE, Account
from synth.store.calls_summary import summarize


async def make_calls(calls: CallStore) -> None:
    for number, reason in enumerate([None, None, "refusal"]):
        await calls.begin(str(number), f"{number:064x}", "my data", "teacher", tokens=1_000, cost=2_000_000_000)
        await calls.settle(
            str(number),
            Outcome.DELIVERED,
            usage=TokenCount(900, 100),
            cost=10_000_000,
            reply=b"a reply " * 40,
            reason=reason,
        )
    await calls.begin("torn", "ff" * 32, "my data", "judge", tokens=1_000, cost=500_000_000)


def test_a_summary_while_calls_are_open_and_afterwards(tmp_path: Path) -> None:
    path = tmp_path / CALLS_FILE
    assert summarize(path) is None
    with CallStore(path) as calls:
        assert summarize(path) is not None
        asyncio.run(make_calls(calls))
        now = summarize(path)
        assert now is not None
        assert (now.replies, now.served, now.accounts) == (3, 2, (calls.account("my data"),))
        assert now.accounts[0].open == 1
    later = summarize(path)
    assert later is not None
    assert (later.accounts[0].open, later.accounts[0].unknown) == (0, 1)
    assert later.bytes == path.stat().st_size
    path.write_text("something else " * 400)
    with pytest.raises(StoreError, match="not a store of calls"):
        summarize(path)


def test_the_command_line_shows_it_and_prunes_all_but_that(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from synth.cli.upkeep import StoreVerb, store

    root = Store(tmp_path / "store").root
    store(StoreVerb.LIST, root)
    assert CALLS_FILE not in capsys.readouterr().out
    with CallStore(root / CALLS_FILE) as calls:
        asyncio.run(make_calls(calls))
    store(StoreVerb.LIST, root)
    said = capsys.readouterr().out
    assert "calls.sqlite: 3 replies (2 served again), 0.1 MB" in said
    assert "my data: 4 calls, 4,000 tokens, cost 0.0300 for certain, 0.5300 at most" in said
    assert "warning" not in said
    store(StoreVerb.LIST, root, as_json=True)
    plain = json.loads(capsys.readouterr().out)
    assert plain["stages"] == []
    assert (plain["calls"]["served"], plain["calls"]["accounts"][0]["cost_exact"]) == (2, 30_000_000)
    store(StoreVerb.PRUNE, root, everything=True)
    assert "left alone: calls.sqlite" in capsys.readouterr().out
    found = summarize(root / CALLS_FILE)
    assert found is not None
    assert found.served == 2


def test_an_account_says_when_a_server_used_more_than_it_could() -> None:
    within, beyond = Account("data", None, delivered=4), Account("data", None, delivered=3, unknown=1, overruns=1)
    assert overruns_text(within) == ""
    assert overruns_text(beyond).startswith("warning: 1 of 4 calls used more than could be reserved for them")
    said = account_json(beyond)
    assert said is not None
    assert said["overruns"] == 1
