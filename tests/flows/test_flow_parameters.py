"""A request becomes parameters of a flow run and comes back the same, whatever options there are."""

from __future__ import annotations

import inspect
import json
from dataclasses import fields
from pathlib import Path

from synth.api import BuildRequest
from synth.flows.artifacts import cost_table
from synth.flows.build import build, parameters_of
from synth.schemas.reports import RunUse, StageReport


def test_every_option_of_a_request_but_the_ledger_is_a_parameter() -> None:
    options = {field.name for field in fields(BuildRequest)} - {"ledger"}
    assert set(inspect.signature(build.fn).parameters) == options | {"secrets"}
    request = BuildRequest(
        dataset="world-search",
        out=Path("out"),
        workers=3,
        in_flight=64,
        max_cost=2.5,
        max_tokens=2_000_000,
        settings={"source.entities": 600},
    )
    values = parameters_of(request)
    assert set(values) == options
    assert json.loads(json.dumps(values)) == values
    same = {name: values[name] for name in ("workers", "in_flight", "max_cost", "max_tokens", "settings")}
    assert same == {name: getattr(request, name) for name in same}


def test_the_cost_table_tells_calls_of_this_run() -> None:
    use = RunUse(calls=30, from_store=10, prompt_tokens=500, completion_tokens=70, cost=1.5)
    report = StageReport(label="a", stage="b", version=1, fingerprint="f", rows_in=0, kept=0, run=use)
    other = report.model_copy(update={"run": None})
    with_calls, without = cost_table([report, other])
    names = ("model calls", "from the store", "tokens", "cost")
    assert [with_calls[name] for name in names] == [30, 10, 570, 1.5]
    assert [without[name] for name in names] == [0, 0, 0, 0.0]
    assert "cost" not in cost_table([other])[0]
