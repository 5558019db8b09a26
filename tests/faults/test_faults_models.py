"""Whole builds through a model server at which everything goes wrong, killed again and again."""

from __future__ import annotations

import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from faults_builds import PRICES, REASONS, ROLES, Built, arguments, bound, samples_of, serve, with_store_of
from stand_ins.model_server import FaultKind, Faults, reconcile, sent_again
from stand_ins.zygote import Zygote

from synth.identity import derive_generator
from synth.store.calls import IntentState

pytestmark = pytest.mark.thorough

KILLS = 5
FAULTS = Faults.all(0.02, seed=3, retry_after="0.2", slow=0.2)

Build = Callable[[str, int], Built]


SIZE = (8, 400, 0.2)
"""Tasks, entities of the world, share of the policy's runs that is searched for critical steps."""


@pytest.fixture(scope="module")
def scripted(tmp_path_factory: pytest.TempPathFactory, zygote: Zygote) -> Built:
    """Built in process, without any model."""
    folder = tmp_path_factory.mktemp("builds") / "scripted"
    folder.mkdir()
    _command(zygote, folder, arguments(folder, *SIZE))
    return Built(folder, ())


def _command(zygote: Zygote, folder: Path, given: list[str], kill_file: Path | None = None) -> int:
    """Exit code: 0, or that of the kill."""
    said = folder / "said"
    more = {} if kill_file is None else {"kill_file": str(kill_file)}
    code: int = zygote.run(do="command", arguments=given, variables={}, said=str(said), **more)
    assert code in ((0,) if kill_file is None else (0, -signal.SIGKILL)), said.read_text()
    return code


@pytest.fixture(scope="module")
def build(zygote: Zygote, scripted: Built) -> Build:
    """``build(name, kills)``: through a server under all faults; killed so many times on its way."""

    def made(name: str, kills: int) -> Built:
        folder = with_store_of(scripted.folder, scripted.folder.parent / name)
        generator = derive_generator(1, "kills of builds")
        with serve(scripted.tasks, FAULTS) as at:
            given = [*arguments(folder, *SIZE), *bound(at.server.url)]
            done = 0
            for _ in range(kills):
                at.light(int(generator.integers(2, 20)), folder / "kill")
                done += _command(zygote, folder, given, folder / "kill") != 0
            assert _command(zygote, folder, given) == 0
            return Built(folder, at.server.log.records(), done)

    return made


@pytest.fixture(scope="module")
def undisturbed(build: Build) -> Built:
    return build("undisturbed", 0)


@pytest.fixture(scope="module")
def killed(build: Build) -> Built:
    return build("killed", KILLS)


@pytest.fixture(params=["undisturbed", "killed"])
def built(request: pytest.FixtureRequest, undisturbed: Built, killed: Built) -> Built:
    return undisturbed if request.param == "undisturbed" else killed


def test_it_was_killed(killed: Built) -> None:
    assert killed.kills == KILLS


def test_kills_change_no_byte(undisturbed: Built, killed: Built) -> None:
    assert killed.hashes() == undisturbed.hashes()


def test_faults_came_as_planned(built: Built) -> None:
    seen = Counter(record.fault for record in built.records)
    assert len(set(seen) - {None}) > len(FaultKind) - 4
    assert 0.15 < 1 - seen[None] / sum(seen.values()) < 0.45  # a kill finds mostly faulty calls under way, sent again


def test_every_task_ends_as_a_trajectory_or_a_rejection(built: Built) -> None:
    tasks = {task.id for task in built.tasks}
    for role in ROLES:
        kept = Counter(row.task_id for row in built.dataset.rows("trajectories") if row.role == role)
        ours = [row for row in built.rejections if row.stage in ("rollouts", "verify")]
        gone = Counter(row.row_id for row in ours if row.detail.startswith(f"{role}, rollout"))
        assert kept.total() + gone.total() == len(tasks)
        assert set(kept) | set(gone) == tasks


def test_rejections_have_the_right_reason(built: Built) -> None:
    faults = {record.sample: record.fault for record in built.records if record.outcome == "delivered"}
    rejected = [row for row in built.rejections if row.stage == "rollouts"]
    assert rejected
    for row in rejected:
        match = re.match(r"(teacher|policy), rollout (\d+), turn (\d+): ", row.detail)
        assert match is not None, row.detail
        asked = [name for name in samples_of(row.row_id, match[1], int(match[2]), int(match[3])) if name in faults]
        kind = faults[asked[-1]]
        assert kind is not None
        assert row.reason in REASONS[kind], (kind, row)


def test_the_books_agree_with_the_log(built: Built) -> None:
    account, intents, served = built.books()
    found = reconcile(built.records, intents)
    assert found.problems == ()
    assert found.states[IntentState.OPEN] == 0
    assert len(built.records) == account.calls - found.never_arrived
    assert sum(found.states.values()) == len(intents) == account.calls
    if built.kills:
        assert found.lost <= (built.kills + 1) * len(built.tasks)
    else:
        assert found.never_arrived == 0
        assert found.lost < 0.05 * len(intents)  # given up at its deadline just as the answer left
    assert sent_again(built.records, served) == []
    assert len(served) > 100


def test_cost_is_exact_for_what_was_delivered_and_a_bound_otherwise(built: Built) -> None:
    account, intents, _ = built.books()
    usage = {record.request_id: record.usage for record in built.records}
    exact = 0
    for intent in intents:
        if intent.state is IntentState.DELIVERED:
            prompt, completion = usage[intent.request_id] or (0, 0)
            assert intent.cost == 1_000 * (PRICES["prompt"] * prompt + PRICES["completion"] * completion) > 0
            exact += intent.cost
    assert account.cost_exact == exact
    assert account.tokens_spent >= sum(sum(record.usage) for record in built.records if record.usage is not None)
    assert account.tokens_open == 0


def test_another_run_sends_nothing_and_one_without_its_stages_only_what_is_not_served(
    zygote: Zygote, scripted: Built, killed: Built
) -> None:
    """The stages hold all of it; without them the store of calls does, but for replies that it must not serve."""
    _, _, served = killed.books()
    known = {record.sample for record in killed.records if record.request_id in served}
    with serve(scripted.tasks, FAULTS) as at:
        given = [*arguments(killed.folder, *SIZE), *bound(at.server.url)]
        assert _command(zygote, killed.folder, given) == 0
        assert at.server.log.records() == ()
        folder = with_store_of(scripted.folder, killed.folder.parent / "without stages")
        for path in killed.folder.joinpath("store").glob("calls.sqlite*"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, folder / "store" / path.name)
        assert _command(zygote, folder, [*arguments(folder, *SIZE), *bound(at.server.url)]) == 0
        sent = {record.sample for record in at.server.log.records()}
    assert Built(folder, ()).hashes() == killed.hashes()
    assert sent == {record.sample for record in killed.records} - known
    assert 0 < len(sent) < len(known)


def test_turns_that_faults_left_alone_are_those_of_the_scripted_agents(scripted: Built, built: Built) -> None:
    """But for who is said to have made them."""
    spoilt = {record.sample for record in built.records if record.fault and record.outcome == "delivered"}
    wanted = {(row.task_id, row.role): row for row in scripted.dataset.rows("trajectories")}
    same = 0
    for row in built.dataset.rows("trajectories"):
        asked = [samples_of(row.task_id, row.role, row.rollout, turn)[0] for turn in range(row.turns)]
        if not spoilt & set(asked):
            assert row.content == wanted[row.task_id, row.role].content
            same += 1
    assert same >= 2
