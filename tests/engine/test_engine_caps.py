"""A cap on what all calls of a dataset may use, over all runs, and the account that it is held against."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_toys import Built
from model_toys import FakeHub, agent, chat_build, chat_plan, sent
from stand_ins.call_log import intents
from stand_ins.model_server import FixedPlayer, ModelServer, Reply, reconcile

from synth.engine import Engine, LocalExecutor, ModelExecutor
from synth.engine.hub import StoreHub
from synth.errors import InputError
from synth.identity import derive_generator
from synth.models.contract import BudgetReached
from synth.pipelines.pilot import CONFIDENCE, predict, run_pilot
from synth.store import Store
from synth.store.calls import CallStore
from synth.store.calls_format import Account, from_nano

ROWS, TURNS = 20, 4
CALLS = ROWS * TURNS


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(FixedPlayer(lambda request, sample: Reply(content=f"said {sample}"))) as server:
        yield server


def build(folder: Path, server: ModelServer, **caps: float) -> Built:
    hub = StoreHub(Store(folder), "toy", **caps)  # type: ignore[arg-type]
    return chat_build(folder, hub, chat_plan(agent=agent(server.url)), in_flight=7)


def account(folder: Path) -> Account:
    with CallStore(folder / "calls.sqlite") as calls:
        return calls.account("toy")


def used(server: ModelServer) -> int:
    return sum(sum(record.usage or (0, 0)) for record in server.log.records())


def test_a_cap_on_tokens_is_never_exceeded_and_the_next_run_goes_on_in_the_same_account(
    tmp_path: Path, server: ModelServer
) -> None:
    cap = 4_500
    with pytest.raises(BudgetReached, match=r"account toy: the cap of 4,500 tokens is reached") as caught:
        build(tmp_path, server, max_tokens=cap)
    assert caught.value.exit_code == 6
    line = str(caught.value)
    assert "of the 20 rows that chats had to do are finished. Raise --max-tokens" in line
    assert "\n" not in line
    first = len(server.log.records())
    assert 0 < first < CALLS
    assert 0 < used(server) <= cap
    with pytest.raises(BudgetReached):
        build(tmp_path, server, max_tokens=cap)
    assert used(server) <= cap, "a new run has no new budget"
    built = build(tmp_path, server, max_tokens=10**9)
    assert len(server.log.records()) == CALLS, "no call was made twice"
    (use,) = built.reports[-1].models
    booked = account(tmp_path)
    assert (booked.delivered, booked.unknown, booked.open) == (CALLS, 0, 0)
    assert (use.calls, use.prompt_tokens, use.completion_tokens) == (
        CALLS,
        booked.prompt_tokens,
        booked.completion_tokens,
    )
    assert use.prompt_tokens + use.completion_tokens == used(server)
    with CallStore(tmp_path / "calls.sqlite") as calls:
        assert reconcile(server.log.records(), intents(calls, "toy")).problems == ()


def test_a_cap_on_cost_is_held_in_money(tmp_path: Path, server: ModelServer) -> None:
    cap = 0.027
    with pytest.raises(BudgetReached, match=r"the cap of 0\.027 cost is reached.*Raise --max-cost"):
        build(tmp_path, server, max_cost=cap)
    booked = account(tmp_path)
    assert 0 < from_nano(booked.cost_spent) <= cap
    assert booked.open == 0
    whole = build(tmp_path, server)
    (use,) = whole.reports[-1].models
    assert use.cost == pytest.approx(float(from_nano(account(tmp_path).cost_exact)), abs=CALLS * 1e-9)


def test_the_line_counts_the_rows_that_are_finished(tmp_path: Path) -> None:
    """With one row at a time, 13 calls are three whole rows."""
    hub = FakeHub(tmp_path / "calls", budget=13, end=BudgetReached("no more", where="account toy", mend="raise it"))
    with pytest.raises(BudgetReached) as caught:
        chat_build(tmp_path / "store", hub, in_flight=1)
    what = "account toy: no more; 3 of the 20 rows that chats had to do are finished. Raise it"
    assert str(caught.value) == what


def test_the_build_goes_on_from_the_pilot(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "calls")
    with Engine(chat_plan(), Store(tmp_path / "store"), LocalExecutor(), models=ModelExecutor(lambda: hub)) as engine:
        pilot = run_pilot(engine, ROWS, 5)
        assert len(sent(tmp_path / "calls")) == 5 * TURNS
        report = engine.run()[-1]
        assert len(sent(tmp_path / "calls")) == CALLS, "nothing was paid twice"
    (stage,) = pilot.stages
    assert (stage.label, stage.models, stage.pilot_rows, stage.rows, stage.rows_known, stage.kept) == (
        "chats",
        ("teacher: toy-1",),
        5,
        ROWS,
        True,
        True,
    )
    assert (stage.calls.expected, stage.calls.low, stage.calls.high) == (CALLS, CALLS, CALLS)
    (use,) = report.models
    for name in ("prompt_tokens", "completion_tokens", "cost"):
        estimate = getattr(stage, name)
        assert estimate.low <= getattr(use, name) <= estimate.high
    fresh = FakeHub(tmp_path / "calls")
    assert chat_build(tmp_path / "other", fresh).reports[-1].models == report.models


def test_a_pilot_of_all_is_exact_and_one_of_nothing_is_refused(tmp_path: Path) -> None:
    hub = FakeHub(tmp_path / "calls")
    with Engine(chat_plan(3), Store(tmp_path / "store"), LocalExecutor(), models=ModelExecutor(lambda: hub)) as engine:
        with pytest.raises(InputError, match="a pilot of 0 tasks says nothing"):
            run_pilot(engine, 3, 0)
        (stage,) = run_pilot(engine, 3, 50).stages
        assert (stage.pilot_rows, stage.rows, stage.calls.low, stage.calls.high) == (3, 3, 12, 12)
        assert stage.cost.low == stage.cost.high == stage.cost.expected > 0


def test_so_many_totals_lie_in_the_interval_as_it_says() -> None:
    """Rows of 400 builds, with a pilot of 6 of 60 each."""
    hits = 0
    for number in range(400):
        rows = derive_generator(number, "pilot").normal(100.0, 20.0, 60)
        estimate = predict([float(row) for row in rows[:6]], 60)
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= rows.sum() <= estimate.high
    assert abs(hits / 400 - CONFIDENCE) < 0.045  # three standard errors


def test_one_row_says_nothing_about_the_spread() -> None:
    estimate = predict([7.0], 10)
    assert (estimate.expected, estimate.low, estimate.high) == (70.0, None, None)
