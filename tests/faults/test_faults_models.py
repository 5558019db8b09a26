"""Rollouts through a model server at which everything goes wrong, in processes that are killed again and again.

Every rollout ends, as a trajectory or as a rejection with the right reason; nothing is lost, nothing is paid for twice,
and the books agree with the server's log request by request.
"""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import Zygote
from faults_rollouts import ACCOUNT, PRICE, Wanted, name_of, names, read_journal
from stand_ins.call_log import intents, served
from stand_ins.model_server import (
    FaultKind,
    Faults,
    ModelServer,
    Record,
    ScriptedPlayer,
    ServerOptions,
    reconcile,
    sent_again,
)

from synth.identity import derive_generator
from synth.schemas.rejections import Reason
from synth.store.calls import CallStore, IntentState
from synth.testing.corpus import small_tasks

Run = Callable[[Wanted], int]

KILLS = 10
FAULTS = Faults.all(0.02, seed=11, retry_after="0.2", slow=0.2)
REASONS: dict[FaultKind, frozenset[Reason]] = {
    FaultKind.LENGTH: frozenset({Reason.TRUNCATED}),
    FaultKind.REFUSAL: frozenset({Reason.REFUSAL}),
    FaultKind.LOST_CALLS: frozenset({Reason.EMPTY_REPLY}),
    FaultKind.EMPTY_ARGUMENTS: frozenset({Reason.WRONG_ARGUMENTS, Reason.MALFORMED_CALL}),
    FaultKind.WRONG_TYPES: frozenset({Reason.WRONG_ARGUMENTS}),
}
"""What may be said of a rollout whose last reply had this fault. Every other fault must be lived through."""


def server(faults: Faults = FAULTS) -> ModelServer:
    player = ScriptedPlayer.scripted(small_tasks(), "policy", skill=0.3, bad_argument=0.0)
    return ModelServer({"policy": player}, ServerOptions(faults=faults, latency=(0.002, 0.01), strict_alternation=True))


@pytest.fixture(scope="module")
def run(zygote: Zygote) -> Run:
    """Plays in a process of its own; gives its exit code."""
    return lambda wanted: zygote.run(do="rollouts", wanted=asdict(wanted))


def played(wanted: Wanted) -> dict[str, dict[str, Any]]:
    """What the journal says of every rollout, but for the samples that were asked for."""
    found = read_journal(Path(wanted.out))
    return {name: {key: value for key, value in entry.items() if key != "asked"} for name, entry in found.items()}


class Played:
    """A run that is over: its journal, its server's log, its books."""

    def __init__(self, wanted: Wanted, records: tuple[Record, ...]) -> None:
        self.wanted = wanted
        self.records = records
        self.journal = read_journal(Path(wanted.out))
        with CallStore(wanted.calls) as calls:
            self.account = calls.account(ACCOUNT)
            self.intents = intents(calls)
            self.served = served(calls)

    def outcome(self) -> dict[str, dict[str, Any]]:
        return played(self.wanted)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rollouts")


def wanted_in(folder: Path, url: str, samples: int = 8) -> Wanted:
    folder.mkdir()
    return Wanted(url=url, calls=str(folder / "calls.sqlite"), out=str(folder / "journal"), samples=samples)


@pytest.fixture(scope="module")
def undisturbed(folder: Path, run: Run) -> Played:
    """Under all faults, never killed."""
    with server() as at:
        wanted = wanted_in(folder / "undisturbed", at.url)
        assert run(wanted) == 0
        assert at.errors == []
    return Played(wanted, at.log.records())


@pytest.fixture(scope="module")
def killed(folder: Path, run: Run) -> Played:
    """Under all faults, killed ten times on its way."""
    generator = derive_generator(1, "kills of rollouts")
    with server() as at:
        wanted = wanted_in(folder / "killed", at.url)
        for _ in range(KILLS):
            doomed = replace(
                wanted, kill_after=int(generator.integers(3, 14)), kill_delay=float(generator.uniform(0.0, 0.02))
            )
            assert run(doomed) == -signal.SIGKILL
        assert run(wanted) == 0
        assert at.errors == []
    return Played(wanted, at.log.records())


@pytest.fixture(params=["undisturbed", "killed"])
def done(request: pytest.FixtureRequest) -> Played:
    found: Played = request.getfixturevalue(request.param)
    return found


def test_every_rollout_ends_once(done: Played) -> None:
    assert set(done.journal) == {name_of(task, number) for task, number in names(done.wanted)}
    assert all(("stop" in entry) != ("reason" in entry) for entry in done.journal.values())
    ended = Counter("stop" in entry for entry in done.journal.values())
    assert ended[True] > ended[False] > 0


def test_kills_change_nothing(undisturbed: Played, killed: Played) -> None:
    assert killed.outcome() == undisturbed.outcome()


def test_rejections_have_the_right_reason(done: Played) -> None:
    faults = {record.sample: record.fault for record in done.records if record.outcome == "delivered"}
    for entry in done.journal.values():
        if "reason" in entry:
            kind = faults[entry["asked"][-1]]
            assert kind is not None
            assert Reason(entry["reason"]) in REASONS[kind], (kind, entry["reason"], entry["detail"])


def test_faults_came_as_planned(done: Played) -> None:
    seen = Counter(record.fault for record in done.records)
    assert set(seen) >= set(FaultKind) - {FaultKind.DUPLICATE_IDS}
    share = 1 - seen[None] / sum(seen.values())
    assert 0.15 < share < 0.4


def test_the_books_agree_with_the_log(done: Played) -> None:
    found = reconcile(done.records, done.intents)
    assert found.problems == ()
    assert found.states[IntentState.OPEN] == 0
    assert sum(found.states.values()) == len(done.intents) == done.account.calls
    assert len(done.records) == len(done.intents) - found.never_arrived
    if "undisturbed" in done.wanted.out:
        assert found.never_arrived == 0
        # Given up at its deadline just as the answer left.
        assert found.lost < 0.05 * len(done.intents)
    else:
        assert found.lost <= KILLS * done.wanted.at_once


def test_cost_is_exact_for_what_was_delivered_and_a_bound_otherwise(done: Played) -> None:
    by_id = {record.request_id: record for record in done.records}
    exact = 0
    for intent in done.intents:
        if intent.state is IntentState.DELIVERED:
            usage = by_id[intent.request_id].usage
            assert usage is not None
            micro = Fraction(str(PRICE.prompt)) * usage[0] + Fraction(str(PRICE.completion)) * usage[1]
            assert intent.cost == -(-(micro * 1000) // 1)
            exact += int(micro * 1000)
    assert done.account.cost_exact == exact
    spent = sum(sum(record.usage) for record in done.records if record.usage is not None)
    assert done.account.tokens_spent >= spent
    assert done.account.tokens_open == 0


def test_nothing_that_is_stored_was_sent_again(done: Played) -> None:
    assert sent_again(done.records, done.served) == []
    assert len(done.served) > 100


def test_another_run_sends_nothing(killed: Played, run: Run) -> None:
    """The journal holds all of it; without the journal the store does, but for replies that it must not serve."""
    with server() as at:
        again = replace(killed.wanted, url=at.url)
        assert run(again) == 0
        assert at.log.records() == ()
        fresh = replace(again, out=killed.wanted.out + "-again")
        assert run(fresh) == 0
        sent = {record.sample for record in at.log.records()}
    assert played(fresh) == killed.outcome()
    kept = set(killed.served)
    known = {record.sample for record in killed.records if record.request_id in kept}
    assert sent == {record.sample for record in killed.records} - known
    assert 0 < len(sent) < len(known)


def test_without_faults_the_turns_are_those_that_faults_left_alone(folder: Path, undisturbed: Played, run: Run) -> None:
    """What a rollout says before its first fault of content, it says without any."""
    with server(Faults()) as at:
        wanted = wanted_in(folder / "calm", at.url)
        assert run(wanted) == 0
    calm = Played(wanted, at.log.records())
    assert {record.outcome for record in calm.records} == {"delivered"}
    assert all("stop" in entry for entry in calm.journal.values())
    assert reconcile(calm.records, calm.intents).states == {IntentState.DELIVERED: len(calm.records)}
    spoilt = {record.sample for record in undisturbed.records if record.fault and record.outcome == "delivered"}
    whole = [name for name, entry in undisturbed.journal.items() if not spoilt & set(entry["asked"])]
    assert len(whole) > 10
    for name in whole:
        assert json.dumps(undisturbed.journal[name]) == json.dumps(calm.journal[name])
