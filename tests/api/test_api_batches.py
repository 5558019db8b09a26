"""A judge whose calls go in batches: the dataset of a build whose judge is called directly, at half the price."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from shared_builds import hashes, world_store
from stand_ins.model_server import FixedPlayer, ModelServer, ServerOptions
from test_api_model_judge import LEAN, TASKS, has_taste, judge

import synth
from synth.api import BuildRequest, prepare
from synth.errors import InputError
from synth.mocks.model import BatchFault, Faults
from synth.pipelines.pilot import StageEstimate

pytestmark = pytest.mark.thorough

PRICE = {"prompt": 1.0, "completion": 4.0}
BATCH = {"gather": 0.2, "poll": 0.05, "least": 2}


def settings(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {**LEAN, "ratings": {}, **judge(server, "m", price=PRICE, **more)}


def test_a_judge_in_batches_makes_the_same_dataset(tmp_path: Path) -> None:
    world_store(tmp_path)

    def estimate(**more: Any) -> StageEstimate:
        options = settings(server, **more)
        prepared = prepare(BuildRequest(dataset="world-search", settings=options, out=tmp_path / "a", **given))
        with prepared.engine:
            pilot = prepared.outlook(pilot=2).pilot
        assert pilot is not None
        return next(one for one in pilot.stages if one.label.endswith("ratings"))

    faults = Faults(seed=1, batches={BatchFault.EXPIRED: 0.3, BatchFault.LINE_TWICE: 0.2, BatchFault.LOST: 0.3})
    with ModelServer(FixedPlayer(has_taste), ServerOptions(faults=faults, batch_seconds=0.05)) as server:
        given: dict[str, Any] = {"tasks": TASKS, "store": tmp_path / "store"}
        estimates = [estimate(batch=batch) for batch in (BATCH, None)]
        assert estimates[0].seconds is None  # a provider says when
        assert estimates[0].cost.expected == pytest.approx(estimates[1].cost.expected / 2)
        with_batches = synth.build("world-search", settings=settings(server, batch=BATCH), out=tmp_path / "a", **given)
        made = list(server.batches.made)
        calls = [record for record in server.log.records() if record.usage is not None]
        assert len({record.call for record in calls}) == len(calls)  # none was paid for twice, the pilot's included
        elsewhere = {**given, "store": tmp_path / "other"}
        world_store(tmp_path / "again").rename(tmp_path / "other")
        direct = synth.build("world-search", settings=settings(server), out=tmp_path / "b", **elsewhere)
        assert server.batches.made == made
    assert made
    files, other = hashes(tmp_path / "a"), hashes(tmp_path / "b")
    assert {name for name in files if files[name] != other.get(name)} == {"README.md", "report.json"}  # costs
    ours, theirs = with_batches.account, direct.account
    assert ours is not None
    assert theirs is not None
    assert ours.batches is not None
    assert theirs.batches is None
    assert ours.delivered == theirs.delivered
    assert (ours.open, ours.batches.open) == (0, 0)
    in_batches, alone = ours.batches.cost, ours.cost_exact - ours.batches.cost
    assert 2 * in_batches + alone == theirs.cost_exact
    assert ours.batches.delivered > 0.5 * ours.delivered
    costs = [sum(use.cost for stage in one.report.stages for use in stage.models) for one in (with_batches, direct)]
    assert costs[0] == pytest.approx(costs[1] / 2)  # what the recipe comes to: the pilot went directly


@pytest.mark.parametrize("role", ["teacher", "policy", "expert", "prm", "simulator", "summarizer", "reflector"])
def test_who_waits_for_each_reply_is_refused(role: str) -> None:
    role_of_a_model: dict[str, Any] = {"backend": "openai", "model": "m", "batch": True}
    given = {f"roles.{role}.{key}": value for key, value in role_of_a_model.items()}
    given[f"roles.{role}.endpoints"] = ["http://127.0.0.1:9/v1"]
    with pytest.raises(InputError, match=rf"roles.{role}.batch: only for writer, checker, judge and perturber"):
        prepare(BuildRequest(dataset="world-search", settings=given))


def test_batches_want_somebody_who_works_them_through() -> None:
    given: dict[str, Any] = {"roles.judge.backend": "vllm", "roles.judge.model": "m", "roles.judge.batch": True}
    with pytest.raises(InputError, match=r"roles\.judge\.batch: name the endpoint of a provider"):
        prepare(BuildRequest(dataset="world-search", settings=given))
    prepare(BuildRequest(dataset="world-search", settings={**given, "roles.judge.serve": {}})).engine.close()
