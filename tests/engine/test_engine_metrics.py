"""A Prometheus server finds what a running build is at."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest
from engine_toys import QuestionsConfig, plan

from synth.api import BuildRequest, prepare
from synth.engine import CallsNow, Engine, LocalExecutor, Quiet
from synth.engine.metrics import Metrics
from synth.errors import InputError
from synth.schemas.reports import RunUse
from synth.store import Store


def scraped(metrics: Metrics) -> dict[str, float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{metrics.port}/metrics", timeout=10) as reply:
        lines = reply.read().decode().splitlines()
    pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
    return {name: float(value) for name, _, value in pairs}


def test_a_build_is_scraped(tmp_path: Path) -> None:
    metrics = Metrics(Quiet(), "toy", "0")
    with Engine(plan(20, questions=QuestionsConfig(rejects=2)), Store(tmp_path), LocalExecutor(), metrics) as engine:
        reports = {report.label: report for report in engine.run()}
        metrics.calls("answers", CallsNow(3, 2.0, RunUse(calls=7, failed=1, completion_tokens=90, cost=0.25)))
        found = scraped(metrics)
    where = 'dataset="toy",stage="answers"'
    assert found[f"synth_units{{{where}}}"] == found[f"synth_units_wanted{{{where}}}"] == 20
    for outcome, count in {"kept": reports["answers"].kept, **reports["answers"].rejected}.items():
        assert found[f'synth_rows{{dataset="toy",outcome="{outcome}",stage="answers"}}'] == count
    assert found[f"synth_seconds{{{where}}}"] > 0
    used = {name: found[f"synth_{name}{{{where}}}"] for name in ("calls", "failed", "completion_tokens", "cost")}
    assert used == {"calls": 7, "failed": 1, "completion_tokens": 90, "cost": 0.25}
    assert found[f"synth_rows_in_flight{{{where}}}"] == 3
    with pytest.raises(OSError, match="refused"):
        scraped(metrics)


@pytest.mark.parametrize("place", ["nowhere", "99999", "127.0.0.1:x"])
def test_a_bad_place_is_one_line(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYNTH_METRICS", place)
    with pytest.raises(InputError, match=f"can't serve at '{place}'"):
        prepare(BuildRequest(dataset="world-search", store=tmp_path / "store"), progress="quiet")
